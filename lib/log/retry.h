/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patience with a store that does not answer: try again, waiting longer each
 * time, until a time limit. Any other failure is final at once.
 *
 *	rj_retry_start(&retry, ms);
 *	do
 *		rc = rj_store_get(...);
 *	while (rj_retry_again(&retry, rc));
 */
#ifndef RJ_LOG_RETRY_H
#define RJ_LOG_RETRY_H

#include <stdbool.h>
#include <stdint.h>

struct rj_retry {
	int64_t deadline_ns; /* monotonic */
	unsigned tries; /* failed ones so far */
};

/*
 * Return the nanoseconds to wait after a failed try; the caller waits. TRIES is
 * the number of failed tries before it, from 0: FIRST_NS, twice that, four times
 * that, at most MAX_NS. Of this the result is 75 to 125 percent, drawn at random:
 * many hosts that lost the same server do not all come back at once.
 */
int64_t rj_backoff_ns(unsigned tries, int64_t first_ns, int64_t max_ns);

/* RETRY_MS 0: 10000. */
void rj_retry_start(struct rj_retry *r, int retry_ms);
/* After a try that returned RC: true when it is to be repeated (the waiting is
 * done), false when RC is the answer. */
bool rj_retry_again(struct rj_retry *r, int rc);

#endif
