// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libext2fs over a block-I/O vtable, for reading. The superblock is given apart: what the volume's
 * own place has is a base's, which no tool takes for a volume.
 */
#include "ext4/files/files-priv.h"

#include <stdlib.h>
#include <string.h>

int rj_files_fail(const struct rj_files *f, struct rj_error *err, long code, const char *what,
	uint64_t number)
{
	enum rj_code rc = code == EXT2_ET_NO_MEMORY ? RJ_E_NOMEM : RJ_E_CORRUPT;

	return rj_ext4_fail(err, rc, code, "%s: %s %llu cannot be read", f->bio->name, what,
		(unsigned long long)number);
}

void rj_files_trace(struct rj_files *f, uint64_t first, uint64_t count)
{
	const struct rj_file_range r = {first, count};

	if (f->trace && rj_buf_append(f->trace, &r, sizeof(r)))
		f->trace_failed = true;
}

static errcode_t io_read64(io_channel c, unsigned long long block, int count, void *data)
{
	struct rj_files *f = c->private_data;
	uint64_t off = block * (uint64_t)c->block_size, end, from, to;
	uint64_t len = count < 0 ? (uint64_t)-(int64_t)count
				 : (uint64_t)count * (uint64_t)c->block_size;

	if (f->bio->read(f->bio, data, len, off, NULL))
		return EXT2_ET_SHORT_READ;
	if (f->trace)
		rj_files_trace(f, block, (len - 1) / (uint64_t)c->block_size + 1);
	end = off + len;
	from = off > RJ_SUPER_OFFSET ? off : RJ_SUPER_OFFSET;
	to = RJ_SUPER_OFFSET + RJ_SUPER_BYTES;
	if (to > end)
		to = end;
	if (from < to)
		memcpy((uint8_t *)data + (from - off), f->super + (from - RJ_SUPER_OFFSET),
			to - from);
	return 0;
}

static errcode_t io_read(io_channel c, unsigned long block, int count, void *data)
{
	return io_read64(c, block, count, data);
}

static errcode_t io_write64(io_channel c, unsigned long long block, int count, const void *data)
{
	(void)c, (void)block, (void)count, (void)data;
	return EXT2_ET_RO_FILSYS;
}

static errcode_t io_write(io_channel c, unsigned long block, int count, const void *data)
{
	return io_write64(c, block, count, data);
}

static struct struct_io_manager manager = {
	.magic = EXT2_ET_MAGIC_IO_MANAGER,
	.name = "rjprogs moment",
	.open = rj_ext4_channel_open,
	.close = rj_ext4_channel_close,
	.set_blksize = rj_ext4_channel_set_blksize,
	.read_blk = io_read,
	.write_blk = io_write,
	.flush = rj_ext4_channel_flush,
	.read_blk64 = io_read64,
	.write_blk64 = io_write64,
};

static int by_first(const void *a, const void *b)
{
	const struct inode_table *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

static int prepare(struct rj_files *f, struct rj_error *err)
{
	ext2_filsys fs = f->fs;
	dgrp_t g;

	if (ext2fs_has_feature_inline_data(fs->super))
		return rj_fail(err, RJ_E_UNSUPPORTED, "%s: the volume has the feature inline_data: look at its moments with rjbackup mount",
			f->bio->name);
	f->tables = calloc(fs->group_desc_count, sizeof(*f->tables));
	f->inodes.data = malloc(fs->blocksize);
	f->blocks.data = malloc(fs->blocksize);
	if (!f->tables || !f->inodes.data || !f->blocks.data)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	for (g = 0; g < fs->group_desc_count; g++)
		f->tables[g] = (struct inode_table){ext2fs_inode_table_loc(fs, g),
			fs->inode_blocks_per_group, g};
	qsort(f->tables, fs->group_desc_count, sizeof(*f->tables), by_first);
	return 0;
}

int rj_files_open(struct rj_bio *bio, const uint8_t super[1024], struct rj_files **out,
	struct rj_error *err)
{
	struct rj_files *f = calloc(1, sizeof(*f));
	errcode_t e;
	int rc;

	*out = NULL;
	if (!f)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	f->bio = bio;
	memcpy(f->super, super, sizeof(f->super));
	rj_ext4_super_seal(f->super);
	e = rj_ext4_open_over(
		bio->name, EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP, &manager, f, &f->fs);
	rc = e ? rj_ext4_fail(err, RJ_E_CORRUPT, e, "%s: cannot read its group descriptors",
			 bio->name)
	       : prepare(f, err);
	if (rc) {
		rj_files_close(f);
		return rc;
	}
	*out = f;
	return 0;
}

void rj_files_close(struct rj_files *f)
{
	if (!f)
		return;
	if (f->fs) /* opened for reading */
		ext2fs_close_free(&f->fs);
	free(f->tables);
	free(f->inodes.data);
	free(f->blocks.data);
	free(f);
}

int rj_files_block(struct rj_files *f, uint64_t block, void *out, struct rj_error *err)
{
	uint32_t bs = f->fs->blocksize;

	rj_files_trace(f, block, 1);
	return f->bio->read(f->bio, out, bs, block * bs, err);
}

static int keep(struct rj_files *f, struct kept_block *k, uint64_t nr, struct rj_error *err)
{
	int rc;

	if (k->nr == nr)
		return 0;
	k->nr = 0;
	rc = rj_files_block(f, nr, k->data, err);
	if (!rc)
		k->nr = nr;
	return rc;
}

uint32_t rj_files_group_inodes(const struct rj_files *f, uint32_t group)
{
	uint32_t all = f->fs->super->s_inodes_per_group;

	if (!ext2fs_has_group_desc_csum(f->fs))
		return all;
	if (ext2fs_bg_flags_test(f->fs, group, EXT2_BG_INODE_UNINIT))
		return 0;
	return all - ext2fs_bg_itable_unused(f->fs, group);
}

int rj_files_inode_used(struct rj_files *f, uint32_t ino, bool *out, struct rj_error *err)
{
	uint32_t per = f->fs->super->s_inodes_per_group, group = (ino - 1) / per;
	int rc;

	*out = false;
	if (!ino || group >= f->fs->group_desc_count ||
		(ino - 1) % per >= rj_files_group_inodes(f, group))
		return 0;
	rc = keep(f, &f->inodes, ext2fs_inode_bitmap_loc(f->fs, group), err);
	if (!rc)
		*out = ext2fs_test_bit((ino - 1) % per, f->inodes.data);
	return rc;
}

int rj_files_block_used(struct rj_files *f, uint64_t block, bool *out, struct rj_error *err)
{
	ext2_filsys fs = f->fs;
	dgrp_t group;
	int rc;

	*out = false;
	if (block < fs->super->s_first_data_block || block >= ext2fs_blocks_count(fs->super))
		return 0;
	group = ext2fs_group_of_blk2(fs, block);
	if (ext2fs_has_group_desc_csum(fs) && ext2fs_bg_flags_test(fs, group, EXT2_BG_BLOCK_UNINIT))
		return 0;
	rc = keep(f, &f->blocks, ext2fs_block_bitmap_loc(fs, group), err);
	block -= ext2fs_group_first_block2(fs, group);
	if (!rc)
		*out = ext2fs_test_bit(
			(unsigned)(block / EXT2FS_CLUSTER_RATIO(fs)), f->blocks.data);
	return rc;
}

int rj_files_inode(struct rj_files *f, uint32_t ino, struct ext2_inode_large *out,
	struct rj_error *err)
{
	errcode_t e;

	memset(out, 0, sizeof(*out));
	e = ext2fs_read_inode_full(f->fs, ino, (struct ext2_inode *)out, sizeof(*out));
	return e ? rj_files_fail(f, err, e, "inode", ino) : 0;
}

/* Is the block at KEY before the table at ELEMENT, in it (0), or after it? */
static int by_table(const void *key, const void *element)
{
	uint64_t block = *(const uint64_t *)key;
	const struct inode_table *t = element;

	return block < t->first ? -1 : block - t->first >= t->count;
}

const struct inode_table *rj_files_table(const struct rj_files *f, uint64_t block)
{
	return bsearch(&block, f->tables, f->fs->group_desc_count, sizeof(*f->tables), by_table);
}

uint32_t rj_files_flex(const struct rj_files *f)
{
	struct ext2_super_block *s = f->fs->super;

	return ext2fs_has_feature_flex_bg(s) ? 1u << s->s_log_groups_per_flex : 1;
}

static bool is_bitmap(const struct rj_files *f, uint64_t block)
{
	ext2_filsys fs = f->fs;
	/* with flex_bg those of a group are in any group of the same flex group, or in the first */
	uint32_t flex = rj_files_flex(f);
	dgrp_t own = ext2fs_group_of_blk2(fs, block), g = own - own % flex, end = g + flex;

	for (; g < end && g < fs->group_desc_count; g++)
		if (ext2fs_block_bitmap_loc(fs, g) == block ||
			ext2fs_inode_bitmap_loc(fs, g) == block)
			return true;
	return false;
}

bool rj_files_is_meta(const struct rj_files *f, uint64_t block)
{
	ext2_filsys fs = f->fs;
	blk64_t super, old, new;
	blk_t used;

	if (block <= fs->super->s_first_data_block || block >= ext2fs_blocks_count(fs->super) ||
		rj_files_table(f, block) || is_bitmap(f, block))
		return true;
	ext2fs_super_and_bgd_loc2(
		fs, ext2fs_group_of_blk2(fs, block), &super, &old, &new, &used);
	return block == super || block == new ||
	       (ext2fs_has_feature_mmp(fs->super) && block == fs->super->s_mmp_block) ||
	       (old && block >= old &&
		       block < old + fs->desc_blocks + fs->super->s_reserved_gdt_blocks);
}

bool rj_files_is_special(const struct rj_files *f, uint32_t ino, uint32_t flags)
{
	struct ext2_super_block *s = f->fs->super;

	return (ino < EXT2_FIRST_INODE(s) && ino != EXT2_ROOT_INO) ||
	       flags & EXT4_EA_INODE_FL ||
	       (ext2fs_has_feature_orphan_file(s) && ino == s->s_orphan_file_inum) ||
	       (ext2fs_has_feature_project(s) && ino == s->s_prj_quota_inum);
}
