// SPDX-License-Identifier: GPL-2.0-or-later
/* At start: open the data files, have them scanned, cut a torn tail. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fileio.h"
#include "rjserver/log.h"
#include "store-scan.h"

#define FILE_BYTES_MOST (1ull << 30) /* larger is not one of ours */

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* "NNNNNNNN.rjd" */
static bool file_number(const char *name, uint32_t *number)
{
	size_t digits = strspn(name, "0123456789");

	if (digits < 8 || digits > 9 || strcmp(name + digits, ".rjd"))
		return false;
	*number = (uint32_t)strtoul(name, NULL, 10);
	return *number != 0;
}

/* Files that need no reading here. */
static bool ours(const char *name)
{
	return !strcmp(name, "checkpoint") || !strcmp(name, "spare") ||
	       !strcmp(name, "checkpoint.tmp");
}

static int list_files(struct store *s, struct rj_buf *out, struct rj_error *err)
{
	char dir[PATH_MAX];
	struct dirent *de;
	uint32_t number;
	int rc = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "%s/store", s->dir);
	d = opendir(dir);
	if (!d)
		return rj_fail_errno(err, errno, "%s: cannot open", dir);
	while (!rc && (errno = 0, de = readdir(d))) {
		if (de->d_name[0] == '.')
			continue;
		if (!file_number(de->d_name, &number)) {
			if (!ours(de->d_name))
				log_warning("%s/%s: not a data file: left "
					    "alone",
					dir,
					de->d_name);
		} else if (rj_buf_append(out, &number, sizeof(number))) {
			rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
		}
	}
	if (!rc && errno)
		rc = rj_fail_errno(err, errno, "%s: cannot read", dir);
	closedir(d);
	if (out->len)
		qsort(out->data, out->len / sizeof(number), sizeof(number),
			by_number);
	return rc;
}

static int open_file(struct store *s, uint32_t number, struct rj_error *err)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, rc;

	store_file_path(s, number, path);
	fd = open(path, (s->read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC |
				O_NOFOLLOW);
	if (fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot open", path);
	if (fstat(fd, &st))
		rc = rj_fail_errno(err, errno, "%s: cannot stat", path);
	else if (!S_ISREG(st.st_mode) || st.st_size > (off_t)FILE_BYTES_MOST)
		rc = rj_fail(err, RJ_E_CORRUPT,
			"%s: not a data file of rjserver", path);
	else
		rc = store_file_add(
			s, number, fd, path, (uint64_t)st.st_size, err);
	/* the page cache may have what a failed sync did not get to the disk */
	if (!rc && !s->read_only)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (rc)
		close(fd);
	return rc;
}

/* Read F from FROM on up to TO; what cannot be read is zero, said, and noted in SC. */
static int read_file(struct scan *sc, const struct datafile *f, uint64_t from,
	uint64_t to, uint8_t *data, struct rj_error *err)
{
	const uint64_t step = 65536, page = 4096;
	uint64_t off, end, n;
	int rc = 0;

	for (off = from; off < to && !rc; off = end) {
		end = align_up(off + 1, step);
		end = end < to ? end : to;
		if (!rj_pread_all(f->fd, data + off - from, end - off, off,
			    f->path, NULL))
			continue;
		for (; off < end && !rc; off += n) {
			n = align_up(off + 1, page) - off;
			n = n < end - off ? n : end - off;
			if (!rj_pread_all(f->fd, data + off - from, n, off,
				    f->path, NULL))
				continue;
			memset(data + off - from, 0, n);
			log_error("%s: byte %llu: cannot be read", f->path,
				(unsigned long long)off);
			rc = scan_unreadable(sc, pos_make(f->number, off),
				pos_make(f->number, off + n), err);
		}
	}
	return rc;
}

/*
 * A last file with nothing after its head was made ahead and never came into
 * use, or its creation was cut off. It is removed, so that the file before it
 * is judged as the last one. (A file that was in use and is shorter than its
 * head says is not one of those.)
 */
static int drop_unborn(struct store *s, struct rj_error *err)
{
	struct datafile *f = &s->files[s->file_count - 1];
	uint8_t page[FILE_HEAD_BYTES];
	struct file_head head;
	bool copy_bad, has_head;
	uint64_t off, n, i;

	n = f->bytes < sizeof(page) ? f->bytes : sizeof(page);
	memset(page, 0, sizeof(page));
	if (rj_pread_all(f->fd, page, n, 0, f->path, NULL))
		return 0;
	has_head = file_head_decode(page, &head, &copy_bad);
	if (has_head && f->bytes < head.bytes)
		return 0;
	for (off = has_head ? FILE_HEAD_BYTES : 0; off < f->bytes; off += n) {
		n = f->bytes - off < sizeof(page) ? f->bytes - off
						  : sizeof(page);
		if (rj_pread_all(f->fd, page, n, off, f->path, NULL))
			return 0;
		for (i = 0; i < n; i++)
			if (page[i])
				return 0;
	}
	if (!s->read_only && unlink(f->path))
		return rj_fail_errno(err, errno, "%s: cannot remove", f->path);
	store_file_forget_last(s);
	return 0;
}

/* Judge the head of one file. *BYTES: how long it says that the file is. */
static int check_head(struct store *s, struct datafile *f, const uint8_t *data,
	uint64_t *bytes, struct rj_error *err)
{
	struct file_head head;
	bool copy_bad;

	if (f->bytes < FILE_HEAD_BYTES ||
		!file_head_decode(data, &head, &copy_bad))
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: both copies of its head are damaged, or it is not "
			"a data file of rjserver: restore it, or move it away",
			f->path);
	if (copy_bad)
		log_warning("%s: one copy of its head is damaged; the other "
			    "is used",
			f->path);
	if (head.number != f->number)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: it was data file %u, and renamed", f->path,
			head.number);
	if (s->store_id && head.store_id != s->store_id)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: belongs to another store", f->path);
	s->store_id = head.store_id;
	*bytes = head.bytes;
	return 0;
}

/*
 * F should have BYTES. It is written from its beginning to its end: where the
 * next batch would begin, and is zero up to the cut, nothing was written after.
 */
static void check_length(struct store *s, struct datafile *f, uint64_t bytes,
	bool last, bool unreadable)
{
	static const uint8_t zeros[BATCH_ALIGN];
	uint64_t next = align_up(f->data_end, BATCH_ALIGN), off, n;
	struct rj_error err;
	int rc = 0;

	if (f->bytes >= bytes)
		return;
	/* without a record in it, the file before could be the last one */
	if (!last || unreadable || f->data_end == FILE_HEAD_BYTES ||
		next + BATCH_ALIGN > f->bytes) {
		log_error("%s: DAMAGED: truncated from %llu to %llu bytes",
			f->path, (unsigned long long)bytes,
			(unsigned long long)f->bytes);
		/* of earlier files, the next record tells what is missing */
		if (last)
			damage_lost(s, pos_make(f->number, f->bytes),
				"the end of the log is cut off");
		return;
	}
	log_warning("%s: truncated from %llu to %llu bytes; what is missing was not used yet",
		f->path, (unsigned long long)bytes,
		(unsigned long long)f->bytes);
	if (s->read_only)
		return;
	for (off = f->bytes; off < bytes && !rc; off += n) {
		n = bytes - off < sizeof(zeros) ? bytes - off : sizeof(zeros);
		rc = rj_pwrite_all(f->fd, zeros, n, off, f->path, &err);
	}
	if (!rc)
		rc = rj_fsync(f->fd, f->path, &err);
	if (rc)
		log_warning("%s", err.msg); /* then it is used as it is */
	else
		f->bytes = bytes;
}

/* A file that the checkpoint covers: only its head is read. */
static int look_at_one(
	struct store *s, struct datafile *f, struct rj_error *err)
{
	uint8_t head[FILE_HEAD_BYTES] = {0};
	uint64_t n = f->bytes < sizeof(head) ? f->bytes : sizeof(head), bytes;
	int rc = rj_pread_all(f->fd, head, n, 0, f->path, err);

	f->data_end = f->bytes;
	if (!rc)
		rc = check_head(s, f, head, &bytes, err);
	if (!rc)
		check_length(s, f, bytes, false, false);
	return rc;
}

static int scan_one(struct store *s, struct scan *sc, size_t i,
	const struct checkpoint_place *at, struct rj_error *err)
{
	struct datafile *f = &s->files[i];
	struct scan_file sf = {.number = f->number,
		.path = f->path,
		.from = FILE_HEAD_BYTES};
	uint64_t head = f->bytes < FILE_HEAD_BYTES ? f->bytes : FILE_HEAD_BYTES, bytes;
	uint8_t *data;
	int rc;

	if (f->number < pos_file(at->pos))
		return look_at_one(s, f, err);
	if (f->number == pos_file(at->pos))
		sf.from = pos_offset(at->pos);
	data = malloc(f->bytes ? f->bytes : 1);
	if (!data)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", f->path);
	rc = rj_pread_all(f->fd, data, head, 0, f->path, err);
	if (!rc)
		rc = read_file(sc, f, head, f->bytes, data + head, err);
	sf.data = data;
	sf.len = f->bytes;
	if (!rc)
		rc = check_head(s, f, data, &bytes, err);
	if (!rc) {
		rc = scan_file(sc, &sf, err);
		f->data_end = sf.data_end;
	}
	if (!rc)
		check_length(s, f, bytes, i + 1 == s->file_count,
			scan_find_unreadable(sc, pos_make(f->number, 0),
				pos_make(f->number, f->bytes)));
	free(data);
	return rc;
}

/* Keep aside what follows place FROM in its file, then make it zero. */
static int cut(struct store *s, struct scan *sc, uint64_t from,
	struct rj_error *err)
{
	struct datafile *f = store_file(s, pos_file(from));
	uint64_t off = pos_offset(from), len;
	uint8_t *data;
	int rc;

	if (!f || f->data_end <= off)
		return 0;
	len = f->data_end - off;
	data = malloc(len);
	if (!data)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", f->path);
	rc = read_file(sc, f, off, off + len, data, err);
	if (!rc)
		rc = damage_copy_aside(s, f, off, data, len, err);
	memset(data, 0, len);
	if (!rc)
		rc = rj_pwrite_all(f->fd, data, len, off, f->path, err);
	if (!rc)
		rc = rj_fsync(f->fd, f->path, err);
	if (!rc)
		f->data_end = off; /* once is enough: what was kept stays */
	free(data);
	return rc;
}

/* Where the next batch goes, after cutting what no record owns. */
static int settle(struct store *s, struct scan *sc, const struct scan_end *end,
	struct rj_error *err)
{
	struct datafile *f = &s->files[s->file_count - 1];
	size_t i;
	int rc = 0;

	/* The scan saw the page cache, which is not yet the disk. */
	for (i = 0; i < s->file_count && !rc; i++)
		if (s->files[i].number >= pos_file(end->end))
			rc = rj_fsync(s->files[i].fd, s->files[i].path, err);
	if (!rc && end->end)
		rc = cut(s, sc, end->end, err);
	s->last = end->last;
	s->end = pos_make(f->number, FILE_HEAD_BYTES);
	if (end->end > s->end)
		s->end = store_next_batch(s, end->end);
	else if (!rc)
		rc = cut(s, sc, s->end, err);
	s->durable = s->end;
	return rc;
}

/* Living objects of the checkpoint whose bytes are not there any more. */
struct gone {
	struct store *s;
	uint64_t objects;
	uint32_t file; /* the first */
};

static void look_for(
	void *arg, const struct okey *okey, const struct idx_entry *e)
{
	struct gone *g = arg;

	if (e->pos >= g->s->checkpoint_pos || store_there(g->s, e))
		return;
	if (!g->objects || pos_file(e->pos) < g->file)
		g->file = pos_file(e->pos);
	g->objects++;
}

static int check_gone(struct store *s, struct rj_error *err)
{
	struct gone g = {.s = s};
	char path[PATH_MAX];

	idx_each(s->index, look_for, &g);
	if (!g.objects)
		return 0;
	store_file_path(s, g.file, path);
	return rj_fail(err, RJ_E_CORRUPT,
		"%s: gone or cut off, and not the only thing to be missed: the "
		"checkpoint knows %llu objects that were stored and never "
		"deleted. Restore it; or remove %s/store/checkpoint to serve "
		"what is left as if nothing else had ever been",
		path, (unsigned long long)g.objects, s->dir);
}

static int find_place(
	struct store *s, struct checkpoint_place *at, struct rj_error *err)
{
	char path[PATH_MAX];
	int rc = 0;

	if (s->scan_all && !s->read_only)
		return store_checkpoint_forget(s, err);
	if (!s->scan_all)
		rc = store_checkpoint_read(s, at, err);
	if (rc || !at->pos || store_file(s, pos_file(at->pos)))
		return rc;
	store_file_path(s, pos_file(at->pos), path);
	return rj_fail(err, RJ_E_CORRUPT,
		"%s: gone: the log goes on there after the checkpoint. "
		"Restore it; or remove %s/store/checkpoint to serve what is "
		"left as if nothing else had ever been",
		path, s->dir);
}

/* What the next start would read, but for a checkpoint. */
static uint64_t tail_bytes(const struct store *s, uint64_t from)
{
	uint64_t sum = pos_offset(s->end) - pos_offset(from);
	size_t i;

	for (i = 0; i + 1 < s->file_count; i++)
		if (s->files[i].number >= pos_file(from))
			sum += s->files[i].bytes;
	return sum;
}

static int scan_files(struct store *s, const struct checkpoint_place *at,
	struct rj_error *err)
{
	struct scan *sc = scan_new(s, s->files[0].number);
	struct scan_end end = {0};
	size_t i;
	int rc = 0;

	if (!sc)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (at->pos)
		scan_resume(sc, at);
	for (i = 0; i < s->file_count && !rc; i++)
		rc = scan_one(s, sc, i, at, err);
	if (!rc)
		rc = scan_finish(sc, &end, err);
	if (!rc && at->pos)
		rc = check_gone(s, err);
	if (!rc && s->read_only && end.cut)
		log_notice("the last batch was torn at byte %llu of data file "
			   "%u and never acknowledged: the next start cuts it",
			(unsigned long long)pos_offset(end.cut),
			pos_file(end.cut));
	if (!rc && s->read_only)
		s->end = end.end;
	else if (!rc)
		rc = settle(s, sc, &end, err);
	s->appended = tail_bytes(s, at->pos);
	scan_free(sc);
	return rc;
}

int store_scan(struct store *s, struct rj_error *err)
{
	struct checkpoint_place at = {0};
	struct rj_buf numbers = {0};
	uint32_t number;
	size_t i;
	int rc;

	s->next_number = 1;
	rc = list_files(s, &numbers, err);
	for (i = 0; i < numbers.len && !rc; i += sizeof(number)) {
		memcpy(&number, numbers.data + i, sizeof(number));
		rc = open_file(s, number, err);
		s->next_number = number + 1;
	}
	if (!rc && s->file_count)
		rc = drop_unborn(s, err);
	if (!rc)
		rc = find_place(s, &at, err);
	if (!rc && s->file_count)
		rc = scan_files(s, &at, err);
	rj_buf_free(&numbers);
	return rc;
}
