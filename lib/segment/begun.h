/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A segment that is hashed, but for its last block, while nobody waits for it. */
#ifndef RJ_SEGMENT_BEGUN_H
#define RJ_SEGMENT_BEGUN_H

#include "segment/digest.h"
#include "segment/segment.h"

/*
 * Begin to seal DRAFT, of which the last block of the last run is not known yet
 * (the runs ascend): for the time while nobody waits. rj_segment_seal() is then
 * to be called with BEGUN in a draft of the same header (its time, too) and runs;
 * where anything came otherwise, BEGUN is not used. With a key or compression it
 * stays not begun, which is no error. Errors as of rj_segment_seal().
 */
int rj_segment_seal_begin(const struct rj_seg_draft *draft,
	struct rj_digest_begun *begun, struct rj_error *err);

#endif
