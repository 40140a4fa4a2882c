/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fetch segments ahead of the one who wants them: a few threads, each with a
 * store handle of its own, get the segments of a range and check each by
 * itself (its seal takes the time); they are handed out strictly in order, and
 * how one follows from the other is for the caller to check.
 *
 * A store that streams (rj_store_stream()) is asked for the whole range at
 * once, by one more thread; the others then only check. Wherever and however
 * that stream ends, they fetch what it did not bring, so that nothing about
 * errors and patience depends on it.
 *
 * At most RJ_AHEAD_SEGMENTS are held at a time and, going by the sizes that the
 * listing gave, RJ_AHEAD_BYTES (a single larger one is let through); and one
 * that the stream has brought and that waits for room.
 */
#ifndef RJ_LOG_AHEAD_H
#define RJ_LOG_AHEAD_H

#include "log/listing.h"

#define RJ_AHEAD_THREADS  8
#define RJ_AHEAD_SEGMENTS 16
#define RJ_AHEAD_BYTES    (64u << 20)

struct rj_ahead;

struct rj_fetched {
	int fetch_rc; /* of rj_log_fetch(), with its error */
	struct rj_error fetch_err;
	int open_rc; /* of rj_segment_open(), with its error */
	struct rj_error open_err;
	struct rj_buf bytes;
	struct rj_segment seg; /* points into bytes */
};

/*
 * Begin to fetch FIRST..LAST, all in L (which must stay as it is, like STORE
 * and ID, until rj_ahead_stop()). NULL: it cannot be done, or is not worth it;
 * fetch one after the other.
 */
struct rj_ahead *rj_ahead_start(struct rj_store *store,
	const struct rj_log_id *id, const struct rj_listing *l, uint64_t first,
	uint64_t last, int retry_ms);
/* Wait for the next in order; valid until the next call. Not to be called more
 * often than there are segments. */
struct rj_fetched *rj_ahead_next(struct rj_ahead *a);
/* End all threads (after the requests that they are in; a stream at the next
 * segment that it brings) and free. NULL-safe. */
void rj_ahead_stop(struct rj_ahead *a);

#endif
