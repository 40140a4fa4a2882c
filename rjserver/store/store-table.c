// SPDX-License-Identifier: GPL-2.0-or-later
/* The data files that there are: their names, and the table of the open ones. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store.h"

void store_file_path(
	const struct store *s, uint32_t number, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/store/%08u.rjd", s->dir, number);
}

void store_spare_path(const struct store *s, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/store/spare", s->dir);
}

struct datafile *store_file(struct store *s, uint32_t number)
{
	size_t lo = 0, hi = s->file_count, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->files[mid].number == number)
			return &s->files[mid];
		if (s->files[mid].number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

bool store_there(struct store *s, const struct idx_entry *e)
{
	const struct datafile *f = store_file(s, pos_file(e->pos));

	return f && pos_offset(e->pos) + idx_record(e) <= f->bytes;
}

void store_count(struct store *s, const struct idx_entry *e, int by)
{
	struct datafile *f = store_file(s, pos_file(e->pos));
	uint64_t bytes = idx_record(e);

	if (!f)
		return;
	f->live += (uint64_t)by;
	f->live_bytes += by > 0 ? bytes : -bytes;
}

/* Some file systems have no direct I/O: then it is the page cache. */
static int open_direct(const char *path)
{
	return open(path, O_WRONLY | O_DIRECT | O_CLOEXEC | O_NOFOLLOW);
}

void store_file_close(struct datafile *f)
{
	/* all that matters was synced */
	if (f->direct_fd >= 0)
		close(f->direct_fd);
	close(f->fd);
}

void store_files_free(struct store *s)
{
	size_t i;

	for (i = 0; i < s->file_count; i++)
		store_file_close(&s->files[i]);
	free(s->files);
}

void store_file_forget_last(struct store *s)
{
	store_file_close(&s->files[--s->file_count]);
}

int store_file_add(struct store *s, uint32_t number, int fd, const char *path,
	uint64_t bytes, struct rj_error *err)
{
	struct datafile *files, *f;

	files = reallocarray(s->files, s->file_count + 1, sizeof(*files));
	if (!files)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", path);
	s->files = files;
	f = &files[s->file_count++];
	*f = (struct datafile){
		.number = number,
		.fd = fd,
		.direct_fd = s->read_only ? -1 : open_direct(path),
		.bytes = bytes,
	};
	snprintf(f->path, sizeof(f->path), "%s", path);
	return 0;
}
