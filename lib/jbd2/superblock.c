// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The journal superblock. Field rules follow the kernel's
 * journal_check_superblock() and e2fsck's e2fsck_journal_load().
 */
#include <stdio.h>
#include <string.h>

#include "jbd2/jbd2-priv.h"
#include "util/crc32c.h"

_Static_assert(SB_USERS + JBD2_USERS_MAX * RJ_UUID_BYTES == RJ_JBD2_SB_BYTES,
	"the users end the journal superblock");

/* Compute the checksum of a raw superblock, with its checksum field as 0. */
static uint32_t checksum_of(const uint8_t raw[RJ_JBD2_SB_BYTES])
{
	static const uint8_t zero[4];
	uint32_t crc = rj_crc32c(~0u, raw, SB_CHECKSUM);

	crc = rj_crc32c(crc, zero, sizeof(zero));
	return rj_crc32c(
		crc, raw + SB_CHECKSUM + 4, RJ_JBD2_SB_BYTES - SB_CHECKSUM - 4);
}

static bool has_checksum(uint32_t incompat)
{
	return incompat & (RJ_JBD2_INCOMPAT_CSUM_V2 | RJ_JBD2_INCOMPAT_CSUM_V3);
}

static int bad(struct rj_error *err, const char *what, uint32_t value)
{
	return rj_fail(err, RJ_E_CORRUPT,
		"journal superblock: %s %u cannot be right", what, value);
}

static int check_features(const struct rj_jbd2_sb *sb, struct rj_error *err)
{
	uint32_t unknown = sb->incompat & ~JBD2_INCOMPAT_ALL;
	bool v2 = sb->incompat & RJ_JBD2_INCOMPAT_CSUM_V2;
	bool v3 = sb->incompat & RJ_JBD2_INCOMPAT_CSUM_V3;

	if (unknown)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"journal superblock: unknown incompatible features "
			"0x%x",
			unknown);
	if (sb->ro_compat)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"journal superblock: unknown read-only features 0x%x",
			sb->ro_compat);
	if (v2 && v3)
		return rj_fail(err, RJ_E_CORRUPT,
			"journal superblock: checksum versions 2 and 3 are "
			"both set");
	if ((v2 || v3) && (sb->compat & RJ_JBD2_COMPAT_CHECKSUM))
		return rj_fail(err, RJ_E_CORRUPT,
			"journal superblock: checksum versions 1 and %d are "
			"both set",
			v2 ? 2 : 3);
	return 0;
}

static int check_checksum(const uint8_t *raw, struct rj_error *err)
{
	uint32_t want = rj_get_be32(raw + SB_CHECKSUM);
	uint32_t got = checksum_of(raw);

	if (raw[SB_CHECKSUM_TYPE] != JBD2_CHECKSUM_CRC32C)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"journal superblock: unknown checksum type %u",
			raw[SB_CHECKSUM_TYPE]);
	if (want != got)
		return rj_fail(err, RJ_E_CORRUPT,
			"journal superblock: checksum is 0x%08x, its bytes "
			"give 0x%08x",
			want, got);
	return 0;
}

/*
 * One flipped bit can switch the checksums off, and with them their notice of
 * it. While the log is not empty the superblock was last sealed with the
 * features it has: if the seal fits other features, these were the true ones.
 */
static int check_lost_features(
	const uint8_t *raw, const struct rj_jbd2_sb *sb, struct rj_error *err)
{
	static const uint32_t sealed[] = {
		RJ_JBD2_INCOMPAT_CSUM_V2, RJ_JBD2_INCOMPAT_CSUM_V3, 0};
	uint32_t incompat = rj_get_be32(raw + SB_INCOMPAT);
	uint8_t copy[RJ_JBD2_SB_BYTES];
	unsigned i;

	if (has_checksum(sb->incompat) || !sb->start ||
		!rj_get_be32(raw + SB_CHECKSUM))
		return 0;
	memcpy(copy, raw, sizeof(copy));
	rj_put_be32(copy + SB_TYPE, RJ_JBD2_SB_V2);
	for (i = 0; i < sizeof(sealed) / sizeof(sealed[0]); i++) {
		rj_put_be32(copy + SB_INCOMPAT, incompat | sealed[i]);
		if (has_checksum(incompat | sealed[i]) &&
			checksum_of(copy) ==
				rj_get_be32(raw + SB_CHECKSUM))
			return rj_fail(err, RJ_E_CORRUPT,
				"journal superblock: its checksum fits other "
				"features (0x%x, version 2) than it has now",
				incompat | sealed[i]);
	}
	return 0;
}

static int check_ranges(struct rj_jbd2_sb *sb, struct rj_error *err)
{
	uint32_t bs = sb->block_size;

	if (bs < 1024 || bs > 65536 || (bs & (bs - 1)))
		return bad(err, "block size", bs);
	if (sb->first == 0 || sb->first >= sb->maxlen)
		return bad(err, "first log block", sb->first);
	if (sb->num_fc_blocks >= sb->maxlen - sb->first)
		return bad(err, "fast-commit size", sb->num_fc_blocks);
	sb->last = sb->maxlen - sb->num_fc_blocks;
	if (sb->start && (sb->start < sb->first || sb->start >= sb->last))
		return bad(err, "start of the log", sb->start);
	return 0;
}

static void take_version_2(const uint8_t *raw, struct rj_jbd2_sb *sb)
{
	sb->compat = rj_get_be32(raw + SB_COMPAT);
	sb->incompat = rj_get_be32(raw + SB_INCOMPAT);
	sb->ro_compat = rj_get_be32(raw + SB_RO_COMPAT);
	memcpy(sb->uuid, raw + SB_UUID, RJ_UUID_BYTES);
	sb->nr_users = rj_get_be32(raw + SB_NR_USERS);
	if (sb->nr_users > JBD2_USERS_MAX)
		sb->nr_users = JBD2_USERS_MAX;
	memcpy(sb->users, raw + SB_USERS, sizeof(sb->users));
	sb->head = rj_get_be32(raw + SB_HEAD);
	if (sb->incompat & RJ_JBD2_INCOMPAT_FAST_COMMIT) {
		sb->num_fc_blocks = rj_get_be32(raw + SB_NUM_FC_BLOCKS);
		if (!sb->num_fc_blocks)
			sb->num_fc_blocks = JBD2_DEFAULT_FC_BLOCKS;
	}
}

int rj_jbd2_sb_decode(const uint8_t raw[RJ_JBD2_SB_BYTES],
	struct rj_jbd2_sb *out, struct rj_error *err)
{
	struct rj_jbd2_sb sb = {0};
	uint32_t type = rj_get_be32(raw + SB_TYPE);
	int rc;

	if (rj_get_be32(raw + SB_MAGIC) != RJ_JBD2_MAGIC)
		return rj_fail(err, RJ_E_CORRUPT,
			"journal superblock: magic number is 0x%08x, not "
			"0x%08x",
			rj_get_be32(raw + SB_MAGIC), RJ_JBD2_MAGIC);
	if (type != RJ_JBD2_SB_V1 && type != RJ_JBD2_SB_V2)
		return bad(err, "block type", type);
	sb.version = type == RJ_JBD2_SB_V2 ? 2 : 1;
	sb.block_size = rj_get_be32(raw + SB_BLOCK_SIZE);
	sb.maxlen = rj_get_be32(raw + SB_MAXLEN);
	sb.first = rj_get_be32(raw + SB_FIRST);
	sb.sequence = rj_get_be32(raw + SB_SEQUENCE);
	sb.start = rj_get_be32(raw + SB_START);
	sb.fs_errno = (int32_t)rj_get_be32(raw + SB_ERRNO);
	if (sb.version == 2) {
		take_version_2(raw, &sb);
		/* a damaged word of features is not an unknown feature */
		rc = has_checksum(sb.incompat) ? check_checksum(raw, err) : 0;
		if (!rc)
			rc = check_features(&sb, err);
		if (rc)
			return rc;
	}
	rc = check_lost_features(raw, &sb, err);
	if (!rc)
		rc = check_ranges(&sb, err);
	if (!rc)
		*out = sb;
	return rc;
}

int rj_jbd2_sb_make_empty(
	uint8_t raw[RJ_JBD2_SB_BYTES], uint32_t next_tid, struct rj_error *err)
{
	struct rj_jbd2_sb sb;
	int rc = rj_jbd2_sb_decode(raw, &sb, err);

	if (rc)
		return rc;
	rj_put_be32(raw + SB_START, 0);
	rj_put_be32(raw + SB_SEQUENCE, next_tid);
	rj_put_be32(raw + SB_ERRNO, 0);
	if (has_checksum(sb.incompat))
		rj_put_be32(raw + SB_CHECKSUM, checksum_of(raw));
	return 0;
}

uint32_t rj_jbd2_device_sb_block(uint32_t block_size)
{
	return block_size == 1024 ? 2 : 1;
}

void rj_jbd2_sb_format_external(uint8_t raw[RJ_JBD2_SB_BYTES],
	uint32_t block_size, uint32_t blocks,
	const uint8_t journal_uuid[RJ_UUID_BYTES],
	const uint8_t user_uuid[RJ_UUID_BYTES], uint32_t first_tid)
{
	memset(raw, 0, RJ_JBD2_SB_BYTES);
	rj_put_be32(raw + SB_MAGIC, RJ_JBD2_MAGIC);
	rj_put_be32(raw + SB_TYPE, RJ_JBD2_SB_V2);
	rj_put_be32(raw + SB_BLOCK_SIZE, block_size);
	rj_put_be32(raw + SB_MAXLEN, blocks);
	rj_put_be32(raw + SB_FIRST, rj_jbd2_device_sb_block(block_size) + 1);
	rj_put_be32(raw + SB_SEQUENCE, first_tid);
	rj_put_be32(raw + SB_NR_USERS, 1);
	memcpy(raw + SB_UUID, journal_uuid, RJ_UUID_BYTES);
	memcpy(raw + SB_USERS, user_uuid, RJ_UUID_BYTES);
}

int rj_jbd2_sb_set_users(uint8_t raw[RJ_JBD2_SB_BYTES],
	const uint8_t users[][RJ_UUID_BYTES], uint32_t count,
	struct rj_error *err)
{
	struct rj_jbd2_sb sb;
	int rc = rj_jbd2_sb_decode(raw, &sb, err);

	if (rc)
		return rc;
	if (sb.version != 2)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"journal superblock: version 1 has no users");
	if (count > JBD2_USERS_MAX)
		return bad(err, "number of users", count);
	rj_put_be32(raw + SB_NR_USERS, count);
	memset(raw + SB_USERS, 0, (size_t)JBD2_USERS_MAX * RJ_UUID_BYTES);
	if (count)
		memcpy(raw + SB_USERS, users, (size_t)count * RJ_UUID_BYTES);
	if (has_checksum(sb.incompat))
		rj_put_be32(raw + SB_CHECKSUM, checksum_of(raw));
	return 0;
}

int rj_jbd2_sb_set_fast_commit(
	uint8_t raw[RJ_JBD2_SB_BYTES], uint32_t blocks, struct rj_error *err)
{
	struct rj_jbd2_sb sb;

	rj_put_be32(raw + SB_INCOMPAT,
		rj_get_be32(raw + SB_INCOMPAT) | RJ_JBD2_INCOMPAT_FAST_COMMIT);
	rj_put_be32(raw + SB_NUM_FC_BLOCKS, blocks);
	return rj_jbd2_sb_decode(raw, &sb, err);
}
