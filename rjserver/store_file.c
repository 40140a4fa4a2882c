// SPDX-License-Identifier: GPL-2.0-or-later
/* The data files: create, preallocate, roll over, drop. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "say.h"
#include "store.h"
#include "util/environ.h"
#include "util/fileio.h"

#define FILE_BYTES_MIN (4ull << 20)

/* What only tombstones may use at the end of a file. */
static uint64_t reserve_of(uint64_t file_bytes)
{
	return file_bytes / 8;
}

void store_file_path(
	const struct store *s, uint32_t number, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/store/%08u.rjd", s->dir, number);
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

int store_file_add(struct store *s, uint32_t number, int fd, const char *path,
	uint64_t bytes, struct rj_error *err)
{
	struct datafile *files, *f;

	files = reallocarray(s->files, s->file_count + 1, sizeof(*files));
	if (!files)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", path);
	s->files = files;
	f = &files[s->file_count++];
	*f = (struct datafile){.number = number, .fd = fd, .bytes = bytes};
	snprintf(f->path, sizeof(f->path), "%s", path);
	return 0;
}

/*
 * Give the new file blocks that were written once. Blocks that fallocate()
 * only promised would have to be converted at the first write, and each
 * fdatasync would wait for the file system's journal: it took twice as long.
 */
static int fill_file(
	int fd, uint64_t bytes, const char *path, struct rj_error *err)
{
	static const uint8_t zeros[1 << 20];
	struct statfs fs;
	uint64_t off, n;
	int rc = 0;

	if (fallocate(fd, 0, 0, (off_t)bytes) && errno != EOPNOTSUPP)
		return rj_fail_errno(err, errno,
			"%s: cannot allocate %llu bytes", path,
			(unsigned long long)bytes);
	if (!fstatfs(fd, &fs) && fs.f_type == TMPFS_MAGIC)
		return 0; /* they are as good as written */
	for (off = 0; off < bytes && !rc; off += n) {
		n = bytes - off < sizeof(zeros) ? bytes - off : sizeof(zeros);
		rc = rj_pwrite_all(fd, zeros, n, off, path, err);
		/* in small portions, so that commits are not held up long */
		if (!rc && off % (4 << 20) == 0)
			rc = rj_fsync(fd, path, err);
	}
	return rc;
}

int store_file_make(const char *dir, const char *path,
	const struct file_head *head, int *fd, struct rj_error *err)
{
	uint8_t raw[FILE_HEAD_BYTES];
	int rc;

	*fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (*fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot create", path);
	file_head_encode(head, raw);
	rc = fill_file(*fd, head->bytes, path, err);
	if (!rc)
		rc = rj_pwrite_all(*fd, raw, sizeof(raw), 0, path, err);
	if (!rc)
		rc = rj_fsync(*fd, path, err);
	if (!rc)
		rc = rj_fsync_dir(dir, err);
	if (rc) {
		close(*fd); /* it holds nothing, and is gone */
		unlink(path);
	}
	return rc;
}

/* Append to the file FD from now on. Takes over FD also when it fails. */
static int begin_file(struct store *s, int fd, const struct file_head *head,
	struct rj_error *err)
{
	char path[PATH_MAX];
	int rc;

	store_file_path(s, head->number, path);
	rc = store_file_add(s, head->number, fd, path, head->bytes, err);
	if (rc) {
		close(fd); /* it holds nothing, and is gone */
		unlink(path);
		return rc;
	}
	s->next_number = head->number + 1;
	s->end = pos_make(head->number, FILE_HEAD_BYTES);
	s->durable = s->end;
	return 0;
}

static int create_file(struct store *s, uint64_t bytes, struct rj_error *err)
{
	struct file_head head = {
		.number = s->next_number,
		.bytes = bytes,
		.store_id = s->store_id,
		.time_ns = (uint64_t)rj_realtime_ns(),
	};
	char path[PATH_MAX], dir[PATH_MAX];
	int fd, rc;

	store_file_path(s, head.number, path);
	snprintf(dir, sizeof(dir), "%s/store", s->dir);
	rc = store_file_make(dir, path, &head, &fd, err);
	return rc ? rc : begin_file(s, fd, &head, err);
}

/* A new file, as large as the disk has room for and a batch of LEN needs. */
static int roll(struct store *s, uint64_t len, struct rj_error *err)
{
	uint64_t least = FILE_HEAD_BYTES + len, bytes;
	struct file_head head;
	int rc, fd;

	least = align_up(least + reserve_of(least) * 2,
		s->file_bytes < FILE_BYTES_MIN ? s->file_bytes
					       : FILE_BYTES_MIN);
	if (store_ahead_take(s, least, &fd, &head))
		return begin_file(s, fd, &head, err);
	for (bytes = s->file_bytes;; bytes /= 2) {
		if (bytes < least)
			bytes = least;
		rc = create_file(s, bytes, err);
		if (rc != -RJ_E_NOSPACE || bytes == least)
			return rc;
	}
}

static void drop_file(struct store *s)
{
	struct datafile *f = &s->files[0];

	if (unlink(f->path))
		say_warning("%s: cannot remove: %s", f->path, strerror(errno));
	close(f->fd); /* nothing in it is wanted any more */
	s->file_count--;
	memmove(s->files, s->files + 1, s->file_count * sizeof(*s->files));
}

/*
 * Files are dropped from the oldest on only. So a tombstone in a dropped
 * file can not be missed (what it deleted lay in files that are gone), and a
 * file missing between others is always damage.
 */
void store_drop_dead(struct store *s)
{
	while (s->file_count > 1 && !s->files[0].live)
		drop_file(s);
}

int store_sync(struct store *s, struct rj_error *err)
{
	struct datafile *f;

	if (!s->dirty)
		return 0;
	f = &s->files[s->file_count - 1];
	if (fdatasync(f->fd)) {
		s->failed = true;
		return rj_fail_errno(
			err, errno, "%s: cannot fdatasync", f->path);
	}
	s->dirty = false;
	return 0;
}

uint64_t store_next_batch(const struct store *s, uint64_t end)
{
	const struct datafile *f = &s->files[s->file_count - 1];
	bool reserve = pos_offset(end) > f->bytes - reserve_of(f->bytes);

	return align_up(end, reserve ? RESERVE_ALIGN : BATCH_ALIGN);
}

int store_room(
	struct store *s, uint64_t len, bool reserve, struct rj_error *err)
{
	struct datafile *f;
	uint64_t limit, off;
	int rc;

	if (s->file_count) {
		f = &s->files[s->file_count - 1];
		off = pos_offset(s->end);
		limit = f->bytes - (reserve ? 0 : reserve_of(f->bytes));
		if (pos_file(s->end) == f->number && off + len <= limit)
			return 0;
		/* what is written must be durable before a later file is */
		rc = store_sync(s, err);
		if (rc)
			return rc;
	}
	rc = roll(s, len, err);
	if (rc == -RJ_E_NOSPACE && s->file_count == 1 && !s->files[0].live) {
		/* all that is stored was deleted: begin afresh */
		drop_file(s);
		s->last = 0;
		rc = roll(s, len, err);
	}
	return rc;
}
