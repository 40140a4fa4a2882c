// SPDX-License-Identifier: LGPL-2.1-or-later
/* A quick look at an unmounted volume: checksums of superblock, groups and bitmaps. */
#include "ext4/check.h"

#include <stdlib.h>

#include <ext2fs/ext2fs.h>

#include "ext4/ext4-priv.h"

#define MOST_IN_RUN (1u << 30) /* blocks: libext2fs takes an unsigned int */

static int fail_ext2(struct rj_error *err, const char *path, const char *what,
	errcode_t code)
{
	return rj_ext4_fail(err, RJ_E_CORRUPT, code, "%s: %s", path, what);
}

/* Count the zero bits of the first COUNT bits of BITS. */
static uint32_t zero_bits(const void *bits, uint32_t count)
{
	uint32_t ones = ext2fs_bitcount(bits, count / 8), i;

	for (i = count & ~7u; i < count; i++)
		ones += ext2fs_test_bit(i, bits) != 0;
	return count - ones;
}

/* A bitmap of a group: of blocks (clusters), or of inodes. */
struct group_map {
	const char *what;
	blk64_t at;
	uint16_t unused; /* the descriptor's flag: it is not on the disk yet */
	uint32_t bits;	 /* of the group, fewer in the last one */
	uint32_t bytes;	 /* with a checksum */
	uint32_t free;	 /* by the descriptor */
	int (*verify)(ext2_filsys fs, dgrp_t group, char *bitmap, int bytes);
};

/* Compare M, which is read into BUF, of a block, with its checksum and the descriptor's count. */
static int check_map(ext2_filsys fs, const char *path, dgrp_t group, const struct group_map *m,
	char *buf, struct rj_error *err)
{
	errcode_t code;
	uint32_t zeros;

	if (ext2fs_has_group_desc_csum(fs) && ext2fs_bg_flags_test(fs, group, m->unused))
		return 0;
	code = io_channel_read_blk64(fs->io, m->at, 1, buf);
	if (code)
		return fail_ext2(err, path, "cannot read the bitmaps", code);
	if (!m->verify(fs, group, buf, (int)m->bytes))
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: group %u: the bitmap of %s does not match its checksum", path, group,
			m->what);
	zeros = zero_bits(buf, m->bits);
	if (zeros == m->free)
		return 0;
	return rj_fail(err, RJ_E_CORRUPT,
		"%s: group %u: the bitmap has %u free %s, the descriptor says %u", path, group,
		zeros, m->what, m->free);
}

static int check_group(
	ext2_filsys fs, const char *path, dgrp_t group, char *buf, struct rj_error *err)
{
	uint32_t ratio = (uint32_t)EXT2FS_CLUSTER_RATIO(fs);
	const struct group_map blocks = {"blocks", ext2fs_block_bitmap_loc(fs, group),
		EXT2_BG_BLOCK_UNINIT,
		((uint32_t)ext2fs_group_blocks_count(fs, group) + ratio - 1) / ratio,
		EXT2_CLUSTERS_PER_GROUP(fs->super) / 8, ext2fs_bg_free_blocks_count(fs, group),
		ext2fs_block_bitmap_csum_verify};
	const struct group_map inodes = {"inodes", ext2fs_inode_bitmap_loc(fs, group),
		EXT2_BG_INODE_UNINIT, EXT2_INODES_PER_GROUP(fs->super),
		EXT2_INODES_PER_GROUP(fs->super) / 8, ext2fs_bg_free_inodes_count(fs, group),
		ext2fs_inode_bitmap_csum_verify};
	int rc = check_map(fs, path, group, &blocks, buf, err);

	return rc ? rc : check_map(fs, path, group, &inodes, buf, err);
}

/* Blocks in a row that groups have for metadata of one kind. */
struct run {
	blk64_t at;
	uint64_t count;
};

/* Mark those of R as taken, and begin an empty run. False: one was taken before. */
static bool end_run(ext2fs_block_bitmap taken, struct run *r)
{
	bool free = !r->count || ext2fs_test_block_bitmap_range2(taken, r->at, (unsigned)r->count);

	if (r->count)
		ext2fs_mark_block_bitmap_range2(taken, r->at, (unsigned)r->count);
	r->count = 0;
	return free;
}

/* Add COUNT blocks from AT to R, or end that and begin a run with them. False: they are not
 * inside the volume, or the run had blocks that were taken before. */
static bool add_to_run(ext2_filsys fs, ext2fs_block_bitmap taken, struct run *r, blk64_t at,
	uint32_t count)
{
	blk64_t end = ext2fs_blocks_count(fs->super);

	if (at < fs->super->s_first_data_block || at >= end || count > end - at)
		return false;
	if ((at != r->at + r->count || r->count > MOST_IN_RUN) && !end_run(taken, r))
		return false;
	if (!r->count)
		r->at = at;
	r->count += count;
	return true;
}

static int fail_place(struct rj_error *err, const char *path, dgrp_t group)
{
	return rj_fail(err, RJ_E_CORRUPT,
		"%s: group %u, or one before: the group descriptor names blocks that are not its own",
		path, group);
}

/* Before anything that they point to is read. TAKEN: the superblocks and descriptors. */
static int check_each_descriptor(ext2_filsys fs, const char *path, ext2fs_block_bitmap taken,
	struct rj_error *err)
{
	struct run maps = {0}, inode_maps = {0}, tables = {0};
	dgrp_t g;

	for (g = 0; g < fs->group_desc_count; g++) {
		if (!ext2fs_group_desc_csum_verify(fs, g))
			return rj_fail(err, RJ_E_CORRUPT,
				"%s: group %u: the descriptor's checksum does not match", path, g);
		if (!add_to_run(fs, taken, &maps, ext2fs_block_bitmap_loc(fs, g), 1) ||
			!add_to_run(fs, taken, &inode_maps, ext2fs_inode_bitmap_loc(fs, g), 1) ||
			!add_to_run(fs, taken, &tables, ext2fs_inode_table_loc(fs, g),
				fs->inode_blocks_per_group))
			return fail_place(err, path, g);
	}
	if (!end_run(taken, &maps) || !end_run(taken, &inode_maps) || !end_run(taken, &tables))
		return fail_place(err, path, g - 1);
	return 0;
}

static int check_descriptors(ext2_filsys fs, const char *path, struct rj_error *err)
{
	ext2fs_block_bitmap taken;
	errcode_t code;
	int rc;
	dgrp_t g;

	code = ext2fs_allocate_subcluster_bitmap(fs, "metadata", &taken);
	if (code)
		return rj_ext4_fail(err, RJ_E_NOMEM, code, "%s: no memory", path);
	for (g = 0; g < fs->group_desc_count; g++)
		ext2fs_reserve_super_and_bgd(fs, g, taken);
	rc = check_each_descriptor(fs, path, taken, err);
	ext2fs_free_block_bitmap(taken);
	return rc;
}

/* Did the writes that CHANGED tells of reach a bitmap of GROUP, or its descriptor? */
static bool group_changed(ext2_filsys fs, dgrp_t group, const struct rj_changed *changed)
{
	uint32_t per = (uint32_t)EXT2_DESC_PER_BLOCK(fs->super);

	return changed->is(changed->arg, ext2fs_block_bitmap_loc(fs, group)) ||
	       changed->is(changed->arg, ext2fs_inode_bitmap_loc(fs, group)) ||
	       changed->is(changed->arg, ext2fs_descriptor_block_loc2(fs,
			fs->blocksize == 1024, group / per));
}

int rj_volume_check_quick(const char *path, const struct rj_changed *changed,
	int (*progress)(void *arg, uint64_t done, uint64_t total), void *arg,
	struct rj_error *err)
{
	ext2_filsys fs = NULL;
	char *buf = NULL;
	errcode_t code;
	dgrp_t g;
	int rc = 0;

	code = ext2fs_open(path, EXT2_FLAG_64BITS, 0, 0, unix_io_manager, &fs);
	if (code)
		return fail_ext2(err, path, "cannot open the volume", code);
	/* the memory that a bit for each block takes is too much for a large volume */
	fs->default_bitmap_type = EXT2FS_BMAP64_RBTREE;
	buf = malloc(fs->blocksize);
	rc = buf ? check_descriptors(fs, path, err) : rj_fail(err, RJ_E_NOMEM, "out of memory");
	for (g = 0; !rc && g < fs->group_desc_count; g++) {
		if (!changed || group_changed(fs, g, changed))
			rc = check_group(fs, path, g, buf, err);
		if (!rc && progress &&
			progress(arg, g + 1, fs->group_desc_count))
			rc = rj_fail(err, RJ_E_CANCELLED, "cancelled");
	}
	free(buf);
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
