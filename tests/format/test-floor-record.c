// SPDX-License-Identifier: GPL-2.0-or-later
/* The local floor's record: as doc/floor.md has it; no flipped bit passes. */
#include <string.h>

#include "format/floor-record.h"
#include "format/table.h"
#include "support/rjtest.h"
#include "util/bytes.h"

static struct rj_floor_record sample(void)
{
	struct rj_floor_record r = {
		.generation = 0x0102030405060708, .epoch = 7, .sequence = 99};

	memset(r.journal_uuid, 0xA5, sizeof(r.journal_uuid));
	memset(r.chain, 0x5A, sizeof(r.chain));
	return r;
}

static void there_and_back(void)
{
	struct rj_floor_record a = sample(), b;
	uint8_t raw[RJ_FLOOR_BYTES];
	struct rj_error err;

	rj_floor_record_encode(&a, raw);
	CU_ASSERT_EQUAL_FATAL(rj_floor_record_decode(raw, &b, &err), 0);
	CU_ASSERT_EQUAL(b.generation, a.generation);
	CU_ASSERT_EQUAL(b.epoch, a.epoch);
	CU_ASSERT_EQUAL(b.sequence, a.sequence);
	CU_ASSERT_EQUAL(memcmp(b.journal_uuid, a.journal_uuid, 16), 0);
	CU_ASSERT_EQUAL(memcmp(b.chain, a.chain, sizeof(a.chain)), 0);
}

static void damaged(void)
{
	struct rj_floor_record a = sample(), b;
	uint8_t raw[RJ_FLOOR_BYTES];
	struct rj_error err;
	unsigned bit;

	rj_floor_record_encode(&a, raw);
	for (bit = 0; bit < 8 * RJ_FLOOR_BYTES; bit++) {
		raw[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CU_ASSERT_NOT_EQUAL(rj_floor_record_decode(raw, &b, &err), 0);
		raw[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	memset(raw, 0, sizeof(raw));
	CU_ASSERT_EQUAL(rj_floor_record_decode(raw, &b, &err), -RJ_E_NOTRJ);
	a.sequence = 0;
	rj_floor_record_encode(&a, raw);
	CU_ASSERT_EQUAL(rj_floor_record_decode(raw, &b, &err), -RJ_E_CORRUPT);
}

static void document_says_the_same(void)
{
	struct rj_floor_record r = sample();
	uint8_t raw[RJ_FLOOR_BYTES];
	struct row rows[16];
	unsigned n = read_table("floor.md", "## Record", rows, 16);

	CU_ASSERT_EQUAL_FATAL(n, 8);
	rj_floor_record_encode(&r, raw);
	check_cover(rows, n, RJ_FLOOR_BYTES);
	CU_ASSERT_EQUAL(memcmp(raw, "RJFLOOR1", 8), 0);
	CU_ASSERT_EQUAL(rj_get_le64(raw + rows[1].offset), r.generation);
	CU_ASSERT_EQUAL(raw[rows[2].offset], 0xA5);
	CU_ASSERT_EQUAL(rj_get_le64(raw + rows[3].offset), r.epoch);
	CU_ASSERT_EQUAL(rj_get_le64(raw + rows[4].offset), r.sequence);
	CU_ASSERT_EQUAL(raw[rows[5].offset], 0x5A);
	CU_ASSERT_EQUAL(raw[rows[6].offset - 1], 0x5A);
	CU_ASSERT_EQUAL(raw[rows[6].offset], 0);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(there_and_back),
		RJTEST(damaged),
		RJTEST(document_says_the_same),
	};

	return RJTEST_RUN("floorrec", tests);
}
