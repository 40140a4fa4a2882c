// SPDX-License-Identifier: LGPL-2.1-or-later
/* Try a store again, with growing pauses, until a time limit. */
#include "log/retry.h"

#include "util/environ.h"
#include "util/error-class.h"

#define NS_PER_MS        1000000LL
#define DEFAULT_RETRY_MS 10000
#define FIRST_DELAY_NS   (20 * NS_PER_MS)
#define MAX_DELAY_NS     (1000 * NS_PER_MS)

void rj_retry_start(struct rj_retry *r, int retry_ms)
{
	if (retry_ms <= 0)
		retry_ms = DEFAULT_RETRY_MS;
	r->deadline_ns = rj_monotonic_ns() + retry_ms * NS_PER_MS;
	r->tries = 0;
}

int64_t rj_backoff_ns(unsigned tries, int64_t first_ns, int64_t max_ns)
{
	int64_t ns = first_ns;
	uint32_t r;

	for (; tries && ns < max_ns; tries--)
		ns *= 2;
	if (ns > max_ns)
		ns = max_ns;
	if (rj_random_bytes(&r, sizeof(r)))
		return ns;
	return ns * 3 / 4 + ns / 2 * (r % 1024) / 1024;
}

bool rj_retry_again(struct rj_retry *r, int rc)
{
	int64_t left, delay;

	if (!rj_code_transient(rc))
		return false;
	left = r->deadline_ns - rj_monotonic_ns();
	if (left <= 0)
		return false;
	delay = rj_backoff_ns(r->tries++, FIRST_DELAY_NS, MAX_DELAY_NS);
	rj_sleep_ns(delay < left ? delay : left);
	return true;
}
