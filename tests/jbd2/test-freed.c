// SPDX-License-Identifier: GPL-2.0-or-later
/* Implied revokes: what a logged block bitmap shows as free is not replayed. */
#include <string.h>

#include "jbd2/jbd2.h"
#include "support/rjtest.h"
#include "util/bytes.h"

#define BS	   1024u
#define LOG_BLOCKS 64u
#define FS_BLOCKS  129u /* two groups of 64, after the boot block */
#define DESCS	   2u
#define BITMAP	   4u /* of group 0; the inode bitmap and table after it */
#define BITMAP_1   7u /* of group 1, in group 0: flex_bg */
#define OTHER	   70u /* in group 1 */
#define FREED	   30u

static uint8_t log_bytes[LOG_BLOCKS * BS];
static uint32_t at, tid;
static struct rj_jbd2_groups groups;
static uint8_t bitmap[BS], desc[BS];

static uint8_t *block(uint32_t nr)
{
	return log_bytes + (size_t)nr * BS;
}

static void header(uint32_t nr, uint32_t type)
{
	rj_put_be32(block(nr), RJ_JBD2_MAGIC);
	rj_put_be32(block(nr) + 4, type);
	rj_put_be32(block(nr) + 8, tid);
}

static void begin(void)
{
	uint8_t uuid[RJ_UUID_BYTES] = {1};

	memset(log_bytes, 0, sizeof(log_bytes));
	rj_jbd2_sb_format_external(
		log_bytes, BS, LOG_BLOCKS, uuid, uuid, 10);
	rj_put_be32(log_bytes + 0x1C, 3); /* s_start: not empty */
	at = 3;
	tid = 10;
	groups = (struct rj_jbd2_groups){1, 64, 0, 32, DESCS};
	/* of group 0 all is in use but FREED and the block after it */
	memset(bitmap, 0xFF, BS);
	bitmap[(FREED - 1) / 8] &= (uint8_t) ~(3u << (FREED - 1) % 8);
	memset(desc, 0, BS);
	rj_put_le32(desc, BITMAP);
	rj_put_le32(desc + 4, BITMAP + 1);
	rj_put_le32(desc + 8, BITMAP + 2);
	rj_put_le16(desc + 12, 2);
	rj_put_le32(desc + 32, BITMAP_1);
	rj_put_le32(desc + 36, BITMAP_1 + 1);
	rj_put_le32(desc + 40, BITMAP_1 + 2);
}

/* A transaction with copies of these blocks, ended by 0. */
static void transaction(const uint32_t *blocks)
{
	uint32_t first = at, off = 12, i;
	uint8_t *data;

	header(at++, RJ_JBD2_DESCRIPTOR);
	for (i = 0; blocks[i]; i++, off += 8) {
		rj_put_be32(block(first) + off, blocks[i]);
		/* SAME_UUID, and LAST */
		rj_put_be16(block(first) + off + 6, blocks[i + 1] ? 2 : 10);
		data = block(at++);
		memset(data, (int)tid, BS);
		if (blocks[i] == BITMAP || blocks[i] == BITMAP_1)
			memcpy(data, bitmap, BS);
		if (blocks[i] == DESCS)
			memcpy(data, desc, BS);
	}
	header(at, RJ_JBD2_COMMIT);
	rj_put_be64(block(at++) + 48, 1700000000 + tid);
	tid++;
}

static void revoke(uint32_t nr)
{
	header(at, RJ_JBD2_REVOKE);
	rj_put_be32(block(at) + 12, 20);
	rj_put_be32(block(at++) + 16, nr);
	header(at, RJ_JBD2_COMMIT);
	rj_put_be64(block(at++) + 48, 1700000000 + tid);
	tid++;
}

/* What replay writes to block NR: the transaction's number; 0: nothing. */
static uint32_t replayed(uint32_t nr, uint64_t freed)
{
	struct rj_jbd2_scan_opts o = {
		.sb_block = 0, .fs_blocks = FS_BLOCKS, .groups = groups};
	struct rj_bio *log = rj_bio_new_mem(log_bytes, sizeof(log_bytes), "log");
	struct rj_jbd2_plan *plan = NULL;
	const struct rj_jbd2_info *i;
	uint8_t out[BS] = {0};
	struct rj_error err;
	int rc;

	CU_ASSERT_EQUAL_FATAL(rj_jbd2_scan(log, &o, &plan, &err), 0);
	i = rj_jbd2_plan_info(plan);
	CU_ASSERT_EQUAL(i->damage, RJ_JBD2_SOUND);
	CU_ASSERT_EQUAL(i->freed, freed);
	CU_ASSERT_EQUAL(
		i->suppressed + i->freed + i->duplicates + i->blocks, i->tags);
	rc = rj_jbd2_plan_read(plan, log, nr, out, &err);
	CU_ASSERT_TRUE(!rc || rc == -RJ_E_NOTFOUND);
	rj_jbd2_plan_free(plan);
	rj_bio_free(log);
	return out[0];
}

static const uint32_t data[] = {FREED, OTHER, 0}, only_data[] = {FREED, 0},
		      both[] = {DESCS, BITMAP, 0}, alone[] = {BITMAP, 0},
		      all[] = {FREED, DESCS, BITMAP, 0};

static void freed_later(void)
{
	begin();
	transaction(data);
	transaction(data);
	transaction(both);
	CU_ASSERT_EQUAL(replayed(FREED, 2), 0);
	CU_ASSERT_EQUAL(replayed(OTHER, 2), 11);
	CU_ASSERT_EQUAL(replayed(BITMAP, 2), 0xFF);
	groups.group_blocks = 0;
	CU_ASSERT_EQUAL(replayed(FREED, 0), 11);
}

static void freed_in_the_same_transaction(void)
{
	begin();
	transaction(all);
	CU_ASSERT_EQUAL(replayed(FREED, 1), 0);
}

/* Written, freed, written by its next owner: the old copy goes, the new stays. */
static void used_again(void)
{
	begin();
	transaction(data);
	transaction(both);
	transaction(only_data);
	CU_ASSERT_EQUAL(replayed(FREED, 1), 12);
	/* and in use at the end: what it was in between counts */
	bitmap[(FREED - 1) / 8] |= (uint8_t)(1u << (FREED - 1) % 8);
	rj_put_le16(desc + 12, 1);
	transaction(both);
	CU_ASSERT_EQUAL(replayed(FREED, 1), 12);
	begin();
	transaction(data);
	transaction(both);
	bitmap[(FREED - 1) / 8] |= (uint8_t)(1u << (FREED - 1) % 8);
	rj_put_le16(desc + 12, 1);
	transaction(both);
	CU_ASSERT_EQUAL(replayed(FREED, 1), 0);
}

/* A bitmap that something speaks against frees nothing. */
static void not_believed(void)
{
	begin();
	transaction(data);
	transaction(alone);
	CU_ASSERT_EQUAL(replayed(FREED, 0), 10);

	begin();
	rj_put_le16(desc + 12, 3);
	transaction(data);
	transaction(both);
	CU_ASSERT_EQUAL(replayed(FREED, 0), 10);

	begin();
	rj_put_le16(desc + 18, 2); /* BLOCK_UNINIT */
	transaction(data);
	transaction(both);
	CU_ASSERT_EQUAL(replayed(FREED, 0), 10);

	begin();
	bitmap[(BITMAP + 2 - 1) / 8] &= (uint8_t) ~(1u << (BITMAP + 2 - 1) % 8);
	rj_put_le16(desc + 12, 3);
	transaction(data);
	transaction(both);
	CU_ASSERT_EQUAL(replayed(FREED, 0), 10);

	begin();
	bitmap[0] &= 0xFD; /* block 2: the descriptors */
	rj_put_le16(desc + 12, 3);
	transaction(data);
	transaction(both);
	CU_ASSERT_EQUAL(replayed(FREED, 0), 10);
}

/* A log with revokes is of another mode, where they are complete. */
static void with_revokes(void)
{
	begin();
	transaction(data);
	transaction(both);
	revoke(OTHER);
	CU_ASSERT_EQUAL(replayed(FREED, 0), 10);
	CU_ASSERT_EQUAL(replayed(OTHER, 0), 0);
}

static void another_group_and_clusters(void)
{
	static const uint32_t other[] = {DESCS, BITMAP_1, 0};

	begin();
	bitmap[(FREED - 1) / 8] = 0xFF;
	bitmap[(OTHER - 65) / 8] &= (uint8_t) ~(1u << (OTHER - 65) % 8);
	rj_put_le16(desc + 32 + 12, 1);
	transaction(data);
	transaction(other);
	CU_ASSERT_EQUAL(replayed(OTHER, 1), 0);
	CU_ASSERT_EQUAL(replayed(FREED, 1), 10);

	begin(); /* a bit is four blocks: 29 to 32 */
	groups.cluster_bits = 2;
	memset(bitmap, 0xFF, BS);
	bitmap[0] &= 0x7F;
	rj_put_le16(desc + 12, 1);
	transaction(data);
	transaction(both);
	CU_ASSERT_EQUAL(replayed(FREED, 1), 0);
	CU_ASSERT_EQUAL(replayed(OTHER, 1), 10);
}

/* Geometry that cannot be is no geometry. */
static void impossible_geometry(void)
{
	static const struct rj_jbd2_groups bad[] = {
		{1, 64, 32, 32, DESCS},
		{1, 64, 0, 0, DESCS},
		{1, 64, 0, 48, DESCS},
		{1, BS * 8 + 1, 0, 32, DESCS},
		{FS_BLOCKS, 64, 0, 32, DESCS},
	};
	size_t i;

	begin();
	transaction(data);
	transaction(both);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		groups = bad[i];
		CU_ASSERT_EQUAL(replayed(FREED, 0), 10);
	}
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(freed_later),
		RJTEST(freed_in_the_same_transaction),
		RJTEST(used_again),
		RJTEST(not_believed),
		RJTEST(with_revokes),
		RJTEST(another_group_and_clusters),
		RJTEST(impossible_geometry),
	};

	return RJTEST_RUN("jbd2 freed", tests);
}
