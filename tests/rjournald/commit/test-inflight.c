// SPDX-License-Identifier: GPL-2.0-or-later
/* A large commit is shipped in pieces while the kernel still writes it. */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "support/rjtest.h"
#include "util/environ.h"

/* So many blocks of tk's log make a segment of their own. */
#define PIECE (TK_BLOCKS / 16 + 1)

static int64_t now;

static int64_t the_time(void *arg)
{
	return now;
}

static void no_sleep(void *arg, int64_t ns)
{
	now += ns;
}

/* A put takes no time, however busy the machine is: what is worth a segment of
 * its own depends on that. */
static const struct rj_environ no_time = {
	.realtime_ns = the_time,
	.monotonic_ns = the_time,
	.sleep_ns = no_sleep,
	.random_bytes = tk_no_chance,
};

static void begin(struct tk *k, enum rj_on_loss on_loss)
{
	tk_start_ahead(k, rj_rule_unfinished, on_loss, false);
	tk_superblock(k, TK_FIRST, k->tid);
	CU_ASSERT_FATAL(k->sink->last == 2);
}

static struct rj_pipeline_stat stat_of(const struct tk *k)
{
	struct rj_pipeline_stat st;

	rj_pipeline_stat(k->p, &st);
	return st;
}

static void two_at_most_are_ahead(void)
{
	bool damaged;
	struct tk k;

	begin(&k, RJ_LOSS_BLOCK);
	tk_blocks(&k, PIECE - 2);
	CU_ASSERT(!rj_pipeline_step(k.p)); /* one block is missing */
	tk_blocks(&k, 3 * PIECE);
	/* two are under way, and the kernel was not held up for any of it */
	CU_ASSERT(k.sink->last == 2 && stat_of(&k).acked == 2);
	CU_ASSERT(stat_of(&k).pending == 4 * PIECE);
	CU_ASSERT(rj_pipeline_step(k.p) && k.sink->last == 3);
	CU_ASSERT(rj_pipeline_step(k.p) && k.sink->last == 4);
	CU_ASSERT(!rj_pipeline_step(k.p));
	/* it is accounted for with the next write */
	CU_ASSERT(stat_of(&k).acked == 2);
	tk_blocks(&k, 0);
	CU_ASSERT(stat_of(&k).acked == 4 && stat_of(&k).segments == 4);
	CU_ASSERT(k.sink->segments[3].run_count == 1 &&
		  k.sink->segments[3].runs[0].count == PIECE);
	CU_ASSERT(tk_commit(&k, true) == 0 && stat_of(&k).pending == 0);
	CU_ASSERT(k.sink->last == 6 && stat_of(&k).acked == 6);
	CU_ASSERT(tk_recover(&k, &damaged) == k.acked && !damaged);
	tk_stop(&k);
}

/* A commit is answered when all that is before it is there. */
static void a_commit_waits_for_all(void)
{
	bool damaged;
	struct tk k;

	begin(&k, RJ_LOSS_BLOCK);
	tk_blocks(&k, 2 * PIECE);
	CU_ASSERT(k.sink->last == 2);
	CU_ASSERT(tk_commit(&k, true) == 0 && k.sink->last == 5);
	CU_ASSERT(tk_recover(&k, &damaged) == k.acked && !damaged);
	/* as does the superblock, which says what is needed */
	tk_blocks(&k, PIECE);
	tk_superblock(&k, TK_FIRST, 5);
	CU_ASSERT(k.sink->last == 7);
	tk_stop(&k);
}

/* What is under way is read from the ring until it is there. */
static void what_is_under_way_stays(void)
{
	uint8_t other[TK_SIZE];
	struct tk k;

	begin(&k, RJ_LOSS_BLOCK);
	tk_blocks(&k, PIECE);
	CU_ASSERT(k.sink->last == 2);
	memset(other, 0x77, sizeof(other));
	tk_write(&k, TK_FIRST + PIECE + 5, other); /* another */
	CU_ASSERT(k.sink->last == 2);
	tk_write(&k, TK_FIRST + 5, other);
	CU_ASSERT_FATAL(k.sink->last == 3);
	CU_ASSERT(k.sink->segments[3].blocks[5 * TK_SIZE + 20] != 0x77);
	tk_stop(&k);
}

static void a_failure_ahead_ends_all(void)
{
	bool damaged;
	struct tk k;

	begin(&k, RJ_LOSS_BLOCK);
	CU_ASSERT(tk_transaction(&k, 3) == 0);
	tk_blocks(&k, 2 * PIECE);
	k.sink->fail[0] = RJ_E_FENCED;
	CU_ASSERT(rj_pipeline_step(k.p) && rj_pipeline_step(k.p));
	CU_ASSERT(k.sink->appends == 4); /* the second one was not tried */
	CU_ASSERT(tk_commit(&k, true) == -RJ_E_FENCED);
	CU_ASSERT(stat_of(&k).state == RJ_STATE_FENCED);
	CU_ASSERT(rj_pipeline_drain(k.p, NULL) == -RJ_E_FENCED);
	CU_ASSERT(tk_recover(&k, &damaged) == k.acked && !damaged);
	tk_stop(&k);
}

static void a_store_that_comes_back(void)
{
	bool damaged;
	struct tk k;

	begin(&k, RJ_LOSS_BLOCK);
	tk_blocks(&k, 2 * PIECE);
	k.sink->fail[0] = k.sink->fail[1] = RJ_E_UNREACHABLE;
	CU_ASSERT(rj_pipeline_step(k.p) && k.sink->retries == 2);
	CU_ASSERT(tk_commit(&k, true) == 0);
	CU_ASSERT(stat_of(&k).state == RJ_STATE_ONLINE);
	CU_ASSERT(tk_recover(&k, &damaged) == k.acked && !damaged);
	tk_stop(&k);
}

static int64_t slow_time(void *arg)
{
	return now += 5000000;
}

/* A put takes so long that a second one is not worth what it saves. */
static void a_store_far_away(void)
{
	static const struct rj_environ slow = {
		.realtime_ns = slow_time,
		.monotonic_ns = slow_time,
		.sleep_ns = no_sleep,
		.random_bytes = tk_no_chance,
	};
	struct tk k;

	rj_environ_set(&slow);
	begin(&k, RJ_LOSS_BLOCK);
	tk_blocks(&k, 2 * PIECE);
	CU_ASSERT(!rj_pipeline_step(k.p));
	tk_blocks(&k, 2 * PIECE); /* much is shipped early, whatever it takes */
	CU_ASSERT(k.sink->last == 2 && rj_pipeline_step(k.p));
	CU_ASSERT(tk_commit(&k, true) == 0 && k.sink->last == 4);
	tk_stop(&k);
	rj_environ_set(&no_time);
}

/* Two numbers that a worker which takes over needs: what was acknowledged, and
 * that what was under way is above it. */
static void numbers_are_above_what_is_there(void)
{
	struct tk k;
	uint32_t i;

	begin(&k, RJ_LOSS_BLOCK);
	tk_blocks(&k, 2 * PIECE);
	for (i = 0; i < 2 * PIECE; i++)
		CU_ASSERT(k.ring->seq[TK_FIRST + i] == 3 + i / PIECE);
	CU_ASSERT(k.ring->seq[TK_FIRST + i] == 0); /* pending */
	CU_ASSERT(tk_commit(&k, true) == 0);
	CU_ASSERT(k.ring->seq[TK_FIRST + i] == 5);
	tk_stop(&k);
}

static void what_may_not_wait_does_not(void)
{
	struct tk k;

	begin(&k, RJ_LOSS_BLOCK);
	/* half a block: the rule does not understand it, so it may not wait */
	CU_ASSERT(rj_pipeline_write(k.p, "x", 1, 9 * TK_SIZE, NULL) == 0);
	CU_ASSERT(k.sink->last == 3);
	tk_stop(&k);
}

static void chance_step(struct tk *k)
{
	if (random() % 40 == 0)
		rj_pipeline_step(k->p);
}

static bool rule_always(const struct rj_rule_in *in)
{
	return true;
}

/* Transactions of any size; after each one, recovered from what is there. */
static bool life_is_safe(rj_rule_fn rule, bool thread, unsigned steps)
{
	uint32_t begin_at, tid;
	bool damaged, safe = true;
	struct tk k;

	tk_start_ahead(&k, rule, RJ_LOSS_BLOCK, thread);
	k.meanwhile = thread ? NULL : chance_step;
	while (steps-- && safe) {
		begin_at = k.head;
		tid = k.tid;
		if (!k.start || random() % 3 == 0)
			tk_superblock(&k, begin_at, tid);
		if (k.start != begin_at)
			tk_blocks(&k, (uint32_t)random() % 30);
		else
			tk_blocks(&k, (uint32_t)random() % 500);
		tk_commit(&k, true);
		tk_superblock(&k, begin_at, tid);
		if (tk_recover(&k, &damaged) != k.acked || damaged || !k.good)
			safe = false;
	}
	tk_stop(&k);
	return safe;
}

static void any_size_is_safe(void)
{
	srandom((unsigned)rjtest_seed());
	CU_ASSERT(life_is_safe(rj_rule_unfinished, false, 1000));
	CU_ASSERT(!life_is_safe(rule_always, false, 1000));
}

static void so_it_is_with_a_thread(void)
{
	srandom((unsigned)rjtest_seed());
	CU_ASSERT(life_is_safe(rj_rule_unfinished, true, 1000));
}

static const struct rjtest tests[] = {
	RJTEST(two_at_most_are_ahead),
	RJTEST(a_commit_waits_for_all),
	RJTEST(what_is_under_way_stays),
	RJTEST(a_failure_ahead_ends_all),
	RJTEST(a_store_that_comes_back),
	RJTEST(a_store_far_away),
	RJTEST(numbers_are_above_what_is_there),
	RJTEST(what_may_not_wait_does_not),
	RJTEST(any_size_is_safe),
	RJTEST(so_it_is_with_a_thread),
};

int main(void)
{
	rj_environ_set(&no_time);
	return RJTEST_RUN("segments under way", tests);
}
