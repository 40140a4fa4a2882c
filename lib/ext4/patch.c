// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Superblock changes that a power cut cannot tear: each copy is written whole,
 * in one write, the primary last. libext2fs is not used for it: its
 * write_primary_superblock() writes the changed bytes piece by piece, the
 * checksum last.
 */
#include "ext4/impl.h"

#include <string.h>

#include "util/log.h"

/* The patch's fields into one copy. The extension is in RAW_SBX. */
static void apply(uint8_t raw[RJ_SUPER_BYTES], const struct rj_volume_patch *p,
	const uint8_t raw_sbx[RJ_SBX_BYTES], bool primary)
{
	uint32_t bits;

	if (p->set_sbx)
		memcpy(raw + RJ_SBX_OFFSET, raw_sbx, RJ_SBX_BYTES);
	if (p->set_journal) {
		bits = SB_LE32(raw, s_feature_compat);
		if (p->has_journal)
			bits |= EXT3_FEATURE_COMPAT_HAS_JOURNAL;
		else
			bits &= ~(uint32_t)EXT3_FEATURE_COMPAT_HAS_JOURNAL;
		SB_PUT32(raw, s_feature_compat, bits);
		SB_PUT32(raw, s_journal_inum, p->journal_inode);
		SB_PUT32(raw, s_journal_dev, p->journal_device);
		memcpy(SB_AT(raw, s_journal_uuid), p->journal_uuid,
			RJ_UUID_BYTES);
		if (!p->journal_inode) {
			/* e2fsck would restore the journal inode from these */
			*SB_AT(raw, s_jnl_backup_type) = 0;
			memset(SB_AT(raw, s_jnl_blocks), 0,
				sizeof(((struct ext2_super_block *)0)
						->s_jnl_blocks));
		}
	}
	/* backups carry neither (write_backup_super()) */
	if (primary && p->set_needs_recovery) {
		bits = SB_LE32(raw, s_feature_incompat);
		if (p->needs_recovery)
			bits |= EXT3_FEATURE_INCOMPAT_RECOVER;
		else
			bits &= ~(uint32_t)EXT3_FEATURE_INCOMPAT_RECOVER;
		SB_PUT32(raw, s_feature_incompat, bits);
	}
	if (primary && p->set_error_flag)
		SB_PUT16(raw, s_state, SB_LE16(raw, s_state) | EXT2_ERROR_FS);
	rj_ext4_super_seal(raw);
}

static bool is_copy_of(const uint8_t *raw, const uint8_t *primary)
{
	return SB_LE16(raw, s_magic) == EXT2_SUPER_MAGIC &&
	       !memcmp(SB_AT(raw, s_uuid), SB_AT(primary, s_uuid),
		       RJ_UUID_BYTES) &&
	       SB_LE32(raw, s_log_block_size) ==
		       SB_LE32(primary, s_log_block_size);
}

/* A new backup from the primary: write_backup_super() of libext2fs. */
static void make_backup(uint8_t raw[RJ_SUPER_BYTES],
	const uint8_t primary[RJ_SUPER_BYTES], uint32_t group)
{
	memcpy(raw, primary, RJ_SUPER_BYTES);
	SB_PUT16(raw, s_block_group_nr,
		(uint16_t)(group < 0xFFFF ? group : 0xFFFF));
	SB_PUT16(raw, s_state,
		(uint16_t)(SB_LE16(raw, s_state) & ~EXT2_VALID_FS));
	SB_PUT32(raw, s_feature_incompat,
		SB_LE32(raw, s_feature_incompat) &
			~(uint32_t)EXT3_FEATURE_INCOMPAT_RECOVER);
}

static int patch_backups(struct rj_volume *v, const struct rj_volume_patch *p,
	const uint8_t raw_sbx[RJ_SBX_BYTES], struct rj_error *err)
{
	uint8_t raw[RJ_SUPER_BYTES];
	const struct backup *b;
	uint32_t i;
	int rc;

	for (i = 0; i < v->facts.backups; i++) {
		b = &v->backups[i];
		rc = v->bio.read(&v->bio, raw, sizeof(raw), b->offset, err);
		if (rc)
			return rc;
		if (!is_copy_of(raw, v->super)) {
			rj_log(RJ_LOG_WARNING,
				"%s: the backup superblock of group %u was "
				"none; rewritten from the primary",
				v->path, b->group);
			make_backup(raw, v->super, b->group);
		}
		apply(raw, p, raw_sbx, false);
		rc = v->bio.write(&v->bio, raw, sizeof(raw), b->offset, err);
		if (rc)
			return rc;
	}
	return v->facts.backups ? v->bio.flush(&v->bio, err) : 0;
}

int rj_volume_patch(struct rj_volume *v, const struct rj_volume_patch *p,
	struct rj_error *err)
{
	uint8_t raw[RJ_SUPER_BYTES], raw_sbx[RJ_SBX_BYTES] = {0};
	struct rj_sbx sbx;
	int rc;

	if (!v->bio.write)
		return rj_fail(err, RJ_E_INVAL,
			"%s: was not opened for writing", v->path);
	/* somebody else (a replay through the bio) may have changed it */
	rc = v->bio.read(&v->bio, raw, sizeof(raw), RJ_SUPER_OFFSET, err);
	if (rc)
		return rc;
	if (!is_copy_of(raw, v->super))
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: its superblock is gone or another one; try e2fsck",
			v->path);
	memcpy(v->super, raw, sizeof(raw));
	rj_ext4_facts_from_super(v);
	if (p->set_sbx) {
		sbx = p->sbx;
		/* an unreadable extension is replaced, not counted on */
		sbx.generation =
			v->facts.has_sbx ? v->facts.sbx.generation + 1 : 1;
		rc = rj_sbx_encode(&sbx, raw_sbx, err);
		if (rc)
			return rj_fail_prefix(err, "%s", v->path);
	}
	if (!p->primary_only) {
		rc = patch_backups(v, p, raw_sbx, err);
		if (rc)
			return rc;
	}
	if (p->set_free_counts) {
		uint64_t blocks;
		uint32_t inodes;

		rc = rj_ext4_sum_free(v, &blocks, &inodes, err);
		if (rc)
			return rc;
		SB_PUT32(raw, s_free_blocks_count, (uint32_t)blocks);
		if (SB_LE32(raw, s_feature_incompat) &
			EXT4_FEATURE_INCOMPAT_64BIT)
			SB_PUT32(raw, s_free_blocks_hi,
				(uint32_t)(blocks >> 32));
		SB_PUT32(raw, s_free_inodes_count, inodes);
	}
	apply(raw, p, raw_sbx, true);
	rc = v->bio.write(&v->bio, raw, sizeof(raw), RJ_SUPER_OFFSET, err);
	if (!rc)
		rc = v->bio.flush(&v->bio, err);
	if (rc)
		return rc;
	memcpy(v->super, raw, sizeof(raw));
	rj_ext4_facts_from_super(v);
	return 0;
}
