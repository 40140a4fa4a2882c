// SPDX-License-Identifier: GPL-2.0-or-later
/* The data files: create, preallocate, roll over, drop. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/fileio.h"
#include "rjserver/log.h"
#include "store-checkpoint.h"
#include "util/environ.h"

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

void store_spare_path(const struct store *s, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/store/spare", s->dir);
}

void store_count(struct store *s, const struct idx_entry *e, int by)
{
	struct datafile *f = store_file(s, pos_file(e->pos));
	uint64_t bytes = rec_total(e->length);

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

static void close_file(struct datafile *f)
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
		close_file(&s->files[i]);
	free(s->files);
}

void store_file_forget_last(struct store *s)
{
	close_file(&s->files[--s->file_count]);
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

/*
 * Give the new file blocks that were written once. Blocks that fallocate()
 * only promised would have to be converted at the first write, and each
 * fdatasync would wait for the file system's journal: it took twice as long.
 */
static int fill_file(int fd, uint64_t bytes, bool fresh, const char *path,
	struct rj_error *err)
{
	static const uint8_t zeros[1 << 20];
	struct statfs fs;
	uint64_t off, n;
	int rc = 0;

	if (fallocate(fd, 0, 0, (off_t)bytes) && errno != EOPNOTSUPP)
		return rj_fail_errno(err, errno,
			"%s: cannot allocate %llu bytes", path,
			(unsigned long long)bytes);
	if (fresh && !fstatfs(fd, &fs) && fs.f_type == TMPFS_MAGIC)
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

/* A dropped file of the right size, or a new one; NAME is where it is. */
static int open_new(const char *path, const char *spare, uint64_t bytes,
	const char **name, struct rj_error *err)
{
	struct stat st;
	int fd;

	*name = spare;
	fd = open(spare, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0) {
		if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
			st.st_size == (off_t)bytes)
			return fd;
		close(fd); /* not ours, or of another size */
		unlink(spare);
	}
	*name = path;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot create", path);
	return fd;
}

int store_file_make(const char *dir, const char *path, const char *spare,
	const struct file_head *head, int *fd, struct rj_error *err)
{
	uint8_t raw[FILE_HEAD_BYTES];
	const char *name;
	int rc;

	*fd = open_new(path, spare, head->bytes, &name, err);
	if (*fd < 0)
		return *fd;
	file_head_encode(head, raw);
	/* its old name must be gone for good before its bytes are */
	rc = name == spare ? rj_fsync_dir(dir, err) : 0;
	if (!rc)
		rc = fill_file(*fd, head->bytes, name == path, name, err);
	if (!rc)
		rc = rj_pwrite_all(*fd, raw, sizeof(raw), 0, name, err);
	if (!rc)
		rc = rj_fsync(*fd, name, err);
	/* only now, when nothing of what it held before is left */
	if (!rc && name == spare && rename(spare, path))
		rc = rj_fail_errno(err, errno, "%s: cannot rename", spare);
	if (!rc)
		rc = rj_fsync_dir(dir, err);
	if (rc) {
		close(*fd); /* it holds nothing, and is gone */
		unlink(name);
		return rc;
	}
	/* what is written past the page cache need not be dropped from it */
	posix_fadvise(*fd, 0, 0, POSIX_FADV_DONTNEED);
	return 0;
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
	char path[PATH_MAX], spare[PATH_MAX], dir[PATH_MAX];
	int fd, rc;

	store_file_path(s, head.number, path);
	store_spare_path(s, spare);
	snprintf(dir, sizeof(dir), "%s/store", s->dir);
	rc = store_file_make(dir, path, spare, &head, &fd, err);
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

/* Where it goes: aside, to be used again, or away. */
static void put_away(struct store *s, const struct datafile *f)
{
	char to[PATH_MAX + 32];
	int rc;

	store_spare_path(s, to);
	if (f->damaged)
		snprintf(to, sizeof(to), "%s/damaged/%08u.rjd", s->dir,
			f->number);
	if (f->damaged)
		rc = rename(f->path, to);
	else if (f->bytes == s->file_bytes && !s->ahead && access(to, F_OK))
		rc = rename(f->path, to);
	else
		rc = unlink(f->path);
	if (rc)
		log_warning("%s: cannot remove: %s", f->path, strerror(errno));
	else if (f->damaged)
		log_notice("%s: its whole objects were copied; it is now %s",
			f->path, to);
}

static void drop_file(struct store *s)
{
	put_away(s, &s->files[0]);
	close_file(&s->files[0]);
	s->file_count--;
	memmove(s->files, s->files + 1, s->file_count * sizeof(*s->files));
}

/*
 * Files are dropped from the oldest on only. So a tombstone in a dropped
 * file can not be missed (what it deleted lay in files that are gone), and a
 * file missing between others is always damage. Those from the checkpoint's
 * place on are what a start reads, and those of a store that lost something
 * say so.
 */
void store_drop_dead(struct store *s)
{
	while (s->file_count > 1 && !s->files[0].live && !s->lost &&
		(!s->checkpoint_pos ||
			s->files[0].number < pos_file(s->checkpoint_pos)))
		drop_file(s);
}

/* Make room on a full disk. */
static bool give_up_spares(struct store *s)
{
	size_t before = s->file_count;
	char spare[PATH_MAX];
	bool any;

	store_spare_path(s, spare);
	any = !unlink(spare);
	if (s->file_count > 1 && !s->files[0].live &&
		!store_checkpoint_forget(s, NULL))
		store_drop_dead(s);
	any |= !unlink(spare);
	return any || s->file_count < before;
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
	if (rc == -RJ_E_NOSPACE && give_up_spares(s))
		rc = roll(s, len, err);
	if (rc == -RJ_E_NOSPACE && s->file_count == 1 && !s->files[0].live &&
		!store_checkpoint_forget(s, err)) {
		/* all that is stored was deleted: begin afresh */
		drop_file(s);
		give_up_spares(s);
		s->last = 0;
		rc = roll(s, len, err);
	}
	return rc;
}
