// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A segment that was hashed ahead is, byte for byte, the one that is sealed in one go:
 * when all came as expected, and when anything came otherwise.
 */
#include <stdlib.h>
#include <string.h>

#include "draft.h"
#include "segment/hash-ahead.h"
#include "support/rjtest.h"

#define BLOCK  1024
#define BLOCKS 512

static uint8_t ring[BLOCKS * BLOCK];
static struct rj_hash_ahead ahead;

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

/* Is D sealed with AHEAD the same as without, and can it be opened? USED: was AHEAD of
 * use. */
static bool same(const struct rj_seg_draft *d, bool *used)
{
	uint8_t chain_a[RJ_SEG_HASH_BYTES], chain_b[RJ_SEG_HASH_BYTES];
	struct rj_buf a = {0}, b = {0};
	struct rj_seg_draft with = *d;
	bool was = ahead.ready, good;
	struct rj_segment seg;

	with.ahead = &ahead;
	good = !rj_segment_seal(d, &a, chain_a, NULL) &&
	       !rj_segment_seal(&with, &b, chain_b, NULL);
	*used = good && was && !ahead.ready;
	good = good && a.len == b.len && !memcmp(a.data, b.data, a.len) &&
	       !memcmp(chain_a, chain_b, sizeof(chain_a));
	if (good) {
		good = !rj_segment_open(b.data, b.len, &seg, NULL);
		rj_segment_release(&seg);
	}
	rj_buf_free(&a);
	rj_buf_free(&b);
	return good;
}

static void hash(const struct rj_seg_draft *d)
{
	CU_ASSERT_EQUAL(rj_segment_hash_ahead(d, &ahead, NULL), 0);
}

static void what_was_hashed_is_used_once(void)
{
	struct rj_seg_run runs[] = {{2, 1}, {5, 9}};
	struct rj_seg_draft d = draft_of(runs, 2);
	bool used;
	int i;

	for (i = 0; i < 3; i++) {
		fill_ring(1);
		hash(&d);
		CU_ASSERT_TRUE(ahead.ready);
		memset(ring + 13 * BLOCK, 0x40 + i, BLOCK); /* the last one */
		CU_ASSERT_TRUE(same(&d, &used));
		CU_ASSERT_TRUE(used);
	}
	CU_ASSERT_TRUE(same(&d, &used));
	CU_ASSERT_FALSE(used);
}

/* As when the kernel writes a block again after it was hashed. */
static void every_changed_byte_is_noticed(void)
{
	struct rj_seg_run runs[] = {{2, 1}, {5, 3}};
	struct rj_seg_draft d = draft_of(runs, 2);
	bool used;
	size_t i;

	for (i = 2 * BLOCK; i < 7 * BLOCK; i += i % 61 + 1) {
		fill_ring(2);
		hash(&d);
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
	struct rj_seg_run moved[] = {{2, 1}, {6, 3}};
	struct rj_seg_draft d = draft_of(runs, 2), other[10];
	unsigned i;
	bool used;

	for (i = 0; i < 10; i++)
		other[i] = d;
	other[0].header.sequence++;
	other[1].header.time_ns++;
	other[2].body.last_tid++;
	other[2].body.tid_count++;
	other[3].header.prev_chain[31] ^= 1;
	other[4].header.oldest++;
	other[5].header.flags |= RJ_SEG_F_MARKED;
	other[6].runs = more;
	other[7].runs = less;
	other[8].runs = one;
	other[8].run_count = 1;
	other[9].runs = moved;
	memset(ring, 0x77, sizeof(ring)); /* only the runs differ */
	for (i = 0; i < 10; i++) {
		hash(&d);
		CU_ASSERT_TRUE(same(&other[i], &used));
		CU_ASSERT_FALSE(used);
	}
}

static void nothing_is_hashed_where_it_saves_nothing(void)
{
	const uint8_t bytes[RJ_SEALKEY_BYTES] = {9};
	struct rj_seg_run runs[] = {{5, 3}}, most[] = {{5, 256}}, large[] = {{5, 257}};
	struct rj_seg_draft d = draft_of(runs, 1), with;
	struct rj_sealkey *key = NULL;
	bool used;

	with = d;
	with.compress = true;
	hash(&with);
	CU_ASSERT_FALSE(ahead.ready);
	CU_ASSERT_TRUE(same(&with, &used));
	CU_ASSERT_EQUAL(rj_sealkey_from_bytes(bytes, &key, NULL), 0);
	with = d;
	with.key = key;
	hash(&with);
	CU_ASSERT_FALSE(ahead.ready);
	rj_sealkey_free(key);
	with = d;
	with.runs = most;
	hash(&with);
	CU_ASSERT_TRUE(ahead.ready);
	with.runs = large;
	hash(&with);
	CU_ASSERT_FALSE(ahead.ready);
	with.run_count = 0;
	hash(&with);
	CU_ASSERT_FALSE(ahead.ready);
	hash(&d);
	runs[0].block = BLOCKS - 2;
	CU_ASSERT_EQUAL(rj_segment_hash_ahead(&d, &ahead, NULL), -RJ_E_INVAL);
	CU_ASSERT_FALSE(ahead.ready);
	rj_hash_ahead_release(&ahead);
}

static const struct rjtest tests[] = {
	RJTEST(what_was_hashed_is_used_once),
	RJTEST(every_changed_byte_is_noticed),
	RJTEST(another_segment_is_noticed),
	RJTEST(nothing_is_hashed_where_it_saves_nothing),
};

int main(void)
{
	return RJTEST_RUN("hash-ahead", tests);
}
