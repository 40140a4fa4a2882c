// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2.h"
#include "kernel.h"
#include "support/rjtest.h"
#include "util/environ.h"

static int64_t slept;
static struct rj_pipeline *to_abandon;

static int64_t clock_zero(void *arg)
{
	return slept;
}

static void sleep_fast(void *arg, int64_t ns)
{
	slept += ns;
	if (to_abandon && slept > 3600LL * 1000000000)
		rj_pipeline_abandon(to_abandon);
}

static const struct rj_environ no_time = {
	.realtime_ns = clock_zero,
	.monotonic_ns = clock_zero,
	.sleep_ns = sleep_fast,
	.random_bytes = tk_no_chance,
};

static void a_commit_is_one_segment(void)
{
	struct rj_pipeline_stat st;
	bool damaged;
	struct tk k;

	tk_start(&k, rj_rule_unfinished, RJ_LOSS_BLOCK);
	CU_ASSERT(k.sink->last == 1 && k.sink->segments[1].base);
	/* the first commit after a mount writes the superblock too */
	tk_superblock(&k, TK_FIRST, k.tid);
	tk_transaction(&k, 5);
	CU_ASSERT(k.sink->last == 3);
	CU_ASSERT(k.sink->segments[2].base);
	tk_transaction(&k, 5);
	tk_transaction(&k, 50);
	CU_ASSERT(k.good && k.sink->last == 5);
	CU_ASSERT(k.sink->segments[5].oldest == 2);
	CU_ASSERT(tk_recover(&k, &damaged) == k.acked && !damaged);
	rj_pipeline_stat(k.p, &st);
	CU_ASSERT(st.acked == 5 && st.pending == 0 && st.flushes_ordered == 2);
	CU_ASSERT(st.state == RJ_STATE_ONLINE && st.segments == 5);
	/* nothing pending: nothing to ship */
	CU_ASSERT(tk_flush(&k) == 0 && k.sink->last == 5);
	tk_stop(&k);
}

static void a_write_is_enough_without_a_cache(void)
{
	struct rj_pipeline_stat st;
	bool damaged;
	struct tk k;

	tk_start_through(&k, rj_rule_unfinished, RJ_LOSS_BLOCK);
	CU_ASSERT(k.sink->last == 1 && k.sink->segments[1].base);
	tk_superblock(&k, TK_FIRST, k.tid);
	CU_ASSERT(k.sink->last == 2); /* by the write alone */
	tk_blocks(&k, 5);
	CU_ASSERT(k.sink->last == 2); /* may wait for its commit block */
	tk_commit(&k, true);
	CU_ASSERT(k.sink->last == 3);
	CU_ASSERT(tk_recover(&k, &damaged) == k.acked && !damaged);
	tk_transaction(&k, 20);
	CU_ASSERT(k.good && k.sink->last == 4);
	rj_pipeline_stat(k.p, &st);
	CU_ASSERT(st.pending == 0 && st.flushes == 0);
	tk_stop(&k);
}

static void superblock_moves_oldest(void)
{
	bool damaged;
	struct tk k;

	tk_start(&k, rj_rule_unfinished, RJ_LOSS_BLOCK);
	tk_superblock(&k, TK_FIRST, k.tid);
	tk_transaction(&k, 5); /* segments 2, 3 */
	tk_transaction(&k, 5); /* 4; begins at block 10 */
	tk_transaction(&k, 5); /* 5; begins at block 17 */
	tk_superblock(&k, 17, 7);
	tk_flush(&k);
	CU_ASSERT(k.sink->last == 6 && k.sink->segments[6].oldest == 5);
	CU_ASSERT(!k.sink->segments[6].base);
	CU_ASSERT(tk_recover(&k, &damaged) == 7 && !damaged);
	/* an unfinished transaction shipped early keeps the log back */
	tk_blocks(&k, 5);
	rj_pipeline_drain(k.p, NULL); /* 7 */
	tk_superblock(&k, 24, 8);
	tk_flush(&k);
	CU_ASSERT(k.sink->last == 8 && k.sink->segments[8].oldest == 7);
	tk_commit(&k, true);
	CU_ASSERT(tk_recover(&k, &damaged) == 8 && !damaged);
	/* empty again */
	tk_superblock(&k, 0, 9);
	tk_flush(&k);
	CU_ASSERT(k.sink->segments[k.sink->last].base);
	CU_ASSERT(tk_recover(&k, &damaged) == 8 && !damaged);
	tk_stop(&k);
}

static void odd_writes_are_taken(void)
{
	uint8_t bytes[700];
	struct tk k;

	memset(bytes, 0x5a, sizeof(bytes));
	tk_start(&k, rj_rule_unfinished, RJ_LOSS_BLOCK);
	tk_superblock(&k, TK_FIRST, k.tid);
	tk_transaction(&k, 5);
	tk_blocks(&k, 5);
	CU_ASSERT(rj_pipeline_write(k.p, bytes, sizeof(bytes), 900 * 1024 + 512,
			  NULL) == 0);
	tk_flush(&k);
	/* not whole blocks: shipped at once */
	CU_ASSERT(k.sink->last == 4);
	CU_ASSERT(k.sink->segments[4].runs[1].block == 900 &&
		  k.sink->segments[4].runs[1].count == 2);
	/* and what follows is followed again */
	CU_ASSERT(tk_commit(&k, true) == 0 && tk_transaction(&k, 1) == 0);
	CU_ASSERT(k.sink->last == 6);
	CU_ASSERT(rj_pipeline_write(k.p, bytes, 512, 1024 * 1024 - 256, NULL) ==
		  -RJ_E_INVAL);
	CU_ASSERT(rj_pipeline_write(k.p, bytes, 1, ~0ULL, NULL) == -RJ_E_INVAL);
	tk_stop(&k);
}

static void much_is_shipped_early(void)
{
	bool damaged;
	struct tk k;

	tk_start(&k, rj_rule_unfinished, RJ_LOSS_BLOCK);
	tk_superblock(&k, TK_FIRST, k.tid);
	tk_blocks(&k, 600);
	CU_ASSERT(k.sink->last == 3); /* a quarter of the log at a time */
	CU_ASSERT(tk_flush(&k) == 0 && tk_commit(&k, true) == 0);
	CU_ASSERT(k.sink->last == 4);
	CU_ASSERT(tk_recover(&k, &damaged) == k.acked && !damaged);
	tk_stop(&k);
}

static uint32_t blocks_of(const struct tk_segment *s)
{
	uint32_t i, n = 0;

	for (i = 0; i < s->run_count; i++) {
		CU_ASSERT(s->runs[i].block + s->runs[i].count <= TK_BLOCKS);
		n += s->runs[i].count;
	}
	return n;
}

/* The kernel makes room for fast commits at mount, and takes it away after a
 * recovery. Live fast commits are in each segment with a superblock. */
static void fast_commits_come_and_go(void)
{
	uint8_t block[TK_SIZE] = {0};
	struct tk_segment *s;
	struct tk k;

	tk_start(&k, rj_rule_unfinished, RJ_LOSS_BLOCK);
	s = k.sink->segments;
	k.ring->data[TK_SB * TK_SIZE + 0x2b] |= RJ_JBD2_INCOMPAT_FAST_COMMIT;
	tk_superblock(&k, TK_FIRST, k.tid);
	tk_transaction(&k, 5);
	/* from the area's beginning to the last block written in it */
	tk_write(&k, TK_BLOCKS - 256 + 9, block);
	CU_ASSERT(tk_flush(&k) == 0 && blocks_of(&s[4]) == 1);
	tk_superblock(&k, TK_FIRST, k.tid - 1);
	tk_flush(&k);
	CU_ASSERT(k.sink->last == 5 && blocks_of(&s[5]) == TK_SB + 1 + 10);
	/* a commit block makes them stale */
	tk_transaction(&k, 1);
	tk_superblock(&k, TK_FIRST, k.tid - 2);
	tk_flush(&k);
	CU_ASSERT(k.sink->last == 7 && blocks_of(&s[7]) == TK_SB + 1);
	tk_write(&k, TK_BLOCKS - 1, block);
	k.ring->data[TK_SB * TK_SIZE + 0x2b] &= ~RJ_JBD2_INCOMPAT_FAST_COMMIT;
	tk_superblock(&k, TK_FIRST, k.tid - 2);
	tk_flush(&k);
	CU_ASSERT(k.good && k.sink->last == 8);
	CU_ASSERT(blocks_of(&s[8]) == TK_SB + 1 + 1);
	tk_stop(&k);
}

static void block_waits_for_the_store(void)
{
	struct rj_pipeline_stat st;
	struct tk k;

	rj_environ_set(&no_time);
	slept = 0;
	tk_start(&k, rj_rule_unfinished, RJ_LOSS_BLOCK);
	/* a full store is lost as well: room may come back */
	memcpy(k.sink->fail,
		((int[]){RJ_E_UNREACHABLE, RJ_E_NOSPACE, RJ_E_UNREACHABLE}),
		3 * sizeof(int));
	tk_superblock(&k, TK_FIRST, k.tid);
	CU_ASSERT(tk_transaction(&k, 3) == 0);
	CU_ASSERT(k.sink->retries == 3 && k.sink->appends == 3);
	CU_ASSERT(slept > 0);
	rj_pipeline_stat(k.p, &st);
	CU_ASSERT(st.state == RJ_STATE_ONLINE && st.acked == 3);
	tk_stop(&k);
	rj_environ_set(NULL);
}

/* Asked to give up while the store is away: an error, never an answer. */
static void abandon_ends_the_wait(void)
{
	struct tk_sink *sink;
	struct tk k;

	rj_environ_set(&no_time);
	slept = 0;
	tk_start(&k, rj_rule_unfinished, RJ_LOSS_BLOCK);
	sink = k.sink;
	to_abandon = k.p;
	/* more failures than fail[] holds: refilled by lost staying true */
	memcpy(sink->fail,
		((int[]){RJ_E_UNREACHABLE, RJ_E_UNREACHABLE, RJ_E_UNREACHABLE}),
		3 * sizeof(int));
	slept = 3600LL * 1000000000; /* the first pause abandons */
	tk_superblock(&k, TK_FIRST, k.tid);
	CU_ASSERT(tk_flush(&k) == -RJ_E_CANCELLED);
	CU_ASSERT(tk_flush(&k) == -RJ_E_CANCELLED);
	CU_ASSERT(tk_write(&k, 5, "") == -RJ_E_CANCELLED);
	CU_ASSERT(sink->retries == 0 && sink->appends == 2);
	to_abandon = NULL;
	tk_stop(&k);
	rj_environ_set(NULL);
}

static void error_fails_for_good(void)
{
	struct rj_pipeline_stat st;
	struct tk k;

	tk_start(&k, rj_rule_unfinished, RJ_LOSS_ERROR);
	memcpy(k.sink->fail, ((int[]){RJ_E_UNREACHABLE, RJ_E_UNREACHABLE}),
		2 * sizeof(int));
	tk_superblock(&k, TK_FIRST, k.tid);
	CU_ASSERT(tk_flush(&k) == -RJ_E_UNREACHABLE);
	CU_ASSERT(k.sink->retries == 1);
	/* the sink would work again, but nothing is acknowledged any more */
	CU_ASSERT(tk_flush(&k) == -RJ_E_UNREACHABLE);
	CU_ASSERT(rj_pipeline_drain(k.p, NULL) == -RJ_E_UNREACHABLE);
	CU_ASSERT(k.sink->retries == 1 && k.sink->appends == 2);
	rj_pipeline_stat(k.p, &st);
	CU_ASSERT(st.state == RJ_STATE_FAILED && st.acked == 1 && st.pending);
	tk_stop(&k);
}

static void fenced_fails_for_good(void)
{
	struct tk k;

	tk_start(&k, rj_rule_unfinished, RJ_LOSS_BLOCK);
	k.sink->fail[0] = RJ_E_FENCED;
	tk_superblock(&k, TK_FIRST, k.tid);
	CU_ASSERT(tk_flush(&k) == -RJ_E_FENCED);
	CU_ASSERT(tk_flush(&k) == -RJ_E_FENCED && k.sink->appends == 2);
	tk_stop(&k);
}

/* ---- a long random life, recovered from again and again ---- */

static bool rule_always(const struct rj_rule_in *in)
{
	return true;
}

struct life {
	struct tk k;
	uint32_t begins[8]; /* where the last transactions begin */
	uint32_t tids[8];
	unsigned n;
};

static void drop_oldest(struct life *l)
{
	l->n--;
	memmove(l->begins, l->begins + 1, l->n * sizeof(l->begins[0]));
	memmove(l->tids, l->tids + 1, l->n * sizeof(l->tids[0]));
}

static void live_once(struct life *l)
{
	struct tk *k = &l->k;
	uint32_t blocks = (uint32_t)random() % 100;

	if (!k->start)
		tk_superblock(k, k->head, k->tid);
	if (random() % 40 == 0 && l->n) {
		tk_superblock(k, 0, k->tid);
		tk_flush(k);
		l->n = 0;
		return;
	}
	if (l->n == 8 || (l->n > 1 && random() % 4 == 0)) {
		do {
			drop_oldest(l);
		} while (l->n > 4);
		tk_superblock(k, l->begins[0], l->tids[0]);
		if (random() % 2)
			tk_flush(k);
	}
	l->begins[l->n] = k->head;
	l->tids[l->n++] = k->tid;
	tk_blocks(k, blocks);
	if (random() % 3 == 0)
		tk_blocks(k, (uint32_t)random() % 20);
	if (random() % 20)
		tk_flush(k);
	tk_commit(k, random() % 10 != 0);
}

/* True if a recovery after every step found all that was acknowledged. */
static bool life_is_safe(rj_rule_fn rule, bool through, unsigned steps)
{
	struct life l = {.n = 0};
	bool damaged, safe = true;
	uint32_t tid;

	if (through)
		tk_start_through(&l.k, rule, RJ_LOSS_BLOCK);
	else
		tk_start(&l.k, rule, RJ_LOSS_BLOCK);
	while (steps-- && safe) {
		live_once(&l);
		tid = tk_recover(&l.k, &damaged);
		if (damaged || (int32_t)(tid - l.k.acked) < 0)
			safe = false;
	}
	if (!l.k.good)
		safe = false;
	tk_stop(&l.k);
	return safe;
}

static void no_acknowledged_commit_is_lost(void)
{
	srandom((unsigned)rjtest_seed());
	CU_ASSERT(life_is_safe(rj_rule_unfinished, false, 3000));
	CU_ASSERT(life_is_safe(rj_rule_unfinished, true, 3000));
}

/* The check above can fail. */
static void a_broken_rule_is_caught(void)
{
	srandom((unsigned)rjtest_seed());
	CU_ASSERT(!life_is_safe(rule_always, false, 3000));
	CU_ASSERT(!life_is_safe(rule_always, true, 3000));
}

static const struct rjtest tests[] = {
	RJTEST(a_commit_is_one_segment),
	RJTEST(a_write_is_enough_without_a_cache),
	RJTEST(superblock_moves_oldest),
	RJTEST(odd_writes_are_taken),
	RJTEST(much_is_shipped_early),
	RJTEST(fast_commits_come_and_go),
	RJTEST(block_waits_for_the_store),
	RJTEST(abandon_ends_the_wait),
	RJTEST(error_fails_for_good),
	RJTEST(fenced_fails_for_good),
	RJTEST(no_acknowledged_commit_is_lost),
	RJTEST(a_broken_rule_is_caught),
};

int main(void)
{
	return RJTEST_RUN("pipeline", tests);
}
