// SPDX-License-Identifier: GPL-2.0-or-later
/* The meter of puts: what it counts, and how near its quantiles come. */
#include <stdlib.h>
#include <string.h>

#include "store/common.h"
#include "store/latency-hist.h"
#include "support/rjtest.h"
#include "util/environ.h"

static struct rj_error err;

static void quantiles(void)
{
	static struct rj_latency_hist m;
	uint64_t us, q;
	int i;

	CU_ASSERT_EQUAL(rj_latency_hist_quantile_us(&m, 500), 0);
	for (i = 1; i <= 1000; i++)
		rj_latency_hist_add(&m, 0, 10, i * 1000000LL);
	CU_ASSERT_EQUAL(m.puts, 1000);
	CU_ASSERT_EQUAL(m.bytes, 10000);
	CU_ASSERT_EQUAL(m.ns, 500500 * 1000000ULL);
	for (i = 1; i <= 1000; i++) {
		us = (uint64_t)i * 1000;
		q = rj_latency_hist_quantile_us(&m, (unsigned)i);
		CU_ASSERT(q >= us && q <= us + us / 8);
	}
}

/* Any time at all falls into a bucket of times that are near it. */
static void every_magnitude(void)
{
	struct rj_latency_hist *m;
	uint64_t us, q;

	for (us = 0; us < 1ULL << 39; us = us < 40 ? us + 1 : us + us / 5) {
		m = calloc(1, sizeof(*m));
		rj_latency_hist_add(m, 0, 1, (int64_t)us * 1000);
		q = rj_latency_hist_quantile_us(m, 500);
		CU_ASSERT(q >= us && q <= us + us / 8);
		free(m);
	}
	m = calloc(1, sizeof(*m));
	rj_latency_hist_add(m, 0, 1, INT64_MAX);
	CU_ASSERT(rj_latency_hist_quantile_us(m, 1000) > 1ULL << 39);
	free(m);
}

/* On a store: segments only, and what fails is no round trip. */
static void of_a_store(void)
{
	char dir[] = "/tmp/rjtest-meter.XXXXXX", url[64], command[64];
	struct rj_key log = t_new_log(RJ_KEY_LOG), key = t_key(&log, 1);
	struct rj_store *s, *d = NULL;
	static struct rj_latency_hist m;
	int64_t before = rj_realtime_ns();

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	snprintf(url, sizeof(url), "file://%s", dir);
	s = t_open(url);
	T_WORKS(rj_store_put_new(s, &key, "abcd", 4, &err));
	CU_ASSERT_EQUAL(m.puts, 0);
	s->latency = &m;
	key = t_key(&log, 2);
	T_WORKS(rj_store_put_new(s, &key, "abcd", 4, &err));
	CU_ASSERT_EQUAL(rj_store_put_new(s, &key, "abcd", 4, &err),
		-RJ_E_EXISTS);
	CU_ASSERT_EQUAL(m.puts, 1);
	CU_ASSERT_EQUAL(m.bytes, 4);
	CU_ASSERT_EQUAL(m.failures, 1);
	CU_ASSERT(m.acked_ns >= before && m.acked_ns <= rj_realtime_ns());
	key.kind = RJ_KEY_EPOCH;
	T_WORKS(rj_store_put_new(s, &key, "abcd", 4, &err));
	CU_ASSERT_EQUAL(m.puts, 1);
	T_WORKS(rj_store_dup(s, &d, &err));
	key = t_key(&log, 3);
	T_WORKS(rj_store_put_new(d, &key, "abcd", 4, &err));
	CU_ASSERT_EQUAL(m.puts, 2);
	rj_store_close(d);
	rj_store_close(s);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	CU_ASSERT_EQUAL(system(command), 0);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(quantiles),
		RJTEST(every_magnitude),
		RJTEST(of_a_store),
	};

	return RJTEST_RUN("store-meter", tests);
}
