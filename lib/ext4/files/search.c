// SPDX-License-Identifier: LGPL-2.1-or-later
/* A name, wherever it is. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "ext4/files/diff-priv.h"

struct searching {
	const char *pattern;
	struct rj_buf found; /* of struct file_name */
	struct arena arena;
};

static int one_name(void *arg, uint32_t dir, uint32_t child, const char *text, size_t len,
	struct rj_error *err)
{
	struct searching *s = arg;
	char name[EXT2_NAME_LEN + 1];
	struct file_name n = {.dir = dir, .child = child};

	memcpy(name, text, len);
	name[len] = 0;
	if (fnmatch(s->pattern, name, FNM_PERIOD))
		return 0;
	n.text = rj_arena_text(&s->arena, text, len);
	return n.text && !rj_buf_append(&s->found, &n, sizeof(n))
		       ? 0
		       : rj_fail(err, RJ_E_NOMEM, "out of memory");
}

static int tell(struct directories *d, const struct file_name *n,
	int (*each)(void *arg, const char *path, uint32_t inode, struct rj_error *err), void *arg,
	struct rj_error *err)
{
	const char *dir, *path;
	int rc = rj_dirs_path(d, n->dir, &dir, err);

	if (rc)
		return rc;
	path = rj_arena_path(d->arena, dir, n->text);
	return path ? each(arg, path, n->child, err) : rj_fail(err, RJ_E_NOMEM, "out of memory");
}

int rj_files_search(struct rj_files *f, const char *pattern,
	int (*each)(void *arg, const char *path, uint32_t inode, struct rj_error *err), void *arg,
	struct rj_error *err)
{
	struct searching s = {.pattern = pattern};
	struct rj_files_cost cost;
	struct directories d;
	struct file_name n;
	uint32_t g;
	size_t i;
	int rc = rj_dirs_open(&d, f, &s.arena, &cost, err);

	d.every = one_name;
	d.arg = &s;
	for (g = 0; !rc && g < f->fs->group_desc_count; g++)
		rc = rj_dirs_read_group(&d, g, err);
	d.every = NULL;
	for (i = 0; !rc && i < s.found.len; i += sizeof(n)) {
		memcpy(&n, s.found.data + i, sizeof(n));
		rc = tell(&d, &n, each, arg, err);
	}
	rj_dirs_close(&d);
	rj_buf_free(&s.found);
	rj_arena_free(&s.arena);
	return rc;
}
