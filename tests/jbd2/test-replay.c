// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Property test: random logs (logmaker.c), scanned and replayed, against the
 * naive model. RJ_JBD2_CASES: how many (400).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2.h"
#include "jbd2/logmaker.h"
#include "support/rjtest.h"

static const uint8_t uuid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static unsigned long cases(unsigned long normal)
{
	const char *s = getenv("RJ_JBD2_CASES");

	return s ? strtoul(s, NULL, 0) : normal;
}

static void random_params(struct lm_params *p, uint64_t seed)
{
	static const uint32_t sizes[] = {1024, 1024, 2048, 4096, 4096, 65536};
	uint64_t r = seed;

	memset(p, 0, sizeof(*p));
	p->seed = seed;
	p->block_size = sizes[lm_rand(&r) % 6];
	p->maxlen = p->block_size == 65536 ? 40 + (uint32_t)(lm_rand(&r) % 40)
					   : 40 + (uint32_t)(lm_rand(&r) % 500);
	p->sb_block = (uint32_t)(lm_rand(&r) % 3);
	p->first = p->sb_block + 1;
	p->targets = 4 + (uint32_t)(lm_rand(&r) % 40);
	if (p->maxlen < 120)
		p->targets = 6;
	p->target = 10;
	memcpy(p->uuid, uuid, 16);
	lm_shuffle(p);
	if (p->maxlen < 120 && p->tags > 8)
		p->tags = 8;
	p->partial_commits = lm_rand(&r) % 3 == 0;
}

static void check_info(const struct lm_log *l, const struct rj_jbd2_info *i)
{
	CU_ASSERT_FALSE(i->empty);
	CU_ASSERT_EQUAL(i->damage, RJ_JBD2_SOUND);
	CU_ASSERT_EQUAL(i->first_tid, l->p.first_tid);
	CU_ASSERT_EQUAL(i->last_tid, l->last_tid);
	CU_ASSERT_EQUAL(i->next_tid, l->last_tid + 2);
	CU_ASSERT_EQUAL(i->transactions, l->transactions);
	CU_ASSERT_EQUAL(i->descriptors, l->descriptors);
	CU_ASSERT_EQUAL(i->tags, l->tags);
	CU_ASSERT_EQUAL(i->revokes, l->revokes);
	CU_ASSERT_EQUAL(i->escapes, l->escapes);
	CU_ASSERT_EQUAL(i->end_block, l->end);
	CU_ASSERT_EQUAL(i->suppressed + i->duplicates + i->blocks, i->tags);
	if (l->end != l->p.first) /* exactly at the ring's end: either */
		CU_ASSERT_EQUAL(i->wrapped, l->wrapped);
	if (l->transactions) {
		CU_ASSERT_EQUAL(i->first_commit_ns, l->first_commit_ns);
		CU_ASSERT_EQUAL(i->last_commit_ns, l->last_commit_ns);
	}
}

struct seen {
	const struct lm_log *l;
	uint32_t n;
	uint64_t tags, revokes, blocks, suppressed;
};

/* Copies of transaction TID that are revoked, the slow way. */
static uint32_t cancelled_in(const struct lm_log *l, uint32_t tid)
{
	uint32_t i = tid - l->p.first_tid, j, n = 0;

	for (j = 0; j < l->txn[i].writes; j++)
		n += lm_cancelled(
			l, i, l->txn[i].write[j].target, l->transactions);
	return n;
}

static void see(void *arg, const struct rj_jbd2_transaction *t)
{
	struct seen *s = arg;

	CU_ASSERT_EQUAL(t->tid, s->l->p.first_tid + s->n);
	if (s->n == 0)
		CU_ASSERT_EQUAL(t->first_block, s->l->start);
	if (++s->n == s->l->transactions)
		CU_ASSERT_EQUAL(t->first_block, s->l->last_txn);
	s->tags += t->tags;
	s->revokes += t->revokes;
	s->blocks += t->blocks;
	s->suppressed += t->suppressed;
	CU_ASSERT_EQUAL(t->suppressed, cancelled_in(s->l, t->tid));
}

static void one_case(uint64_t seed)
{
	struct rj_jbd2_scan_opts opts = {0};
	struct rj_jbd2_plan *plan = NULL;
	struct rj_bio *log, *fs;
	struct rj_error err = {0};
	struct seen seen = {0};
	struct lm_params p;
	struct lm_log l;
	uint8_t *got, *want;
	size_t size, region;
	uint32_t distinct;
	uint64_t r = seed ^ 0xB04;
	char text[256];
	unsigned failed = CU_get_number_of_failures();
	bool either;

	random_params(&p, seed);
	lm_make(&p, &l);
	opts.born = lm_rand(&r) % 2 ? LM_BORN_TIME : 0;
	/* nothing tells which of the two journals this is */
	either = p.stale_ahead && !l.transactions && p.csum >= 2 && !opts.born;
	region = (size_t)p.target * p.block_size;
	size = (size_t)(p.target + p.targets) * p.block_size;
	got = malloc(size);
	want = malloc(size);
	memset(got, 0xA5, size);
	memset(want, 0xA5, size);
	distinct = lm_apply(&l, l.transactions, want + region);
	log = rj_bio_new_mem(l.bytes, l.len, "log");
	fs = rj_bio_new_mem(got, size, "volume");
	log->write = NULL;
	/* in memory; read twice; read once by the thread */
	if (seed % 3)
		log->map = NULL;
	opts.keep_bytes = seed % 3 == 2 ? 64u << 20 : 0;
	opts.sb_block = p.sb_block;
	opts.fs_blocks = p.target + p.targets;
	seen.l = &l;

	CU_ASSERT_EQUAL(rj_jbd2_scan(log, &opts, &plan, &err), 0);
	if (plan && either && rj_jbd2_plan_info(plan)->damage) {
		CU_ASSERT_EQUAL(rj_jbd2_plan_info(plan)->damage,
			RJ_JBD2_BAD_DESCRIPTOR);
		CU_ASSERT_EQUAL(rj_jbd2_plan_info(plan)->transactions, 0);
	} else if (plan) {
		check_info(&l, rj_jbd2_plan_info(plan));
		CU_ASSERT_EQUAL(rj_jbd2_plan_info(plan)->blocks, distinct);
		rj_jbd2_plan_each(plan, see, &seen);
		CU_ASSERT_EQUAL(seen.n, l.transactions);
		CU_ASSERT_EQUAL(seen.tags, l.tags);
		CU_ASSERT_EQUAL(seen.revokes, l.revokes);
		CU_ASSERT_EQUAL(seen.blocks, distinct);
		CU_ASSERT_EQUAL(
			seen.suppressed, rj_jbd2_plan_info(plan)->suppressed);
		CU_ASSERT_EQUAL(
			rj_jbd2_replay(plan, log, fs, NULL, NULL, &err), 0);
		CU_ASSERT_EQUAL(memcmp(got, want, size), 0);
	}
	if (CU_get_number_of_failures() != failed)
		printf("# %s: %s %s\n", lm_describe(&p, text), err.msg,
			plan ? rj_jbd2_plan_info(plan)->damage_text : "");
	rj_jbd2_plan_free(plan);
	rj_bio_free(log);
	rj_bio_free(fs);
	lm_free(&l);
	free(got);
	free(want);
}

static void random_logs_give_the_model(void)
{
	uint64_t seed = rjtest_seed();
	unsigned long n = cases(400), i;

	for (i = 0; i < n; i++)
		one_case(seed * 100000 + i);
}

/*
 * The good prefix when some copies are bad, the slow way: as long as a bad
 * copy before the cut is not revoked before the cut, cut before it.
 */
static uint32_t model_cut(const struct lm_log *l, const bool *bad)
{
	uint32_t cut = l->transactions, i, j, k;
	bool again = true;

	while (again) {
		again = false;
		for (i = 0, k = 0; i < l->transactions; i++)
			for (j = 0; j < l->txn[i].writes; j++, k++)
				if (i < cut && bad[k] &&
					!lm_cancelled(l, i,
						l->txn[i].write[j].target,
						cut)) {
					cut = i;
					again = true;
				}
	}
	return cut;
}

static void spoil(struct lm_log *l, bool *bad, uint64_t *r)
{
	uint32_t i, j, k = 0, one_in = 2 + (uint32_t)(lm_rand(r) % 100);

	for (i = 0; i < l->transactions; i++)
		for (j = 0; j < l->txn[i].writes; j++, k++) {
			bad[k] = lm_rand(r) % one_in == 0;
			if (bad[k])
				l->bytes[(size_t)l->txn[i].write[j].log *
						 l->p.block_size +
					 lm_rand(r) % l->p.block_size] ^= 8;
		}
}

static void one_spoilt_case(uint64_t seed)
{
	struct lm_params p = {
		.seed = seed,
		.block_size = 1024,
		.maxlen = 700,
		.first = 1,
		.csum = 3,
		.wide = seed & 1,
		.first_tid = 0u - (uint32_t)(seed % 20),
		.live = 40,
		.tags = 1 + (uint32_t)(seed % 9),
		.targets = 4 + (uint32_t)(seed % 13),
	};
	struct rj_jbd2_scan_opts opts = {.fs_blocks = p.targets};
	struct rj_jbd2_plan *plan = NULL;
	const struct rj_jbd2_info *info;
	struct rj_bio *log, *fs;
	struct rj_error err;
	struct lm_log l;
	uint8_t got[17 * 1024] = {0}, want[17 * 1024] = {0};
	uint64_t r = seed;
	uint32_t cut;
	bool *bad;

	lm_make(&p, &l);
	bad = calloc(l.tags + 1, sizeof(*bad));
	spoil(&l, bad, &r);
	cut = model_cut(&l, bad);
	lm_apply(&l, cut, want);
	log = rj_bio_new_mem(l.bytes, l.len, "log");
	fs = rj_bio_new_mem(got, (size_t)p.targets * 1024, "volume");
	CU_ASSERT_EQUAL_FATAL(rj_jbd2_scan(log, &opts, &plan, &err), 0);
	info = rj_jbd2_plan_info(plan);
	CU_ASSERT_EQUAL(info->transactions, cut);
	if (cut < l.transactions) {
		CU_ASSERT_EQUAL(info->damage, RJ_JBD2_BAD_DATA);
		CU_ASSERT_EQUAL(info->damage_tid, l.txn[cut].tid);
		CU_ASSERT_EQUAL(info->last_tid, l.txn[cut].tid - 1);
	} else {
		CU_ASSERT_EQUAL(info->damage, RJ_JBD2_SOUND);
	}
	/* past all that was seen, whatever is replayed */
	CU_ASSERT_TRUE((int32_t)(info->next_tid - l.last_tid) > 0);
	CU_ASSERT_EQUAL(rj_jbd2_replay(plan, log, fs, NULL, NULL, &err), 0);
	CU_ASSERT_EQUAL(memcmp(got, want, sizeof(got)), 0);
	rj_jbd2_plan_free(plan);
	rj_bio_free(log);
	rj_bio_free(fs);
	free(bad);
	lm_free(&l);
}

static void bad_copies_cut_the_log_before_them(void)
{
	uint64_t seed = rjtest_seed();
	unsigned long n = cases(300), i;

	for (i = 0; i < n; i++)
		one_spoilt_case(seed * 100000 + i);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(random_logs_give_the_model),
		RJTEST(bad_copies_cut_the_log_before_them),
	};

	return RJTEST_RUN("jbd2 replay", tests);
}
