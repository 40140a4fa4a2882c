// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which inodes changed: those whose bytes differ, and those whose blocks did without them. */
#include "ext4/files/diff-priv.h"

#include <stdlib.h>
#include <string.h>

static int by_ino(const void *a, const void *b)
{
	const struct changed_inode *x = a, *y = b;

	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

struct changed_inode *rj_diff_inode(const struct diff *d, uint32_t ino)
{
	const struct changed_inode key = {.ino = ino};

	return d->inodes.len ? bsearch(&key, d->inodes.data, d->inodes.len / sizeof(key),
				       sizeof(key), by_ino)
			     : NULL;
}

uint8_t rj_diff_ident(const struct diff *d, uint32_t ino, int side)
{
	const struct changed_inode *c = rj_diff_inode(d, ino);

	return !c || c->state == INODE_SAME ? 0 : (uint8_t)(side + 1);
}

/* What is at C->ino on SIDE; its blocks have an owner. */
static int look(struct diff *d, struct changed_inode *c, int side, struct rj_error *err)
{
	struct rj_files *f = d->f[side];
	struct ext2_inode_large inode;
	bool used, any;
	int rc = rj_files_inode_used(f, c->ino, &used, err);

	if (rc || !used)
		return rc;
	rc = rj_files_inode(f, c->ino, &inode, err);
	if (!rc)
		rc = rj_files_own(f, c->ino, &d->set, &any, err);
	if (rc || !inode.i_links_count || rj_files_is_special(f, c->ino, inode.i_flags))
		return rc;
	c->side[side].mode = inode.i_mode;
	/* a directory with more than 65,000 others in it has 1 (ext4_inc_count()) */
	c->side[side].links = is_dir_mode(inode.i_mode) ? 1 : inode.i_links_count;
	c->side[side].generation = inode.i_generation;
	return 0;
}

static int classify(struct diff *d, struct changed_inode *c, struct rj_error *err)
{
	int rc = look(d, c, BEFORE, err);

	if (!rc)
		rc = look(d, c, AFTER, err);
	if (!c->side[BEFORE].links)
		c->state = c->side[AFTER].links ? INODE_NEW : INODE_NONE;
	else if (!c->side[AFTER].links)
		c->state = INODE_GONE;
	else if (c->side[BEFORE].generation == c->side[AFTER].generation &&
		 (c->side[BEFORE].mode ^ c->side[AFTER].mode) >> 12 == 0)
		c->state = INODE_SAME;
	else
		c->state = INODE_SPLIT;
	return rc;
}

static int add(struct diff *d, uint32_t ino, struct rj_error *err)
{
	const struct changed_inode c = {.ino = ino};

	return rj_buf_append(&d->inodes, &c, sizeof(c)) ? rj_fail(err, RJ_E_NOMEM, "out of memory")
							: 0;
}

/* Those whose bytes differ in BLOCK, which is in T. */
static int in_block(struct diff *d, const struct inode_table *t, uint64_t block, uint8_t *both[2],
	struct rj_error *err)
{
	ext2_filsys fs = d->f[AFTER]->fs;
	uint32_t size = EXT2_INODE_SIZE(fs->super), per = fs->blocksize / size, i;
	uint32_t first = t->group * fs->super->s_inodes_per_group +
			 (uint32_t)(block - t->first) * per + 1;
	int rc = rj_files_block(d->f[AFTER], block, both[AFTER], err);

	if (!rc && t->group >= d->f[BEFORE]->fs->group_desc_count)
		memset(both[BEFORE], 0, fs->blocksize); /* the volume grew by it */
	else if (!rc)
		rc = rj_files_block(d->f[BEFORE], block, both[BEFORE], err);
	for (i = 0; !rc && i < per; i++)
		if (memcmp(both[BEFORE] + (size_t)i * size, both[AFTER] + (size_t)i * size, size))
			rc = add(d, first + i, err);
	return rc;
}

static int from_tables(struct diff *d, struct rj_error *err)
{
	uint32_t bs = d->f[AFTER]->fs->blocksize;
	uint8_t *both[2] = {malloc(bs), malloc(bs)};
	const struct inode_table *t;
	size_t i;
	int rc = both[0] && both[1] ? 0 : rj_fail(err, RJ_E_NOMEM, "out of memory");

	for (i = 0; !rc && i < d->set.count; i++) {
		t = rj_files_table(d->f[AFTER], d->set.blocks[i]);
		if (t)
			rc = in_block(d, t, d->set.blocks[i], both, err);
	}
	free(both[0]);
	free(both[1]);
	return rc;
}

static int classify_from(struct diff *d, size_t first, struct rj_error *err)
{
	struct changed_inode *c = (void *)d->inodes.data;
	size_t i;
	int rc = 0;

	for (i = first; !rc && i < d->inodes.len / sizeof(*c); i++)
		rc = classify(d, &c[i], err);
	return rc;
}

static void sort(struct diff *d)
{
	if (d->inodes.len)
		qsort(d->inodes.data, d->inodes.len / sizeof(struct changed_inode),
			sizeof(struct changed_inode), by_ino);
}

/* Is INO one of the first COUNT, which are sorted? */
static bool in_first(const struct diff *d, size_t count, uint32_t ino)
{
	const struct changed_inode key = {.ino = ino};

	return count && bsearch(&key, d->inodes.data, count, sizeof(key), by_ino);
}

static void unique(struct diff *d)
{
	struct changed_inode *c = (void *)d->inodes.data;
	size_t n = d->inodes.len / sizeof(*c), i, kept = 0;

	for (i = 0; i < n; i++)
		if (!kept || c[kept - 1].ino != c[i].ino)
			c[kept++] = c[i];
	d->inodes.len = kept * sizeof(*c);
}

int rj_diff_inodes(struct diff *d, struct rj_error *err)
{
	struct rj_buf owners = {0};
	size_t known, i;
	uint32_t ino;
	int rc = from_tables(d, err);

	sort(d);
	if (!rc)
		rc = classify_from(d, 0, err);
	known = d->inodes.len / sizeof(struct changed_inode);
	d->cost->inodes = known;
	if (!rc)
		rc = rj_files_owners(d->f[AFTER], &d->set, &owners, d->cost, err);
	for (i = 0; !rc && i < owners.len; i += sizeof(ino)) {
		memcpy(&ino, owners.data + i, sizeof(ino));
		rc = add(d, ino, err);
	}
	rj_buf_free(&owners);
	if (!rc)
		rc = classify_from(d, known, err);
	sort(d);
	return rc;
}

int rj_diff_add_named(struct diff *d, struct rj_error *err)
{
	size_t known = d->inodes.len / sizeof(struct changed_inode), i;
	struct file_name n;
	uint32_t last = 0;
	int side, rc = 0;

	for (side = BEFORE; side <= AFTER; side++)
		for (i = 0; !rc && i < d->names[side].len; i += sizeof(n)) {
			memcpy(&n, d->names[side].data + i, sizeof(n));
			/* those added here are not found; names are sorted by their inode */
			if (n.ident || n.child == last || in_first(d, known, n.child))
				continue;
			last = n.child;
			rc = add(d, n.child, err);
		}
	if (!rc)
		rc = classify_from(d, known, err);
	sort(d);
	unique(d);
	return rc;
}
