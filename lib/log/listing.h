/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a listing of the log says: which segment numbers are there, kept as
 * ranges (a sound log is one range), and the highest epoch claimed. Also
 * fetches single objects with patience.
 */
#ifndef RJ_LOG_LISTING_H
#define RJ_LOG_LISTING_H

#include <stdatomic.h>
#include <stdbool.h>

#include "log/log.h"

struct rj_listing {
	uint64_t first, last; /* numbers present; 0: none */
	struct rj_buf ranges; /* of struct rj_range, ascending, not touching */
	struct rj_buf bytes;  /* of uint32_t: their lengths, one after the other
			       */
};

struct rj_range {
	uint64_t first, last;
};

/* List log/ for numbers above AFTER into L (zeroed before; rj_listing_free()
 * also after a failure). RJ_E_PROTOCOL: not in ascending order. */
int rj_listing_log(struct rj_store *store, const struct rj_log_id *id,
	uint64_t after, int retry_ms, struct rj_listing *l,
	struct rj_error *err);
/* The same for segment LAST alone, or as far back as is as cheap; for stores that
 * can say what it is. A log that is to be new, and all other stores: all of it. */
int rj_listing_end(struct rj_store *store, const struct rj_log_id *id,
	bool new_log, int retry_ms, struct rj_listing *l, struct rj_error *err);
/* The highest number in epoch/; 0: none. */
int rj_listing_epoch(struct rj_store *store, const struct rj_log_id *id,
	int retry_ms, uint64_t *highest, struct rj_error *err);
/*
 * That every number in FROM..TO is in L (listed after AFTER): 0, or RJ_E_GAP
 * naming the first ones missing, which HOLE gets. A hole is believed only when
 * a second listing has it too: while the first was made a writer may have put
 * n and then n+1, and a store may show the one and not the other. L is
 * replaced by that second listing, up to what the first one showed. Where all that
 * is listed are fences, the message says that the log was removed.
 */
int rj_listing_check(struct rj_store *store, const struct rj_log_id *id,
	uint64_t after, int retry_ms, struct rj_listing *l, uint64_t from,
	uint64_t to, struct rj_range *hole, struct rj_error *err);
/* There are segments, and none of them has more than a header: a fence, which is
 * all that trimming and rjlog rm leave. */
bool rj_listing_only_fences(const struct rj_listing *l);
/* RJ_E_GAP, naming the missing numbers HOLE. */
int rj_listing_fail_hole(const struct rj_listing *l, const char *url,
	const struct rj_range *hole, struct rj_error *err);
/* The length of segment NUMBER by the listing, at most 4 GiB - 1; 0: it is not
 * listed. What comes may be longer or shorter. */
uint64_t rj_listing_bytes(const struct rj_listing *l, uint64_t number);
void rj_listing_free(struct rj_listing *l);

/*
 * Segment SEQUENCE's bytes into OUT (emptied first). RJ_E_GAP: it was listed
 * and is not there. RJ_E_CORRUPT: the store itself says so. Messages name the
 * store and the segment.
 */
int rj_log_fetch(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, int retry_ms, struct rj_buf *out,
	struct rj_error *err);
/* The same; once STOP is set no further attempt is made. */
int rj_log_fetch_until(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, int retry_ms, const atomic_bool *stop,
	struct rj_buf *out, struct rj_error *err);
/*
 * The header of segment SEQUENCE, by itself: its range checks hold, its seal was
 * not tried. What rj_log_fetch() and rj_seghdr_decode() report.
 */
int rj_log_fetch_header(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, struct rj_seghdr *out, struct rj_error *err);
/*
 * ERR holds a store's message: put "URL: WHAT segment NUMBER: " before it, with
 * the url once. Keeps the code; returns it negated.
 */
int rj_log_fail_store(const struct rj_store *store, const char *what,
	uint64_t number, struct rj_error *err);
/* The key of segment or epoch NUMBER. */
struct rj_key rj_log_key(
	const struct rj_log_id *id, enum rj_key_kind kind, uint64_t number);

#endif
