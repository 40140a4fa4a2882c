// SPDX-License-Identifier: LGPL-2.1-or-later
/* Make, open, put aside and remove the fallback file: a file, a file in a folder, or a
 * block device. fallback-log.c writes into it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "log/fallback/fallback-log-priv.h"
#include "os/fileio.h"
#include "util/environ.h"

#define ZERO_BYTES     (1u << 20)
#define BLANK_BYTES    (1u << 20)
#define CLAIMS	       5
#define KEPT_MAX       99 /* files put aside in one epoch */
#define CLAIM_AGAIN_NS 100000000LL

/* A file whose writes are durable when they return. */
struct file_bio {
	struct rj_bio bio;
	int fd;	    /* for reading; locked while it is open for writing */
	int direct; /* O_DIRECT | O_DSYNC, or only O_DSYNC; -1: read only */
};

static int file_read(struct rj_bio *bio, void *out, size_t len, uint64_t off,
	struct rj_error *err)
{
	return rj_pread_all(((struct file_bio *)bio)->fd, out, len, off,
		bio->name, err);
}

static int file_write(struct rj_bio *bio, const void *data, size_t len,
	uint64_t off, struct rj_error *err)
{
	return rj_pwrite_all(((struct file_bio *)bio)->direct, data, len, off,
		bio->name, err);
}

static int file_flush(struct rj_bio *bio, struct rj_error *err)
{
	return 0; /* O_DSYNC */
}

static void file_free(struct rj_bio *bio)
{
	struct file_bio *b = (struct file_bio *)bio;

	if (b->direct != -1)
		close(b->direct);
	close(b->fd);
	free(b);
}

/* The second descriptor, around the page cache where the file can do that. */
static int open_direct(
	const struct rj_fallback_path *p, struct rj_error *err, int *out)
{
	int flags = O_WRONLY | O_DSYNC | O_CLOEXEC;

	*out = rj_fallback_path_open(p, flags | O_DIRECT);
	if (*out == -1 && errno == EINVAL)
		*out = rj_fallback_path_open(p, flags);
	if (*out != -1)
		rj_take_old_error(*out, p->path);
	return *out == -1 ? rj_fail_errno(err, errno, "%s", p->path) : 0;
}

/* Takes FD over, also when it fails. */
static int new_bio(int fd, const struct rj_fallback_path *p, bool readonly,
	struct rj_bio **out, struct rj_error *err)
{
	struct file_bio *b = calloc(1, sizeof(*b));
	int rc;

	if (!b) {
		close(fd);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	b->fd = fd;
	b->direct = -1;
	b->bio.read = file_read;
	b->bio.free = file_free;
	snprintf(b->bio.name, sizeof(b->bio.name), "%s", p->path);
	rc = rj_fd_size(fd, p->path, &b->bio.size_bytes, err);
	if (!rc && !readonly) {
		b->bio.write = file_write;
		b->bio.flush = file_flush;
		rc = open_direct(p, err, &b->direct);
	}
	if (rc)
		file_free(&b->bio);
	else
		*out = &b->bio;
	return rc;
}

/* What is behind ST must not be the volume, nor lie on it. */
static int check_place(const char *path, const struct stat *st,
	const char *volume, struct rj_error *err)
{
	struct stat v;

	if (!S_ISREG(st->st_mode) && !S_ISBLK(st->st_mode))
		return rj_fail(err, RJ_E_INVAL,
			"%s: neither a file nor a block device: it cannot be the fallback",
			path);
	if (S_ISREG(st->st_mode) &&
		(st->st_uid != geteuid() || st->st_nlink != 1))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: %s: it cannot be the fallback", path,
			st->st_nlink != 1 ? "has other names, too"
					  : "belongs to another user");
	if (!volume || stat(volume, &v))
		return 0;
	if ((st->st_dev == v.st_dev && st->st_ino == v.st_ino) ||
		(S_ISBLK(v.st_mode) &&
			st->st_dev == v.st_rdev) ||
		(S_ISBLK(v.st_mode) && S_ISBLK(st->st_mode) &&
			st->st_rdev == v.st_rdev))
		return rj_fail(err, RJ_E_INVAL,
			"%s: is on %s itself: the fallback must be elsewhere",
			path, volume);
	return 0;
}

/* Open the block device of FD again, exclusively: that fails where a mounted file
 * system or a device above it holds it. FD is closed if that works. */
static int claim_device(const struct rj_fallback_path *p, int flags, int *fd,
	struct rj_error *err)
{
	int own = rj_fallback_path_open(p, flags | O_EXCL), i;

	/* losetup and others that look for a free one claim it for an instant */
	for (i = 0; own == -1 && errno == EBUSY && i < CLAIMS; i++) {
		rj_sleep_ns(CLAIM_AGAIN_NS);
		own = rj_fallback_path_open(p, flags | O_EXCL);
	}
	if (own == -1 && errno == EBUSY)
		return rj_fail(err, RJ_E_BUSY,
			"%s: is in use (mounted, or part of another device): it cannot be the fallback",
			p->path);
	if (own == -1)
		return rj_fail_errno(err, errno, "%s", p->path);
	close(*fd);
	*fd = own;
	return 0;
}

enum use {
	USE_READ, /* beside its user */
	USE_LOOK, /* as its only user, without changing it */
	USE_WRITE,
};

/* Open P, and lock it for writing. RJ_E_NOTFOUND; RJ_E_BUSY. */
static int open_file(const struct rj_fallback_path *p, const char *volume,
	enum use use, struct rj_bio **out, struct stat *st,
	struct rj_error *err)
{
	const char *path = p->path;
	bool readonly = use != USE_WRITE;
	int flags = (readonly ? O_RDONLY : O_RDWR) | O_CLOEXEC;
	int fd = rj_fallback_path_open(p, flags), rc;

	*out = NULL;
	if (fd == -1 && (errno == ENOENT || errno == ENOTDIR))
		return rj_fail(
			err, RJ_E_NOTFOUND, "%s: no fallback file is there", path);
	if (fd == -1)
		return rj_fail_errno(err, errno, "%s", path);
	if (fstat(fd, st))
		rc = rj_fail_errno(err, errno, "%s", path);
	else
		rc = check_place(path, st, volume, err);
	if (!rc && use != USE_READ && S_ISBLK(st->st_mode))
		rc = claim_device(p, flags, &fd, err);
	if (!rc && !readonly && flock(fd, LOCK_EX | LOCK_NB))
		rc = rj_fail(err, RJ_E_BUSY,
			"%s: another process uses this fallback file, such as an rjournald that serves this volume or its original: 'rjctl status' shows it, 'rjctl stop' ends it",
			path);
	if (rc) {
		close(fd);
		return rc;
	}
	return new_bio(fd, p, readonly, out, err);
}

int rj_fallback_file_open(const char *path, const struct rj_log_id *id,
	const char *volume, bool readonly, struct rj_fallback_file *out,
	struct rj_error *err)
{
	struct rj_fallback_file f = {0};
	struct stat st;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = rj_fallback_path_find(path, id, &f.at, err);
	if (!rc)
		rc = open_file(&f.at, volume, readonly ? USE_READ : USE_WRITE,
			&f.bio, &st, err);
	if (!rc)
		rc = rj_fallback_open(f.bio, id, &f.log, err);
	memcpy(f.path, f.at.path, sizeof(f.path));
	if (rc)
		rj_fallback_file_close(&f);
	else
		*out = f;
	return rc;
}

void rj_fallback_file_close(struct rj_fallback_file *f)
{
	rj_fallback_close(f->log);
	rj_bio_free(f->bio);
	rj_fallback_path_close(&f->at);
	f->log = NULL;
	f->bio = NULL;
}

/* Is all of the first MiB and of the last one zeros? Some file
 * systems begin 64 KiB after the beginning, and some tables are at the end. */
static bool blank(struct rj_bio *bio)
{
	uint8_t *raw = malloc(BLANK_BYTES), zero = 0;
	uint64_t end = bio->size_bytes;
	size_t i;

	if (!raw || end < BLANK_BYTES ||
		bio->read(bio, raw, BLANK_BYTES, 0, NULL))
		zero = 1;
	for (i = 0; !zero && i < BLANK_BYTES; i++)
		zero |= raw[i];
	if (!zero && bio->read(bio, raw, BLANK_BYTES, end - BLANK_BYTES, NULL))
		zero = 1;
	for (i = 0; !zero && i < BLANK_BYTES; i++)
		zero |= raw[i];
	free(raw);
	return !zero;
}

/* PATH exists: may it be taken? *OURS: it is a fallback file of this journal. */
static int judge(struct rj_bio *bio, const struct stat *st,
	const struct rj_log_id *id, bool *ours, struct rj_error *err)
{
	struct rj_fallback_facts facts;
	struct rj_fallback *s = NULL;
	struct rj_error why;
	int rc;

	*ours = false;
	if (S_ISREG(st->st_mode) && !st->st_size)
		return 0;
	if (S_ISBLK(st->st_mode) && blank(bio))
		return bio->size_bytes >= RJ_FALLBACK_MIN_BYTES
			       ? 0
			       : rj_fail(err, RJ_E_NOSPACE,
					 "%s: too small for a fallback; it needs %u MiB at least",
					 bio->name,
					 RJ_FALLBACK_MIN_BYTES >> 20);
	rc = rj_fallback_open(bio, id, &s, &why);
	if (rc == -RJ_E_FOREIGN)
		return rj_fail(err, RJ_E_FOREIGN,
			"%s: is the fallback file of another journal; name another one, or remove it if that journal is no longer needed",
			bio->name);
	if (rc == -RJ_E_NOTRJ || rc == -RJ_E_IO)
		return rj_fail(err, RJ_E_EXISTS,
			"%s: holds something else; name a file that does not exist, or an empty device",
			bio->name);
	if (rc) {
		*err = why;
		return rc;
	}
	rj_fallback_facts(s, &facts);
	rj_fallback_close(s);
	*ours = true;
	if (facts.state != RJ_FALLBACK_IDLE)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: holds segments of this journal that may be needed; run rjrecover first",
			bio->name);
	return 0;
}

static int no_space(const char *path, uint64_t bytes, struct rj_error *err)
{
	return rj_fail(err, RJ_E_NOSPACE,
		"%s: no space for a fallback file of %llu MiB", path,
		(unsigned long long)bytes >> 20);
}

static int fill(const char *path, int fd, uint64_t bytes, struct rj_error *err)
{
	uint8_t *zero = calloc(1, ZERO_BYTES);
	uint64_t off, len;
	int rc = 0, e;

	if (!zero)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	e = posix_fallocate(fd, 0, (off_t)bytes);
	if (e == ENOSPC || e == EFBIG)
		rc = no_space(path, bytes, err);
	/* blocks that were written once: a write there is one flush, and the
	 * file system's own journal has no part in it */
	for (off = 0; !rc && off < bytes; off += len) {
		len = bytes - off < ZERO_BYTES ? bytes - off : ZERO_BYTES;
		rc = rj_pwrite_all(fd, zero, (size_t)len, off, path, err);
	}
	if (!rc)
		rc = rj_fsync(fd, path, err);
	free(zero);
	return rc;
}

/* A new or an empty file: fill it. *MADE: it was not there before. */
static int make_file(const struct rj_fallback_path *p, uint64_t bytes,
	bool *made, struct rj_error *err)
{
	int flags = O_RDWR | O_CLOEXEC, rc;
	int fd = rj_fallback_path_open(p, flags | O_CREAT | O_EXCL);
	const char *path = p->path;

	*made = fd != -1;
	if (fd == -1 && errno == EEXIST)
		fd = rj_fallback_path_open(p, flags);
	if (fd == -1)
		return rj_fail_errno(err, errno, "%s", path);
	rc = fill(path, fd, bytes, err);
	if (!rc && fchmod(fd, 0600))
		rc = rj_fail_errno(err, errno, "%s", path);
	close(fd);
	if (!rc && *made)
		rc = rj_fallback_path_sync(p, err);
	return rc;
}

/* The folder that a new file would go to, and its space. */
static int check_folder(const struct rj_fallback_path *p, const char *volume,
	uint64_t bytes, struct rj_error *err)
{
	const char *path = p->path;
	struct statvfs fs;
	struct stat st, v;

	if (bytes < RJ_FALLBACK_MIN_BYTES)
		return rj_fail(err, RJ_E_NOSPACE,
			"%s: %llu MiB are too few for a fallback; it needs %u MiB at least",
			path, (unsigned long long)bytes >> 20,
			RJ_FALLBACK_MIN_BYTES >> 20);
	if (fstat(p->dir, &st))
		return rj_fail_errno(err, errno, "%s", path);
	if (volume && !stat(volume, &v) && S_ISBLK(v.st_mode) &&
		v.st_rdev == st.st_dev)
		return rj_fail(err, RJ_E_INVAL,
			"%s: is on %s itself: the fallback must be elsewhere",
			path, volume);
	if (faccessat(p->dir, ".", W_OK, AT_EACCESS))
		return rj_fail_errno(err, errno, "%s", path);
	if (!fstatvfs(p->dir, &fs) &&
		fs.f_frsize && fs.f_bfree < (bytes + fs.f_frsize - 1) / fs.f_frsize)
		return no_space(path, bytes, err);
	return 0;
}

/* Is the file that of journal OLD, which it leaves before a new one is made? On a block
 * device the new one is made over it, if it is idle. *NEEDS_SPACE: it is renamed, not removed. */
static bool goes_away(struct rj_bio *bio, const struct stat *st,
	const struct rj_log_id *old, bool *needs_space)
{
	struct rj_fallback_facts facts;
	struct rj_fallback *s = NULL;

	if (!old || rj_fallback_open(bio, old, &s, NULL))
		return false;
	rj_fallback_facts(s, &facts);
	rj_fallback_close(s);
	if (S_ISBLK(st->st_mode))
		return facts.state == RJ_FALLBACK_IDLE;
	*needs_space = facts.state != RJ_FALLBACK_IDLE;
	return true;
}

static int look(const char *path, const struct rj_log_id *id,
	const struct rj_log_id *old, const char *volume, uint64_t bytes,
	struct rj_fallback_path *file, bool *ours, bool *fresh,
	struct rj_error *err)
{
	struct rj_bio *bio = NULL;
	struct stat st;
	int rc;

	*ours = *fresh = false;
	rc = rj_fallback_path_find(path, id, file, err);
	if (rc)
		return rc;
	rc = open_file(file, volume, USE_LOOK, &bio, &st, err);
	if (rc == -RJ_E_NOTFOUND) {
		*fresh = true;
		return check_folder(file, volume, bytes, err);
	}
	if (!rc) {
		*fresh = S_ISREG(st.st_mode) && !st.st_size;
		if (!goes_away(bio, &st, old, fresh))
			rc = judge(bio, &st, id, ours, err);
		rj_bio_free(bio);
	}
	if (!rc && *fresh)
		rc = check_folder(file, volume, bytes, err);
	return rc;
}

int rj_fallback_check(const char *path, const struct rj_log_id *id,
	const struct rj_log_id *old, const char *volume, uint64_t bytes, struct rj_error *err)
{
	struct rj_fallback_path file;
	bool ours, fresh;
	int rc;

	rc = look(path, id, old, volume, bytes ? bytes : RJ_FALLBACK_MIN_BYTES,
		&file, &ours, &fresh, err);
	rj_fallback_path_close(&file);
	return rc;
}

int rj_fallback_make(const char *path, const struct rj_log_id *id,
	const struct rj_log_id *old, const char *volume, uint64_t bytes, struct rj_error *err)
{
	struct rj_fallback_path file;
	struct rj_bio *bio = NULL;
	bool ours, fresh, made = false;
	struct stat st;
	int rc;

	if (!bytes)
		bytes = RJ_FALLBACK_MIN_BYTES;
	rc = look(path, id, old, volume, bytes, &file, &ours, &fresh, err);
	if (rc || ours)
		goto out;
	if (fresh)
		rc = make_file(&file, bytes, &made, err);
	if (!rc)
		rc = open_file(&file, volume, USE_WRITE, &bio, &st, err);
	if (!rc) {
		rc = rj_fallback_format(bio, id, err);
		rj_bio_free(bio);
	}
	if (rc && made)
		unlinkat(file.dir, file.name, 0);
out:
	rj_fallback_path_close(&file);
	return rc;
}

int rj_fallback_file_remove(
	const char *path, const struct rj_log_id *id, struct rj_error *err)
{
	struct rj_fallback_facts facts;
	struct rj_fallback_file f;
	struct stat st;
	int rc;

	rc = rj_fallback_file_open(path, id, NULL, false, &f, err);
	if (rc == -RJ_E_NOTFOUND)
		return 0;
	if (rc)
		return rc;
	rj_fallback_facts(f.log, &facts);
	if (facts.state != RJ_FALLBACK_IDLE)
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: holds segments that may be needed: it is kept",
			f.path);
	else if (!rj_fallback_path_stat(&f.at, &st) && S_ISREG(st.st_mode) &&
		 unlinkat(f.at.dir, f.at.name, 0))
		rc = rj_fail_errno(err, errno, "%s", f.path);
	rj_fallback_file_close(&f);
	return rc;
}

/* Does the file hold nothing yet, or is it JOURNAL's, and idle? */
static bool unused(struct rj_bio *bio, const struct stat *st,
	const uint8_t journal[RJ_UUID_BYTES])
{
	uint8_t raw[RJ_FALLBACK_HEADER_BYTES];
	struct rj_fallback_header h;
	bool theirs = false;
	int i;

	if (S_ISREG(st->st_mode) && (!st->st_size || blank(bio)))
		return true;
	for (i = 0; i < 2; i++) {
		if (bio->read(bio, raw, sizeof(raw), (uint64_t)i * RJ_FALLBACK_ALIGN, NULL) ||
			rj_fallback_header_decode(raw, &h, NULL))
			continue;
		if (h.state != RJ_FALLBACK_IDLE || !rj_uuid_equal(h.journal_uuid, journal))
			return false;
		theirs = true;
	}
	return theirs;
}

int rj_fallback_file_unmake(const char *path, const struct rj_log_id *id,
	const struct rj_log_id *back, bool *gone, struct rj_error *err)
{
	struct rj_fallback_path file;
	struct rj_bio *bio = NULL;
	struct stat st;
	int rc = rj_fallback_path_find(path, id, &file, err);
	bool goes;

	*gone = false;
	if (!rc)
		rc = open_file(&file, NULL, USE_WRITE, &bio, &st, err);
	goes = !rc && unused(bio, &st, id->journal_uuid);
	if (goes && S_ISREG(st.st_mode)) {
		if (unlinkat(file.dir, file.name, 0))
			rc = rj_fail_errno(err, errno, "%s", file.path);
		else
			rc = rj_fallback_path_sync(&file, err);
		*gone = !rc;
	} else if (goes && back && S_ISBLK(st.st_mode)) {
		rc = rj_fallback_format(bio, back, err);
		*gone = !rc;
	}
	rj_bio_free(bio);
	rj_fallback_path_close(&file);
	*gone |= rc == -RJ_E_NOTFOUND;
	return rc == -RJ_E_NOTFOUND ? 0 : rc;
}

/* Never over what was put aside before. */
static int rename_new(int dir, const char *from, const char *to)
{
	if (!renameat2(dir, from, dir, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* a filesystem that cannot do that */
	return linkat(dir, from, dir, to, 0) ? -1 : unlinkat(dir, from, 0);
}

static int set_aside(const struct rj_fallback_path *p, uint64_t epoch,
	char kept[RJ_FALLBACK_ASIDE_BYTES], struct rj_error *err)
{
	unsigned n;

	for (n = 1; n <= KEPT_MAX; n++) {
		snprintf(kept, RJ_FALLBACK_ASIDE_BYTES,
			n == 1 ? "%s.kept-%llu" : "%s.kept-%llu.%u", p->path,
			(unsigned long long)epoch % 1000000000, n);
		if (!rename_new(p->dir, p->name, strrchr(kept, '/') + 1))
			return rj_fallback_path_sync(p, err);
		if (errno != EEXIST)
			break;
	}
	return rj_fail_errno(err, errno, "%s", kept);
}

int rj_fallback_file_set_aside(struct rj_fallback_file *f,
	char kept[RJ_FALLBACK_ASIDE_BYTES], struct rj_error *err)
{
	struct rj_fallback_facts facts;
	struct stat st;

	rj_fallback_facts(f->log, &facts);
	snprintf(kept, RJ_FALLBACK_ASIDE_BYTES, "%s", f->path);
	if (rj_fallback_path_stat(&f->at, &st) || !S_ISREG(st.st_mode))
		return 0;
	return set_aside(&f->at, facts.epoch, kept, err);
}

/* Is, or was, the file one of ours? Not every path in a superblock may be renamed. */
static bool was_ours(struct rj_bio *bio, const struct rj_fallback_path *p)
{
	const char *suffix = strstr(p->name, ".rjfallback");
	uint8_t raw[RJ_FALLBACK_AREA] = {0};
	uint64_t len = bio->size_bytes < sizeof(raw) ? bio->size_bytes : sizeof(raw);

	if (!bio->size_bytes || blank(bio) || (suffix && !suffix[sizeof(".rjfallback") - 1]))
		return true;
	return !bio->read(bio, raw, (size_t)len, 0, NULL) && rj_fallback_is_here(raw);
}

bool rj_fallback_file_put_away(const char *path, const struct rj_log_id *id,
	const char *volume, uint64_t epoch, char kept[RJ_FALLBACK_ASIDE_BYTES])
{
	struct rj_fallback_path file;
	struct rj_bio *bio = NULL;
	struct stat st;
	int rc = rj_fallback_path_find(path, id, &file, NULL);

	if (!rc)
		rc = open_file(&file, volume, USE_WRITE, &bio, &st, NULL);
	if (!rc && S_ISREG(st.st_mode) && was_ours(bio, &file))
		rc = set_aside(&file, epoch, kept, NULL);
	else
		rc = -RJ_E_INVAL;
	rj_bio_free(bio);
	rj_fallback_path_close(&file);
	return !rc;
}

int rj_fallback_file_give_up(struct rj_fallback_file *f,
	char kept[RJ_FALLBACK_ASIDE_BYTES], struct rj_error *err)
{
	int rc = rj_fallback_give_up(f->log, err);

	return rc ? rc : rj_fallback_file_set_aside(f, kept, err);
}
