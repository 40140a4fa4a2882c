// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The commit rule, exhaustively over what one pending block can be (place,
 * magic, type, tid) and what is known, against a plain statement of the rule.
 */
#include <string.h>

#include "jbd2/jbd2.h"
#include "kernel.h"
#include "rjournald/commit/rule.h"
#include "support/rjtest.h"

#define FIRST 3
#define LAST  900 /* fast commits in [900, 1024) */
#define TID   100
#define START 500
#define END   700 /* live log [500, 700), running transaction from 700 */

static struct rj_ring *ring;
static struct rj_track track;

static uint8_t *block(uint32_t b)
{
	return ring->data + (size_t)b * TK_SIZE;
}

static void setup(void)
{
	CU_ASSERT_FATAL(rj_ring_new(TK_SIZE, TK_BLOCKS, &ring, NULL) == 0);
	track = (struct rj_track){.sb_block = TK_SB,
		.sb_good = true,
		.first = FIRST,
		.last = LAST,
		.maxlen = TK_BLOCKS,
		.start = START,
		.known = true,
		.running_tid = TID,
		.commit_end = END,
		.head_known = true,
		.head = END};
	tk_header(block(END), RJ_JBD2_DESCRIPTOR, TID);
}

static bool rule(bool partial, uint32_t b, uint32_t count)
{
	struct rj_seg_run run = {b, count};
	struct rj_rule_in in = {ring, &track, partial, &run, 1};

	return rj_rule_unfinished(&in);
}

static bool place_allowed(uint32_t b)
{
	return b >= FIRST && b < LAST && !(b >= START && b < END);
}

static void every_place_type_and_tid(void)
{
	static const uint32_t tids[] = {
		0, TID - 2, TID - 1, TID, TID + 1, 0x80000000u + TID, ~0u};
	uint32_t b, type, i;
	bool want, good = true;

	setup();
	for (b = 0; b < TK_BLOCKS; b++) {
		if (b == END)
			continue; /* always the descriptor */
		for (type = 0; type < 8; type++) {
			for (i = 0; i < sizeof(tids) / sizeof(*tids); i++) {
				tk_header(block(b), type, tids[i]);
				want = place_allowed(b) && tids[i] == TID &&
				       (type == RJ_JBD2_DESCRIPTOR ||
					       type == RJ_JBD2_REVOKE);
				if (rule(false, b, 1) != want ||
					rule(true, b, 1))
					good = false;
			}
		}
		memset(block(b), 0, 16);
		if (rule(false, b, 1) != place_allowed(b))
			good = false;
		memset(block(b), 0, 16);
	}
	CU_ASSERT(good);
	rj_ring_free(ring);
}

static void every_first_block(void)
{
	uint32_t type, tid;
	bool want, good = true;

	setup();
	for (type = 0; type < 8; type++) {
		for (tid = TID - 2; tid < TID + 3; tid++) {
			tk_header(block(END), type, tid);
			want = tid == TID && (type == 1 || type == 5);
			/* the pending block itself is harmless data */
			if (rule(false, END + 1, 1) != want ||
				rule(false, END, 2) != want)
				good = false;
		}
	}
	memset(block(END), 0, 16);
	CU_ASSERT(good && !rule(false, END + 1, 1));
	rj_ring_free(ring);
}

static void nothing_known_nothing_allowed(void)
{
	setup();
	CU_ASSERT(rule(false, END, 4));
	track.known = false;
	CU_ASSERT(!rule(false, END, 4));
	track.known = true;
	track.sb_good = false;
	CU_ASSERT(!rule(false, END, 4));
	rj_ring_free(ring);
}

static void one_bad_block_among_many(void)
{
	struct rj_seg_run runs[] = {{FIRST, 40}, {END, 100}};
	struct rj_rule_in in;
	uint32_t b;
	bool good = true;

	setup();
	in = (struct rj_rule_in){ring, &track, false, runs, 2};
	CU_ASSERT(rj_rule_unfinished(&in));
	for (b = END + 1; b < END + 100; b++) {
		tk_header(block(b), RJ_JBD2_COMMIT, TID);
		if (rj_rule_unfinished(&in))
			good = false;
		memset(block(b), 0, 16);
	}
	runs[1].count = LAST - END + 1; /* reaches into the fast commits */
	CU_ASSERT(good && !rj_rule_unfinished(&in));
	runs[1].count = LAST - END;
	CU_ASSERT(rj_rule_unfinished(&in));
	runs[0].block = TK_SB; /* the journal superblock */
	CU_ASSERT(!rj_rule_unfinished(&in));
	rj_ring_free(ring);
}

/* No live log before the running transaction: all of the log is room. */
static void empty_log_all_room(void)
{
	uint32_t b;
	bool good = true;

	setup();
	track.start = END;
	for (b = 0; b < TK_BLOCKS; b++)
		if (rule(false, b, 1) != (b >= FIRST && b < LAST))
			good = false;
	CU_ASSERT(good);
	rj_ring_free(ring);
}

static const struct rjtest tests[] = {
	RJTEST(every_place_type_and_tid),
	RJTEST(every_first_block),
	RJTEST(nothing_known_nothing_allowed),
	RJTEST(one_bad_block_among_many),
	RJTEST(empty_log_all_room),
};

int main(void)
{
	return RJTEST_RUN("rule", tests);
}
