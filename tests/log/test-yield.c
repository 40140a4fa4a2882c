// SPDX-License-Identifier: GPL-2.0-or-later
/* A writer at full speed, and a claimer whose requests take longer. */
#include <pthread.h>
#include <stdlib.h>

#include "log/common.h"
#include "log/write/epoch.h"
#include "log/write/yield.h"
#include "util/environ.h"

#define NS_PER_MS   1000000LL
#define DEADLINE_NS (60000 * NS_PER_MS)

/* A writer with its gate and, unless told otherwise, one who gives way. */
struct scene {
	struct t_log t;
	struct rj_store *store; /* the writer's, a fault layer */
	struct rj_log_writer *w;
	struct rj_put_throttle throttle;
	struct rj_log_yield *g;
	pthread_t thread;
	atomic_bool stop;
	atomic_ulong acked; /* the last number */
	struct rj_error err;
	int rc;
};

static void slow(struct rj_store *s, enum rj_fault_op op, unsigned ms)
{
	struct rj_fault f = {.op = op, .kind = RJ_FAULT_DELAY, .delay_ms = ms};

	CU_ASSERT_EQUAL(rj_fault_add(s, &f), 0);
}

static int another(
	struct rj_store *s, struct rj_store **out, struct rj_error *err)
{
	*out = t_store();
	return 0;
}

/* The store in memory has no dup of its own, so that readers do not use it. */
static struct rj_store *faulty(void)
{
	static struct rj_store_ops ops;
	struct rj_store *s = NULL, *inner = t_store();

	if (!inner->ops->dup) {
		ops = *inner->ops;
		ops.dup = another;
		inner->ops = &ops;
	}
	if (rj_fault_open(inner, &s, NULL))
		exit(99);
	return s;
}

static void begin(struct scene *s, unsigned interval_ms, unsigned pause_ms)
{
	struct rj_log_yield_opts o = {.throttle = &s->throttle,
		.interval_ms = interval_ms,
		.pause_ms = pause_ms};

	memset(s, 0, sizeof(*s));
	t_log_begin(&s->t);
	s->store = faulty();
	s->store->throttle = &s->throttle;
	CU_ASSERT_EQUAL_FATAL(
		rj_log_claim(s->store, &s->t.id, NULL, &s->w, &s->err), 0);
	o.store = s->store;
	o.id = s->t.id;
	o.epoch = rj_log_writer_epoch(s->w);
	/* RJ_GIVEWAY=no: what it is like without */
	if (!getenv("RJ_GIVEWAY"))
		CU_ASSERT_EQUAL_FATAL(
			rj_log_yield_start(&o, &s->g, &s->err), 0);
}

static void end(struct scene *s)
{
	rj_log_yield_stop(s->g);
	rj_log_writer_free(s->w);
	rj_store_close(s->store);
	t_log_end(&s->t);
}

static void *run(void *arg)
{
	struct scene *s = arg;

	do {
		s->rc = t_append(&s->t, s->w, 1, 1, 7);
		if (!s->rc)
			s->acked = rj_log_writer_tail(s->w)->sequence;
	} while (!s->rc && !s->stop);
	return NULL;
}

static void start_writer(struct scene *s)
{
	s->stop = false;
	if (pthread_create(&s->thread, NULL, run, s))
		exit(99);
}

static void stop_writer(struct scene *s)
{
	s->stop = true;
	pthread_join(s->thread, NULL);
}

/* More appends, or more looks: until COND, or the deadline. */
#define UNTIL(cond)                                                            \
	do {                                                                   \
		int64_t t_end = rj_monotonic_ns() + DEADLINE_NS;               \
		while (!(cond) && rj_monotonic_ns() < t_end)                   \
			rj_sleep_ns(NS_PER_MS);                                \
		CU_ASSERT_TRUE(cond);                                          \
	} while (0)

/* A request of the claimer takes as long as many puts of the writer: without
 * the writer's giving way the claim is lost after 30 s of chase. */
static void a_claimer_far_away_takes_over(void)
{
	struct rj_store *far = faulty();
	struct rj_log_writer *next = NULL;
	struct scene s;
	uint64_t before;
	int rc;

	/* longer than is the default: beside other load six requests took two seconds */
	begin(&s, 0, 8000);
	slow(s.store, RJ_FAULT_PUT, 2);
	slow(far, RJ_FAULT_ANY, 60);
	start_writer(&s);
	UNTIL(s.acked > 20);
	before = s.acked;
	rc = rj_log_claim(far, &s.t.id, NULL, &next, &s.t.err);
	T_WORKS(&s.t, rc);
	stop_writer(&s);
	CU_ASSERT_EQUAL(s.rc, -RJ_E_FENCED);
	printf("# %lu segments while it claimed\n",
		(unsigned long)(s.acked - before));
	if (next) {
		CU_ASSERT_TRUE(s.acked < rj_log_writer_tail(next)->sequence);
		CU_ASSERT_EQUAL(rj_log_writer_tail(next)->epoch, 2);
		T_WORKS(&s.t, t_append(&s.t, next, 2, 1, 8));
	}
	T_WORKS(&s.t, t_read(&s.t, NULL));
	CU_ASSERT_TRUE(t_same_ring(&s.t));
	rj_log_writer_free(next);
	rj_store_close(far);
	end(&s);
}

static void a_claim_of_the_dead_is_waited_for_once(void)
{
	struct rj_epoch_want want = {.above = 1};
	uint8_t nonce[RJ_SEG_NONCE_BYTES] = {1};
	uint64_t epoch, at;
	int64_t until, begun;
	struct scene s;
	int i;

	begin(&s, 5, 300);
	if (t_mode_b(&s.t)) {
		CU_ASSERT_PTR_NULL(s.g);
		end(&s);
		return;
	}
	want.nonce = nonce;
	start_writer(&s);
	for (i = 0; i < 2; i++) {
		at = s.throttle.passed;
		UNTIL(s.throttle.passed > at + 2);
		until = s.throttle.until_ns;
		begun = rj_monotonic_ns();
		CU_ASSERT_EQUAL(rj_epoch_claim(s.t.raw, &s.t.id, &want, &epoch,
					&s.t.err),
			0);
		CU_ASSERT_EQUAL(epoch, (uint64_t)i + 2);
		UNTIL(s.throttle.until_ns != until);
		CU_ASSERT_TRUE(s.throttle.until_ns >= begun + 300 * NS_PER_MS);
		until = s.throttle.until_ns;
		/* one put may be under way, the next ones wait */
		at = s.acked;
		UNTIL(s.acked > at + 3);
		CU_ASSERT_TRUE(rj_monotonic_ns() >= until);
		/* more looks: it is not waited for again */
		at = rj_fault_calls(s.store, RJ_FAULT_GET);
		UNTIL(rj_fault_calls(s.store, RJ_FAULT_GET) > at + 5);
		CU_ASSERT_EQUAL(s.throttle.until_ns, until);
		want.above = epoch;
	}
	stop_writer(&s);
	CU_ASSERT_EQUAL(s.rc, 0);
	T_WORKS(&s.t, t_read(&s.t, NULL));
	end(&s);
}

static void a_writer_at_rest_asks_nobody(void)
{
	struct scene s;
	unsigned long calls;

	begin(&s, 5, 0);
	if (t_mode_b(&s.t)) {
		end(&s);
		return;
	}
	calls = rj_fault_calls(s.store, RJ_FAULT_GET);
	T_WORKS(&s.t, t_append(&s.t, s.w, 1, 1, 7));
	UNTIL(rj_fault_calls(s.store, RJ_FAULT_GET) > calls);
	calls = rj_fault_calls(s.store, RJ_FAULT_ANY);
	rj_sleep_ns(100 * NS_PER_MS);
	CU_ASSERT_EQUAL(rj_fault_calls(s.store, RJ_FAULT_ANY), calls);
	T_WORKS(&s.t, t_append(&s.t, s.w, 1, 1, 7));
	UNTIL(rj_fault_calls(s.store, RJ_FAULT_ANY) > calls + 1);
	end(&s);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(a_claimer_far_away_takes_over),
		RJTEST(a_claim_of_the_dead_is_waited_for_once),
		RJTEST(a_writer_at_rest_asks_nobody),
	};
	int status = RJTEST_RUN("yield", tests);

	t_store_done();
	return status;
}
