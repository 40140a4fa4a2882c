/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tell a log's store that a moment of it was restored and found good (doc/standby.md). */
#ifndef RJ_LOG_PAST_DRILL_H
#define RJ_LOG_PAST_DRILL_H

#include "log/log.h"

/*
 * Put the object of a drill that restored SEGMENT and succeeded WHEN_S seconds after 1970 (1
 * or later), which is its number, and remove those of earlier drills. The store's errors; then
 * it may be there, and earlier ones too.
 */
int rj_drill_put(struct rj_store *store, const struct rj_log_id *id, uint64_t when_s,
	uint64_t segment, struct rj_error *err);

#endif
