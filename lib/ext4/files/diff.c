// SPDX-License-Identifier: LGPL-2.1-or-later
/* What changed, file by file. */
#include "ext4/files/diff-priv.h"

#include <stdlib.h>
#include <string.h>

/* What differs of each file that is in both moments; and how many names of it are to be known. */
static int compare_same(struct diff *d, struct changed_inode *c, struct rj_error *err)
{
	const uint32_t ino[2] = {c->ino, c->ino};
	int rc = 0;

	if (LINUX_S_ISREG(c->side[AFTER].mode))
		rc = rj_files_content(d->f, ino, &d->set, &c->what, &c->bytes, err);
	return rc ? rc : rj_files_attributes(d->f, ino, &c->what, err);
}

static int compare_all(struct diff *d, struct rj_error *err)
{
	struct changed_inode *c = (void *)d->inodes.data;
	size_t i, count;
	int rc = 0, side;

	for (i = 0; !rc && i < d->inodes.len / sizeof(*c); i++) {
		if (c[i].state == INODE_SAME)
			rc = compare_same(d, &c[i], err);
		for (side = BEFORE; side <= AFTER; side++) {
			if (c[i].state == INODE_SAME && (side == BEFORE || !c[i].what))
				continue;
			rj_diff_names_of(&d->names[side], c[i].ino, &count);
			if (c[i].side[side].links > count && c[i].ino != EXT2_ROOT_INO)
				c[i].side[side].missing = c[i].side[side].links - (uint32_t)count;
		}
	}
	return rc;
}

static int path_of(struct diff *d, int side, const struct file_name *n, const char **out,
	struct rj_error *err)
{
	const char *dir;
	int rc = rj_dirs_path(&d->dirs[side], n->dir, &dir, err);

	if (rc)
		return rc;
	*out = rj_arena_path(&d->arena, dir, n->text);
	return *out ? 0 : rj_fail(err, RJ_E_NOMEM, "out of memory");
}

static int put(struct diff *d, const struct rj_file_change *line, struct rj_error *err)
{
	return rj_buf_append(&d->lines, line, sizeof(*line))
		       ? rj_fail(err, RJ_E_NOMEM, "out of memory")
		       : 0;
}

/* A name that one side alone has. */
static int put_one_side(struct diff *d, int side, const struct file_name *n, unsigned what,
	struct rj_error *err)
{
	struct rj_file_change l = {
		.kind = side == BEFORE ? RJ_FILE_REMOVED : RJ_FILE_MADE, .what = what};
	struct rj_file_facts *facts = side == BEFORE ? &l.before : &l.after;
	int rc = path_of(d, side, n, &l.path, err);

	if (!rc)
		rc = rj_files_facts(d->f[side], n->child, facts, err);
	if (!rc && LINUX_S_ISREG(facts->mode) && !what)
		l.bytes = facts->size;
	return rc ? rc : put(d, &l, err);
}

/* A name that both sides have, of INO there. */
static int put_changed(struct diff *d, const char *path, const uint32_t ino[2], unsigned what,
	uint64_t bytes, struct rj_error *err)
{
	struct rj_file_change l = {
		.kind = RJ_FILE_CHANGED, .what = what, .path = path, .bytes = bytes};
	int rc = rj_files_facts(d->f[BEFORE], ino[BEFORE], &l.before, err);

	if (!rc)
		rc = rj_files_facts(d->f[AFTER], ino[AFTER], &l.after, err);
	return rc ? rc : put(d, &l, err);
}

static int put_replaced(struct diff *d, const struct file_name *b, const struct file_name *a,
	struct rj_error *err)
{
	const uint32_t ino[2] = {b->child, a->child};
	unsigned what = RJ_DIFF_REPLACED;
	uint64_t bytes;
	const char *path;
	int rc = rj_files_content(d->f, ino, &d->set, &what, &bytes, err);

	if (!rc)
		rc = rj_files_attributes(d->f, ino, &what, err);
	if (!rc)
		rc = path_of(d, AFTER, a, &path, err);
	return rc ? rc : put_changed(d, path, ino, what, bytes, err);
}

/* The names of files that are on SIDE alone. */
static int own_names(const struct diff *d, int side, struct rj_buf *out, struct rj_error *err)
{
	const struct rj_buf *from[2] = {&d->names[side], &d->more[side]};
	struct file_name n;
	size_t i;
	int k;

	for (k = 0; k < 2; k++)
		for (i = 0; i < from[k]->len; i += sizeof(n)) {
			memcpy(&n, from[k]->data + i, sizeof(n));
			if (n.ident && rj_buf_append(out, &n, sizeof(n)))
				return rj_fail(err, RJ_E_NOMEM, "out of memory");
		}
	if (out->len)
		qsort(out->data, out->len / sizeof(n), sizeof(n), rj_diff_by_place);
	return 0;
}

static bool regular(const struct diff *d, int side, uint32_t ino)
{
	const struct changed_inode *c = rj_diff_inode(d, ino);

	return c && LINUX_S_ISREG(c->side[side].mode);
}

/* Files that are in one moment only: where one has the name of the other one, it replaced that. */
static int put_made_and_removed(struct diff *d, struct rj_error *err)
{
	struct rj_buf names[2] = {0};
	const struct file_name *b, *a;
	size_t i = 0, j = 0, n, m;
	int c, rc = own_names(d, BEFORE, &names[BEFORE], err);

	if (!rc)
		rc = own_names(d, AFTER, &names[AFTER], err);
	b = (const void *)names[BEFORE].data;
	a = (const void *)names[AFTER].data;
	n = names[BEFORE].len / sizeof(*b);
	m = names[AFTER].len / sizeof(*a);
	while (!rc && (i < n || j < m)) {
		c = i == n ? 1 : j == m ? -1 : rj_diff_by_place(&b[i], &a[j]);
		if (!c && regular(d, BEFORE, b[i].child) && regular(d, AFTER, a[j].child)) {
			rc = put_replaced(d, &b[i++], &a[j++], err);
		} else {
			if (c <= 0)
				rc = put_one_side(d, BEFORE, &b[i++], 0, err);
			if (!rc && c >= 0)
				rc = put_one_side(d, AFTER, &a[j++], 0, err);
		}
	}
	rj_buf_free(&names[BEFORE]);
	rj_buf_free(&names[AFTER]);
	return rc;
}

struct named {
	const struct file_name *name;
	const char *path;
};

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->path, ((const struct named *)b)->path);
}

static int sorted_paths(struct diff *d, int side, const struct file_name *n, size_t count,
	struct named **out, struct rj_error *err)
{
	size_t i;
	int rc = 0;

	*out = calloc(count + 1, sizeof(**out));
	if (!*out)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	for (i = 0; !rc && i < count; i++) {
		(*out)[i].name = &n[i];
		rc = path_of(d, side, &n[i], &(*out)[i].path, err);
	}
	if (!rc)
		qsort(*out, count, sizeof(**out), by_path);
	return rc;
}

/* Names that went and names that came, of one file: as many as there are of both are renamed. */
static int put_renamed(struct diff *d, const struct changed_inode *c, struct rj_error *err)
{
	const uint32_t ino[2] = {c->ino, c->ino};
	struct named *b = NULL, *a = NULL;
	struct rj_file_change *l;
	size_t n, m, i;
	const struct file_name *went = rj_diff_names_of(&d->names[BEFORE], c->ino, &n);
	const struct file_name *came = rj_diff_names_of(&d->names[AFTER], c->ino, &m);
	int rc = sorted_paths(d, BEFORE, went, n, &b, err);

	if (!rc)
		rc = sorted_paths(d, AFTER, came, m, &a, err);
	for (i = 0; !rc && (i < n || i < m); i++) {
		if (i < n && i < m) {
			rc = put_changed(d, a[i].path, ino, 0, 0, err);
			if (rc)
				break;
			l = (struct rj_file_change *)(void *)(d->lines.data + d->lines.len) - 1;
			l->kind = RJ_FILE_RENAMED;
			l->from = b[i].path;
		} else if (i < n) {
			rc = put_one_side(d, BEFORE, b[i].name, RJ_DIFF_LINK, err);
		} else {
			rc = put_one_side(d, AFTER, a[i].name, RJ_DIFF_LINK, err);
		}
	}
	free(b);
	free(a);
	return rc;
}

/* Under each of its names. */
static int put_differs(struct diff *d, const struct changed_inode *c, struct rj_error *err)
{
	const struct rj_buf *from[2] = {&d->names[AFTER], &d->more[AFTER]};
	const uint32_t ino[2] = {c->ino, c->ino};
	const struct file_name *n;
	const char *path;
	size_t count, i;
	int k, rc = 0;

	if (c->ino == EXT2_ROOT_INO)
		return put_changed(d, "/", ino, c->what, 0, err);
	for (k = 0; k < 2; k++) {
		n = rj_diff_names_of(from[k], c->ino, &count);
		for (i = 0; !rc && i < count; i++) {
			rc = path_of(d, AFTER, &n[i], &path, err);
			if (!rc)
				rc = put_changed(d, path, ino, c->what, c->bytes, err);
		}
	}
	return rc;
}

/* Files that are in both moments. One whose inode did not change has no other name. */
static int put_same(struct diff *d, struct rj_error *err)
{
	const struct changed_inode *c = (const void *)d->inodes.data;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < d->inodes.len / sizeof(*c); i++) {
		if (c[i].state != INODE_SAME)
			continue;
		rc = put_renamed(d, &c[i], err);
		if (!rc && c[i].what)
			rc = put_differs(d, &c[i], err);
	}
	return rc;
}

static int by_line(const void *a, const void *b)
{
	const struct rj_file_change *x = a, *y = b;
	int c = strcmp(x->path, y->path);

	return c ? c : x->kind < y->kind ? -1 : x->kind > y->kind;
}

static int tell(struct diff *d, int (*each)(void *, const struct rj_file_change *), void *arg)
{
	const struct rj_file_change *l = (const void *)d->lines.data;
	size_t n = d->lines.len / sizeof(*l), i;
	int rc = 0;

	if (n)
		qsort(d->lines.data, n, sizeof(*l), by_line);
	for (i = 0; !rc && i < n; i++)
		rc = each(arg, &l[i]);
	return rc;
}

static void release(struct diff *d)
{
	int side;

	for (side = BEFORE; side <= AFTER; side++) {
		rj_dirs_close(&d->dirs[side]);
		rj_buf_free(&d->names[side]);
		rj_buf_free(&d->more[side]);
	}
	rj_buf_free(&d->inodes);
	rj_buf_free(&d->lines);
	rj_arena_free(&d->arena);
	free(d->set.owned);
}

int rj_files_diff(struct rj_files *before, struct rj_files *after, const uint64_t *blocks,
	size_t count, int (*each)(void *arg, const struct rj_file_change *c), void *arg,
	struct rj_files_cost *cost, struct rj_error *err)
{
	struct diff d = {.f = {before, after}, .cost = cost,
		.set = {.blocks = blocks, .count = count, .left = count}};
	int side, rc = 0;

	*cost = (struct rj_files_cost){.blocks = count};
	d.set.owned = calloc(count + 1, 1);
	if (!d.set.owned)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	for (side = BEFORE; !rc && side <= AFTER; side++)
		rc = rj_dirs_open(&d.dirs[side], d.f[side], &d.arena, cost, err);
	if (!rc)
		rc = rj_diff_inodes(&d, err);
	if (!rc)
		rc = rj_diff_names(&d, err);
	if (!rc)
		rc = compare_all(&d, err);
	for (side = BEFORE; !rc && side <= AFTER; side++)
		rc = rj_diff_missing(&d, side, err);
	if (!rc)
		rc = put_made_and_removed(&d, err);
	if (!rc)
		rc = put_same(&d, err);
	if (!rc)
		rc = tell(&d, each, arg);
	release(&d);
	return rc;
}
