// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A segment that was begun before its last block was there is, byte for byte,
 * the one that is sealed in one go: when all came as foreseen, and when
 * anything at all came otherwise.
 */
#include <stdlib.h>
#include <string.h>

#include "draft.h"
#include "segment/begun.h"
#include "support/rjtest.h"

#define BLOCK  1024
#define BLOCKS 32

static uint8_t ring[BLOCKS * BLOCK];
static struct rj_digest_begun begun;

static struct rj_seg_draft draft_of(const struct rj_seg_run *runs, uint32_t n)
{
	return seg_draft(runs, n, ring, BLOCKS);
}

static void fill_ring(unsigned seed)
{
	size_t i;

	for (i = 0; i < sizeof(ring); i++)
		ring[i] = (uint8_t)((i * 7 + i / BLOCK) * 31 + seed);
}

/* Is D sealed with what was begun the same as without, and can be opened?
 * USED: was what was begun of use. */
static bool same(const struct rj_seg_draft *d, bool *used)
{
	uint8_t chain_a[RJ_SEG_HASH_BYTES], chain_b[RJ_SEG_HASH_BYTES];
	struct rj_buf a = {0}, b = {0};
	struct rj_seg_draft with = *d;
	struct rj_segment seg;
	bool good;

	with.begun = &begun;
	good = !rj_segment_seal(d, &a, chain_a, NULL) &&
	       !rj_segment_seal(&with, &b, chain_b, NULL);
	*used = good && !begun.begun;
	good = good && a.len == b.len && !memcmp(a.data, b.data, a.len) &&
	       !memcmp(chain_a, chain_b, sizeof(chain_a));
	if (good && !d->key) {
		good = !rj_segment_open(b.data, b.len, &seg, NULL);
		rj_segment_release(&seg);
	}
	rj_buf_free(&a);
	rj_buf_free(&b);
	return good;
}

static void begin(const struct rj_seg_draft *d)
{
	CU_ASSERT_EQUAL(rj_segment_seal_begin(d, &begun, NULL), 0);
}

static void what_was_foreseen_is_used(void)
{
	struct rj_seg_run runs[] = {{2, 1}, {5, 9}};
	struct rj_seg_draft d = draft_of(runs, 2);
	bool used;
	int i;

	for (i = 0; i < 3; i++) {
		fill_ring(1);
		begin(&d);
		CU_ASSERT_TRUE(begun.begun);
		memset(ring + 13 * BLOCK, 0x40 + i, BLOCK); /* the last one */
		CU_ASSERT_TRUE(same(&d, &used));
		CU_ASSERT_TRUE(used);
	}
	/* it serves once */
	CU_ASSERT_TRUE(same(&d, &used));
}

static void every_other_byte_is_noticed(void)
{
	struct rj_seg_run runs[] = {{2, 1}, {5, 3}};
	struct rj_seg_draft d = draft_of(runs, 2);
	bool used;
	size_t i;

	for (i = 2 * BLOCK; i < 7 * BLOCK; i += i % 61 + 1) {
		fill_ring(2);
		begin(&d);
		ring[i] ^= 0x10;
		CU_ASSERT_TRUE(same(&d, &used));
		/* blocks 3 and 4 are in no run */
		CU_ASSERT_EQUAL(used, i >= 3 * BLOCK && i < 5 * BLOCK);
	}
}

static void another_segment_is_noticed(void)
{
	struct rj_seg_run runs[] = {{2, 1}, {5, 3}}, more[] = {{2, 1}, {5, 4}};
	struct rj_seg_run less[] = {{2, 1}, {5, 2}}, one[] = {{5, 3}};
	struct rj_seg_draft d = draft_of(runs, 2), other[7];
	unsigned i;
	bool used;

	for (i = 0; i < 7; i++)
		other[i] = d;
	other[0].header.sequence++;
	other[1].header.time_ns++;
	other[2].body.last_tid++;
	other[2].body.tid_count++;
	other[3].header.prev_chain[31] ^= 1;
	other[4].runs = more;
	other[5].runs = less;
	other[6].runs = one;
	other[6].run_count = 1;
	fill_ring(3);
	for (i = 0; i < 7; i++) {
		begin(&d);
		CU_ASSERT_TRUE(same(&other[i], &used));
		CU_ASSERT_FALSE(used);
	}
}

static void not_begun_where_it_saves_nothing(void)
{
	struct rj_seg_run runs[] = {{5, 3}};
	struct rj_seg_draft d = draft_of(runs, 1);
	bool used;

	d.compress = true;
	begin(&d);
	CU_ASSERT_FALSE(begun.begun);
	CU_ASSERT_TRUE(same(&d, &used));
	d.compress = false;
	runs[0].block = BLOCKS - 2;
	CU_ASSERT_EQUAL(rj_segment_seal_begin(&d, &begun, NULL), -RJ_E_INVAL);
	CU_ASSERT_FALSE(begun.begun);
	rj_digest_release(&begun);
}

static const struct rjtest tests[] = {
	RJTEST(what_was_foreseen_is_used),
	RJTEST(every_other_byte_is_noticed),
	RJTEST(another_segment_is_noticed),
	RJTEST(not_begun_where_it_saves_nothing),
};

int main(void)
{
	return RJTEST_RUN("begun", tests);
}
