// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Work around what e2fsck 1.47.0 does wrong when it releases orphans (inodes deleted
 * while open, or whose truncate was cut off):
 * - Of an inode that maps no blocks (fast symlinks, devices, FIFOs, sockets, inline
 *   data) it forgets the block of extended attributes, whose reference count is
 *   then wrong. Such an inode that is to be deleted is made an empty regular file
 *   before, of which e2fsck releases that block like any other.
 * - It takes the block of extended attributes from an inode that stays, whose truncate
 *   or extending O_DIRECT write was cut off: the attributes are lost, and i_blocks
 *   is wrong. Nothing but the kernel's next mount may release orphans then, or the
 *   block is hidden from e2fsck.
 * - It leaves the entries in the orphan file, where the kernel takes them for
 *   damage. They are cleared afterwards; and before, those of an earlier run that
 *   was cut off in between.
 */
#include "ext4/change/orphans.h"

#include <stdlib.h>
#include <string.h>

#include "ext4/change/change-priv.h"

struct orphans {
	struct rj_volume *v;
	ext2_filsys fs;
	struct overlay overlay;
	struct ext2_inode *inode; /* of the volume's inode size */
	uint8_t *block;
	bool released; /* by e2fsck */
	struct rj_orphan_attrs *hidden;
};

static int bad(const struct orphans *o, const char *what, errcode_t e,
	struct rj_error *err)
{
	return rj_ext4_fail(err, RJ_E_CORRUPT, e, "%s: orphan inodes: %s",
		o->v->path, what);
}

static bool valid(const struct orphans *o, uint32_t ino)
{
	return ino >= EXT2_FIRST_INODE(o->fs->super) &&
	       ino <= o->fs->super->s_inodes_count;
}

static int hide(struct orphans *o, uint32_t ino, struct rj_error *err)
{
	struct rj_orphan_attrs *h = o->hidden;
	void *more = realloc(h->inodes, (h->count + 1) * sizeof(*h->inodes));
	errcode_t e;

	if (!more)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", o->v->path);
	h->inodes = more;
	h->inodes[h->count].ino = ino;
	h->inodes[h->count++].block = ext2fs_file_acl_block(o->fs, o->inode);
	ext2fs_file_acl_block_set(o->fs, o->inode, 0);
	e = ext2fs_iblk_sub_blocks(o->fs, o->inode, 1);
	if (!e)
		e = ext2fs_write_inode_full(o->fs, ino, o->inode,
			EXT2_INODE_SIZE(o->fs->super));
	return e ? bad(o, "cannot change one", e, err) : 0;
}

static int show_hidden(struct orphans *o, struct rj_error *err)
{
	int size = EXT2_INODE_SIZE(o->fs->super);
	errcode_t e = 0;
	size_t i;

	for (i = 0; !e && i < o->hidden->count; i++) {
		e = ext2fs_read_inode_full(
			o->fs, o->hidden->inodes[i].ino, o->inode, size);
		if (e)
			break;
		ext2fs_file_acl_block_set(
			o->fs, o->inode, o->hidden->inodes[i].block);
		e = ext2fs_iblk_add_blocks(o->fs, o->inode, 1);
		if (!e)
			e = ext2fs_write_inode_full(o->fs,
				o->hidden->inodes[i].ino, o->inode, size);
	}
	return e ? bad(o, "cannot change one", e, err) : 0;
}

/* NEXT: of the superblock's list; may be NULL. */
static int make_releasable(
	struct orphans *o, uint32_t ino, uint32_t *next, struct rj_error *err)
{
	int size = EXT2_INODE_SIZE(o->fs->super);
	struct ext2_inode *i = o->inode;
	errcode_t e = ext2fs_read_inode_full(o->fs, ino, i, size);

	if (e)
		return bad(o, "cannot read one", e, err);
	if (next)
		*next = i->i_dtime;
	if (!ext2fs_file_acl_block(o->fs, i))
		return 0;
	if (i->i_links_count && o->hidden)
		return hide(o, ino, err);
	if (i->i_links_count)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: inode %u is to be truncated, and e2fsck would lose its extended attributes",
			o->v->path, ino);
	if (ext2fs_inode_has_valid_blocks2(o->fs, i))
		return 0;
	if (!LINUX_S_ISDIR(i->i_mode)) /* those are counted */
		i->i_mode = LINUX_S_IFREG | (i->i_mode & 07777);
	i->i_flags &= ~(uint32_t)(EXT4_INLINE_DATA_FL | EXT4_EXTENTS_FL);
	memset(i->i_block, 0, sizeof(i->i_block));
	e = ext2fs_write_inode_full(o->fs, ino, i, size);
	return e ? bad(o, "cannot change one", e, err) : 0;
}

static int look_at_list(struct orphans *o, struct rj_error *err)
{
	uint32_t left = o->fs->super->s_inodes_count, next;
	uint32_t ino = o->fs->super->s_last_orphan;
	int rc = 0;

	for (; !rc && ino && left--; ino = next) {
		if (!valid(o, ino))
			return bad(o, "their list is damaged",
				EXT2_ET_BAD_INODE_NUM, err);
		rc = make_releasable(o, ino, &next, err);
	}
	return rc;
}

/* In each block of the orphan file inode numbers, of which 0 is none, and a tail. */
static int look_at_block(struct orphans *o, uint64_t nr, struct rj_error *err)
{
	uint32_t file = o->fs->super->s_orphan_file_inum, ino;
	int i, per = ext2fs_inodes_per_orphan_block(o->fs), rc = 0;
	char *block = (char *)o->block;
	bool changed = false;
	errcode_t e = io_channel_read_blk64(o->fs->io, nr, 1, block);

	if (e || !ext2fs_orphan_file_block_csum_verify(o->fs, file, nr, block))
		return bad(o, "the orphan file is damaged",
			e ? e : EXT2_ET_BAD_CRC, err);
	for (i = 0; !rc && i < per; i++) {
		ino = rj_get_le32(o->block + 4 * i);
		if (!ino)
			continue;
		if (o->released || !valid(o, ino) ||
			!ext2fs_test_inode_bitmap2(o->fs->inode_map, ino)) {
			rj_put_le32(o->block + 4 * i, 0);
			changed = true;
		} else {
			rc = make_releasable(o, ino, NULL, err);
		}
	}
	if (rc || !changed)
		return rc;
	e = ext2fs_orphan_file_block_csum_set(o->fs, file, nr, block);
	if (!e)
		e = io_channel_write_blk64(o->fs->io, nr, 1, block);
	return e ? bad(o, "cannot change the orphan file", e, err) : 0;
}

static int look_at_file(struct orphans *o, struct rj_error *err)
{
	struct run_list data = {0};
	uint64_t at;
	errcode_t e;
	size_t i;
	int rc = 0;

	if (!valid(o, o->fs->super->s_orphan_file_inum))
		return bad(o, "the orphan file is damaged",
			EXT2_ET_BAD_INODE_NUM, err);
	e = o->released ? 0 : ext2fs_read_inode_bitmap(o->fs);
	if (!e)
		e = rj_change_collect(o->fs, o->fs->super->s_orphan_file_inum,
			&data, NULL);
	if (e)
		rc = bad(o, "cannot read the orphan file", e, err);
	for (i = 0; !rc && i < data.count; i++)
		for (at = 0; !rc && at < data.runs[i].count; at++)
			rc = look_at_block(o, data.runs[i].first + at, err);
	free(data.runs);
	return rc;
}

static int write_out(struct orphans *o, struct rj_error *err)
{
	const struct overlay *ov = &o->overlay;
	struct rj_bio *bio = rj_volume_bio(o->v);
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < ov->count; i++)
		rc = bio->write(bio, ov->blocks[i].data, ov->block_size,
			ov->blocks[i].nr * ov->block_size, err);
	if (!rc && ov->count)
		rc = bio->flush(bio, err);
	return rc;
}

static int look(struct orphans *o, struct rj_error *err)
{
	int rc = rj_overlay_open(o->v, &o->overlay, &o->fs, err);

	if (rc)
		return rc;
	o->inode = malloc((size_t)EXT2_INODE_SIZE(o->fs->super));
	o->block = malloc(o->fs->blocksize);
	if (!o->inode || !o->block)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", o->v->path);
	if (!o->released)
		rc = look_at_list(o, err);
	else if (o->hidden)
		rc = show_hidden(o, err);
	if (!rc && ext2fs_has_feature_orphan_file(o->fs->super))
		rc = look_at_file(o, err);
	return rc ? rc : write_out(o, err);
}

int rj_volume_orphans(const char *path, const char *undo_file, bool released,
	struct rj_orphan_attrs *hidden, struct rj_error *err)
{
	const struct rj_volume_patch p = {
		.clear_orphan_present = true, .primary_only = true};
	struct orphans o = {.released = released, .hidden = hidden};
	struct rj_error later;
	int rc = rj_volume_open(path, RJ_VOLUME_WRITE, undo_file, &o.v, err);
	int rc2;

	if (rc)
		return rc;
	rc = look(&o, err);
	if (!rc && released && rj_volume_facts(o.v)->orphan_file)
		rc = rj_volume_patch(o.v, &p, err);
	if (o.fs)
		ext2fs_free(o.fs);
	rj_overlay_free(&o.overlay);
	free(o.inode);
	free(o.block);
	rc2 = rj_volume_close(o.v, &later);
	if (rc2 && !rc) {
		rc = rc2;
		if (err)
			*err = later;
	}
	return rc;
}
