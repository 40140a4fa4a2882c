/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a reading of the log has seen that the judge (verdict/verdict.h) is to know. */
#ifndef RJ_LOG_SEEN_H
#define RJ_LOG_SEEN_H

#include "log/log.h"
#include "verdict/verdict.h"

struct rj_log_seen {
	struct rj_seghdr newest; /* of the last segment with blocks; all 0: none */
	uint64_t first, first_epoch; /* of the first one: its number and epoch */
	uint64_t latest_ns; /* the latest time_ns of all of them, since 1970 UTC */
	uint64_t clean_epoch; /* of the last fence with RJ_SEG_F_CLEAN; 0: none */
	uint64_t recovered_epoch; /* of the last base, if a recovery put it; else 0 */
};

/* Note SEG, which was read after all that SEEN has. */
void rj_log_seen_take(struct rj_log_seen *seen, const struct rj_segment *seg);

/*
 * Set what SEEN tells in FACTS, whose epoch is the volume's. Asks the store for the claims of
 * the epochs that are later: rjournald marks a volume with its epoch before it serves,
 * but a worker that took over on a mounted volume cannot, and counts as the one before
 * (rj_log_served_since()). Errors of the store.
 */
int rj_log_judged(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_seen *seen, int retry_ms, struct rj_verdict_facts *facts,
	struct rj_error *err);

/*
 * Was the volume of ID, whose log is refused with RJ_E_FOREIGN, given another UUID? If the last
 * segment is of the journal of ID, ID gets the volume's UUID that the segment has. False: it is
 * of another journal, or cannot be read.
 */
bool rj_log_renamed(struct rj_store *store, struct rj_log_id *id, int retry_ms);

#endif
