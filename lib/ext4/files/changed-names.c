// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which names came and went: by the blocks of directories that changed. */
#include "ext4/files/diff-priv.h"

#include <stdlib.h>
#include <string.h>

int rj_diff_by_place(const void *a, const void *b)
{
	const struct file_name *x = a, *y = b;

	if (x->dir != y->dir)
		return x->dir < y->dir ? -1 : 1;
	if (x->dir_ident != y->dir_ident)
		return x->dir_ident - y->dir_ident;
	return strcmp(x->text, y->text);
}

/* All of a name: what is alike in both moments is no change. */
static int by_all(const void *a, const void *b)
{
	const struct file_name *x = a, *y = b;
	int c = rj_diff_by_place(a, b);

	if (c)
		return c;
	if (x->child != y->child)
		return x->child < y->child ? -1 : 1;
	return x->ident - y->ident;
}

static int by_child(const void *a, const void *b)
{
	const struct file_name *x = a, *y = b;

	if (x->child != y->child)
		return x->child < y->child ? -1 : 1;
	return rj_diff_by_place(a, b);
}

const struct file_name *rj_diff_names_of(const struct rj_buf *names, uint32_t child, size_t *count)
{
	const struct file_name *all = (const void *)names->data;
	size_t n = names->len / sizeof(*all), lo = 0, hi = n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (all[mid].child < child)
			lo = mid + 1;
		else
			hi = mid;
	}
	*count = 0;
	if (!n)
		return NULL;
	for (; lo + *count < n && all[lo + *count].child == child;)
		++*count;
	return all + lo;
}

struct gathering {
	struct diff *d;
	struct rj_buf *out;
	int side;
	uint32_t dir;
};

static int put_name(const struct gathering *g, uint32_t child, const char *text, size_t len,
	struct rj_error *err)
{
	const struct file_name n = {
		.dir = g->dir,
		.dir_ident = rj_diff_ident(g->d, g->dir, g->side),
		.child = child,
		.ident = rj_diff_ident(g->d, child, g->side),
		.text = rj_arena_text(&g->d->arena, text, len),
	};

	return !n.text || rj_buf_append(g->out, &n, sizeof(n))
		       ? rj_fail(err, RJ_E_NOMEM, "out of memory")
		       : 0;
}

static int one_entry(void *arg, uint32_t child, unsigned type, const char *text, size_t len,
	struct rj_error *err)
{
	(void)type;
	if (rj_files_is_dot(text, len))
		return 0;
	return put_name(arg, child, text, len, err);
}

static int by_physical(const void *a, const void *b)
{
	const struct file_run *x = a, *y = b;

	return x->physical < y->physical ? -1 : x->physical > y->physical;
}

/* The runs of directory INO, ascending by where they are; none of a side without it. */
static int dir_runs(struct diff *d, const struct changed_inode *c, int side, struct rj_buf *out,
	struct rj_error *err)
{
	struct ext2_inode_large inode;
	int rc;

	if (!c->side[side].links || !is_dir_mode(c->side[side].mode))
		return 0;
	rc = rj_files_inode(d->f[side], c->ino, &inode, err);
	if (!rc)
		rc = rj_files_runs(d->f[side], c->ino, &inode, out, err);
	if (out->len)
		qsort(out->data, out->len / sizeof(struct file_run), sizeof(struct file_run),
			by_physical);
	return rc;
}

/* Is the block at KEY before the run at ELEMENT, in it (0), or after it? */
static int by_run(const void *key, const void *element)
{
	uint64_t block = *(const uint64_t *)key;
	const struct file_run *r = element;

	return block < r->physical ? -1 : block - r->physical >= r->count;
}

/* Is BLOCK one of RUNS, which are ascending, and no map's? */
static bool in_runs(const struct rj_buf *runs, uint64_t block)
{
	const struct file_run *r =
		runs->len ? bsearch(&block, runs->data, runs->len / sizeof(*r), sizeof(*r), by_run)
			  : NULL;

	return r && !r->map;
}

/* The entries of directory C on SIDE: all, or with SAME those of blocks that changed, or that only
 * this side has. */
static int from_dir(struct diff *d, const struct changed_inode *c, int side,
	const struct rj_buf runs[2], struct rj_error *err)
{
	struct gathering g = {.d = d, .out = &d->names[side], .side = side, .dir = c->ino};
	const struct file_run *r = (const void *)runs[side].data;
	uint64_t block;
	size_t i, n;
	int rc = 0;

	for (i = 0; !rc && i < runs[side].len / sizeof(*r); i++)
		for (n = 0; !rc && !r[i].map && n < r[i].count; n++) {
			block = r[i].physical + n;
			if (c->state == INODE_SAME && !rj_block_set_has(&d->set, block) &&
				in_runs(&runs[!side], block))
				continue;
			rc = rj_files_entries(d->f[side], block, one_entry, &g, err);
		}
	return rc;
}

/* Keep in each of NAMES what the other one has not. Both are sorted. */
static void subtract(struct rj_buf names[2])
{
	struct file_name *a = (void *)names[BEFORE].data, *b = (void *)names[AFTER].data;
	size_t n = names[BEFORE].len / sizeof(*a), m = names[AFTER].len / sizeof(*b);
	size_t i = 0, j = 0, kept_a = 0, kept_b = 0;
	int c;

	while (i < n || j < m) {
		c = i == n ? 1 : j == m ? -1 : by_all(&a[i], &b[j]);
		if (c < 0)
			a[kept_a++] = a[i++];
		else if (c > 0)
			b[kept_b++] = b[j++];
		else
			i++, j++;
	}
	names[BEFORE].len = kept_a * sizeof(*a);
	names[AFTER].len = kept_b * sizeof(*b);
}

static void sort(struct rj_buf *names, int (*by)(const void *, const void *))
{
	if (names->len)
		qsort(names->data, names->len / sizeof(struct file_name), sizeof(struct file_name),
			by);
}

int rj_diff_names(struct diff *d, struct rj_error *err)
{
	const struct changed_inode *c = (const void *)d->inodes.data;
	struct rj_buf runs[2];
	size_t i;
	int rc = 0, side;

	for (i = 0; !rc && i < d->inodes.len / sizeof(*c); i++) {
		if (!is_dir_mode(c[i].side[BEFORE].mode) && !is_dir_mode(c[i].side[AFTER].mode))
			continue;
		memset(runs, 0, sizeof(runs));
		for (side = BEFORE; !rc && side <= AFTER; side++)
			rc = dir_runs(d, &c[i], side, &runs[side], err);
		for (side = BEFORE; !rc && side <= AFTER; side++)
			rc = from_dir(d, &c[i], side, runs, err);
		rj_buf_free(&runs[BEFORE]);
		rj_buf_free(&runs[AFTER]);
	}
	for (side = BEFORE; side <= AFTER; side++)
		sort(&d->names[side], by_all);
	subtract(d->names);
	for (side = BEFORE; side <= AFTER; side++)
		sort(&d->names[side], by_child);
	return rc ? rc : rj_diff_add_named(d, err);
}

/* ---- names that no block that changed has ---- */

struct looking {
	struct diff *d;
	int side;
	uint64_t left; /* names */
};

static bool known(const struct rj_buf *names, uint32_t child, uint32_t dir, const char *text,
	size_t len)
{
	size_t count, i;
	const struct file_name *n = rj_diff_names_of(names, child, &count);

	for (i = 0; i < count; i++)
		if (n[i].dir == dir && strlen(n[i].text) == len && !memcmp(n[i].text, text, len))
			return true;
	return false;
}

static int found(void *arg, uint32_t dir, uint32_t child, const char *text, size_t len,
	struct rj_error *err)
{
	struct looking *l = arg;
	struct changed_inode *c = rj_diff_inode(l->d, child);
	const struct gathering g = {
		.d = l->d, .out = &l->d->more[l->side], .side = l->side, .dir = dir};
	int rc;

	if (!c || !c->side[l->side].missing || known(&l->d->names[l->side], child, dir, text, len))
		return 0;
	rc = put_name(&g, child, text, len, err);
	c->side[l->side].missing--;
	return rc ? rc : --l->left == 0;
}

/* A directory says where its parent is. */
static int find_dirs(struct looking *l, struct rj_error *err)
{
	struct changed_inode *c = (void *)l->d->inodes.data;
	struct gathering g = {.d = l->d, .out = &l->d->more[l->side], .side = l->side};
	const char *text;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < l->d->inodes.len / sizeof(*c); i++) {
		if (!c[i].side[l->side].missing || !is_dir_mode(c[i].side[l->side].mode))
			continue;
		rc = rj_dirs_entry(&l->d->dirs[l->side], c[i].ino, &g.dir, &text, err);
		if (!rc)
			rc = put_name(&g, c[i].ino, text, strlen(text), err);
		c[i].side[l->side].missing = 0;
	}
	return rc;
}

/* Directories that changed; then those near the inodes, then all. */
static int look_for(struct looking *l, struct directories *dirs, uint8_t *groups,
	struct rj_error *err)
{
	const struct changed_inode *c = (const void *)l->d->inodes.data;
	ext2_filsys fs = dirs->f->fs;
	uint32_t flex = rj_files_flex(l->d->f[l->side]);
	size_t n = l->d->inodes.len / sizeof(*c), i;
	uint32_t g, first;
	int rc = 0;

	for (i = 0; !rc && i < n; i++)
		if (c[i].side[l->side].links && is_dir_mode(c[i].side[l->side].mode))
			rc = rj_dirs_read(dirs, c[i].ino, err);
	for (i = 0; !rc && i < n; i++) {
		first = (c[i].ino - 1) / fs->super->s_inodes_per_group;
		for (g = first - first % flex; g < fs->group_desc_count && g <= first + flex; g++)
			if (!rc && c[i].side[l->side].missing && !groups[g]++)
				rc = rj_dirs_read_group(dirs, g, err);
	}
	for (g = 0; !rc && g < fs->group_desc_count; g++)
		if (!groups[g])
			rc = rj_dirs_read_group(dirs, g, err);
	return rc;
}

static uint64_t want(struct diff *d, int side, uint8_t *wanted)
{
	const struct changed_inode *c = (const void *)d->inodes.data;
	uint64_t left = 0;
	size_t i;

	for (i = 0; i < d->inodes.len / sizeof(*c); i++)
		if (c[i].side[side].missing) {
			left += c[i].side[side].missing;
			ext2fs_set_bit(c[i].ino, wanted);
		}
	return left;
}

int rj_diff_missing(struct diff *d, int side, struct rj_error *err)
{
	struct directories *dirs = &d->dirs[side];
	struct ext2_super_block *s = d->f[side]->fs->super;
	struct looking l = {.d = d, .side = side};
	uint8_t *wanted = calloc(s->s_inodes_count / 8 + 1, 1);
	uint8_t *groups = calloc(d->f[side]->fs->group_desc_count, 1);
	int rc = wanted && groups ? find_dirs(&l, err) : rj_fail(err, RJ_E_NOMEM, "out of memory");

	if (!rc)
		l.left = want(d, side, wanted);
	if (!rc && l.left) {
		/* what was read for paths so far was not read for these */
		memset(dirs->read, 0, s->s_inodes_count / 8 + 1);
		dirs->wanted = wanted;
		dirs->found = found;
		dirs->arg = &l;
		rc = look_for(&l, dirs, groups, err);
		dirs->wanted = NULL;
	}
	if (rc >= 0)
		rc = l.left ? rj_fail(err, RJ_E_CORRUPT,
				      "%s: %llu names that inodes count are in no directory: check the moment with e2fsck -fn (rjbackup restore --verify=full)",
				      d->f[side]->bio->name, (unsigned long long)l.left)
			    : 0;
	free(wanted);
	free(groups);
	sort(&d->more[side], by_child);
	return rc;
}
