// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Remove the orphan file (feature orphan_file): without a journal it has no use, and
 * e2fsck takes it for damage.
 */
#include <stdlib.h>

#include "ext4/change/change-priv.h"

static int bad(struct rj_volume *v, const char *what, errcode_t e,
	struct rj_error *err)
{
	if (e)
		return rj_ext4_fail(err, RJ_E_CORRUPT, e,
			"%s: its orphan file: %s; run e2fsck -f", v->path,
			what);
	return rj_fail(err, RJ_E_CORRUPT,
		"%s: its orphan file: %s; run e2fsck -f", v->path, what);
}

/* In each block inode numbers, of which 0 is none, and a tail. */
static int check_block(struct rj_volume *v, ext2_filsys fs, ext2_ino_t ino,
	uint64_t nr, char *buf, struct rj_error *err)
{
	int i, per = ext2fs_inodes_per_orphan_block(fs);
	errcode_t e = io_channel_read_blk64(fs->io, nr, 1, buf);

	if (e)
		return bad(v, "cannot read it", e, err);
	if (rj_get_le32((uint8_t *)ext2fs_orphan_block_tail(fs, buf)) !=
		EXT4_ORPHAN_BLOCK_MAGIC)
		return bad(v, "a block of something else", 0, err);
	if (!ext2fs_orphan_file_block_csum_verify(fs, ino, nr, buf))
		return bad(v, "wrong checksum", 0, err);
	for (i = 0; i < per; i++) {
		if (rj_get_le32((uint8_t *)buf + 4 * i))
			return rj_fail(err, RJ_E_REFUSED,
				"%s: has inodes that wait for being deleted; mount and unmount it, or run e2fsck -f",
				v->path);
	}
	return 0;
}

static int check_empty(struct rj_volume *v, ext2_filsys fs, ext2_ino_t ino,
	const struct run_list *data, struct rj_error *err)
{
	char *buf = malloc(fs->blocksize);
	uint64_t at;
	size_t i;
	int rc = 0;

	if (!buf)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	for (i = 0; !rc && i < data->count; i++) {
		const struct run *r = &data->runs[i];

		for (at = 0; !rc && at < r->count; at++)
			rc = check_block(v, fs, ino, r->first + at, buf, err);
	}
	free(buf);
	return rc;
}

int rj_change_drop_orphan_file(struct rj_volume *v, ext2_filsys fs,
	struct run_list *freed, struct rj_error *err)
{
	ext2_ino_t ino = fs->super->s_orphan_file_inum;
	struct run_list data = {0};
	struct ext2_inode inode;
	errcode_t e;
	int rc = 0;

	if (ino < EXT2_FIRST_INODE(fs->super) ||
		ino > fs->super->s_inodes_count)
		return bad(v, "no inode of its own", 0, err);
	e = ext2fs_read_inode(fs, ino, &inode);
	if (e || !LINUX_S_ISREG(inode.i_mode))
		return bad(v, "not a file", e, err);
	e = rj_change_collect(fs, ino, &data, freed);
	if (e)
		rc = bad(v, "cannot find its blocks", e, err);
	if (!rc)
		rc = check_empty(v, fs, ino, &data, err);
	if (!rc) {
		/* the blocks, what the inode says, both feature bits */
		e = ext2fs_truncate_orphan_file(fs);
		if (e)
			rc = bad(v, "cannot take it away", e, err);
	}
	if (!rc) {
		/* left to the caller by libext2fs 1.47.0 */
		if (ext2fs_test_inode_bitmap2(fs->inode_map, ino))
			ext2fs_inode_alloc_stats2(fs, ino, -1, 0);
		fs->super->s_orphan_file_inum = 0;
		ext2fs_mark_super_dirty(fs);
	}
	free(data.runs);
	return rc;
}
