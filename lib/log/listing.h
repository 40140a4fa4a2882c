/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * List the numbers of a log's segments, as ranges (a log without holes is one range), and
 * find the highest epoch claimed. Also fetch single objects, trying again until a time
 * limit.
 */
#ifndef RJ_LOG_LISTING_H
#define RJ_LOG_LISTING_H

#include <stdatomic.h>
#include <stdbool.h>

#include "log/log.h"

/*
 * What a listing may have, so that a stranger's server, whatever numbers it lists, costs a host no
 * more than 1.1 GiB of memory: segments (a month of 100 commits a second) and ranges (trimming
 * leaves each fence, which is one). Its time is an hour, and 1 ms for each number: ten times of
 * what pages of 1,000 take that come after 100 ms.
 */
#define RJ_LISTING_SEGMENTS (1u << 28)
#define RJ_LISTING_RANGES   1000000u
#define RJ_LISTING_S	    3600
#define RJ_LISTING_EACH_NS  1000000

struct rj_listing {
	uint64_t first, last; /* numbers present; 0: none */
	struct rj_buf ranges; /* of struct rj_range, ascending, not touching */
	struct rj_buf bytes;  /* of uint32_t: their lengths, one after the other
			       */
};

struct rj_range {
	uint64_t first, last;
};

/* List log/ for numbers above AFTER into L (zeroed before; rj_listing_free() also after a
 * failure, which leaves L without numbers). RJ_E_PROTOCOL: not in ascending order,
 * longer than what is said above, or the store's list does not show a segment that is there. */
int rj_listing_log(struct rj_store *store, const struct rj_log_id *id,
	uint64_t after, int retry_ms, struct rj_listing *l,
	struct rj_error *err);
/* List only the end of log/, from the last segment or from an earlier one, if the store
 * can tell which is the last. With NEW_LOG, and from other stores, all of it. */
int rj_listing_end(struct rj_store *store, const struct rj_log_id *id,
	bool new_log, int retry_ms, struct rj_listing *l, struct rj_error *err);
/* Get the highest number in epoch/; 0: none. */
int rj_listing_epoch(struct rj_store *store, const struct rj_log_id *id,
	int retry_ms, uint64_t *highest, struct rj_error *err);
/*
 * Check that every number in FROM..TO is in L (listed after AFTER). RJ_E_GAP names the
 * first missing range, which HOLE gets. A hole is reported only when a second listing
 * has it too: during the first one a writer may have put n and then n+1, and a store
 * may show n+1 and not n. L is replaced by that second listing, up to the last number
 * of the first one. If only fences are listed, the message says that the log was
 * removed. RJ_E_PROTOCOL: the first one that is missing is there, if asked for by its name.
 */
int rj_listing_check(struct rj_store *store, const struct rj_log_id *id,
	uint64_t after, int retry_ms, struct rj_listing *l, uint64_t from,
	uint64_t to, struct rj_range *hole, struct rj_error *err);
/* Are there segments, and all of them as small as a fence? Trimming and rjlog rm leave
 * only fences. */
bool rj_listing_only_fences(const struct rj_listing *l);
/* Fail with RJ_E_GAP, naming the missing numbers HOLE. */
int rj_listing_fail_hole(const struct rj_listing *l, const char *url,
	const struct rj_range *hole, struct rj_error *err);
/* Get the length of segment NUMBER in bytes by the listing, at most 4 GiB - 1; 0: it is
 * not listed. A get may return more or less. */
uint64_t rj_listing_bytes(const struct rj_listing *l, uint64_t number);
void rj_listing_free(struct rj_listing *l);

/*
 * Fetch segment SEQUENCE's bytes into OUT (emptied first). RJ_E_GAP: it was listed
 * and is not there. RJ_E_CORRUPT: the store itself says that it is damaged. Messages
 * name the store and the segment.
 */
int rj_log_fetch(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, int retry_ms, struct rj_buf *out,
	struct rj_error *err);
/* As rj_log_fetch(); once STOP is set no further attempt is made. */
int rj_log_fetch_until(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, int retry_ms, const atomic_bool *stop,
	struct rj_buf *out, struct rj_error *err);
/*
 * Fetch segment SEQUENCE and decode its header, without checking its seal. Errors as of
 * rj_log_fetch() and rj_seghdr_decode().
 */
int rj_log_fetch_header(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, struct rj_seghdr *out, struct rj_error *err);
/*
 * Fetch segment SEQUENCE, and say what it is: OUT has its number, epoch and chain. What it holds
 * is not checked, nor what it follows. Errors as of rj_log_fetch() and rj_verify_header().
 */
int rj_log_fetch_place(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, int retry_ms, struct rj_log_tail *out,
	struct rj_error *err);
/*
 * Put "URL: WHAT segment NUMBER: " before a store's message in ERR, without repeating
 * the URL. The code stays, and is returned negated.
 */
int rj_log_fail_store(const struct rj_store *store, const char *what,
	uint64_t number, struct rj_error *err);
/* Get the key of segment or epoch NUMBER. */
struct rj_key rj_log_key(
	const struct rj_log_id *id, enum rj_key_kind kind, uint64_t number);

#endif
