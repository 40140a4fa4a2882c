// SPDX-License-Identifier: GPL-2.0-or-later
#include "blocks.h"

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a block in use is. */
enum owner { NOTHING, METADATA, MAPPED, UNWRITTEN };

struct pair {
	ext2_filsys fs; /* the good one */
	io_channel good, found;
	uint8_t *a, *b; /* a block of each */
	uint8_t *owner; /* of each block */
	struct blocks_result *r;
};

static int fail(struct blocks_result *r, const char *what, errcode_t rc)
{
	snprintf(r->why, sizeof(r->why), "%.200s: %s", what, rc ? error_message(rc) : "");
	return -1;
}

static void own(struct pair *p, blk64_t first, blk64_t count, enum owner as)
{
	for (; count; count--, first++)
		if (first < ext2fs_blocks_count(p->fs->super))
			p->owner[first] = (uint8_t)as;
}

static int own_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t n, blk64_t ref, int off,
	void *arg)
{
	(void)fs, (void)n, (void)ref, (void)off;
	own(arg, *block, 1, MAPPED);
	return 0;
}

/* Of a file with extents, those that are not written. */
static errcode_t own_extents(struct pair *p, ext2_ino_t ino, struct ext2_inode *inode)
{
	ext2_extent_handle_t h;
	struct ext2fs_extent e;
	errcode_t rc = ext2fs_extent_open2(p->fs, ino, inode, &h);

	if (rc)
		return rc;
	rc = ext2fs_extent_get(h, EXT2_EXTENT_ROOT, &e);
	for (; !rc; rc = ext2fs_extent_get(h, EXT2_EXTENT_NEXT, &e))
		if (e.e_flags & EXT2_EXTENT_FLAGS_LEAF &&
			e.e_flags & EXT2_EXTENT_FLAGS_UNINIT)
			own(p, e.e_pblk, e.e_len, UNWRITTEN);
	ext2fs_extent_free(h);
	return rc == EXT2_ET_EXTENT_NO_NEXT || rc == EXT2_ET_NO_CURRENT_NODE ? 0 : rc;
}

static errcode_t own_file(struct pair *p, ext2_ino_t ino, struct ext2_inode *inode)
{
	blk64_t acl = ext2fs_file_acl_block(p->fs, inode);
	errcode_t rc = 0;

	if (acl)
		own(p, acl, 1, METADATA);
	if (!ext2fs_inode_has_valid_blocks2(p->fs, inode))
		return 0;
	if (inode->i_flags & EXT4_INLINE_DATA_FL)
		return 0;
	rc = ext2fs_block_iterate3(p->fs, ino, BLOCK_FLAG_READ_ONLY, NULL, own_block, p);
	if (!rc && inode->i_flags & EXT4_EXTENTS_FL)
		rc = own_extents(p, ino, inode);
	return rc;
}

static errcode_t own_files(struct pair *p)
{
	struct ext2_inode inode;
	ext2_inode_scan scan;
	ext2_ino_t ino;
	errcode_t rc = ext2fs_open_inode_scan(p->fs, 0, &scan);

	if (rc)
		return rc;
	for (;;) {
		rc = ext2fs_get_next_inode(scan, &ino, &inode);
		if (rc || !ino)
			break;
		/* in use: also what was deleted while open */
		if (ext2fs_test_inode_bitmap2(p->fs->inode_map, ino) && inode.i_mode)
			rc = own_file(p, ino, &inode);
		else if (ino == EXT2_RESIZE_INO)
			rc = own_file(p, ino, &inode);
		if (rc)
			break;
	}
	ext2fs_close_inode_scan(scan);
	return rc;
}

static void own_groups(struct pair *p)
{
	ext2_filsys fs = p->fs;
	blk64_t super, old, new;
	blk_t count;
	dgrp_t g;

	own(p, 0, fs->super->s_first_data_block + 1, METADATA);
	for (g = 0; g < fs->group_desc_count; g++) {
		ext2fs_super_and_bgd_loc2(fs, g, &super, &old, &new, &count);
		own(p, super, super ? 1 : 0, METADATA);
		own(p, old, old ? fs->desc_blocks + fs->super->s_reserved_gdt_blocks : 0,
			METADATA);
		own(p, new, new ? 1 : 0, METADATA);
		own(p, ext2fs_block_bitmap_loc(fs, g), 1, METADATA);
		own(p, ext2fs_inode_bitmap_loc(fs, g), 1, METADATA);
		own(p, ext2fs_inode_table_loc(fs, g), fs->inode_blocks_per_group, METADATA);
	}
}

static int has_flag(ext2_filsys fs, dgrp_t g, uint16_t flag)
{
	return ext2fs_has_group_desc_csum(fs) && ext2fs_bg_flags_test(fs, g, flag);
}

/* A bitmap that a resize has not written: the kernel makes it when it needs it. */
static int is_unmade(ext2_filsys fs, dgrp_t g, blk64_t block)
{
	return (block == ext2fs_block_bitmap_loc(fs, g) && has_flag(fs, g, EXT2_BG_BLOCK_UNINIT)) ||
		(block == ext2fs_inode_bitmap_loc(fs, g) && has_flag(fs, g, EXT2_BG_INODE_UNINIT));
}

/* Block N of an inode table of group G: are the inodes that count the same? */
static int same_itable(const struct pair *p, dgrp_t g, blk64_t n)
{
	ext2_filsys fs = p->fs;
	uint64_t used = ext2fs_has_group_desc_csum(fs) ?
		fs->super->s_inodes_per_group - ext2fs_bg_itable_unused(fs, g) :
		fs->super->s_inodes_per_group;
	uint64_t bytes, at = n * fs->blocksize;

	if (has_flag(fs, g, EXT2_BG_INODE_UNINIT))
		used = 0;
	bytes = used * EXT2_INODE_SIZE(fs->super);
	bytes = bytes > at ? bytes - at : 0;
	if (bytes > fs->blocksize)
		bytes = fs->blocksize;
	return bytes < fs->blocksize && !memcmp(p->a, p->b, bytes);
}

static int is_backup(ext2_filsys fs, blk64_t block)
{
	blk64_t super, old, new;
	blk_t count;
	dgrp_t g;

	for (g = 1; g < fs->group_desc_count; g++) {
		ext2fs_super_and_bgd_loc2(fs, g, &super, &old, &new, &count);
		if (super == block)
			return 1;
	}
	return 0;
}

/* The class of BLOCK, whose bytes differ; BLOCK_CLASSES: they must not. */
static enum block_class class_of(const struct pair *p, blk64_t block)
{
	ext2_filsys fs = p->fs;
	unsigned from = block ? 0 : 1024 % fs->blocksize, at;
	dgrp_t g;
	blk64_t table;

	if (block == 1024 / fs->blocksize)
		return blocks_same_super(p->a + from, p->b + from, &at) &&
				!memcmp(p->a, p->b, from) &&
				!memcmp(p->a + from + 1024, p->b + from + 1024,
					fs->blocksize - from - 1024) ?
			BLOCK_SUPER : BLOCK_CLASSES;
	if (is_backup(fs, block))
		return blocks_same_super(p->a, p->b, &at) &&
				!memcmp(p->a + 1024, p->b + 1024, fs->blocksize - 1024) ?
			BLOCK_BACKUP : BLOCK_CLASSES;
	for (g = 0; g < fs->group_desc_count; g++) {
		if (is_unmade(fs, g, block))
			return BLOCK_ITABLE;
		table = ext2fs_inode_table_loc(fs, g);
		if (block >= table && block < table + fs->inode_blocks_per_group)
			return same_itable(p, g, block - table) ? BLOCK_ITABLE :
								  BLOCK_CLASSES;
	}
	if (p->owner[block] == UNWRITTEN)
		return BLOCK_UNWRITTEN;
	if (p->owner[block] == NOTHING && fs->cluster_ratio_bits)
		return BLOCK_CLUSTER;
	return BLOCK_CLASSES;
}

static int compare_block(struct pair *p, blk64_t block)
{
	static const char *const owners[] = {"nothing", "metadata", "a file", "an unwritten extent"};
	struct blocks_result *r = p->r;
	enum block_class class;
	unsigned at;

	r->used++;
	if (io_channel_read_blk64(p->good, block, 1, p->a) ||
		io_channel_read_blk64(p->found, block, 1, p->b))
		return fail(r, "a block cannot be read", 0);
	if (!memcmp(p->a, p->b, p->fs->blocksize)) {
		r->equal++;
		return 0;
	}
	class = class_of(p, block);
	if (class < BLOCK_CLASSES) {
		r->differs[class]++;
	} else if (!r->wrong++) {
		for (at = 0; p->a[at] == p->b[at]; at++)
			continue;
		snprintf(r->why, sizeof(r->why), "block %llu of %s differs at byte %u: %02x, not %02x",
			(unsigned long long)block, owners[p->owner[block]], at, p->b[at], p->a[at]);
	}
	return 0;
}

static int compare_all(struct pair *p)
{
	blk64_t block, end = ext2fs_blocks_count(p->fs->super);
	errcode_t rc;

	own_groups(p);
	rc = own_files(p);
	if (rc)
		return fail(p->r, "the files' blocks", rc);
	if (p->fs->super->s_first_data_block && compare_block(p, 0))
		return -1;
	for (block = p->fs->super->s_first_data_block; block < end; block++)
		if (ext2fs_test_block_bitmap2(p->fs->block_map, block) && compare_block(p, block))
			return -1;
	return 0;
}

int blocks_compare(const char *good, const char *found, struct blocks_result *r)
{
	struct pair p = {.r = r};
	errcode_t rc;
	int ret = -1;

	memset(r, 0, sizeof(*r));
	rc = ext2fs_open(good, EXT2_FLAG_64BITS | EXT2_FLAG_IGNORE_CSUM_ERRORS, 0, 0,
		unix_io_manager, &p.fs);
	if (!rc)
		rc = ext2fs_read_bitmaps(p.fs);
	if (rc)
		return fail(r, good, rc);
	p.good = p.fs->io;
	rc = unix_io_manager->open(found, 0, &p.found);
	if (!rc)
		io_channel_set_blksize(p.found, (int)p.fs->blocksize);
	p.a = malloc(p.fs->blocksize);
	p.b = malloc(p.fs->blocksize);
	p.owner = calloc(ext2fs_blocks_count(p.fs->super) + 1, 1);
	if (rc || !p.a || !p.b || !p.owner)
		fail(r, found, rc);
	else
		ret = compare_all(&p);
	if (p.found)
		io_channel_close(p.found);
	ext2fs_close(p.fs);
	free(p.a);
	free(p.b);
	free(p.owner);
	return ret;
}

void blocks_print(const struct blocks_result *r)
{
	printf("used %llu equal %llu super %llu backup %llu itable %llu unwritten %llu cluster %llu wrong %llu\n",
		(unsigned long long)r->used, (unsigned long long)r->equal,
		(unsigned long long)r->differs[BLOCK_SUPER],
		(unsigned long long)r->differs[BLOCK_BACKUP],
		(unsigned long long)r->differs[BLOCK_ITABLE],
		(unsigned long long)r->differs[BLOCK_UNWRITTEN],
		(unsigned long long)r->differs[BLOCK_CLUSTER], (unsigned long long)r->wrong);
}
