// SPDX-License-Identifier: LGPL-2.1-or-later
/* From a path, or a pattern, to files. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "ext4/files/files-priv.h"

struct matching {
	struct rj_files *f;
	bool content;
	int (*each)(void *arg, const char *path, const struct rj_file_facts *facts,
		struct rj_error *err);
	void *arg;
	struct arena arena;
};

/* The entries of one directory that match a word. */
struct word {
	struct matching *m;
	const char *pattern; /* the word alone */
	struct rj_buf found; /* of struct hit */
};

struct hit {
	uint32_t ino;
	const char *name;
};

static int one_entry(void *arg, uint32_t child, unsigned type, const char *text, size_t len,
	struct rj_error *err)
{
	struct word *w = arg;
	struct hit h = {.ino = child};

	(void)type;
	if (rj_files_is_dot(text, len))
		return 0;
	h.name = rj_arena_text(&w->m->arena, text, len);
	if (h.name && fnmatch(w->pattern, h.name, FNM_PERIOD))
		return 0;
	return h.name && !rj_buf_append(&w->found, &h, sizeof(h))
		       ? 0
		       : rj_fail(err, RJ_E_NOMEM, "out of memory");
}

/* All blocks of INO; of one that is not read further they are noted. */
static int blocks_of(struct matching *m, uint32_t ino, struct rj_buf *runs, struct rj_error *err)
{
	struct ext2_inode_large inode;
	struct file_run r;
	size_t i;
	int rc = rj_files_inode(m->f, ino, &inode, err);

	if (!rc)
		rc = rj_files_runs(m->f, ino, &inode, runs, err);
	for (i = 0; !rc && i < runs->len; i += sizeof(r)) {
		memcpy(&r, runs->data + i, sizeof(r));
		rj_files_trace(m->f, r.physical, r.count);
	}
	if (!rc && ext2fs_file_acl_block(m->f->fs, (struct ext2_inode *)&inode))
		rj_files_trace(
			m->f, ext2fs_file_acl_block(m->f->fs, (struct ext2_inode *)&inode), 1);
	return rc;
}

static int found_file(struct matching *m, const char *path, uint32_t ino, struct rj_error *err)
{
	struct rj_file_facts facts;
	struct rj_buf runs = {0};
	int rc = rj_files_facts(m->f, ino, &facts, err);

	if (!rc && m->content)
		rc = blocks_of(m, ino, &runs, err);
	rj_buf_free(&runs);
	return rc ? rc : m->each(m->arg, path, &facts, err);
}

static int search(struct matching *m, uint32_t dir, const char *path, const char *pattern,
	struct rj_error *err);

/* NAME in PATH is what a word leads to; REST follows the word. */
static int go_on(struct matching *m, const struct hit *h, const char *path, const char *rest,
	struct rj_error *err)
{
	struct rj_file_facts facts;
	const char *below = rj_arena_path(&m->arena, path, h->name);
	int rc;

	if (!below)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (!*rest)
		return found_file(m, below, h->ino, err);
	rc = rj_files_facts(m->f, h->ino, &facts, err);
	if (!rc && LINUX_S_ISDIR(facts.mode))
		rc = search(m, h->ino, below, rest, err);
	return rc;
}

/* Look in DIR, whose path is PATH, for PATTERN, which begins with a slash. */
static int search(struct matching *m, uint32_t dir, const char *path, const char *pattern,
	struct rj_error *err)
{
	size_t len = strcspn(pattern + 1, "/"), i;
	char *text = strndup(pattern + 1, len);
	struct word w = {.m = m, .pattern = text};
	struct rj_buf runs = {0};
	struct file_run r;
	struct hit h;
	uint64_t n;
	int rc = text ? blocks_of(m, dir, &runs, err) : rj_fail(err, RJ_E_NOMEM, "out of memory");

	for (i = 0; !rc && i < runs.len; i += sizeof(r)) {
		memcpy(&r, runs.data + i, sizeof(r));
		for (n = 0; !rc && !r.map && n < r.count; n++)
			rc = rj_files_entries(m->f, r.physical + n, one_entry, &w, err);
	}
	for (i = 0; !rc && i < w.found.len; i += sizeof(h)) {
		memcpy(&h, w.found.data + i, sizeof(h));
		rc = go_on(m, &h, path, pattern + 1 + len, err);
	}
	rj_buf_free(&w.found);
	rj_buf_free(&runs);
	free(text);
	return rc;
}

static int by_first(const void *a, const void *b)
{
	const struct rj_file_range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* Sort the ranges of READ, and join those that overlap or touch. */
static void tidy(struct rj_buf *read)
{
	struct rj_file_range *r = (void *)read->data;
	size_t n = read->len / sizeof(*r), i, kept = 0;
	uint64_t end;

	if (n)
		qsort(r, n, sizeof(*r), by_first);
	for (i = 0; i < n; i++) {
		end = kept ? r[kept - 1].first + r[kept - 1].count : 0;
		if (!kept || r[i].first > end)
			r[kept++] = r[i];
		else if (r[i].first + r[i].count > end)
			r[kept - 1].count = r[i].first + r[i].count - r[kept - 1].first;
	}
	read->len = kept * sizeof(*r);
}

int rj_files_match(struct rj_files *f, const char *pattern, bool content,
	int (*each)(void *arg, const char *path, const struct rj_file_facts *facts,
		struct rj_error *err),
	void *arg, struct rj_buf *read, struct rj_error *err)
{
	struct matching m = {.f = f, .content = content, .each = each, .arg = arg};
	int rc;

	read->len = 0;
	f->trace = read;
	f->trace_failed = false;
	ext2fs_flush_icache(f->fs); /* what it has would be read from nowhere */
	rc = *pattern ? search(&m, EXT2_ROOT_INO, "", pattern, err)
		      : found_file(&m, "/", EXT2_ROOT_INO, err);
	if (!rc && f->trace_failed)
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	f->trace = NULL;
	tidy(read);
	rj_arena_free(&m.arena);
	return rc;
}

/* Is the block at KEY before the range at ELEMENT, in it (0), or after it? */
static int by_range(const void *key, const void *element)
{
	uint64_t block = *(const uint64_t *)key;
	const struct rj_file_range *r = element;

	return block < r->first ? -1 : block - r->first >= r->count;
}

bool rj_files_touched(const struct rj_buf *read, const uint64_t *blocks, size_t count)
{
	size_t i, one = sizeof(struct rj_file_range);

	for (i = 0; i < count && read->len; i++)
		if (bsearch(&blocks[i], read->data, read->len / one, one, by_range))
			return true;
	return false;
}

int rj_files_differ(struct rj_files *before, uint32_t before_ino, struct rj_files *after,
	uint32_t after_ino, const uint64_t *blocks, size_t count, unsigned *what, uint64_t *bytes,
	struct rj_error *err)
{
	struct rj_files *const f[2] = {before, after};
	const uint32_t ino[2] = {before_ino, after_ino};
	const struct block_set s = {.blocks = blocks, .count = count};
	struct rj_file_facts a, b;
	int rc = rj_files_facts(before, before_ino, &a, err);

	*what = 0;
	*bytes = 0;
	if (!rc)
		rc = rj_files_facts(after, after_ino, &b, err);
	if (!rc && LINUX_S_ISREG(a.mode) && LINUX_S_ISREG(b.mode))
		rc = rj_files_content(f, ino, &s, what, bytes, err);
	return rc ? rc : rj_files_attributes(f, ino, what, err);
}
