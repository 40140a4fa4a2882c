// SPDX-License-Identifier: GPL-2.0-or-later
/* Is one superblock what a mount makes of another? Each byte that a mount leaves alone
 * counts. (tests/history/remount.sh has the kernel's own.) */
#include <string.h>

#include "ext4/mounted.h"
#include "support/rjtest.h"
#include "util/bytes.h"
#include "util/crc32c.h"

/* Offsets of struct ext2_super_block. */
#define MTIME	 0x2C
#define WTIME	 0x30
#define MOUNTS	 0x34
#define MAGIC	 0x38
#define STATE	 0x3A
#define CHECKED	 0x40
#define COMPAT	 0x5C
#define INCOMPAT 0x60
#define RO	 0x64
#define KBYTES	 0x178
#define HIGH	 0x274 /* of wtime, and mtime */
#define CSUM	 0x3FC

#define ORPHAN_FILE    0x1000
#define RECOVER	       0x4u
#define ORPHAN_PRESENT 0x10000u
#define METADATA_CSUM  0x400

static void seal(uint8_t *raw)
{
	rj_put_le32(raw + CSUM, rj_crc32c(~0u, raw, CSUM));
}

static void make(uint8_t *raw)
{
	unsigned i;

	for (i = 0; i < RJ_RAW_SUPER_BYTES; i++)
		raw[i] = (uint8_t)(i * 7);
	rj_put_le16(raw + MOUNTS, 0xFFFF);
	rj_put_le16(raw + MAGIC, 0xEF53);
	rj_put_le16(raw + STATE, 1);
	rj_put_le32(raw + CHECKED, 0x11223344);
	rj_put_le32(raw + COMPAT, ORPHAN_FILE);
	rj_put_le32(raw + INCOMPAT, 0x40);
	rj_put_le32(raw + RO, METADATA_CSUM);
	seal(raw);
}

static void mount(uint8_t *raw)
{
	rj_put_le32(raw + MTIME, 0x55667788);
	rj_put_le32(raw + WTIME, 0x55667788);
	raw[HIGH] = raw[HIGH + 1] = 1;
	rj_put_le64(raw + KBYTES, 99);
	rj_put_le16(raw + MOUNTS, (uint16_t)(rj_get_le16(raw + MOUNTS) + 1));
	rj_put_le32(raw + INCOMPAT, rj_get_le32(raw + INCOMPAT) | RECOVER);
	rj_put_le32(raw + RO, rj_get_le32(raw + RO) | ORPHAN_PRESENT);
	seal(raw);
}

static bool clock_byte(unsigned i)
{
	return (i >= MTIME && i < MOUNTS) || (i >= KBYTES && i < KBYTES + 8) ||
	       i == HIGH || i == HIGH + 1;
}

static void every_byte_counts(void)
{
	uint8_t a[RJ_RAW_SUPER_BYTES], b[RJ_RAW_SUPER_BYTES];
	unsigned i;

	make(a);
	memcpy(b, a, sizeof(b));
	CU_ASSERT_FALSE(rj_super_is_mount_of(a, b));
	mount(b);
	CU_ASSERT_TRUE(rj_super_is_mount_of(a, b));
	for (i = 0; i < CSUM; i++) {
		b[i] ^= 0x20;
		CU_ASSERT_EQUAL(rj_super_is_mount_of(a, b), clock_byte(i));
		b[i] ^= 0x20;
	}
}

static void one_in_which_nothing_was_written(void)
{
	uint8_t a[RJ_RAW_SUPER_BYTES], b[RJ_RAW_SUPER_BYTES];
	unsigned i;

	make(a);
	memcpy(b, a, sizeof(b));
	mount(b);
	CU_ASSERT_FALSE(rj_super_is_idle_mount_of(a, b));
	rj_put_le32(b + INCOMPAT, rj_get_le32(b + INCOMPAT) & ~RECOVER);
	rj_put_le32(b + RO, rj_get_le32(b + RO) & ~ORPHAN_PRESENT);
	CU_ASSERT_TRUE(rj_super_is_idle_mount_of(a, b));
	for (i = 0; i < CSUM; i++) {
		b[i] ^= 0x20;
		CU_ASSERT_EQUAL(
			rj_super_is_idle_mount_of(a, b), clock_byte(i));
		b[i] ^= 0x20;
	}
}

static void another_mount_in_between(void)
{
	uint8_t a[RJ_RAW_SUPER_BYTES], b[RJ_RAW_SUPER_BYTES];

	make(a);
	memcpy(b, a, sizeof(b));
	mount(b);
	mount(b);
	CU_ASSERT_FALSE(rj_super_is_mount_of(a, b));
}

static void only_of_a_clean_one(void)
{
	static const struct {
		unsigned at;
		uint16_t value;
	} wrong[] = {{STATE, 0}, {STATE, 3}, {MAGIC, 0}, {INCOMPAT, 0x44}};
	uint8_t a[RJ_RAW_SUPER_BYTES], b[RJ_RAW_SUPER_BYTES];
	struct rj_super_marks m;
	unsigned i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		make(a);
		rj_put_le16(a + wrong[i].at, wrong[i].value);
		seal(a);
		memcpy(b, a, sizeof(b));
		mount(b);
		CU_ASSERT_FALSE(rj_super_is_mount_of(a, b));
		rj_super_marks(a, &m);
		CU_ASSERT_FALSE(m.clean);
	}
}

static void marks(void)
{
	uint8_t raw[RJ_RAW_SUPER_BYTES];
	struct rj_super_marks m;

	make(raw);
	rj_super_marks(raw, &m);
	CU_ASSERT(m.clean && m.mounts == 0xFFFF && m.checked == 0x11223344);
	mount(raw);
	rj_super_marks(raw, &m);
	CU_ASSERT(!m.clean && m.mounts == 0 && m.mounted == 0x55667788);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(every_byte_counts),
		RJTEST(one_in_which_nothing_was_written),
		RJTEST(another_mount_in_between),
		RJTEST(only_of_a_clean_one),
		RJTEST(marks),
	};

	return RJTEST_RUN("mounted", tests);
}
