// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "log/raw-log.h"
#include "log/ring.h"
#include "support/rjtest.h"

#define BLOCK  1024
#define BLOCKS 20

static struct rj_ring *ring;
static uint8_t bytes[BLOCKS * BLOCK];

static int apply(uint64_t sequence, uint32_t flags, uint32_t block,
	uint32_t count, uint8_t fill)
{
	struct rj_seg_run run = {block, count};
	struct rj_segment seg = {
		.header = {.kind = RJ_SEG_DATA,
			.flags = flags,
			.sequence = sequence},
		.body = {.block_size = BLOCK,
			.journal_blocks = BLOCKS,
			.run_count = 1},
		.runs = &run,
		.blocks = bytes,
		.block_count = count,
	};

	memset(bytes, fill, sizeof(bytes));
	return rj_ring_apply(ring, &seg, NULL);
}

static void fresh(void)
{
	rj_ring_free(ring);
	CU_ASSERT_EQUAL_FATAL(rj_ring_new(BLOCK, BLOCKS, &ring, NULL), 0);
}

static void sizes(void)
{
	struct rj_ring *r = NULL;
	struct rj_error err;

	CU_ASSERT_EQUAL(rj_ring_new(512, 10, &r, &err), -RJ_E_INVAL);
	CU_ASSERT_EQUAL(rj_ring_new(3000, 10, &r, &err), -RJ_E_INVAL);
	CU_ASSERT_EQUAL(rj_ring_new(131072, 10, &r, &err), -RJ_E_INVAL);
	CU_ASSERT_EQUAL(rj_ring_new(4096, 0, &r, &err), -RJ_E_INVAL);
	CU_ASSERT_PTR_NULL(r);
	rj_ring_free(NULL);
	/* 10 GiB: only what is written costs memory */
	CU_ASSERT_EQUAL_FATAL(rj_ring_new(4096, 2621440, &r, &err), 0);
	r->data[4096ull * 2621440 - 1] = 1;
	CU_ASSERT_EQUAL(r->data[5000000000], 0);
	CU_ASSERT_EQUAL(r->seq[2621439], 0);
	rj_ring_free(r);
}

/* More than the memory that it may take: in a file, and otherwise the same. */
static void spills(void)
{
	struct rj_ring *plain = ring;

	ring = NULL;
	CU_ASSERT_EQUAL_FATAL(rj_ring_new_bounded(BLOCK, BLOCKS,
				      BLOCKS * BLOCK, &ring, NULL), 0);
	CU_ASSERT_EQUAL(ring->spill_fd, -1);
	rj_ring_free(ring);
	setenv("TMPDIR", "/nonexistent", 1);
	CU_ASSERT_EQUAL_FATAL(rj_ring_new_bounded(BLOCK, BLOCKS,
				      BLOCKS * BLOCK - 1, &ring, NULL), 0);
	CU_ASSERT_EQUAL(ring->spill_fd, -1);
	rj_ring_free(ring);
	setenv("TMPDIR", ".", 1); /* the build tree: on a disk */
	CU_ASSERT_EQUAL_FATAL(rj_ring_new_bounded(BLOCK, BLOCKS,
				      BLOCKS * BLOCK - 1, &ring, NULL), 0);
	unsetenv("TMPDIR");
	CU_ASSERT_TRUE(ring->spill_fd >= 0);
	CU_ASSERT_EQUAL(apply(1, 0, 3, 2, 0x11), 0);
	CU_ASSERT_EQUAL(ring->data[4 * BLOCK], 0x11);
	CU_ASSERT_EQUAL(ring->data[5 * BLOCK], 0);
	CU_ASSERT_EQUAL(apply(2, RJ_SEG_F_BASE, 10, 1, 0x22), 0);
	CU_ASSERT_EQUAL(ring->data[4 * BLOCK], 0);
	CU_ASSERT_EQUAL(ring->data[10 * BLOCK], 0x22);
	CU_ASSERT_EQUAL(ring->seq[4], 0);
	rj_ring_free(ring);
	ring = plain;
}

static void applies(void)
{
	struct rj_segment other = {.header = {.kind = RJ_SEG_DATA},
		.body = {.block_size = BLOCK, .journal_blocks = BLOCKS + 1}};

	fresh();
	CU_ASSERT_EQUAL(apply(7, 0, 3, 2, 0xAA), 0);
	CU_ASSERT_EQUAL(apply(8, 0, 4, 1, 0xBB), 0);
	CU_ASSERT_EQUAL(ring->data[3 * BLOCK], 0xAA);
	CU_ASSERT_EQUAL(ring->data[4 * BLOCK - 1], 0xAA);
	CU_ASSERT_EQUAL(ring->data[4 * BLOCK], 0xBB);
	CU_ASSERT_EQUAL(ring->data[5 * BLOCK], 0);
	CU_ASSERT_EQUAL(ring->seq[2], 0);
	CU_ASSERT_EQUAL(ring->seq[3], 7);
	CU_ASSERT_EQUAL(ring->seq[4], 8);
	CU_ASSERT_EQUAL(rj_ring_apply(ring, &other, NULL), -RJ_E_CORRUPT);
	other.header.kind = RJ_SEG_FENCE;
	CU_ASSERT_EQUAL(rj_ring_apply(ring, &other, NULL), 0);
	/* a base stands alone */
	CU_ASSERT_EQUAL(apply(9, RJ_SEG_F_BASE, 1, 1, 0xCC), 0);
	CU_ASSERT_EQUAL(ring->data[BLOCK], 0xCC);
	CU_ASSERT_EQUAL(ring->data[3 * BLOCK], 0);
	CU_ASSERT_EQUAL(ring->seq[3], 0);
	CU_ASSERT_EQUAL(ring->seq[1], 9);
}

static void oldest_needed(void)
{
	uint32_t b;

	fresh();
	/* first 2, last 18; superblock in block 1 */
	CU_ASSERT_EQUAL(rj_ring_oldest(ring, 1, 2, 18, 0, 0), 0);
	for (b = 0; b < BLOCKS; b++)
		ring->seq[b] = 100 + b;
	ring->seq[0] = 0; /* never written */
	CU_ASSERT_EQUAL(rj_ring_oldest(ring, 1, 2, 18, 0, 0), 101);
	ring->seq[1] = 500;
	CU_ASSERT_EQUAL(rj_ring_oldest(ring, 1, 2, 18, 0, 0), 500);
	CU_ASSERT_EQUAL(rj_ring_oldest(ring, 1, 2, 18, 5, 9), 105);
	CU_ASSERT_EQUAL(rj_ring_oldest(ring, 1, 2, 18, 5, 6), 105);
	CU_ASSERT_EQUAL(rj_ring_oldest(ring, 1, 2, 18, 5, 5), 500);
	/* round the end: 15, 16, 17, 2, 3; 18 and 19 are fast commits */
	ring->seq[18] = ring->seq[19] = 1;
	CU_ASSERT_EQUAL(rj_ring_oldest(ring, 1, 2, 18, 15, 4), 102);
	ring->seq[2] = 0;
	CU_ASSERT_EQUAL(rj_ring_oldest(ring, 1, 2, 18, 15, 4), 103);
	/* END as LAST is END as FIRST */
	CU_ASSERT_EQUAL(rj_ring_oldest(ring, 1, 2, 18, 15, 18), 115);
	CU_ASSERT_EQUAL(rj_ring_oldest(ring, 1, 2, 18, 15, 2), 115);
	/* nonsense: everything counts */
	CU_ASSERT_EQUAL(rj_ring_oldest(ring, 1, 2, 18, 19, 4), 1);
	CU_ASSERT_EQUAL(rj_ring_oldest(ring, 1, 2, 18, 1, 4), 1);
	CU_ASSERT_EQUAL(rj_ring_oldest(ring, 1, 2, 18, 4, 1000), 1);
	CU_ASSERT_EQUAL(rj_ring_oldest(ring, 99, 2, 18, 0, 0), 1);
}

static void bio_over_the_ring(void)
{
	struct rj_bio *bio;
	struct rj_error err;
	uint8_t b[BLOCK];

	fresh();
	CU_ASSERT_EQUAL(apply(7, 0, 3, 2, 0xAA), 0);
	bio = rj_ring_bio(ring, "the ring");
	CU_ASSERT_PTR_NOT_NULL_FATAL(bio);
	CU_ASSERT_EQUAL(bio->size_bytes, BLOCKS * BLOCK);
	CU_ASSERT_EQUAL(bio->read(bio, b, BLOCK, 3 * BLOCK, &err), 0);
	CU_ASSERT_EQUAL(b[0], 0xAA);
	memset(b, 0x11, BLOCK);
	CU_ASSERT_EQUAL(bio->write(bio, b, BLOCK, 9 * BLOCK, &err), 0);
	CU_ASSERT_EQUAL(ring->data[9 * BLOCK], 0x11);
	CU_ASSERT_EQUAL(
		bio->read(bio, b, BLOCK, BLOCKS * BLOCK, &err), -RJ_E_INVAL);
	rj_bio_free(bio);
}

/* The device of a raw log is as large as the log says: within limits. */
static void raw_limits(void)
{
	static const struct {
		uint32_t block_size, blocks;
		int rc;
	} cases[] = {
		{4096, 256, 0},
		{4096, 1048576, 0},
		{4096, 1048576 + 256, -RJ_E_CORRUPT},
		{4096, UINT32_MAX, -RJ_E_CORRUPT},
		{1024, 256, -RJ_E_CORRUPT},
		{65536, 256, -RJ_E_CORRUPT},
	};
	struct rj_seg_run run = {0, 1};
	static const uint8_t block[65536];
	struct rj_error err;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rj_raw_reading r = {0};
		struct rj_segment seg = {
			.header = {.kind = RJ_SEG_DATA, .sequence = 1},
			.body = {.block_size = cases[i].block_size,
				.journal_blocks = cases[i].blocks,
				.run_count = 1},
			.runs = &run,
			.blocks = block,
			.block_count = 1,
		};

		CU_ASSERT_EQUAL(rj_raw_take(&r, &seg, &err), cases[i].rc);
		CU_ASSERT_EQUAL(r.ring != NULL, !cases[i].rc);
		rj_ring_free(r.ring);
	}
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(sizes),
		RJTEST(spills),
		RJTEST(applies),
		RJTEST(oldest_needed),
		RJTEST(bio_over_the_ring),
		RJTEST(raw_limits),
	};
	int status = RJTEST_RUN("ring", tests);

	rj_ring_free(ring);
	return status;
}
