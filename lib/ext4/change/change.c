// SPDX-License-Identifier: LGPL-2.1-or-later
/* Compute a change by having libext2fs make it on an overlay. */
#include "ext4/change/change.h"

#include <stdlib.h>
#include <string.h>

#include "ext4/change/change-priv.h"
#include "util/crc32c.h"

static int by_first(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* With clusters (bigalloc) a cluster is freed once, whatever number of its
 * blocks are in use. */
static void free_blocks(ext2_filsys fs, struct run_list *all)
{
	uint64_t ratio = (uint64_t)EXT2FS_CLUSTER_RATIO(fs);
	uint64_t nr, next = 0;
	size_t i;

	qsort(all->runs, all->count, sizeof(*all->runs), by_first);
	for (i = 0; i < all->count; i++) {
		uint64_t end = all->runs[i].first + all->runs[i].count;

		nr = all->runs[i].first / ratio * ratio;
		for (nr = nr < next ? next : nr; nr < end; nr += ratio)
			ext2fs_block_alloc_stats2(fs, nr, -1);
		if (nr > next)
			next = nr;
	}
}

static errcode_t clear_inode(ext2_filsys fs)
{
	int size = EXT2_INODE_SIZE(fs->super);
	struct ext2_inode *zero = calloc(1, (size_t)size);
	errcode_t e;

	if (!zero)
		return EXT2_ET_NO_MEMORY;
	e = ext2fs_write_inode_full(fs, EXT2_JOURNAL_INO, zero, size);
	free(zero);
	return e;
}

static int make_inode(ext2_filsys fs, struct rj_change *c,
	const struct rj_change_opts *o, const char *path, struct rj_error *err)
{
	struct ext2fs_journal_params params = {
		.num_journal_blocks = o->blocks,
		.num_fc_blocks = o->fc_blocks,
	};
	uint8_t *jsb;
	errcode_t e;

	e = ext2fs_add_journal_inode3(fs, &params,
		o->goal_given ? o->goal : ~0ULL,
		EXT2_MKJOURNAL_NO_MNT_CHECK | EXT2_MKJOURNAL_LAZYINIT);
	if (e == EXT2_ET_BLOCK_ALLOC_FAIL)
		return rj_fail(err, RJ_E_NOSPACE,
			"%s: no space for a journal of %u blocks; free some, or give a smaller size=",
			path, o->blocks + o->fc_blocks);
	if (!e)
		e = rj_change_collect(
			fs, EXT2_JOURNAL_INO, &c->journal, NULL);
	if (!e && !c->journal.count)
		e = EXT2_ET_NO_JOURNAL;
	if (e)
		return rj_ext4_fail(err, RJ_E_IO, e,
			"%s: cannot lay out a journal inode", path);
	jsb = malloc(c->block_size);
	if (!jsb)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", path);
	c->jsb = jsb;
	return 0;
}

/* crc16 of descriptors (uninit_bg) covers the UUID; metadata_csum's seed does
 * not have to: see seed_from_old_uuid(). */
static void reseal_groups(ext2_filsys fs, const uint8_t *uuid)
{
	dgrp_t g;

	memcpy(fs->super->s_uuid, uuid, RJ_UUID_BYTES);
	for (g = 0; g < fs->group_desc_count; g++)
		ext2fs_group_desc_csum_set(fs, g);
	ext2fs_mark_super_dirty(fs);
}

static bool needs_reseal(const struct rj_volume *v)
{
	uint32_t ro = SB_LE32(v->super, s_feature_ro_compat);

	return ro & EXT4_FEATURE_RO_COMPAT_GDT_CSUM &&
	       !(ro & EXT4_FEATURE_RO_COMPAT_METADATA_CSUM);
}

static bool drops_orphan_file(
	const struct rj_volume *v, const struct rj_change_opts *o)
{
	return o->drop_orphan_file && v->facts.orphan_file;
}

/* All inside the overlay. OLD gets the old journal's runs of data, GONE all blocks that
 * become free: that journal's and the orphan file's. */
static int change_blocks(struct rj_volume *v, ext2_filsys fs,
	struct rj_change *c, const struct rj_change_opts *o,
	struct run_list *old, struct run_list *gone, struct rj_error *err)
{
	errcode_t e;
	int rc = 0;

	/* a bit for each block of a large volume takes too much memory */
	fs->default_bitmap_type = EXT2FS_BMAP64_RBTREE;
	e = ext2fs_read_bitmaps(fs);
	if (!e && o->drop_inode)
		e = rj_change_collect(fs, EXT2_JOURNAL_INO, old, gone);
	if (!e && o->drop_inode)
		e = clear_inode(fs);
	if (e)
		rc = rj_ext4_fail(err, RJ_E_CORRUPT, e,
			"%s: cannot read its bitmaps and journal inode; try e2fsck -f",
			v->path);
	if (!rc && o->make_inode)
		rc = make_inode(fs, c, o, v->path, err);
	if (!rc && o->uuid && needs_reseal(v))
		reseal_groups(fs, o->uuid);
	if (!rc && o->drop_inode) {
		/* after the new one is laid out: the old one stays whole */
		free_blocks(fs, gone);
		if (!o->make_inode) {
			fs->super->s_journal_inum = 0;
			memset(fs->super->s_jnl_blocks, 0,
				sizeof(fs->super->s_jnl_blocks));
		}
		ext2fs_mark_super_dirty(fs);
	}
	if (!rc && drops_orphan_file(v, o))
		rc = rj_change_drop_orphan_file(v, fs, gone, err);
	return rc;
}

static int keep_image(struct rj_change *c, const struct overlay_block *b)
{
	struct overlay_block *i = &c->images[c->count];

	i->data = malloc(c->block_size);
	if (!i->data)
		return -1;
	memcpy(i->data, b->data, c->block_size);
	i->nr = b->nr;
	c->count++;
	return 0;
}

/* From the overlay into the change. The superblock goes another way, and so do the new
 * journal's own blocks, which libext2fs may have zeroed one by one: they are free until
 * then, and the redo record lies in them. */
static int take_images(struct rj_volume *v, ext2_filsys fs, struct rj_change *c,
	struct overlay *o, struct rj_error *err)
{
	uint64_t super_at = RJ_SUPER_OFFSET / c->block_size;
	errcode_t e = 0;
	size_t i;

	memcpy(c->super, v->super, RJ_SUPER_BYTES);
	if (c->journal.count)
		e = io_channel_read_blk64(
			fs->io, c->journal.runs[0].first, 1, c->jsb);
	if (e)
		return rj_ext4_fail(err, RJ_E_IO, e,
			"%s: cannot read its new journal", v->path);
	for (i = 0; i < c->journal.count; i++)
		rj_overlay_forget(o, c->journal.runs[i].first,
			c->journal.runs[i].count);
	c->images = calloc(o->count + 1, sizeof(*c->images));
	if (!c->images)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	for (i = 0; i < o->count; i++) {
		const struct overlay_block *b = &o->blocks[i];

		if (!b->data)
			continue;
		if (b->nr == super_at)
			memcpy(c->super,
				b->data + RJ_SUPER_OFFSET % c->block_size,
				RJ_SUPER_BYTES);
		else if (keep_image(c, b))
			return rj_fail(
				err, RJ_E_NOMEM, "%s: out of memory", v->path);
	}
	return 0;
}

/* metadata_csum's checksums everywhere begin with the UUID, unless the
 * superblock keeps a seed of its own (tune2fs -O metadata_csum_seed). */
static void seed_from_old_uuid(struct rj_change *c)
{
	uint8_t *raw = c->super;
	uint32_t incompat = SB_LE32(raw, s_feature_incompat);

	if (!(SB_LE32(raw, s_feature_ro_compat) &
		    EXT4_FEATURE_RO_COMPAT_METADATA_CSUM) ||
		incompat & EXT4_FEATURE_INCOMPAT_CSUM_SEED)
		return;
	SB_PUT32(raw, s_checksum_seed,
		rj_crc32c(~0u, c->old_uuid, RJ_UUID_BYTES));
	SB_PUT32(raw, s_feature_incompat,
		incompat | EXT4_FEATURE_INCOMPAT_CSUM_SEED);
}

static int plan_blocks(struct rj_volume *v, struct rj_change *c,
	const struct rj_change_opts *o, struct rj_error *err)
{
	struct run_list old = {0}, gone = {0};
	struct overlay ov = {0};
	ext2_filsys fs = NULL;
	errcode_t e;
	int rc;

	rc = rj_overlay_open(v, &ov, &fs, err);
	if (!rc)
		rc = change_blocks(v, fs, c, o, &old, &gone, err);
	if (!rc) {
		e = ext2fs_flush2(fs, EXT2_FLAG_FLUSH_NO_SYNC);
		if (e)
			rc = rj_ext4_fail(err, RJ_E_IO, e,
				"%s: cannot work out its new blocks", v->path);
	}
	if (!rc)
		rc = take_images(v, fs, c, &ov, err);
	if (!rc && c->count)
		rc = rj_change_find_places(v, fs, c, rj_change_redo_blocks(c),
			&old, &gone, err);
	if (fs)
		ext2fs_free(fs);
	rj_overlay_free(&ov);
	free(old.runs);
	free(gone.runs);
	return rc;
}

int rj_change_plan(struct rj_volume *v, const struct rj_change_opts *o,
	struct rj_change **out, struct rj_error *err)
{
	struct rj_change *c = calloc(1, sizeof(*c));
	int rc;

	*out = NULL;
	if (!c)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	c->block_size = v->facts.block_size;
	memcpy(c->old_uuid, v->facts.uuid, RJ_UUID_BYTES);
	rc = rj_volume_reload(v, err);
	memcpy(c->super, v->super, RJ_SUPER_BYTES);
	if (!rc && o->uuid && SB_LE32(c->super, s_feature_compat) &
				      EXT4_FEATURE_COMPAT_STABLE_INODES)
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: has the feature stable_inodes: the keys of its encrypted files are made from its UUID, which has to stay",
			v->path);
	if (!rc && (o->drop_inode || o->make_inode || drops_orphan_file(v, o) ||
			   (o->uuid && needs_reseal(v))))
		rc = plan_blocks(v, c, o, err);
	if (!rc && o->uuid) {
		seed_from_old_uuid(c);
		memcpy(SB_AT(c->super, s_uuid), o->uuid, RJ_UUID_BYTES);
	}
	if (rc)
		rj_change_free(c);
	else
		*out = c;
	return rc;
}

uint32_t rj_change_blocks(const struct rj_change *c)
{
	return (uint32_t)c->count;
}
