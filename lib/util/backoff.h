/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exponential back-off: the one policy for waiting between tries. */
#ifndef RJ_UTIL_BACKOFF_H
#define RJ_UTIL_BACKOFF_H

#include <stdint.h>

/*
 * Return the nanoseconds to wait after a failed try; the caller waits. TRIES is
 * the number of failed tries before it, from 0: FIRST_NS, twice that, four times
 * that, at most MAX_NS. Of this the result is 75 to 125 percent, drawn at random:
 * many hosts that lost the same server do not all come back at once.
 */
int64_t rj_backoff_ns(unsigned tries, int64_t first_ns, int64_t max_ns);

#endif
