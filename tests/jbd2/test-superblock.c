// SPDX-License-Identifier: GPL-2.0-or-later
/* The journal superblock: decode, refuse, empty, format. */
#include <string.h>

#include "jbd2/jbd2.h"
#include "support/rjtest.h"
#include "util/bytes.h"
#include "util/crc32c.h"

static const uint8_t journal_uuid[RJ_UUID_BYTES] = {0x11, 0x22, 0x33};
static const uint8_t user_uuid[RJ_UUID_BYTES] = {0xaa, 0xbb, 0xcc};

/* Byte offsets are spelt out here, apart from those of the library. */
static void put(uint8_t *raw, unsigned off, uint32_t v)
{
	rj_put_be32(raw + off, v);
}

static void seal(uint8_t *raw)
{
	raw[0x50] = 4;
	put(raw, 0xFC, 0);
	put(raw, 0xFC, rj_crc32c(~0u, raw, RJ_JBD2_SB_BYTES));
}

static void fresh(uint8_t *raw)
{
	rj_jbd2_sb_format_external(raw, 4096, 4096, journal_uuid, user_uuid, 7);
}

static void format_external_bytes(void)
{
	static const struct {
		unsigned off;
		uint32_t value;
	} want[] = {
		{0x00, 0xC03B3998},
		{0x04, 4},
		{0x08, 0},
		{0x0C, 4096},
		{0x10, 4096},
		{0x14, 2},
		{0x18, 7},
		{0x1C, 0},
		{0x20, 0},
		{0x24, 0},
		{0x28, 0},
		{0x2C, 0},
		{0x40, 1},
		{0x50, 0},
		{0x58, 0},
		{0xFC, 0},
	};
	uint8_t raw[RJ_JBD2_SB_BYTES];
	unsigned i;

	memset(raw, 0xEE, sizeof(raw));
	fresh(raw);
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		CU_ASSERT_EQUAL(rj_get_be32(raw + want[i].off), want[i].value);
	CU_ASSERT_EQUAL(memcmp(raw + 0x30, journal_uuid, 16), 0);
	CU_ASSERT_EQUAL(memcmp(raw + 0x100, user_uuid, 16), 0);
	for (i = 0x110; i < sizeof(raw); i++)
		CU_ASSERT_EQUAL(raw[i], 0);
	rj_jbd2_sb_format_external(raw, 1024, 4096, journal_uuid, user_uuid, 1);
	CU_ASSERT_EQUAL(rj_get_be32(raw + 0x14), 3);
	CU_ASSERT_EQUAL(rj_jbd2_device_sb_block(1024), 2);
	CU_ASSERT_EQUAL(rj_jbd2_device_sb_block(2048), 1);
	CU_ASSERT_EQUAL(rj_jbd2_device_sb_block(65536), 1);
}

static void decode_takes_every_field(void)
{
	uint8_t raw[RJ_JBD2_SB_BYTES];
	struct rj_jbd2_sb sb;
	struct rj_error err;

	fresh(raw);
	put(raw, 0x1C, 99);
	put(raw, 0x20, (uint32_t)-5);
	put(raw, 0x28, 0x2 | 0x10 | 0x20);
	put(raw, 0x58, 1234);
	seal(raw);
	CU_ASSERT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), 0);
	CU_ASSERT_EQUAL(sb.version, 2);
	CU_ASSERT_EQUAL(sb.block_size, 4096);
	CU_ASSERT_EQUAL(sb.maxlen, 4096);
	CU_ASSERT_EQUAL(sb.first, 2);
	CU_ASSERT_EQUAL(sb.sequence, 7);
	CU_ASSERT_EQUAL(sb.start, 99);
	CU_ASSERT_EQUAL(sb.fs_errno, -5);
	CU_ASSERT_EQUAL(sb.incompat, 0x32);
	CU_ASSERT_EQUAL(sb.num_fc_blocks, 256);
	CU_ASSERT_EQUAL(sb.last, 4096 - 256);
	CU_ASSERT_EQUAL(sb.head, 1234);
	CU_ASSERT_EQUAL(sb.nr_users, 1);
	CU_ASSERT_EQUAL(memcmp(sb.users[0], user_uuid, 16), 0);
	CU_ASSERT_EQUAL(memcmp(sb.uuid, journal_uuid, 16), 0);
	put(raw, 0x54, 100);
	seal(raw);
	CU_ASSERT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), 0);
	CU_ASSERT_EQUAL(sb.num_fc_blocks, 100);
}

static void version_1_has_no_features(void)
{
	uint8_t raw[RJ_JBD2_SB_BYTES];
	struct rj_jbd2_sb sb;
	struct rj_error err;

	fresh(raw);
	put(raw, 0x04, 3);
	memset(raw + 0x24, 0xFF, RJ_JBD2_SB_BYTES - 0x24);
	CU_ASSERT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), 0);
	CU_ASSERT_EQUAL(sb.version, 1);
	CU_ASSERT_EQUAL(sb.incompat | sb.compat | sb.ro_compat, 0);
	CU_ASSERT_EQUAL(sb.last, 4096);
	CU_ASSERT_EQUAL(rj_jbd2_sb_make_empty(raw, 8, &err), 0);
	CU_ASSERT_EQUAL(rj_get_be32(raw + 0xFC), 0xFFFFFFFF);
}

static void decode_refuses(void)
{
	static const struct {
		unsigned off;
		uint32_t value;
		int rc;
	} cases[] = {
		{0x00, 0xC03B3999, -RJ_E_CORRUPT}, /* magic */
		{0x04, 1, -RJ_E_CORRUPT},          /* type */
		{0x0C, 512, -RJ_E_CORRUPT},        /* block size */
		{0x0C, 131072, -RJ_E_CORRUPT}, {0x0C, 5000, -RJ_E_CORRUPT},
		{0x0C, 0, -RJ_E_CORRUPT}, {0x10, 0, -RJ_E_CORRUPT}, /* maxlen */
		{0x10, 2, -RJ_E_CORRUPT}, {0x14, 0, -RJ_E_CORRUPT}, /* first */
		{0x14, 4096, -RJ_E_CORRUPT},
		{0x1C, 1, -RJ_E_CORRUPT}, /* start before first */
		{0x1C, 4096, -RJ_E_CORRUPT}, {0x28, 0x40, -RJ_E_UNSUPPORTED},
		{0x28, 0x80000000, -RJ_E_UNSUPPORTED},
		{0x2C, 1, -RJ_E_UNSUPPORTED},
		{0x28, 0x18, -RJ_E_CORRUPT}, /* v2 and v3 */
	};
	uint8_t raw[RJ_JBD2_SB_BYTES];
	struct rj_jbd2_sb sb;
	struct rj_error err;
	unsigned i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fresh(raw);
		put(raw, cases[i].off, cases[i].value);
		seal(raw);
		err.msg[0] = '\0';
		CU_ASSERT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), cases[i].rc);
		CU_ASSERT_NOT_EQUAL(err.msg[0], '\0');
		CU_ASSERT_EQUAL(
			rj_jbd2_sb_make_empty(raw, 9, &err), cases[i].rc);
	}
	fresh(raw);
	put(raw, 0x24, 1); /* v1 checksums with v3 */
	put(raw, 0x28, 0x10);
	seal(raw);
	CU_ASSERT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), -RJ_E_CORRUPT);
	fresh(raw);
	put(raw, 0x28, 0x20); /* fast commit: too large; then start inside */
	put(raw, 0x54, 4094);
	CU_ASSERT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), -RJ_E_CORRUPT);
	put(raw, 0x54, 96);
	put(raw, 0x1C, 4000);
	CU_ASSERT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), -RJ_E_CORRUPT);
	put(raw, 0x1C, 3999);
	CU_ASSERT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), 0);
}

static void every_flip_under_a_checksum_is_seen(void)
{
	uint8_t raw[RJ_JBD2_SB_BYTES];
	struct rj_jbd2_sb sb;
	struct rj_error err;
	unsigned i;

	fresh(raw);
	put(raw, 0x28, 0x12);
	seal(raw);
	CU_ASSERT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), 0);
	for (i = 0; i < RJ_JBD2_SB_BYTES; i++) {
		if (i == 0x2B || i == 0x07)
			continue; /* switches checksums themselves off */
		raw[i] ^= 0x10;
		CU_ASSERT_NOT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), 0);
		raw[i] ^= 0x10;
	}
}

/* Checksums that a flipped bit switched off, while there is a log. */
static void lost_features_are_seen(void)
{
	static const uint32_t versions[] = {0x8, 0x10};
	uint8_t raw[RJ_JBD2_SB_BYTES];
	struct rj_jbd2_sb sb;
	struct rj_error err;
	unsigned i;

	for (i = 0; i < 2; i++) {
		fresh(raw);
		put(raw, 0x1C, 99);
		put(raw, 0x28, 0x2 | versions[i]);
		seal(raw);
		put(raw, 0x28, 0x2);
		CU_ASSERT_EQUAL(
			rj_jbd2_sb_decode(raw, &sb, &err), -RJ_E_CORRUPT);
		put(raw, 0x28, 0x2 | versions[i]);
		put(raw, 0x04, 3); /* version 1: no features at all */
		CU_ASSERT_EQUAL(
			rj_jbd2_sb_decode(raw, &sb, &err), -RJ_E_CORRUPT);
		/* an old seal from other days says nothing */
		put(raw, 0x04, 4);
		put(raw, 0x28, 0x2);
		put(raw, 0x18, 12345);
		CU_ASSERT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), 0);
	}
}

static void make_empty_changes_only_three_fields(void)
{
	uint8_t raw[RJ_JBD2_SB_BYTES], before[RJ_JBD2_SB_BYTES];
	struct rj_jbd2_sb sb;
	struct rj_error err;

	fresh(raw);
	put(raw, 0x1C, 77);
	put(raw, 0x20, 5);
	put(raw, 0x28, 0x8);
	put(raw, 0x58, 42);
	seal(raw);
	memcpy(before, raw, sizeof(raw));
	CU_ASSERT_EQUAL(rj_jbd2_sb_make_empty(raw, 0xFFFFFFFF, &err), 0);
	CU_ASSERT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), 0);
	CU_ASSERT_EQUAL(sb.start, 0);
	CU_ASSERT_EQUAL(sb.sequence, 0xFFFFFFFF);
	CU_ASSERT_EQUAL(sb.fs_errno, 0);
	CU_ASSERT_EQUAL(sb.head, 42);
	put(raw, 0x1C, 77);
	put(raw, 0x20, 5);
	put(raw, 0x18, 7);
	seal(raw);
	CU_ASSERT_EQUAL(memcmp(raw, before, sizeof(raw)), 0);
}

static void too_many_users_are_cut(void)
{
	uint8_t raw[RJ_JBD2_SB_BYTES];
	struct rj_jbd2_sb sb;
	struct rj_error err;

	fresh(raw);
	put(raw, 0x40, 0xFFFFFFFF);
	CU_ASSERT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), 0);
	CU_ASSERT_EQUAL(sb.nr_users, 48);
}

/* Others' entries, and all else, stay; the checksum is right again. */
static void users_are_replaced(void)
{
	static const uint8_t two[2][RJ_UUID_BYTES] = {{1, 2, 3}, {4, 5, 6}};
	uint8_t raw[RJ_JBD2_SB_BYTES], before[RJ_JBD2_SB_BYTES];
	struct rj_jbd2_sb sb;
	struct rj_error err;

	fresh(raw);
	put(raw, 0x28, RJ_JBD2_INCOMPAT_CSUM_V3);
	raw[0x50] = 4; /* crc32c */
	seal(raw);
	memcpy(before, raw, sizeof(raw));
	CU_ASSERT_EQUAL(rj_jbd2_sb_set_users(raw, two, 2, &err), 0);
	CU_ASSERT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), 0);
	CU_ASSERT_EQUAL(sb.nr_users, 2);
	CU_ASSERT(rj_uuid_equal(sb.users[1], two[1]));
	CU_ASSERT_EQUAL(rj_jbd2_sb_set_users(raw, two, 0, &err), 0);
	CU_ASSERT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), 0);
	CU_ASSERT_EQUAL(sb.nr_users, 0);
	CU_ASSERT(rj_uuid_is_null(sb.users[0]));
	/* number, checksum and entries aside */
	CU_ASSERT(!memcmp(raw, before, 0x40));
	CU_ASSERT(!memcmp(raw + 0x44, before + 0x44, 0xFC - 0x44));
	CU_ASSERT_EQUAL(
		rj_jbd2_sb_set_users(raw, two, 49, &err), -RJ_E_CORRUPT);
	raw[0xFC] ^= 1;
	CU_ASSERT_EQUAL(
		rj_jbd2_sb_set_users(raw, two, 1, &err), -RJ_E_CORRUPT);
}

static void fast_commit_blocks(void)
{
	uint8_t raw[RJ_JBD2_SB_BYTES];
	struct rj_jbd2_sb sb;
	struct rj_error err;

	fresh(raw);
	CU_ASSERT_EQUAL(rj_jbd2_sb_set_fast_commit(raw, 64, &err), 0);
	CU_ASSERT_EQUAL(rj_jbd2_sb_decode(raw, &sb, &err), 0);
	CU_ASSERT_EQUAL(sb.num_fc_blocks, 64);
	CU_ASSERT_EQUAL(sb.last, sb.maxlen - 64);
	CU_ASSERT_EQUAL(rj_jbd2_sb_set_fast_commit(raw, sb.maxlen, &err),
		-RJ_E_CORRUPT);
}

static void block_header(void)
{
	uint8_t block[12] = {0xC0, 0x3B, 0x39, 0x98, 0, 0, 0, 2, 1, 2, 3, 4};
	enum rj_jbd2_block_type type;
	uint32_t tid;

	CU_ASSERT_TRUE(rj_jbd2_block_header(block, &type, &tid));
	CU_ASSERT_EQUAL(type, RJ_JBD2_COMMIT);
	CU_ASSERT_EQUAL(tid, 0x01020304);
	block[3] = 0;
	CU_ASSERT_FALSE(rj_jbd2_block_header(block, &type, &tid));
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(format_external_bytes),
		RJTEST(decode_takes_every_field),
		RJTEST(version_1_has_no_features),
		RJTEST(decode_refuses),
		RJTEST(every_flip_under_a_checksum_is_seen),
		RJTEST(lost_features_are_seen),
		RJTEST(make_empty_changes_only_three_fields),
		RJTEST(too_many_users_are_cut),
		RJTEST(users_are_replaced),
		RJTEST(fast_commit_blocks),
		RJTEST(block_header),
	};

	return RJTEST_RUN("jbd2 superblock", tests);
}
