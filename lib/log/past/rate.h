/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How fast a log grows, by the sizes and times of its own segments. */
#ifndef RJ_LOG_PAST_RATE_H
#define RJ_LOG_PAST_RATE_H

#include "log/listing.h"

/* Of the unbroken end of a log. All 0: it is empty. Times are nanoseconds. */
struct rj_log_rate {
	uint64_t first;	     /* its first segment */
	int64_t first_ns, last_ns; /* when its first and last segment were sealed, since 1970 */
	uint64_t bytes;	     /* of all its segments */
	uint64_t day_bytes;  /* of those of the DAY_NS before its last segment */
	int64_t day_ns;	     /* a day, or less if the log is younger */
};

/* Reads some headers: twenty for a million segments. Errors as of rj_log_fetch_header(). */
int rj_log_rate(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_listing *l, struct rj_log_rate *out,
	struct rj_error *err);
/* Bytes a day, as it was in the last day, and on average; 0: not known. */
uint64_t rj_log_rate_last(const struct rj_log_rate *r);
uint64_t rj_log_rate_average(const struct rj_log_rate *r);

#endif
