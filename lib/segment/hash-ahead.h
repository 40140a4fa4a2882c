/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hash a segment but for its last block, before that block is known. */
#ifndef RJ_SEGMENT_HASH_AHEAD_H
#define RJ_SEGMENT_HASH_AHEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "segment/segment.h"
#include "util/buf.h"
#include "util/error.h"

/* The largest segment, in bytes of blocks, that is hashed ahead. */
#define RJ_HASH_AHEAD_BYTES (256u << 10)

/*
 * A SHA-256 of the first bytes of a segment. Zero-initialise; release with
 * rj_hash_ahead_release(). One thread at a time, but not always the same.
 */
struct rj_hash_ahead {
	struct rj_buf bytes; /* a copy of what was hashed */
	void *digest;        /* an EVP_MD_CTX; kept for the next time */
	bool ready;
};

/*
 * Hash DRAFT ahead, of which all is known but the last block of the last run (the runs
 * ascend). rj_segment_seal() of a draft with this AHEAD compares what it seals
 * byte by byte with the copy of what was hashed: if that is how the segment begins it
 * hashes only the rest, else all. So nothing is asked of the ring: it may change.
 * With a key or compression, or too large: AHEAD stays not ready, which is no error.
 * Errors as of rj_segment_seal().
 */
int rj_segment_hash_ahead(const struct rj_seg_draft *draft,
	struct rj_hash_ahead *ahead, struct rj_error *err);
void rj_hash_ahead_release(struct rj_hash_ahead *ahead);

#endif
