/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Holds of a log: put, list and remove them. What a hold keeps, and why the orders
 * of its maker and of trimming suffice, is in doc/holds.md.
 */
#ifndef RJ_LOG_HOLD_H
#define RJ_LOG_HOLD_H

#include "format/hold.h"
#include "log/listing.h"

/*
 * Put a new hold for PROGRAM (visible ASCII) for SECONDS from now on, at the "oldest"
 * of the log's last segment; OUT is what was put. Who looks for the end of the log
 * after that finds a segment whose "oldest" is kept, and all above it.
 * RJ_E_INVAL: longer than 100 years; RJ_E_NOTFOUND: the log is empty. The store's
 * errors; without an answer the hold OUT may be there, else OUT is not written.
 */
int rj_hold_put(struct rj_store *store, const struct rj_log_id *id,
	const char *program, uint64_t seconds, struct rj_hold *out,
	struct rj_error *err);
/*
 * Put a hold that begins at segment FIRST, which another hold, or "retain", still keeps. Errors as
 * above.
 */
int rj_hold_put_at(struct rj_store *store, const struct rj_log_id *id, const char *program,
	uint64_t seconds, uint64_t first, struct rj_hold *out, struct rj_error *err);
/* Remove it, whatever it holds. RJ_E_NOTFOUND: there is none of that number. */
int rj_hold_remove(struct rj_store *store, const struct rj_log_id *id,
	uint64_t number, struct rj_error *err);

/* One that is listed. BAD: its text cannot be read, and of HOLD only the number is
 * set; it stops all trimming until it is removed. */
struct rj_hold_seen {
	struct rj_hold hold;
	bool bad;
};
/* Read the text of S->hold.number into S, which is BAD until then. RJ_E_NOTFOUND: there
 * is no such hold. */
int rj_hold_look(struct rj_store *store, const struct rj_log_id *id,
	int retry_ms, struct rj_hold_seen *s, struct rj_error *err);
/* Append all holds of the log to OUT, as struct rj_hold_seen, by number. When one was removed
 * after it was listed, all are listed again: another may have been put in its place. */
int rj_hold_list(struct rj_store *store, const struct rj_log_id *id,
	int retry_ms, struct rj_buf *out, struct rj_error *err);
/* By this host's clock. */
bool rj_hold_expired(const struct rj_hold *h);

/*
 * The lowest segment that a hold keeps which has not expired by rj_store_now(), and that hold in
 * *BY; UINT64_MAX: none. RJ_E_CORRUPT: there is one whose text cannot be read.
 */
int rj_hold_lowest(struct rj_store *store, const struct rj_log_id *id, int retry_ms,
	int64_t until_ns, uint64_t *first, struct rj_hold *by, struct rj_error *err);
/* The bytes of the segments of L from FIRST on, below BELOW. */
uint64_t rj_hold_bytes(
	const struct rj_listing *l, uint64_t first, uint64_t below);

#endif
