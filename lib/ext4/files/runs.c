// SPDX-License-Identifier: LGPL-2.1-or-later
/* Where a file's blocks are: by its extents, or by its indirect blocks. */
#include "ext4/files/files-priv.h"

struct gathering {
	struct rj_buf *out;
	bool no_memory;
};

/* Append R, or let the last run go on with it. */
static int add(struct rj_buf *out, const struct file_run *r)
{
	struct file_run *last = NULL;

	if (out->len)
		last = (struct file_run *)(void *)(out->data + out->len) - 1;
	if (last && !r->map && !last->map && last->unwritten == r->unwritten &&
		last->logical + last->count == r->logical &&
		last->physical + last->count == r->physical) {
		last->count += r->count;
		return 0;
	}
	return rj_buf_append(out, r, sizeof(*r));
}

static errcode_t by_extents(ext2_filsys fs, uint32_t ino, struct ext2_inode_large *inode,
	struct gathering *g)
{
	int op = EXT2_EXTENT_ROOT;
	struct ext2fs_extent x;
	ext2_extent_handle_t handle;
	errcode_t e = ext2fs_extent_open2(fs, ino, (struct ext2_inode *)inode, &handle);

	if (e)
		return e;
	while (!g->no_memory && !(e = ext2fs_extent_get(handle, op, &x))) {
		bool leaf = x.e_flags & EXT2_EXTENT_FLAGS_LEAF;
		const struct file_run r = {
			.logical = x.e_lblk,
			.physical = x.e_pblk,
			.count = leaf ? x.e_len : 1,
			.unwritten = x.e_flags & EXT2_EXTENT_FLAGS_UNINIT,
			.map = !leaf,
		};

		op = EXT2_EXTENT_NEXT;
		if (!(x.e_flags & EXT2_EXTENT_FLAGS_SECOND_VISIT))
			g->no_memory = add(g->out, &r) != 0;
	}
	ext2fs_extent_free(handle);
	return e == EXT2_ET_EXTENT_NO_NEXT ? 0 : e;
}

static int one_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t logical, blk64_t ref, int offset,
	void *arg)
{
	struct gathering *g = arg;
	const struct file_run r = {
		.logical = logical < 0 ? 0 : (uint64_t)logical,
		.physical = *block,
		.count = 1,
		.map = logical < 0,
	};

	(void)fs, (void)ref, (void)offset;
	g->no_memory = add(g->out, &r) != 0;
	return g->no_memory ? BLOCK_ABORT : 0;
}

int rj_files_runs(struct rj_files *f, uint32_t ino, struct ext2_inode_large *inode,
	struct rj_buf *out, struct rj_error *err)
{
	struct gathering g = {.out = out};
	errcode_t e;

	if (!ext2fs_inode_has_valid_blocks2(f->fs, (struct ext2_inode *)inode))
		return 0;
	e = inode->i_flags & EXT4_EXTENTS_FL
		    ? by_extents(f->fs, ino, inode, &g)
		    : ext2fs_block_iterate3(f->fs, ino, BLOCK_FLAG_READ_ONLY, NULL, one_block, &g);
	if (g.no_memory)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	return e ? rj_files_fail(f, err, e, "the map of inode", ino) : 0;
}
