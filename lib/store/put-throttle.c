// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/put-throttle.h"

#include "util/environ.h"

int rj_fail_missing(
	const char *url, const char *what, uint64_t number, struct rj_error *err)
{
	return rj_fail_cause(
		rj_fail(err, RJ_E_UNREACHABLE,
			"%s: segment %llu was stored, and is not there: is it the right %s, with all that it had?",
			url, (unsigned long long)number, what),
		RJ_CAUSE_MISSING, err);
}

int rj_put_throttle_pass(
	struct rj_put_throttle *g, const char *url, struct rj_error *err)
{
	uint64_t missing;
	int64_t left;

	atomic_fetch_add_explicit(&g->passed, 1, memory_order_relaxed);
	while (g->until_ns && (left = g->until_ns - rj_monotonic_ns()) > 0)
		rj_sleep_ns(left);
	missing = g->missing;
	return missing ? rj_fail_missing(url, "store", missing, err) : 0;
}
