// SPDX-License-Identifier: LGPL-2.1-or-later
/* A quick look at an unmounted volume: checksums of superblock, groups and bitmaps. */
#include "ext4/check.h"

#include <ext2fs/ext2fs.h>

#include "ext4/ext4-priv.h"

static int fail_ext2(struct rj_error *err, const char *path, const char *what,
	errcode_t code)
{
	return rj_ext4_fail(err, RJ_E_CORRUPT, code, "%s: %s", path, what);
}

/* Free clusters and inodes of GROUP by its bitmaps. */
static int count_free(ext2_filsys fs, dgrp_t group, uint32_t *clusters,
	uint32_t *inodes, errcode_t *code)
{
	blk64_t b = ext2fs_group_first_block2(fs, group);
	blk64_t last = ext2fs_group_last_block2(fs, group);
	uint32_t per = fs->super->s_inodes_per_group;
	ext2_ino_t ino = group * per + 1, ino_end = ino + per;
	blk64_t found, step = EXT2FS_CLUSTER_RATIO(fs);

	*clusters = *inodes = 0;
	while (b <= last) {
		*code = ext2fs_find_first_zero_block_bitmap2(
			fs->block_map, b, last, &found);
		if (*code)
			break;
		(*clusters)++;
		b = (found / step + 1) * step;
		if (step == 1)
			b = found + 1;
	}
	if (*code && *code != ENOENT)
		return -1;
	while (ino < ino_end) {
		ext2_ino_t at;

		*code = ext2fs_find_first_zero_inode_bitmap2(
			fs->inode_map, ino, ino_end - 1, &at);
		if (*code)
			break;
		(*inodes)++;
		ino = at + 1;
	}
	if (*code && *code != ENOENT)
		return -1;
	*code = 0;
	return 0;
}

static int check_group(
	ext2_filsys fs, const char *path, dgrp_t group, struct rj_error *err)
{
	uint32_t clusters, inodes;
	errcode_t code = 0;

	if (count_free(fs, group, &clusters, &inodes, &code))
		return fail_ext2(err, path, "cannot read the bitmaps", code);
	if (clusters != ext2fs_bg_free_blocks_count(fs, group))
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: group %u: the bitmap has %u free blocks, the "
			"descriptor says %u",
			path, group, clusters,
			ext2fs_bg_free_blocks_count(fs, group));
	if (inodes != ext2fs_bg_free_inodes_count(fs, group))
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: group %u: the bitmap has %u free inodes, the "
			"descriptor says %u",
			path, group, inodes,
			ext2fs_bg_free_inodes_count(fs, group));
	return 0;
}

/* Before anything that they point to is read. */
static int check_descriptors(
	ext2_filsys fs, const char *path, struct rj_error *err)
{
	errcode_t code;
	dgrp_t g;

	for (g = 0; g < fs->group_desc_count; g++)
		if (!ext2fs_group_desc_csum_verify(fs, g))
			return rj_fail(err, RJ_E_CORRUPT,
				"%s: group %u: the descriptor's checksum does "
				"not match",
				path, g);
	code = ext2fs_check_desc(fs);
	return code ? fail_ext2(err, path, "the group descriptors", code) : 0;
}

int rj_volume_check_quick(const char *path,
	int (*progress)(void *arg, uint64_t done, uint64_t total), void *arg,
	struct rj_error *err)
{
	ext2_filsys fs = NULL;
	errcode_t code;
	dgrp_t g;
	int rc = 0;

	code = ext2fs_open(path, EXT2_FLAG_64BITS, 0, 0, unix_io_manager, &fs);
	if (code)
		return fail_ext2(err, path, "cannot open the volume", code);
	rc = check_descriptors(fs, path, err);
	if (!rc) {
		code = ext2fs_read_bitmaps(fs);
		if (code)
			rc = fail_ext2(err, path, "the bitmaps", code);
	}
	for (g = 0; !rc && g < fs->group_desc_count; g++) {
		rc = check_group(fs, path, g, err);
		if (!rc && progress &&
			progress(arg, g + 1, fs->group_desc_count))
			rc = rj_fail(err, RJ_E_CANCELLED, "cancelled");
	}
	/* opened for reading: nothing of ours can be lost here */
	ext2fs_close_free(&fs);
	return rc;
}

static errcode_t find_encrypted(ext2_filsys fs, uint32_t *found)
{
	ext2_inode_scan scan;
	struct ext2_inode inode;
	ext2_ino_t ino = 0;
	errcode_t code = ext2fs_open_inode_scan(fs, 0, &scan);

	if (code)
		return code;
	do {
		code = ext2fs_get_next_inode(scan, &ino, &inode);
		if (!code && ino && inode.i_links_count && inode.i_flags & EXT4_ENCRYPT_FL)
			*found = ino;
	} while (!code && ino && !*found);
	ext2fs_close_inode_scan(scan);
	return code;
}

int rj_volume_find_encrypted(const char *path, uint32_t *inode, struct rj_error *err)
{
	ext2_filsys fs = NULL;
	errcode_t code;

	*inode = 0;
	code = ext2fs_open(path, EXT2_FLAG_64BITS | EXT2_FLAG_IGNORE_CSUM_ERRORS, 0, 0,
		unix_io_manager, &fs);
	if (!code)
		code = find_encrypted(fs, inode);
	if (fs) /* opened for reading */
		ext2fs_close_free(&fs);
	return code ? fail_ext2(err, path, "cannot read the inodes", code) : 0;
}

void rj_volume_judged(const struct rj_volume_facts *f, struct rj_verdict_facts *out)
{
	bool remote = !f->journal_inode && f->has_sbx && f->sbx.placement == RJ_PLACE_REMOTE &&
		      rj_uuid_equal(f->sbx.journal_uuid, f->journal_uuid);
	static const uint64_t supers[] = {
		[RJ_SUPER_TORN] = RJ_FOUND(RJ_IS_TORN),
		[RJ_SUPER_LOST] = RJ_FOUND(RJ_IS_LOST),
		[RJ_SUPER_GONE] = RJ_FOUND(RJ_IS_GONE),
		[RJ_SUPER_STALE] = RJ_FOUND(RJ_IS_STALE),
	};
	const struct {
		enum rj_found bit;
		bool is;
	} found[] = {
		{RJ_IS_MOVE_CUT, f->has_sbx && f->sbx.intent_op},
		{RJ_IS_MISMATCH, f->has_journal && !f->journal_inode && !remote &&
					 f->journal_device == RJ_JOURNAL_DEVICE_REMOTE},
		{RJ_IS_NEEDS, f->needs_recovery},
		{RJ_IS_UNCLEAN, !f->clean},
		{RJ_IS_UNMOUNT_FAILED, f->broken_unmount != 0},
		{RJ_IS_VOID, remote && f->sbx.incompat & RJ_SBX_INCOMPAT_LOG_VOID},
		{RJ_IS_PENDING, remote && f->sbx.incompat & RJ_SBX_INCOMPAT_CHECK_PENDING},
		{RJ_IS_SUMS_OF_UUID, f->sums_of_uuid},
		{RJ_IS_MARKABLE, f->mark_at != 0},
		{RJ_IS_BACKUP, f->super_group != 0},
	};
	size_t i;

	*out = (struct rj_verdict_facts){
		.found = supers[f->super],
		.epoch = f->has_sbx ? f->sbx.epoch : 0,
		.mark = f->mark,
		.group = f->super_group,
	};
	for (i = 0; i < sizeof(found) / sizeof(found[0]); i++)
		if (found[i].is)
			out->found |= RJ_FOUND(found[i].bit);
}

void rj_volume_judge(const char *path, struct rj_volume_facts *f, struct rj_verdict_facts *facts,
	struct rj_verdict *out)
{
	rj_verdict_judge(facts, out);
	if (!(out->found & RJ_FOUND(RJ_IS_BEHIND_MARK)))
		return;
	rj_volume_mark_again(path, f);
	facts->mark = f->mark;
	rj_verdict_judge(facts, out);
}

enum rj_verdict_kind rj_volume_verdict(const struct rj_volume_facts *f)
{
	struct rj_verdict_facts facts;
	struct rj_verdict v;

	rj_volume_judged(f, &facts);
	rj_verdict_judge(&facts, &v);
	return v.kind;
}
