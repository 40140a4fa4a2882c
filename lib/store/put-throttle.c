// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/put-throttle.h"

#include "util/environ.h"

void rj_put_throttle_pass(struct rj_put_throttle *g)
{
	int64_t left;

	atomic_fetch_add_explicit(&g->passed, 1, memory_order_relaxed);
	while (g->until_ns && (left = g->until_ns - rj_monotonic_ns()) > 0)
		rj_sleep_ns(left);
}
