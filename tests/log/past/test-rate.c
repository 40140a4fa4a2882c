// SPDX-License-Identifier: GPL-2.0-or-later
/* How fast a log grows: by a clock that the test sets. */
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "log/common.h"
#include "log/past/rate.h"
#include "util/environ.h"

#define HOUR 3600LL
#define DAY  (24 * HOUR)

static int64_t now_s;

static int64_t set_time(void *arg)
{
	(void)arg;
	return (1000000 + now_s) * 1000000000LL;
}

static int64_t steady(void *arg)
{
	struct timespec t;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void no_sleep(void *arg, int64_t ns)
{
	(void)arg, (void)ns;
}

static int any(void *arg, void *out, size_t len)
{
	(void)arg;
	return getrandom(out, len, 0) == (ssize_t)len ? 0 : -RJ_E_IO;
}

static const struct rj_environ world = {.realtime_ns = set_time,
	.monotonic_ns = steady,
	.sleep_ns = no_sleep,
	.random_bytes = any};

/* A segment of COUNT blocks at AT_S, and its bytes. */
static uint64_t add(struct t_log *t, struct rj_log_writer *w, int64_t at_s, uint32_t count)
{
	struct rj_listing l = {0};
	uint64_t bytes;

	now_s = at_s;
	CU_ASSERT_EQUAL(t_append(t, w, 0, count, 7), 0);
	T_WORKS(t, rj_listing_log(t->raw, &t->id, 0, 0, &l, &t->err));
	bytes = rj_listing_bytes(&l, l.last);
	rj_listing_free(&l);
	return bytes;
}

static struct rj_log_rate rate(struct t_log *t)
{
	struct rj_listing l = {0};
	struct rj_log_rate r;

	T_WORKS(t, rj_listing_log(t->store, &t->id, 0, 0, &l, &t->err));
	T_WORKS(t, rj_log_rate(t->store, &t->id, &l, &r, &t->err));
	rj_listing_free(&l);
	return r;
}

static void by_the_last_day(void)
{
	uint64_t small, large;
	struct rj_log_writer *w;
	struct rj_log_rate r;
	struct rj_key key;
	struct t_log t;

	rj_environ_set(&world);
	now_s = 0;
	t_log_begin(&t);
	r = rate(&t);
	CU_ASSERT(!r.bytes && !rj_log_rate_last(&r) && !rj_log_rate_average(&r));
	w = t_claim(&t, NULL); /* 1 */
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	r = rate(&t);
	CU_ASSERT(r.bytes && !rj_log_rate_last(&r));
	small = add(&t, w, 6 * HOUR, 1); /* 2 */
	r = rate(&t);
	CU_ASSERT_EQUAL(r.day_ns, 6 * HOUR * 1000000000LL);
	CU_ASSERT_EQUAL(rj_log_rate_last(&r), 4 * r.bytes);
	add(&t, w, 3 * DAY, 1);		  /* 3: a day before the last */
	large = add(&t, w, 4 * DAY - HOUR, 9); /* 4 */
	add(&t, w, 4 * DAY, 1);		  /* 5 */
	CU_ASSERT(large > small);
	r = rate(&t);
	CU_ASSERT_EQUAL(r.first, 1);
	CU_ASSERT_EQUAL(r.day_bytes, large + 2 * small);
	CU_ASSERT_EQUAL(rj_log_rate_last(&r), large + 2 * small);
	CU_ASSERT_EQUAL(rj_log_rate_average(&r), r.bytes / 4);
	/* what is before a hole is not of the unbroken end */
	key = rj_log_key(&t.id, RJ_KEY_LOG, 3);
	T_WORKS(&t, rj_store_remove(t.raw, &key, &t.err));
	r = rate(&t);
	CU_ASSERT_EQUAL(r.first, 4);
	CU_ASSERT_EQUAL(r.bytes, large + small);
	CU_ASSERT_EQUAL(r.day_ns, HOUR * 1000000000LL);
	rj_log_writer_free(w);
	t_log_end(&t);
	rj_environ_set(NULL);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(by_the_last_day),
	};
	int status = RJTEST_RUN("log-rate", tests);

	t_store_done();
	return status;
}
