// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random writers on one log over a store that fails at random, against a
 * model that knows what was acknowledged. Time and randomness come from the
 * seed, so that a run can be repeated: RJ_SEED=n.
 */
#include <stdlib.h>
#include <string.h>

#include "log/common.h"
#include "log/seeded.h"
#include "support/treerules.h"
#include "util/environ.h"

#define WRITERS  3
#define STEPS    150
#define MAX_SEGS 512

/* What a segment is to hold: blocks of one value. */
struct payload {
	bool set;
	uint32_t block, count;
	uint8_t fill;
	bool base;
};

struct model {
	struct t_log t;
	struct rj_store *store[WRITERS]; /* a fault layer each */
	struct rj_log_writer *w[WRITERS];
	bool over[WRITERS]; /* it was told that it is fenced: sends no more */
	struct payload acked[MAX_SEGS]; /* by number: must be in the log */
	/* sent and not heard of: may be in the log */
	struct payload sent[WRITERS][MAX_SEGS];
	uint64_t last_acked; /* of fences too */
	uint64_t seen;       /* next number that the reader expects */
	unsigned bad;        /* segments that the model does not explain */
};

/* ---- a world made of the seed ---- */

static uint64_t random_state;

static uint32_t rnd(uint32_t below)
{
	random_state =
		random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % below;
}

/* ---- what may happen ---- */

static void arm(struct model *m, unsigned i)
{
	static const enum rj_fault_kind kinds[] = {
		RJ_FAULT_FAIL, RJ_FAULT_LOST, RJ_FAULT_PARTIAL};
	struct rj_fault f = {
		.op = (enum rj_fault_op)rnd(3),
		.kind = kinds[rnd(3)],
		.nth = 1 + rnd(4),
		.times = 1 + rnd(3),
		.code = rnd(5) ? RJ_E_UNREACHABLE : RJ_E_NOSPACE,
	};

	rj_fault_clear(m->store[i]);
	if (rnd(2) && rj_fault_add(m->store[i], &f))
		exit(99);
}

static bool plausible(int rc)
{
	return !rc || rc == -RJ_E_UNREACHABLE || rc == -RJ_E_NOSPACE ||
	       rc == -RJ_E_FENCED;
}

static void note_acked(struct model *m, unsigned i, uint64_t n)
{
	m->acked[n] = m->sent[i][n];
	if (n > m->last_acked)
		m->last_acked = n;
}

static void claim(struct model *m, unsigned i)
{
	struct rj_log_claim_opts o = {.retry_ms = 100};
	int rc;

	rj_log_writer_free(m->w[i]);
	m->w[i] = NULL;
	m->over[i] = false;
	rc = rj_log_claim(m->store[i], &m->t.id, &o, &m->w[i], &m->t.err);
	CU_ASSERT_TRUE(plausible(rc));
	if (!plausible(rc))
		printf("# claim: %s\n", m->t.err.msg);
	if (!rc && rj_log_writer_tail(m->w[i])->sequence > m->last_acked)
		m->last_acked = rj_log_writer_tail(m->w[i])->sequence;
}

static void append(struct model *m, unsigned i, bool base)
{
	struct payload p = {
		.set = true, .fill = (uint8_t)rnd(256), .base = base};
	struct rj_log_writer *w = m->w[i];
	struct rj_log_append a = {
		.body = {.block_size = T_BLOCK, .journal_blocks = T_BLOCKS},
		.run_count = 1,
		.ring = m->t.ring->data,
		.base = base,
	};
	struct rj_seg_run run;
	uint64_t n;
	int rc;

	p.block = rnd(T_BLOCKS);
	p.count = 1 + rnd(T_BLOCKS - p.block);
	run = (struct rj_seg_run){p.block, p.count};
	a.runs = &run;
	memset(m->t.ring->data + (size_t)p.block * T_BLOCK, p.fill,
		(size_t)p.count * T_BLOCK);
	n = rj_log_writer_tail(w)->sequence + 1;
	if (n >= MAX_SEGS)
		return;
	if (rj_log_pending(w)) {
		rc = rj_log_append(w, &a, &m->t.err);
		CU_ASSERT_EQUAL(rc, -RJ_E_INVAL);
		return;
	}
	if (!m->over[i])
		m->sent[i][n] = p;
	rc = rj_log_append(w, &a, &m->t.err);
	CU_ASSERT_TRUE(plausible(rc));
	CU_ASSERT_TRUE(!m->over[i] || rc == -RJ_E_FENCED);
	m->over[i] = rc == -RJ_E_FENCED;
	if (!rc)
		note_acked(m, i, n);
}

static void retry(struct model *m, unsigned i)
{
	struct rj_log_writer *w = m->w[i];
	uint64_t n = rj_log_writer_tail(w)->sequence + 1;
	bool pending = rj_log_pending(w);
	int rc = rj_log_retry(w, &m->t.err);

	m->over[i] |= rc == -RJ_E_FENCED;
	CU_ASSERT_TRUE(plausible(rc));
	if (!rc && pending)
		note_acked(m, i, n);
}

/* ---- what is read ---- */

static bool explains(const struct payload *p, const struct rj_segment *seg)
{
	uint64_t i;

	if (!p->set || seg->body.run_count != 1 ||
		seg->runs[0].block != p->block ||
		seg->runs[0].count != p->count ||
		p->base != !!(seg->header.flags & RJ_SEG_F_BASE))
		return false;
	for (i = 0; i < seg->block_count * T_BLOCK; i++)
		if (seg->blocks[i] != p->fill)
			return false;
	return true;
}

static int take(void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	struct model *m = arg;
	uint64_t n = seg->header.sequence;
	bool known = false;
	unsigned i;

	CU_ASSERT_TRUE_FATAL(n < MAX_SEGS);
	if (m->seen && n != m->seen)
		m->bad++;
	m->seen = n + 1;
	if (seg->header.kind == RJ_SEG_FENCE) {
		if (m->acked[n].set)
			m->bad++;
		return 0;
	}
	if (m->acked[n].set)
		known = explains(&m->acked[n], seg);
	else
		for (i = 0; i < WRITERS && !known; i++)
			known = explains(&m->sent[i][n], seg);
	if (!known) {
		printf("# segment %u is not what was written\n", (unsigned)n);
		m->bad++;
	}
	return 0;
}

/* False: the fault lasted longer than patience. */
static bool read_and_compare(struct model *m, unsigned i)
{
	struct rj_log_read_opts o = {.floor = m->last_acked, .retry_ms = 100};
	int rc;

	m->seen = 0;
	rc = rj_log_read(
		m->store[i], &m->t.id, &o, take, m, &m->t.sum, &m->t.err);
	if (rc == -RJ_E_UNREACHABLE || rc == -RJ_E_NOSPACE)
		return false;
	if (rc == -RJ_E_NOTFOUND && !m->last_acked)
		return true;
	CU_ASSERT_EQUAL(rc, 0);
	if (rc)
		printf("# read: %s\n", m->t.err.msg);
	CU_ASSERT_TRUE(m->t.sum.tail.sequence >= m->last_acked);
	CU_ASSERT_EQUAL(m->seen, m->t.sum.tail.sequence + 1);
	CU_ASSERT_EQUAL(m->bad, 0);
	return true;
}

static void step(struct model *m)
{
	unsigned i = rnd(WRITERS), what = rnd(100);

	arm(m, i);
	if (what < 6 || (!m->w[i] && what < 40))
		claim(m, i);
	else if (what < 50 && m->w[i])
		retry(m, i);
	else if (what < 52 && m->w[i]) {
		rj_log_writer_free(m->w[i]); /* it dies */
		m->w[i] = NULL;
	} else if (what < 94 && m->w[i])
		append(m, i, !rnd(20));
	else if (what >= 94)
		read_and_compare(m, i);
}

/* Whatever was, one more writer finds a log that it can go on with; where the way
 * itself is bad ($RJ_TEST_RETRY) not at once. */
static void one_more_writer(struct model *m)
{
	unsigned tries = getenv("RJ_TEST_RETRY") ? 100 : 1;

	do
		claim(m, 0);
	while (!m->w[0] && --tries);
	CU_ASSERT_PTR_NOT_NULL(m->w[0]);
	if (!m->w[0])
		return;
	append(m, 0, false);
	while (rj_log_pending(m->w[0]) && --tries)
		retry(m, 0);
	CU_ASSERT_FALSE(rj_log_pending(m->w[0]));
	while (!read_and_compare(m, 0) && --tries)
		;
	CU_ASSERT_EQUAL(m->last_acked, m->t.sum.tail.sequence);
}

static void run(unsigned *appended)
{
	static struct model m;
	unsigned i;

	memset(&m, 0, sizeof(m));
	t_log_begin(&m.t);
	treerules_calm(false);
	for (i = 0; i < WRITERS; i++)
		if (rj_fault_open(t_store(), &m.store[i], &m.t.err))
			exit(99);
	for (i = 0; i < STEPS; i++)
		step(&m);
	for (i = 0; i < WRITERS; i++)
		rj_fault_clear(m.store[i]);
	treerules_calm(true);
	read_and_compare(&m, 0);
	one_more_writer(&m);
	*appended += (unsigned)m.last_acked;
	for (i = 0; i < WRITERS; i++) {
		rj_log_writer_free(m.w[i]);
		rj_store_close(m.store[i]);
	}
	t_log_end(&m.t);
	t_store_done(); /* thousands of lives on one shelf would be slow */
}

static void random_lives_match_the_model(void)
{
	unsigned runs = getenv("RJ_TEST_STORE") ? 5 : 50, i, appended = 0;

	if (getenv("RJ_LIVES")) /* as many as you have time for */
		runs = (unsigned)atoi(getenv("RJ_LIVES"));
	random_state = rjtest_seed();
	fflush(stdout); /* known even if this run never ends */
	seeded_environ(rnd);
	for (i = 0; i < runs; i++)
		run(&appended);
	rj_environ_set(NULL);
	printf("# %u lives, %u segments\n", runs, appended);
	/* the faults must not have kept everything from happening */
	CU_ASSERT_TRUE(appended > runs * 10);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(random_lives_match_the_model),
	};
	int status = RJTEST_RUN("model", tests);

	t_store_done();
	return status;
}
