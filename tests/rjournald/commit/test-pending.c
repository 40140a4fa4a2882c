// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "rjournald/commit/pending.h"
#include "support/rjtest.h"

#define BLOCKS 300

static void runs_are_maximal_and_ascending(void)
{
	struct rj_seg_run runs[BLOCKS];
	struct rj_pending p;

	CU_ASSERT_FATAL(rj_pending_init(&p, BLOCKS, NULL) == 0);
	CU_ASSERT(rj_pending_runs(&p, runs, BLOCKS) == 0);
	rj_pending_mark(&p, 63, 2);
	rj_pending_mark(&p, 65, 63);
	rj_pending_mark(&p, 299, 1);
	rj_pending_mark(&p, 0, 1);
	rj_pending_mark(&p, 64, 1);
	CU_ASSERT(p.count == 67);
	CU_ASSERT(rj_pending_runs(&p, runs, BLOCKS) == 3);
	CU_ASSERT(runs[0].block == 0 && runs[0].count == 1);
	CU_ASSERT(runs[1].block == 63 && runs[1].count == 65);
	CU_ASSERT(runs[2].block == 299 && runs[2].count == 1);
	rj_pending_clear(&p);
	CU_ASSERT(p.count == 0 && rj_pending_runs(&p, runs, BLOCKS) == 0);
	CU_ASSERT(!rj_pending_test(&p, 64));
	rj_pending_release(&p);
}

/* Against a plain array of flags. */
static void agrees_with_a_plain_array(void)
{
	struct rj_seg_run runs[BLOCKS];
	uint8_t model[BLOCKS], seen[BLOCKS];
	uint32_t i, n, b, c, round, sum;
	struct rj_pending p;

	srandom((unsigned)rjtest_seed());
	CU_ASSERT_FATAL(rj_pending_init(&p, BLOCKS, NULL) == 0);
	for (round = 0; round < 300; round++) {
		memset(model, 0, sizeof(model));
		for (i = 0; i < (uint32_t)random() % 20; i++) {
			b = (uint32_t)random() % BLOCKS;
			c = (uint32_t)random() % 70;
			c = b + c > BLOCKS ? BLOCKS - b : c;
			rj_pending_mark(&p, b, c);
			memset(model + b, 1, c);
		}
		memset(seen, 0, sizeof(seen));
		n = rj_pending_runs(&p, runs, BLOCKS);
		for (i = sum = 0; i < n; i++) {
			memset(seen + runs[i].block, 1, runs[i].count);
			sum += runs[i].count;
			if (i)
				CU_ASSERT(
					runs[i - 1].block + runs[i - 1].count <
					runs[i].block);
		}
		CU_ASSERT(memcmp(model, seen, BLOCKS) == 0 && sum == p.count);
		rj_pending_clear(&p);
	}
	rj_pending_release(&p);
}

static const struct rjtest tests[] = {
	RJTEST(runs_are_maximal_and_ascending),
	RJTEST(agrees_with_a_plain_array),
};

int main(void)
{
	return RJTEST_RUN("pending", tests);
}
