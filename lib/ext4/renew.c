// SPDX-License-Identifier: LGPL-2.1-or-later
/* Make a copy's primary superblock that of another volume. */
#include "ext4/renew.h"

#include <string.h>

#include "ext4/ext4-priv.h"
#include "util/crc32c.h"

bool rj_super_whole(const uint8_t raw[RJ_SUPER_BYTES])
{
	return SB_LE16(raw, s_magic) == EXT2_SUPER_MAGIC &&
	       rj_ext4_super_sealed(raw);
}

bool rj_super_encrypts(const uint8_t raw[RJ_SUPER_BYTES])
{
	return SB_LE32(raw, s_feature_incompat) &
	       EXT4_FEATURE_INCOMPAT_ENCRYPT;
}

uint64_t rj_super_blocks(const uint8_t raw[RJ_SUPER_BYTES])
{
	uint64_t high = 0;

	if (SB_LE32(raw, s_feature_incompat) & EXT4_FEATURE_INCOMPAT_64BIT)
		high = SB_LE32(raw, s_blocks_count_hi);
	return high << 32 | SB_LE32(raw, s_blocks_count);
}

void rj_super_extend(
	uint8_t raw[RJ_SUPER_BYTES], const uint8_t sbx[RJ_SBX_BYTES])
{
	memcpy(raw + RJ_SBX_OFFSET, sbx, RJ_SBX_BYTES);
	rj_ext4_super_seal(raw);
}

void rj_super_make_base(
	uint8_t raw[RJ_SUPER_BYTES], const uint8_t sbx[RJ_SBX_BYTES])
{
	uint8_t *uuid = SB_AT(raw, s_journal_uuid);
	int i;

	for (i = 0; i < RJ_UUID_BYTES; i++)
		uuid[i] = (uint8_t)~uuid[i];
	SB_PUT32(raw, s_journal_dev, RJ_JOURNAL_DEVICE_REMOTE);
	rj_super_extend(raw, sbx);
}

void rj_super_promote(uint8_t raw[RJ_SUPER_BYTES], const uint8_t journal[RJ_UUID_BYTES],
	const uint8_t sbx[RJ_SBX_BYTES])
{
	SB_PUT32(raw, s_feature_incompat,
		SB_LE32(raw, s_feature_incompat) | EXT3_FEATURE_INCOMPAT_RECOVER);
	memcpy(SB_AT(raw, s_journal_uuid), journal, RJ_UUID_BYTES);
	SB_PUT32(raw, s_journal_dev, RJ_JOURNAL_DEVICE_REMOTE);
	rj_super_extend(raw, sbx);
}

void rj_super_renew(uint8_t raw[RJ_SUPER_BYTES],
	const uint8_t volume[RJ_UUID_BYTES],
	const uint8_t journal[RJ_UUID_BYTES], const uint8_t sbx[RJ_SBX_BYTES])
{
	uint32_t bits = SB_LE32(raw, s_feature_incompat);

	bits &= ~(uint32_t)EXT3_FEATURE_INCOMPAT_RECOVER;
	if (SB_LE32(raw, s_feature_ro_compat) &
			EXT4_FEATURE_RO_COMPAT_METADATA_CSUM &&
		!(bits & EXT4_FEATURE_INCOMPAT_CSUM_SEED)) {
		SB_PUT32(raw, s_checksum_seed,
			rj_crc32c(~0u, SB_AT(raw, s_uuid), RJ_UUID_BYTES));
		bits |= EXT4_FEATURE_INCOMPAT_CSUM_SEED;
	}
	SB_PUT32(raw, s_feature_incompat, bits);
	memcpy(SB_AT(raw, s_uuid), volume, RJ_UUID_BYTES);
	memcpy(SB_AT(raw, s_journal_uuid), journal, RJ_UUID_BYTES);
	SB_PUT32(raw, s_journal_dev, RJ_JOURNAL_DEVICE_REMOTE);
	rj_super_extend(raw, sbx);
}
