// SPDX-License-Identifier: GPL-2.0-or-later
#include "table.h"

#include <stdlib.h>

bool table_init(struct table *t)
{
	*t = (struct table){0};
	t->files = calloc(TABLE_FILES, sizeof(*t->files));
	t->dirs = calloc(TABLE_DIRS, sizeof(*t->dirs));
	t->dirty = calloc(TABLE_FILES, sizeof(*t->dirty));
	if (t->files && t->dirs && t->dirty)
		return true;
	table_free(t);
	return false;
}

void table_free(struct table *t)
{
	free(t->files);
	free(t->dirs);
	free(t->dirty);
	*t = (struct table){0};
}

static uint32_t hash(struct handle_key k)
{
	uint64_t x = ((uint64_t)k.generation << 32 | k.inode) * 0x9E3779B97F4A7C15u;

	return (uint32_t)(x >> 40);
}

static bool same(struct handle_key a, struct handle_key b)
{
	return a.inode == b.inode && a.generation == b.generation;
}

/* Its place, or a free one. */
static struct table_file *find_file(struct table *t, struct handle_key key)
{
	uint32_t i = hash(key) % TABLE_FILES;

	while (t->files[i].key.inode && !same(t->files[i].key, key))
		i = (i + 1) % TABLE_FILES;
	return &t->files[i];
}

static struct table_dir *find_dir(struct table *t, struct handle_key key)
{
	uint32_t i = hash(key) % TABLE_DIRS;

	while (t->dirs[i].key.inode && !same(t->dirs[i].key, key))
		i = (i + 1) % TABLE_DIRS;
	if (t->dirs[i].key.inode)
		return &t->dirs[i];
	if (t->dir_count >= TABLE_DIRS / 4 * 3)
		return NULL;
	t->dir_count++;
	t->dirs[i].key = key;
	return &t->dirs[i];
}

void table_write(struct table *t, struct handle_key key, struct handle_key dir, bool modified)
{
	struct table_file *f = find_file(t, key);
	struct table_dir *d;

	if (!f->key.inode) {
		d = t->file_count < TABLE_FILES / 4 * 3 ? find_dir(t, dir) : NULL;
		if (!d) {
			t->untracked++;
			return;
		}
		t->file_count++;
		*f = (struct table_file){
			.key = key, .dir = (uint32_t)(d - t->dirs), .window = t->window};
		d->files++;
	}
	if (f->window != t->window) {
		f->seen = false;
		f->window = t->window;
	}
	t->dirs[f->dir].writes += modified;
	f->modified |= modified;
	if (f->dirty)
		return;
	f->dirty = true;
	t->dirty[(t->dirty_begin + t->dirty_count++) % TABLE_FILES] = (uint32_t)(f - t->files);
}

struct table_file *table_next_dirty(struct table *t)
{
	struct table_file *f;

	if (!t->dirty_count)
		return NULL;
	f = &t->files[t->dirty[t->dirty_begin]];
	t->dirty_begin = (t->dirty_begin + 1) % TABLE_FILES;
	t->dirty_count--;
	f->dirty = false;
	return f;
}

void table_looked(struct table *t, struct table_file *f, uint64_t size, bool born)
{
	struct table_dir *d = &t->dirs[f->dir];
	uint64_t before = f->seen ? f->size : born ? 0 : size;

	if (!f->seen && !born)
		t->older++;
	if (size > before) {
		d->new_bytes += size - before;
		t->new_bytes += size - before;
	} else if (f->modified) {
		d->in_place++;
	}
	f->modified = false;
	f->seen = true;
	f->size = size;
}

void table_gone(struct table *t, struct table_file *f)
{
	if (!f->seen)
		t->gone++;
}
