// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write the superblock and our extension in it, so that a power cut cannot tear a
 * change: each copy is written whole, in one write, the primary last. libext2fs is not
 * used for it: its write_primary_superblock() writes the changed bytes piece by piece,
 * the checksum last.
 */
#include "ext4/ext4-priv.h"

#include <string.h>

#include "format/mark.h"
#include "util/crc32c.h"
#include "util/log.h"

/* The patch's fields into one copy. The extension is in RAW_SBX. */
static void apply(uint8_t raw[RJ_SUPER_BYTES], const struct rj_volume_patch *p,
	const uint8_t raw_sbx[RJ_SBX_BYTES], bool primary)
{
	struct rj_mark mark;
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
	if (p->set_mount_opts)
		SB_PUT32(raw, s_default_mount_opts, p->mount_opts);
	/* without the feature bit it is not looked at */
	if (p->set_checksum_seed &&
		!(SB_LE32(raw, s_feature_incompat) &
			EXT4_FEATURE_INCOMPAT_CSUM_SEED))
		SB_PUT32(raw, s_checksum_seed,
			rj_crc32c(~0u, SB_AT(raw, s_uuid), RJ_UUID_BYTES));
	if (p->clear_orphan_inode &&
		!(SB_LE32(raw, s_feature_compat) &
			EXT4_FEATURE_COMPAT_ORPHAN_FILE))
		SB_PUT32(raw, s_orphan_file_inum, 0);
	/* backups carry neither (write_backup_super()) */
	if (primary && p->set_needs_recovery) {
		bits = SB_LE32(raw, s_feature_incompat);
		if (p->needs_recovery)
			bits |= EXT3_FEATURE_INCOMPAT_RECOVER;
		else
			bits &= ~(uint32_t)EXT3_FEATURE_INCOMPAT_RECOVER;
		SB_PUT32(raw, s_feature_incompat, bits);
	}
	if (primary && p->clear_orphan_present)
		SB_PUT32(raw, s_feature_ro_compat,
			SB_LE32(raw, s_feature_ro_compat) &
				~(uint32_t)EXT4_FEATURE_RO_COMPAT_ORPHAN_PRESENT);
	if (primary && p->undo_unmount)
		rj_ext4_undo_unmount(raw);
	/* a backup that stands in brings one along; a change by the kernel or tune2fs would
	 * copy that over the mark in the first backup */
	if (primary && rj_mark_decode(raw + RJ_MARK_OFFSET, &mark))
		memset(raw + RJ_MARK_OFFSET, 0, RJ_MARK_BYTES);
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

/* The extension of P into RAW, its intent left out with NO_INTENT: a backup
 * superblock is for the day when the primary is lost, and then no move is
 * under way. */
static int encode_sbx(struct rj_volume *v, const struct rj_volume_patch *p,
	bool no_intent, uint8_t raw[RJ_SBX_BYTES], struct rj_error *err)
{
	struct rj_sbx sbx = p->sbx;
	int rc;

	/* an unreadable extension is replaced, not counted on */
	sbx.generation = v->facts.has_sbx ? v->facts.sbx.generation + 1 : 1;
	if (no_intent) {
		sbx.intent_op = sbx.intent_state = sbx.intent_placement = 0;
		sbx.intent_blocks = 0;
		sbx.redo_block = 0;
		memset(sbx.intent_uuid, 0, sizeof(sbx.intent_uuid));
		if (sbx.placement != RJ_PLACE_REMOTE)
			sbx.url[0] = sbx.fallback[0] = 0;
	}
	rc = rj_sbx_encode(&sbx, raw, err);
	return rc ? rj_fail_prefix(err, "%s", v->path) : 0;
}

int rj_ext4_patch_super(struct rj_volume *v, uint8_t raw[RJ_SUPER_BYTES],
	const struct rj_volume_patch *p, struct rj_error *err)
{
	uint8_t raw_sbx[RJ_SBX_BYTES] = {0};
	int rc;

	if (p->set_sbx) {
		rc = encode_sbx(v, p, false, raw_sbx, err);
		if (rc)
			return rc;
	}
	apply(raw, p, raw_sbx, true);
	return 0;
}

/* What a backup has from the primary after a change (rj_change_apply()). */
static void update_backup(uint8_t raw[RJ_SUPER_BYTES],
	const uint8_t primary[RJ_SUPER_BYTES], const uint8_t sbx[RJ_SBX_BYTES])
{
	static const struct {
		size_t at, len;
	} fields[] = {
#define FIELD(f)                                                               \
	{offsetof(struct ext2_super_block, f),                                 \
		sizeof(((struct ext2_super_block *)0)->f)}
		FIELD(s_uuid),
		FIELD(s_feature_compat),
		FIELD(s_journal_uuid),
		FIELD(s_journal_inum),
		FIELD(s_journal_dev),
		FIELD(s_jnl_backup_type),
		FIELD(s_jnl_blocks),
		FIELD(s_checksum_seed),
		FIELD(s_default_mount_opts),
		FIELD(s_orphan_file_inum),
#undef FIELD
	};
	uint32_t bits = SB_LE32(raw, s_feature_incompat);
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		memcpy(raw + fields[i].at, primary + fields[i].at,
			fields[i].len);
	bits |= SB_LE32(primary, s_feature_incompat) &
		EXT4_FEATURE_INCOMPAT_CSUM_SEED;
	SB_PUT32(raw, s_feature_incompat, bits);
	if (!(SB_LE32(raw, s_feature_compat) &
		    EXT4_FEATURE_COMPAT_ORPHAN_FILE)) {
		bits = SB_LE32(raw, s_feature_ro_compat);
		bits &= ~(uint32_t)EXT4_FEATURE_RO_COMPAT_ORPHAN_PRESENT;
		SB_PUT32(raw, s_feature_ro_compat, bits);
	}
	memcpy(raw + RJ_SBX_OFFSET, sbx, RJ_SBX_BYTES);
	rj_ext4_super_seal(raw);
}

static int install_backups(struct rj_volume *v,
	const uint8_t super[RJ_SUPER_BYTES], const uint8_t sbx[RJ_SBX_BYTES],
	struct rj_error *err)
{
	uint8_t raw[RJ_SUPER_BYTES];
	uint32_t i;
	int rc = 0;

	for (i = 0; !rc && i < v->facts.backups; i++) {
		const struct backup *b = &v->backups[i];

		rc = v->bio.read(&v->bio, raw, sizeof(raw), b->offset, err);
		if (rc)
			break;
		/* by a cut it may have its new UUID already */
		if (!is_copy_of(raw, v->super) && !is_copy_of(raw, super))
			make_backup(raw, super, b->group);
		update_backup(raw, super, sbx);
		rc = v->bio.write(&v->bio, raw, sizeof(raw), b->offset, err);
	}
	return rc;
}

/* The orphan file's inode number is in the sector that the switch leaves
 * alone: it goes (or stays) before that, while the volume cannot be mounted. */
static int install_orphan_file(struct rj_volume *v,
	const uint8_t super[RJ_SUPER_BYTES], struct rj_error *err)
{
	uint32_t ino = SB_LE32(super, s_orphan_file_inum);
	uint8_t raw[RJ_SUPER_BYTES];
	int rc;

	if (ino == SB_LE32(v->super, s_orphan_file_inum))
		return 0;
	memcpy(raw, v->super, sizeof(raw));
	SB_PUT32(raw, s_orphan_file_inum, ino);
	rj_ext4_super_seal(raw);
	rc = v->bio.write(&v->bio, raw, sizeof(raw), RJ_SUPER_OFFSET, err);
	if (!rc)
		memcpy(v->super, raw, sizeof(raw));
	return rc;
}

/* The one write, durable, after which V knows the volume by RAW. */
static int put_super(struct rj_volume *v, const uint8_t raw[RJ_SUPER_BYTES],
	struct rj_error *err)
{
	int rc;

	rc = v->bio.write(&v->bio, raw, RJ_SUPER_BYTES, RJ_SUPER_OFFSET, err);
	if (!rc)
		rc = v->bio.flush(&v->bio, err);
	if (rc)
		return rc;
	memcpy(v->super, raw, RJ_SUPER_BYTES);
	rj_ext4_facts_from_super(v);
	rj_ext4_find_mark(v);
	v->facts.super = RJ_SUPER_GOOD;
	return 0;
}

int rj_ext4_install_super(struct rj_volume *v,
	const uint8_t super[RJ_SUPER_BYTES], bool flush_first,
	struct rj_error *err)
{
	uint8_t sbx[RJ_SBX_BYTES], raw[RJ_SUPER_BYTES];
	struct rj_volume_patch p = {.set_sbx = true};
	int rc = 0;

	memcpy(sbx, super + RJ_SBX_OFFSET, sizeof(sbx));
	if (!rj_sbx_decode(sbx, &p.sbx, NULL))
		rc = encode_sbx(v, &p, true, sbx, err);
	if (!rc)
		rc = install_backups(v, super, sbx, err);
	if (!rc)
		rc = install_orphan_file(v, super, err);
	/* after a cut the resume, which the extension asks for until this is
	 * over, writes the backups again */
	if (!rc && flush_first)
		rc = v->bio.flush(&v->bio, err);
	if (rc)
		return rc;
	/* the other sector stays, its checksum aside: however this write is
	 * torn, the extension tells what is under way */
	memcpy(raw, super, RJ_SUPER_BYTES / 2);
	memcpy(raw + RJ_SUPER_BYTES / 2, v->super + RJ_SUPER_BYTES / 2,
		RJ_SUPER_BYTES / 2);
	rj_ext4_super_seal(raw);
	return put_super(v, raw, err);
}

/*
 * Compute the superblock's totals of free blocks and inodes. The kernel has them in
 * memory and writes them only now and then, never through the journal; after a crash
 * they are stale until the group descriptors, which are journalled, are added up
 * (ext4_setup_super() does that at mount, e2fsck's check_super does too).
 */
static int sum_free(struct rj_volume *v, uint64_t *blocks, uint32_t *inodes,
	struct rj_error *err)
{
	ext2_filsys fs = NULL;
	errcode_t code;
	dgrp_t g;

	code = ext2fs_open(v->path,
		EXT2_FLAG_64BITS | EXT2_FLAG_IGNORE_CSUM_ERRORS, 0, 0,
		unix_io_manager, &fs);
	if (code)
		return rj_ext4_fail(err, RJ_E_CORRUPT, code,
			"%s: cannot read the group descriptors", v->path);
	*blocks = 0;
	*inodes = 0;
	for (g = 0; g < fs->group_desc_count; g++) {
		*blocks += ext2fs_bg_free_blocks_count(fs, g);
		*inodes += ext2fs_bg_free_inodes_count(fs, g);
	}
	*blocks *= (uint64_t)EXT2FS_CLUSTER_RATIO(fs);
	/* opened for reading: nothing of ours can be lost here */
	ext2fs_close_free(&fs);
	return 0;
}

int rj_volume_patch(struct rj_volume *v, const struct rj_volume_patch *p,
	struct rj_error *err)
{
	uint8_t raw[RJ_SUPER_BYTES], raw_sbx[RJ_SBX_BYTES] = {0};
	int rc;

	if (!v->bio.write)
		return rj_fail(err, RJ_E_INVAL,
			"%s: was not opened for writing", v->path);
	/* a replay through the bio may have changed it */
	rc = v->bio.read(&v->bio, raw, sizeof(raw), RJ_SUPER_OFFSET, err);
	if (rc)
		return rc;
	if (v->facts.super >= RJ_SUPER_LOST)
		memcpy(raw, v->super, sizeof(raw));
	if (!is_copy_of(raw, v->super))
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: its superblock is gone or another one; try e2fsck",
			v->path);
	memcpy(v->super, raw, sizeof(raw));
	rj_ext4_facts_from_super(v);
	if (p->set_sbx) {
		rc = encode_sbx(v, p, true, raw_sbx, err);
		if (rc)
			return rc;
	}
	if (!p->primary_only) {
		rc = patch_backups(v, p, raw_sbx, err);
		if (rc)
			return rc;
	}
	if (p->set_free_counts) {
		uint64_t blocks = 0;
		uint32_t inodes = 0;

		rc = sum_free(v, &blocks, &inodes, err);
		if (rc)
			return rc;
		SB_PUT32(raw, s_free_blocks_count, (uint32_t)blocks);
		if (SB_LE32(raw, s_feature_incompat) &
			EXT4_FEATURE_INCOMPAT_64BIT)
			SB_PUT32(raw, s_free_blocks_hi,
				(uint32_t)(blocks >> 32));
		SB_PUT32(raw, s_free_inodes_count, inodes);
	}
	rc = rj_ext4_patch_super(v, raw, p, err);
	if (rc)
		return rc;
	return put_super(v, raw, err);
}
