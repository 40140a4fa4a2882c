// SPDX-License-Identifier: GPL-2.0-or-later
#include "world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const disk_names[DISKS] = {"volume", "device"};

static int make_dir(const char *path)
{
	return mkdir(path, 0700) && errno != EEXIST ? -1 : 0;
}

int world_init(struct world *w, const char *dir)
{
	char path[PATH_MAX + 8];
	unsigned i;

	memset(w, 0, sizeof(*w));
	if (!realpath(dir, w->dir) || strlen(w->dir) > sizeof(w->dir) - 32)
		return -1;
	for (i = 0; i < DISKS; i++)
		snprintf(w->disks[i].path, sizeof(w->disks[i].path), "%.4000s/%s",
			w->dir, disk_names[i]);
	snprintf(w->store, sizeof(w->store), "%.4000s/stores", w->dir);
	if (make_dir(w->store))
		return -1;
	snprintf(path, sizeof(path), "%s/a", w->store);
	if (make_dir(path))
		return -1;
	snprintf(path, sizeof(path), "%s/b", w->store);
	return make_dir(path);
}

static void unmap(struct disk *d)
{
	if (d->map)
		munmap(d->map, d->size);
	free(d->base);
	d->map = d->base = NULL;
}

int world_disk(struct world *w, unsigned disk, uint64_t size)
{
	struct disk *d = &w->disks[disk];
	void *map;
	int fd;

	unmap(d);
	d->size = size;
	fd = open(d->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)size)) {
		close(fd);
		return -1;
	}
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -1;
	d->map = map;
	return 0;
}

/* ---- the stores' objects ---- */

static int read_object(struct trace *t, const char *path, const char *name)
{
	struct trace_event e = {.kind = TRACE_PUT};
	uint8_t *data = NULL;
	struct stat st;
	int fd, rc = -1;

	snprintf(e.name, sizeof(e.name), "%.*s", TRACE_NAME - 1, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) &&
		(data = malloc((size_t)st.st_size + 1)) &&
		read(fd, data, (size_t)st.st_size) == st.st_size) {
		e.len = (uint64_t)st.st_size;
		rc = trace_add(t, &e, data);
	}
	free(data);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Each file below ROOT/NAME: into T, or deleted if T is NULL. */
static int each_object(const char *root, const char *name, struct trace *t)
{
	char path[PATH_MAX], sub[PATH_MAX];
	struct dirent *de;
	DIR *dirp;
	int rc = 0;

	snprintf(path, sizeof(path), "%.3000s%.1000s", root, name);
	dirp = opendir(path);
	if (!dirp)
		return -1;
	while (!rc && (de = readdir(dirp))) {
		if (de->d_name[0] == '.' &&
			(!de->d_name[1] || de->d_name[1] == '.'))
			continue;
		snprintf(sub, sizeof(sub), "%.1000s/%s", name, de->d_name);
		snprintf(path, sizeof(path), "%.3000s%.1000s", root, sub);
		if (de->d_type == DT_DIR)
			rc = each_object(root, sub, t);
		else if (t)
			rc = read_object(t, path, sub);
		else
			rc = unlink(path);
	}
	closedir(dirp);
	return rc;
}

static int put_object(const struct world *w, const struct trace_event *e)
{
	char path[PATH_MAX], *slash;
	int fd, rc;

	snprintf(path, sizeof(path), "%.3000s%s", w->store, e->name);
	slash = path + strlen(w->store);
	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		if (make_dir(path))
			return -1;
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	rc = write(fd, e->data, e->len) == (ssize_t)e->len ? 0 : -1;
	close(fd);
	return rc;
}

static int remove_object(const struct world *w, const struct trace_event *e)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.3000s%s", w->store, e->name);
	return unlink(path);
}

/* ---- going there and back ---- */

int world_snapshot(struct world *w)
{
	unsigned i;

	for (i = 0; i < DISKS; i++) {
		struct disk *d = &w->disks[i];

		if (!d->map)
			continue;
		if (!d->base)
			d->base = malloc(d->size);
		if (!d->base)
			return -1;
		memcpy(d->base, d->map, d->size);
	}
	w->touched_count = 0;
	w->store_touched = false;
	trace_clear(&w->objects);
	return each_object(w->store, "", &w->objects);
}

int world_objects(struct world *w, struct trace *out)
{
	return each_object(w->store, "", out);
}

static int touch(struct world *w, uint32_t disk, uint64_t off, uint64_t len)
{
	size_t room = w->touched_room ? w->touched_room * 2 : 256;
	struct range *r;

	if (w->touched_count == w->touched_room) {
		r = realloc(w->touched, room * sizeof(*r));
		if (!r)
			return -1;
		w->touched = r;
		w->touched_room = room;
	}
	w->touched[w->touched_count++] =
		(struct range){.disk = disk, .off = off, .len = len};
	return 0;
}

int world_touched(struct world *w, const struct trace *t)
{
	size_t i;

	for (i = 0; i < t->count; i++) {
		const struct trace_event *e = &t->events[i];

		if (e->kind == TRACE_PUT || e->kind == TRACE_REMOVE)
			w->store_touched = true;
		else if (e->kind == TRACE_WRITE &&
			 touch(w, e->target, e->off, e->len))
			return -1;
	}
	return 0;
}

int world_reset(struct world *w)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < w->touched_count; i++) {
		const struct range *r = &w->touched[i];
		struct disk *d = &w->disks[r->disk];

		memcpy(d->map + r->off, d->base + r->off, r->len);
	}
	w->touched_count = 0;
	if (w->store_touched) {
		rc = each_object(w->store, "", NULL);
		for (i = 0; !rc && i < w->objects.count; i++)
			rc = put_object(w, &w->objects.events[i]);
	}
	w->store_touched = false;
	return rc;
}

static int apply_write(struct world *w, const struct trace_event *e, long torn)
{
	uint64_t from = e->off, to = e->off + e->len, at;

	if (torn) {
		at = (e->off / 512 + (uint64_t)labs(torn)) * 512;
		if (torn > 0)
			to = at;
		else
			from = at;
	}
	memcpy(w->disks[e->target].map + from, e->data + (from - e->off),
		to - from);
	return touch(w, e->target, from, to - from);
}

int world_apply(struct world *w, const struct trace *t, const struct state *s)
{
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < s->cut; i++) {
		const struct trace_event *e = &t->events[i];

		if (i == s->missing || e->kind == TRACE_FLUSH)
			continue;
		if (e->kind == TRACE_WRITE) {
			rc = apply_write(w, e, i + 1 == s->cut ? s->torn : 0);
			continue;
		}
		w->store_touched = true;
		rc = e->kind == TRACE_PUT ? put_object(w, e)
					  : remove_object(w, e);
	}
	return rc;
}

void world_free(struct world *w)
{
	unsigned i;

	for (i = 0; i < DISKS; i++)
		unmap(&w->disks[i]);
	trace_clear(&w->objects);
	free(w->touched);
	w->touched = NULL;
}
