// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Implied revokes in the log of a large journal, as full of transactions as it
 * can be: 64 MiB, 1 GiB with RJ_LONG. Each transaction logs a block, a bitmap and
 * its descriptors; the bitmap frees the block of the transaction before. The log
 * is made while it is read. Prints the time; a test that is slow here has no bound
 * to fail by, but it shows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jbd2/jbd2.h"
#include "support/rjtest.h"
#include "util/bytes.h"

#define BS     4096u
#define FIRST  2u    /* block of the log proper */
#define TXN    5u    /* blocks of a transaction */
#define GROUP  32768u
#define USED   1024u /* blocks at a group's begin that are never free */
#define GROUPS 128u  /* that have their descriptors in one block */

static uint32_t spread; /* groups that the transactions take in turn */
static uint32_t txns;

/* The block that transaction T logs, and frees one later. */
static uint32_t data_of(uint32_t t)
{
	return t % spread * GROUP + USED + t / spread % (GROUP - USED);
}

static void put_header(uint8_t *b, uint32_t type, uint32_t t)
{
	rj_put_be32(b, 0xC03B3998u);
	rj_put_be32(b + 4, type);
	rj_put_be32(b + 8, 10 + t);
}

static void put_descs(uint8_t *b)
{
	uint32_t g;

	for (g = 0; g < GROUPS; g++, b += 32) {
		rj_put_le32(b, g * GROUP + 2);
		rj_put_le32(b + 4, g * GROUP + 3);
		rj_put_le32(b + 8, g * GROUP + 4);
		rj_put_le16(b + 12, 1);
	}
}

/* All in use, but for the block of the transaction of that group before T. */
static void put_bitmap(uint8_t *b, uint32_t t)
{
	uint32_t bit = t < spread ? GROUP - 1 : data_of(t - spread) % GROUP;

	memset(b, 0xFF, BS);
	b[bit / 8] &= (uint8_t) ~(1u << bit % 8);
}

static void make_block(uint8_t *b, uint32_t nr)
{
	uint32_t t = (nr - FIRST) / TXN, i;
	uint32_t tag[3] = {data_of(t), 1, data_of(t) / GROUP * GROUP + 2};

	memset(b, 0, BS);
	if (nr < FIRST || t >= txns)
		return;
	switch ((nr - FIRST) % TXN) {
	case 0:
		put_header(b, RJ_JBD2_DESCRIPTOR, t);
		for (i = 0; i < 3; i++) {
			rj_put_be32(b + 12 + 8 * i, tag[i]);
			rj_put_be16(b + 18 + 8 * i, i == 2 ? 10 : 2);
		}
		break;
	case 2:
		put_descs(b);
		break;
	case 3:
		put_bitmap(b, t);
		break;
	case 4:
		put_header(b, RJ_JBD2_COMMIT, t);
		rj_put_be64(b + 48, 1700000000 + t);
		break;
	}
}

static int log_read(struct rj_bio *bio, void *out, size_t len, uint64_t off,
	struct rj_error *err)
{
	uint8_t block[BS], uuid[RJ_UUID_BYTES] = {1};
	uint32_t nr;
	size_t n;

	(void)err;
	for (; len; len -= n, off += n, out = (uint8_t *)out + n) {
		nr = (uint32_t)(off / BS);
		make_block(block, nr);
		if (nr == 1) {
			rj_jbd2_sb_format_external(block, BS,
				(uint32_t)(bio->size_bytes / BS), uuid, uuid, 10);
			rj_put_be32(block + 0x1C, FIRST);
		}
		n = BS - off % BS < len ? BS - off % BS : len;
		memcpy(out, block + off % BS, n);
	}
	return 0;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void scan(uint32_t groups)
{
	struct rj_jbd2_scan_opts o = {.sb_block = 1,
		.fs_blocks = (uint64_t)GROUPS * GROUP,
		.groups = {0, GROUP, 0, 32, 1}};
	struct rj_bio log = {.read = log_read, .name = "log"};
	struct rj_jbd2_plan *plan = NULL;
	struct rj_error err;
	double begin = seconds();

	log.size_bytes = getenv("RJ_LONG") ? 1ull << 30 : 64ull << 20;
	spread = groups;
	txns = (uint32_t)(log.size_bytes / BS - FIRST) / TXN - 1;
	CU_ASSERT_EQUAL_FATAL(rj_jbd2_scan(&log, &o, &plan, &err), 0);
	printf("# %llu MiB, %u transactions, %u groups: %.2f s\n",
		(unsigned long long)log.size_bytes >> 20, txns, groups,
		seconds() - begin);
	CU_ASSERT_EQUAL(rj_jbd2_plan_info(plan)->transactions, txns);
	CU_ASSERT_EQUAL(rj_jbd2_plan_info(plan)->freed, txns - groups);
	rj_jbd2_plan_free(plan);
}

static void one_group(void)
{
	scan(1);
}

static void all_groups(void)
{
	scan(GROUPS);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(one_group),
		RJTEST(all_groups),
	};

	return RJTEST_RUN("jbd2 freed, large", tests);
}
