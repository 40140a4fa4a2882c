// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read the fields of an ext2 superblock, and compute its checksum. */
#include "ext4/ext4-priv.h"

#include <string.h>

#include "util/crc32c.h"

/* ext4_load_super(): mounting as ext3 refuses what is outside these
 * (EXT3_FEATURE_INCOMPAT_SUPP, EXT3_FEATURE_RO_COMPAT_SUPP). */
#define EXT3_RO_COMPAT_BTREE_DIR 0x4 /* libext2fs has no name for it */
#define EXT3_INCOMPAT                                                          \
	(EXT2_FEATURE_INCOMPAT_FILETYPE | EXT3_FEATURE_INCOMPAT_RECOVER |      \
		EXT2_FEATURE_INCOMPAT_META_BG)
#define EXT3_RO_COMPAT                                                         \
	(EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER |                                 \
		EXT2_FEATURE_RO_COMPAT_LARGE_FILE | EXT3_RO_COMPAT_BTREE_DIR)

_Static_assert(sizeof(struct ext2_super_block) == RJ_SUPER_BYTES,
	"ext2 superblock: wrong size");
_Static_assert(offsetof(struct ext2_super_block, s_checksum) ==
		       RJ_SBX_OFFSET + RJ_SBX_BYTES,
	"superblock extension: must end where s_checksum begins");
_Static_assert(offsetof(struct ext2_super_block, s_reserved) <= RJ_SBX_OFFSET,
	"superblock extension: must lie in the reserved part");

#define SUM_AT offsetof(struct ext2_super_block, s_checksum)

static bool has_sum(const uint8_t raw[RJ_SUPER_BYTES])
{
	return SB_LE32(raw, s_feature_ro_compat) &
	       EXT4_FEATURE_RO_COMPAT_METADATA_CSUM;
}

/* ext2fs_superblock_csum_set() */
void rj_ext4_super_seal(uint8_t raw[RJ_SUPER_BYTES])
{
	if (has_sum(raw))
		rj_put_le32(raw + SUM_AT, rj_crc32c(~0u, raw, SUM_AT));
}

bool rj_ext4_super_sealed(const uint8_t raw[RJ_SUPER_BYTES])
{
	return !has_sum(raw) ||
	       rj_get_le32(raw + SUM_AT) == rj_crc32c(~0u, raw, SUM_AT);
}

/* 2000-01-01: what says less is a clock that was never set, or an image that was
 * made to be the same each time (E2FSPROGS_FAKE_TIME, SOURCE_DATE_EPOCH). */
#define OLDEST_DATE 946684800u

static uint64_t born(const uint8_t raw[RJ_SUPER_BYTES])
{
	uint64_t made = SB_LE32(raw, s_mkfs_time);
	uint64_t mounted = SB_LE32(raw, s_mtime);

	made |= (uint64_t)*SB_AT(raw, s_mkfs_time_hi) << 32;
	mounted |= (uint64_t)*SB_AT(raw, s_mtime_hi) << 32;
	return made >= OLDEST_DATE && made <= mounted ? made : 0;
}

void rj_ext4_facts_from_super(struct rj_volume *v)
{
	struct rj_volume_facts *f = &v->facts;
	const uint8_t *raw = v->super;
	uint32_t compat = SB_LE32(raw, s_feature_compat);
	uint32_t incompat = SB_LE32(raw, s_feature_incompat);
	uint32_t ro_compat = SB_LE32(raw, s_feature_ro_compat);
	uint16_t state = SB_LE16(raw, s_state);

	memcpy(f->uuid, SB_AT(raw, s_uuid), sizeof(f->uuid));
	f->block_size = 1024u << (SB_LE32(raw, s_log_block_size) & 31);
	f->blocks = SB_LE32(raw, s_blocks_count);
	if (incompat & EXT4_FEATURE_INCOMPAT_64BIT)
		f->blocks |= (uint64_t)SB_LE32(raw, s_blocks_count_hi) << 32;
	memcpy(f->label, SB_AT(raw, s_volume_name), EXT2_LABEL_LEN);
	f->label[EXT2_LABEL_LEN] = 0;
	f->has_journal = compat & EXT3_FEATURE_COMPAT_HAS_JOURNAL;
	f->needs_recovery = incompat & EXT3_FEATURE_INCOMPAT_RECOVER;
	f->orphan_file = compat & EXT4_FEATURE_COMPAT_ORPHAN_FILE;
	f->orphans = SB_LE32(raw, s_last_orphan) ||
		     (ro_compat & EXT4_FEATURE_RO_COMPAT_ORPHAN_PRESENT);
	f->has_errors = state & EXT2_ERROR_FS;
	f->broken_unmount = rj_ext4_broken_unmount(raw);
	f->clean = (state & EXT2_VALID_FS) && !f->has_errors;
	f->metadata_csum = ro_compat & EXT4_FEATURE_RO_COMPAT_METADATA_CSUM;
	f->sums_of_uuid = f->metadata_csum && !(incompat & EXT4_FEATURE_INCOMPAT_CSUM_SEED);
	f->ext4_features = (incompat & ~(uint32_t)EXT3_INCOMPAT) ||
			   (ro_compat & ~(uint32_t)EXT3_RO_COMPAT);
	f->first_block = SB_LE32(raw, s_first_data_block);
	f->group_blocks = SB_LE32(raw, s_blocks_per_group);
	f->cluster_bits = 0;
	if (ro_compat & EXT4_FEATURE_RO_COMPAT_BIGALLOC)
		f->cluster_bits = SB_LE32(raw, s_log_cluster_size) -
				  SB_LE32(raw, s_log_block_size);
	f->desc_bytes = EXT2_MIN_DESC_SIZE;
	if (incompat & EXT4_FEATURE_INCOMPAT_64BIT)
		f->desc_bytes = SB_LE16(raw, s_desc_size);
	f->desc_block = f->block_size == 1024 ? 2 : 1;
	f->meta_bg = incompat & EXT2_FEATURE_INCOMPAT_META_BG;
	f->born = born(raw);
	f->mount_opts = SB_LE32(raw, s_default_mount_opts);
	f->inline_data = incompat & EXT4_FEATURE_INCOMPAT_INLINE_DATA;
	f->mmp = incompat & EXT4_FEATURE_INCOMPAT_MMP;
	f->fast_commit = compat & EXT4_FEATURE_COMPAT_FAST_COMMIT;
	f->journal_inode = SB_LE32(raw, s_journal_inum);
	f->journal_device = SB_LE32(raw, s_journal_dev);
	memcpy(f->journal_uuid, SB_AT(raw, s_journal_uuid),
		sizeof(f->journal_uuid));
	memset(&f->sbx, 0, sizeof(f->sbx));
	memset(&f->sbx_error, 0, sizeof(f->sbx_error));
	f->has_sbx =
		!rj_sbx_decode(raw + RJ_SBX_OFFSET, &f->sbx, &f->sbx_error);
}

void rj_journal_device_super(uint8_t raw[RJ_SUPER_BYTES], uint32_t block_size,
	uint32_t blocks, const uint8_t journal_uuid[RJ_UUID_BYTES])
{
	uint32_t log = 0;

	while (log < 6 && 1024u << log < block_size)
		log++;
	memset(raw, 0, RJ_SUPER_BYTES);
	SB_PUT32(raw, s_blocks_count, blocks);
	SB_PUT32(raw, s_first_data_block, block_size == 1024 ? 1 : 0);
	SB_PUT32(raw, s_log_block_size, log);
	SB_PUT32(raw, s_log_cluster_size, log);
	SB_PUT32(raw, s_blocks_per_group, block_size * 8);
	SB_PUT32(raw, s_clusters_per_group, block_size * 8);
	SB_PUT16(raw, s_max_mnt_count, 0xFFFF);
	SB_PUT16(raw, s_magic, EXT2_SUPER_MAGIC);
	SB_PUT16(raw, s_state, EXT2_VALID_FS);
	SB_PUT16(raw, s_errors, EXT2_ERRORS_CONTINUE);
	SB_PUT32(raw, s_creator_os, EXT2_OS_LINUX);
	SB_PUT32(raw, s_rev_level, EXT2_DYNAMIC_REV);
	SB_PUT32(raw, s_first_ino, EXT2_GOOD_OLD_FIRST_INO);
	SB_PUT16(raw, s_inode_size, 256);
	SB_PUT32(raw, s_feature_incompat, EXT3_FEATURE_INCOMPAT_JOURNAL_DEV);
	memcpy(SB_AT(raw, s_uuid), journal_uuid, RJ_UUID_BYTES);
	*SB_AT(raw, s_def_hash_version) = EXT2_HASH_HALF_MD4;
	SB_PUT32(raw, s_default_mount_opts,
		EXT2_DEFM_XATTR_USER | EXT2_DEFM_ACL);
	SB_PUT16(raw, s_min_extra_isize, 32);
	SB_PUT16(raw, s_want_extra_isize, 32);
}
