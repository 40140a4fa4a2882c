/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fetch segments before the reader asks for them: a few threads, each with its
 * own store handle, get the segments of a range and check each by itself (the
 * seal takes the time). The segments are handed out strictly in order, and the
 * caller checks how each follows from the one before.
 *
 * A store that streams (rj_store_stream()) is asked for the whole range at
 * once, by one more thread; the others then only check. Wherever and however
 * that stream ends, they fetch what it did not bring, so that nothing about
 * errors and patience depends on it.
 *
 * At most RJ_PREFETCH_SEGMENTS are held at a time and, by the sizes that
 * the listing gave, RJ_PREFETCH_BYTES (a single larger one is let through); and
 * one that the stream has brought and that waits for space.
 */
#ifndef RJ_LOG_PREFETCH_H
#define RJ_LOG_PREFETCH_H

#include "log/listing.h"

#define RJ_PREFETCH_THREADS  8
#define RJ_PREFETCH_LOGINS   4 /* of them at a store of mode B: its servers count connections
				* (dovecot takes 10 of a user and address) */
#define RJ_PREFETCH_SEGMENTS 16
#define RJ_PREFETCH_BYTES    (64u << 20)

struct rj_prefetch;

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
 * and ID, until rj_prefetch_stop()). NULL: it cannot be done, or is not worth
 * it; fetch one after the other.
 */
struct rj_prefetch *rj_prefetch_start(struct rj_store *store,
	const struct rj_log_id *id, const struct rj_listing *l, uint64_t first,
	uint64_t last, int retry_ms);
/* Wait for the next in order; valid until the next call. Not to be called more
 * often than there are segments. */
struct rj_fetched *rj_prefetch_next(struct rj_prefetch *a);
/* End all threads (after the requests that they are in; a stream at the next
 * segment that it brings) and free. NULL-safe. */
void rj_prefetch_stop(struct rj_prefetch *a);

#endif
