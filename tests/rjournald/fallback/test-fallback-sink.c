// SPDX-License-Identifier: GPL-2.0-or-later
/* A sealed segment's number has been taken by a writer of a higher epoch: that is
 * the end, at once, in whatever state it is found out, and never waited for. And whatever way
 * prefer=power chooses, what was acknowledged is in the file or at the store. */
#include <stdlib.h>
#include <string.h>

#include "log/common.h"
#include "rjournald/fallback/energy.h"
#include "rjournald/fallback/fallback-sink.h"

#define BYTES ((size_t)RJ_FALLBACK_MIN_BYTES + 4 * RJ_FALLBACK_ALIGN)

struct rig {
	struct t_log t;
	struct rj_log_writer *w, *newer;
	uint8_t *disk; /* of the fallback file */
	bool no_file;  /* it takes nothing */
	struct rj_bio_tap tap;
	struct rj_bio *bio;
	struct rj_fallback *fallback;
	struct rj_live live;
	struct rj_fallback_sink *s;
};

static int tap_write(void *arg, const void *data, uint64_t len, uint64_t off,
	struct rj_error *err)
{
	const struct rig *r = arg;

	return r->no_file ? rj_fail(err, RJ_E_IO, "made to fail") : 0;
}

static int tap_flush(void *arg, struct rj_error *err)
{
	return 0;
}

static void begin(struct rig *r)
{
	struct rj_fallback_sink_opts o;

	memset(r, 0, sizeof(*r));
	t_log_begin(&r->t);
	r->w = t_claim(&r->t, NULL);
	r->disk = calloc(1, BYTES);
	CU_ASSERT_PTR_NOT_NULL_FATAL(r->w);
	CU_ASSERT_PTR_NOT_NULL_FATAL(r->disk);
	r->tap = (struct rj_bio_tap){tap_write, tap_flush, r};
	r->bio = rj_bio_new_tap(
		rj_bio_new_mem(r->disk, BYTES, "fallback"), &r->tap);
	T_WORKS(&r->t, rj_fallback_format(r->bio, &r->t.id, &r->t.err));
	T_WORKS(&r->t, rj_fallback_open(r->bio, &r->t.id, &r->fallback, &r->t.err));
	rj_live_init(&r->live);
	o = (struct rj_fallback_sink_opts){
		.writer = r->w,
		.fence = rj_log_writer_tail(r->w)->sequence,
		.store = r->t.store,
		.id = &r->t.id,
		.fallback = r->fallback,
		.live = &r->live,
	};
	T_WORKS(&r->t, rj_fallback_sink_new(&o, &r->s, &r->t.err));
}

static void end(struct rig *r)
{
	rj_fallback_sink_free(r->s);
	rj_fallback_close(r->fallback);
	rj_bio_free(r->bio);
	free(r->disk);
	rj_log_writer_free(r->newer);
	rj_log_writer_free(r->w);
	t_log_end(&r->t);
}

static int append(struct rig *r)
{
	struct rj_log_append a = t_block_3(r->t.ring->data);

	return rj_fallback_sink_append(r->s, &a, &r->t.err);
}

static void overtake(struct rig *r)
{
	T_WORKS(&r->t, rj_log_claim(r->t.raw, &r->t.id, NULL, &r->newer,
			       &r->t.err));
}

static unsigned long puts_so_far(const struct rig *r)
{
	return rj_fault_calls(r->t.store, RJ_FAULT_PUT);
}

/* Compare each field: what is between them need not be copied. */
static bool same(const struct rj_fallback_facts *a, const struct rj_fallback_facts *b)
{
	return a->state == b->state && a->epoch == b->epoch && a->fence == b->fence &&
	       a->from == b->from && a->next == b->next && a->last == b->last &&
	       a->first == b->first && a->oldest == b->oldest && a->backlog == b->backlog &&
	       a->used == b->used && a->capacity == b->capacity &&
	       a->since_ns == b->since_ns && a->self_sufficient == b->self_sufficient;
}

/* Nothing is acknowledged, sent or kept any more; each call says why. */
static void it_is_over(struct rig *r)
{
	unsigned long before = puts_so_far(r);
	struct rj_fallback_facts was, now;
	int i;

	CU_ASSERT_EQUAL(r->live.state, RJ_STATE_FENCED);
	rj_fallback_facts(r->fallback, &was);
	for (i = 0; i < 3; i++) {
		T_FAILS(&r->t, rj_fallback_sink_retry(r->s, &r->t.err), RJ_E_FENCED,
			"epoch 2");
		CU_ASSERT_TRUE(rj_error_final(&r->t.err));
		CU_ASSERT_EQUAL(r->t.err.cause, RJ_CAUSE_TAKEN);
		CU_ASSERT_NOT_EQUAL(append(r), 0);
		CU_ASSERT_TRUE(rj_fallback_sink_step(r->s) < 0);
	}
	rj_fallback_sink_note_tail(r->s, rj_log_writer_tail(r->w), NULL);
	CU_ASSERT_EQUAL(puts_so_far(r), before);
	rj_fallback_facts(r->fallback, &now);
	CU_ASSERT_TRUE(same(&was, &now));
	/* the log is the newer writer's */
	T_WORKS(&r->t, t_append(&r->t, r->newer, 5, 1, 9));
	T_WORKS(&r->t, t_read(&r->t, NULL));
	CU_ASSERT_EQUAL(r->t.sum.tail.epoch, 2);
}

static void found_by_a_commit(void)
{
	struct rj_fallback_facts f;
	struct rig r;

	begin(&r);
	T_WORKS(&r.t, append(&r));
	overtake(&r);
	T_FAILS(&r.t, append(&r), RJ_E_FENCED, "epoch 2");
	rj_fallback_facts(r.fallback, &f);
	CU_ASSERT_EQUAL(f.state, RJ_FALLBACK_IDLE);
	it_is_over(&r);
	end(&r);
}

/* Neither the store nor the file took it; meanwhile its number went to the other
 * writer. */
static void found_by_a_retry(void)
{
	struct rig r;

	begin(&r);
	t_fault(&r.t, RJ_FAULT_PUT, RJ_FAULT_FAIL, 1, 1);
	r.no_file = true;
	CU_ASSERT_EQUAL(append(&r), -RJ_E_UNREACHABLE);
	CU_ASSERT_EQUAL(r.live.state, RJ_STATE_WAITING);
	overtake(&r);
	T_FAILS(&r.t, rj_fallback_sink_retry(r.s, &r.t.err), RJ_E_FENCED, "epoch 2");
	it_is_over(&r);
	end(&r);
}

/* What was acknowledged from the file meanwhile stays there. */
static void found_when_the_store_is_back(void)
{
	struct rj_fallback_facts f;
	struct rig r;
	int i;

	begin(&r);
	t_fault(&r.t, RJ_FAULT_PUT, RJ_FAULT_FAIL, 1, 0);
	for (i = 0; i < 3; i++)
		T_WORKS(&r.t, append(&r));
	CU_ASSERT_EQUAL(r.live.state, RJ_STATE_DEGRADED);
	overtake(&r);
	rj_fault_clear(r.t.store);
	CU_ASSERT_TRUE(rj_fallback_sink_step(r.s) < 0);
	rj_fallback_facts(r.fallback, &f);
	CU_ASSERT(f.state == RJ_FALLBACK_LOCAL && f.next == 2 && f.last == 4);
	it_is_over(&r);
	end(&r);
}

/* The store has everything, and the file cannot say so: it says so as soon as it can. */
static void said_later(void)
{
	struct rj_fallback_sink_stat st;
	struct rj_log_tail tail, noted;
	struct rig r;

	begin(&r);
	t_fault(&r.t, RJ_FAULT_PUT, RJ_FAULT_FAIL, 1, 0);
	T_WORKS(&r.t, append(&r));
	tail = *rj_log_writer_tail(r.w);
	T_WORKS(&r.t, rj_fallback_sink_note_tail(r.s, &tail, &r.t.err));
	rj_fallback_sink_stat(r.s, &st);
	CU_ASSERT(st.fallback.state == RJ_FALLBACK_LOCAL && st.remote == tail.sequence - 1);
	rj_fault_clear(r.t.store);
	r.no_file = true;
	while (r.live.state != RJ_STATE_ONLINE)
		rj_fallback_sink_step(r.s);
	T_FAILS(&r.t, rj_fallback_sink_note_tail(r.s, &tail, &r.t.err), RJ_E_IO, "made to fail");
	rj_fallback_sink_stat(r.s, &st);
	CU_ASSERT(st.fallback.state == RJ_FALLBACK_LOCAL && st.remote == tail.sequence);
	r.no_file = false;
	T_WORKS(&r.t, rj_fallback_sink_note_tail(r.s, &tail, &r.t.err));
	rj_fallback_sink_stat(r.s, &st);
	CU_ASSERT_EQUAL(st.fallback.state, RJ_FALLBACK_IDLE);
	rj_fallback_noted_tail(r.fallback, &noted);
	CU_ASSERT_EQUAL(noted.sequence, tail.sequence);
	end(&r);
}

/* ---- prefer=power ---- */

struct power {
	struct rj_energy disk, link;
	struct rj_energy_sums sums;
	struct rj_arbiter a;
	int64_t now_ns;
	unsigned ways[2]; /* decisions for the store, for the file */
};

/* One look of the arbiter, as its thread does it. */
static void look(struct rig *r, struct power *p)
{
	struct rj_fallback_sink_stat st;
	struct rj_energy_in e = {.disk = &p->disk, .link = &p->link, .local = p->a.local};
	struct rj_arbiter_in in = {.prefer = RJ_PREFER_POWER, .now_ns = p->now_ns};

	rj_fallback_sink_stat(r->s, &st);
	e.segments = st.segments;
	e.bytes = st.bytes;
	e.capacity = st.fallback.capacity;
	e.now_ns = p->now_ns;
	rj_energy_add(&p->sums, &e);
	in.file_j = p->sums.file_j;
	in.store_j = p->sums.store_j;
	if (st.fallback.state == RJ_FALLBACK_LOCAL)
		in.fill = (unsigned)(st.fallback.used * 1000 / st.fallback.capacity);
	p->a = rj_arbiter_next(&p->a, &in);
	p->ways[p->a.local]++;
	if (p->a.local)
		T_WORKS(&r->t, rj_fallback_sink_leave(r->s, &r->t.err));
	else
		rj_fallback_sink_back(r->s);
}

/* Whether the store answers or not: acknowledged is what one of the two has. */
static void acknowledged(struct rig *r, uint8_t fill)
{
	struct rj_fallback_sink_stat st;
	uint64_t last;

	memset(r->t.ring->data + 3 * T_BLOCK, fill, T_BLOCK);
	T_WORKS(&r->t, append(r));
	last = rj_log_writer_tail(r->w)->sequence;
	rj_fallback_sink_stat(r->s, &st);
	CU_ASSERT(st.remote >= last ||
		  (st.fallback.state == RJ_FALLBACK_LOCAL && st.fallback.last == last));
}

static void power_loses_nothing(void)
{
	struct power p = {.now_ns = 1};
	struct rig r;
	unsigned i;

	begin(&r);
	/* the disk for few segments, the link for many */
	CU_ASSERT_TRUE_FATAL(rj_energy_parse("awake=1W idle=5s", &p.disk));
	CU_ASSERT_TRUE_FATAL(rj_energy_parse("wakeup=12J awake=0.3W idle=5s", &p.link));
	look(&r, &p);
	for (i = 1; i <= 240; i++) {
		p.now_ns += (i / 60 % 2 ? 120 : 3) * 1000000000LL;
		/* away for 10 of each 25, whichever way the journal goes */
		if (i % 25 == 10)
			t_fault(&r.t, RJ_FAULT_ANY, i % 2 ? RJ_FAULT_FAIL : RJ_FAULT_LOST, 1, 0);
		else if (i % 25 == 20)
			rj_fault_clear(r.t.store);
		acknowledged(&r, (uint8_t)i);
		look(&r, &p);
		if (i % 3)
			rj_fallback_sink_step(r.s);
	}
	printf("# %u times the store, %u times the file\n", p.ways[0], p.ways[1]);
	CU_ASSERT(p.ways[0] > 40 && p.ways[1] > 40);
	CU_ASSERT(r.live.state != RJ_STATE_FENCED && r.live.state != RJ_STATE_FAILED);
	rj_fault_clear(r.t.store);
	rj_fallback_sink_back(r.s);
	for (i = 0; i < 400 && r.live.state != RJ_STATE_ONLINE; i++)
		rj_fallback_sink_step(r.s);
	CU_ASSERT_EQUAL(r.live.state, RJ_STATE_ONLINE);
	T_WORKS(&r.t, t_read(&r.t, NULL));
	CU_ASSERT_EQUAL(r.t.count, 241); /* the fence, and each in its turn */
	CU_ASSERT_TRUE(t_same_ring(&r.t));
	end(&r);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(power_loses_nothing),
		RJTEST(found_by_a_commit),
		RJTEST(found_by_a_retry),
		RJTEST(found_when_the_store_is_back),
		RJTEST(said_later),
	};
	int status = RJTEST_RUN("fallback-sink", tests);

	t_store_done();
	return status;
}
