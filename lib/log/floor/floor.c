// SPDX-License-Identifier: LGPL-2.1-or-later
/* Write and read the floor file of this host. */
#include "log/floor/floor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/floor-record.h"
#include "os/fileio.h"
#include "store/conf.h"
#include "util/log.h"

#define SLOTS 2

struct rj_floor {
	int dir, fd;
	char name[RJ_UUID_TEXT]; /* the file's, in DIR */
	struct rj_floor_record last;
};

/* PATH, or what there is of the way to it, is not on VOLUME. */
static int check_place(const char *path, const char *volume, struct rj_error *err)
{
	char have[4096], *slash;
	struct stat st, v;

	snprintf(have, sizeof(have), "%s", path);
	while (stat(have, &st)) {
		slash = strrchr(have, '/');
		if (errno != ENOENT || !slash)
			return rj_fail_errno(err, errno, "%s", have);
		slash[slash == have] = 0; /* at last "/", which there is */
	}
	if (!stat(volume, &v) && S_ISBLK(v.st_mode) && st.st_dev == v.st_rdev)
		return rj_fail(err, RJ_E_REFUSED,
			"the directory of local floors, %s, is on %s itself",
			path, volume);
	return 0;
}

/* VOLUME: the one that it is for, then it is made; NULL: it is only looked into. */
static int open_dir(const char *volume, int *dir, struct rj_error *err)
{
	struct rj_conf_local local;
	int rc = rj_conf_local_load(&local, err);

	if (rc)
		return rc;
	if (volume)
		rc = check_place(local.floor_dir, volume, err);
	if (!rc && volume)
		rc = rj_make_dir(local.floor_dir, err);
	*dir = rc ? -1
		  : open(local.floor_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!rc && *dir == -1)
		rc = rj_fail_errno(err, errno, "%s", local.floor_dir);
	rj_conf_local_free(&local);
	return rc;
}

static int judge(int fd, const char *name, struct rj_error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return rj_fail_errno(err, errno, "%s", name);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
		return rj_fail(err, RJ_E_REFUSED,
			"local floor %s: not a file of ours alone", name);
	return 0;
}

/* The newest record of FD; all zero if there is none yet. A damaged one is that
 * which was being written, unless the other one is damaged, too. */
static int read_file(int fd, const char *name,
	const uint8_t journal[RJ_UUID_BYTES], struct rj_floor_record *out,
	struct rj_error *err)
{
	uint8_t raw[SLOTS * RJ_FLOOR_BYTES] = {0};
	struct rj_floor_record rec;
	ssize_t n = pread(fd, raw, sizeof(raw), 0);
	int i, rc, bad = 0;

	memset(out, 0, sizeof(*out));
	if (n < 0)
		return rj_fail_errno(err, errno, "local floor %s", name);
	for (i = 0; i < SLOTS; i++) {
		rc = rj_floor_record_decode(
			raw + i * RJ_FLOOR_BYTES, &rec, err);
		bad += rc && rc != -RJ_E_NOTRJ;
		if (!rc && rj_uuid_equal(rec.journal_uuid, journal) &&
			rec.generation > out->generation)
			*out = rec;
	}
	return bad && !out->generation
		       ? rj_fail(err, RJ_E_CORRUPT, "local floor %s: damaged", name)
		       : 0;
}

void rj_floor_load(const uint8_t journal[RJ_UUID_BYTES], uint64_t epoch,
	struct rj_log_tail *out)
{
	struct rj_floor_record rec = {0};
	char name[RJ_UUID_TEXT];
	struct rj_error err;
	int dir = -1, fd = -1, rc;

	memset(out, 0, sizeof(*out));
	rj_uuid_text(journal, name);
	rc = open_dir(NULL, &dir, &err);
	if (!rc) {
		fd = openat(dir, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		rc = fd == -1 ? rj_fail_errno(&err, errno, "local floor %s", name)
			      : judge(fd, name, &err);
	}
	if (!rc)
		rc = read_file(fd, name, journal, &rec, &err);
	if (rc && rc != -RJ_E_NOTFOUND)
		rj_log(RJ_LOG_WARNING, "%s; going on without it", err.msg);
	if (!rc && rec.epoch >= epoch) {
		out->epoch = rec.epoch;
		out->sequence = rec.sequence;
		memcpy(out->chain, rec.chain, sizeof(out->chain));
	}
	if (fd != -1)
		close(fd);
	if (dir != -1)
		close(dir);
}

void rj_floor_forget(const uint8_t journal[RJ_UUID_BYTES])
{
	char name[RJ_UUID_TEXT];
	int dir;

	if (open_dir(NULL, &dir, NULL))
		return;
	unlinkat(dir, rj_uuid_text(journal, name), 0);
	close(dir);
}

/* A link that is there is not followed, whatever it points to. */
static int open_file(struct rj_floor *f, struct rj_error *err)
{
	int flags = O_RDWR | O_DSYNC | O_NOFOLLOW | O_CLOEXEC;
	uint8_t zero[SLOTS * RJ_FLOOR_BYTES] = {0};
	int rc;

	f->fd = openat(f->dir, f->name, flags | O_CREAT | O_EXCL, 0600);
	if (f->fd != -1) {
		rc = rj_pwrite_all(
			f->fd, zero, sizeof(zero), 0, f->name, err);
		return rc ? rc : rj_fsync(f->dir, f->name, err);
	}
	if (errno == EEXIST)
		f->fd = openat(f->dir, f->name, flags | O_NONBLOCK);
	if (f->fd == -1)
		return rj_fail_errno(err, errno, "local floor %s", f->name);
	return judge(f->fd, f->name, err);
}

int rj_floor_open(const uint8_t journal[RJ_UUID_BYTES], const char *volume,
	struct rj_floor **out, struct rj_error *err)
{
	struct rj_floor *f = calloc(1, sizeof(*f));
	int rc;

	*out = NULL;
	if (!f)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	f->dir = f->fd = -1;
	rj_uuid_text(journal, f->name);
	rc = open_dir(volume, &f->dir, err);
	if (!rc)
		rc = open_file(f, err);
	if (!rc && read_file(f->fd, f->name, journal, &f->last, err))
		memset(&f->last, 0, sizeof(f->last)); /* both are to be written */
	memcpy(f->last.journal_uuid, journal, RJ_UUID_BYTES);
	if (rc) {
		rj_floor_close(f, false);
		return rc;
	}
	*out = f;
	return 0;
}

int rj_floor_write(struct rj_floor *f, const struct rj_log_tail *tail,
	struct rj_error *err)
{
	uint8_t raw[RJ_FLOOR_BYTES];
	int rc;

	if (tail->sequence == f->last.sequence && tail->epoch == f->last.epoch)
		return 0;
	f->last.generation++;
	f->last.sequence = tail->sequence;
	f->last.epoch = tail->epoch;
	memcpy(f->last.chain, tail->chain, sizeof(f->last.chain));
	rj_floor_record_encode(&f->last, raw);
	rc = rj_pwrite_all(f->fd, raw, sizeof(raw),
		f->last.generation % SLOTS * RJ_FLOOR_BYTES, f->name, err);
	if (rc)
		f->last.sequence = 0; /* once more */
	return rc ? rj_fail_prefix(err, "local floor") : 0;
}

void rj_floor_close(struct rj_floor *f, bool remove)
{
	if (!f)
		return;
	if (remove && f->dir != -1)
		unlinkat(f->dir, f->name, 0); /* one that stays only tells less */
	if (f->fd != -1)
		close(f->fd);
	if (f->dir != -1)
		close(f->dir);
	free(f);
}
