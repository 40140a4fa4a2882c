// SPDX-License-Identifier: GPL-2.0-or-later
/* A mount's note: as doc/log-format.md has it; no flipped bit passes. */
#include <string.h>

#include "format/mount-note.h"
#include "format/table.h"
#include "support/rjtest.h"
#include "util/bytes.h"
#include "util/crc32c.h"

static struct rj_mount_note sample(void)
{
	struct rj_mount_note n = {
		.kind = RJ_NOTE_UNMOUNTED,
		.epoch = 0x0102030405060708,
		.mounts = 0x1112,
		.checked = 0x21222324,
	};

	memset(n.super, 0xA5, sizeof(n.super));
	return n;
}

static void there_and_back(void)
{
	struct rj_mount_note a = sample(), b;
	uint8_t raw[RJ_MOUNT_NOTE_BYTES];
	int kind;

	for (kind = RJ_NOTE_MOUNTED; kind <= RJ_NOTE_RECOVERED; kind++) {
		a.kind = (enum rj_mount_note_kind)kind;
		rj_mount_note_encode(&a, raw);
		CU_ASSERT_TRUE_FATAL(rj_mount_note_decode(raw, &b));
		CU_ASSERT_EQUAL(b.kind, a.kind);
		CU_ASSERT_EQUAL(b.epoch, a.epoch);
		CU_ASSERT_EQUAL(b.mounts, a.mounts);
		CU_ASSERT_EQUAL(b.checked, a.checked);
		CU_ASSERT_EQUAL(memcmp(b.super, a.super, sizeof(a.super)), 0);
	}
}

static void damaged(void)
{
	/* kind, and what is reserved: with a right checksum */
	static const struct {
		unsigned at;
		uint32_t value;
	} wrong[] = {{8, 0}, {8, 6}, {12, 0x11112}};
	struct rj_mount_note a = sample(), b;
	uint8_t raw[RJ_MOUNT_NOTE_BYTES];
	unsigned i;

	rj_mount_note_encode(&a, raw);
	for (i = 0; i < 8 * RJ_MOUNT_NOTE_BYTES; i++) {
		raw[i / 8] ^= (uint8_t)(1 << i % 8);
		CU_ASSERT_FALSE(rj_mount_note_decode(raw, &b));
		raw[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		rj_mount_note_encode(&a, raw);
		rj_put_le32(raw + wrong[i].at, wrong[i].value);
		rj_put_le32(raw + 60, rj_crc32c(~0u, raw, 60));
		CU_ASSERT_FALSE(rj_mount_note_decode(raw, &b));
	}
	a.epoch = 0;
	rj_mount_note_encode(&a, raw);
	CU_ASSERT_FALSE(rj_mount_note_decode(raw, &b));
}

static void document_says_the_same(void)
{
	struct rj_mount_note n = sample();
	uint8_t raw[RJ_MOUNT_NOTE_BYTES];
	struct row rows[16];
	unsigned count = read_table("log-format.md", "## A mount's note", rows, 16);

	CU_ASSERT_EQUAL_FATAL(count, 8);
	rj_mount_note_encode(&n, raw);
	check_cover(rows, count, RJ_MOUNT_NOTE_BYTES);
	CU_ASSERT_EQUAL(memcmp(raw, "RJMOUNTS", 8), 0);
	CU_ASSERT_EQUAL(rj_get_le32(raw + rows[1].offset), 2);
	CU_ASSERT_EQUAL(rj_get_le16(raw + rows[2].offset), n.mounts);
	CU_ASSERT_EQUAL(rj_get_le64(raw + rows[4].offset), n.epoch);
	CU_ASSERT_EQUAL(memcmp(raw + rows[5].offset, n.super, 32), 0);
	CU_ASSERT_EQUAL(rj_get_le32(raw + rows[6].offset), n.checked);
	CU_ASSERT_EQUAL(rj_get_le32(raw + rows[7].offset),
		rj_crc32c(~0u, raw, rows[7].offset));
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(there_and_back),
		RJTEST(damaged),
		RJTEST(document_says_the_same),
	};

	return RJTEST_RUN("mount-note", tests);
}
