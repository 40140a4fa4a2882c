// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * file:///directory: each object is a file of that directory, under its key.
 * For a second disk, a mounted share, and tests.
 *
 * An object appears by link(2) of a file that was written and fsynced under a
 * temporary name: link fails if the name is taken (rename would not), and no
 * reader sees a part. Names that are not of the key's form, such as
 * temporaries of a writer that died, are never listed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/backend.h"
#include "store/store.h"
#include "util/environ.h"
#include "util/fileio.h"

struct file_store {
	struct rj_store base;
	int root; /* the directory itself, held open */
	/* The directory of the last put, made and durable. */
	int dir;
	struct rj_key dir_key;
};

#define DIGITS     20                               /* of a number in a key */
#define WHAT_BYTES (RJ_URL_BYTES + RJ_KEY_TEXT + 8) /* "url: key" */

static struct file_store *file_of(struct rj_store *s)
{
	return (struct file_store *)s;
}

static void forget_dir(struct file_store *fs)
{
	if (fs->dir >= 0)
		close(fs->dir);
	fs->dir = -1;
}

/* mkdir NAME below AT unless it is there, and open it. The parent is fsynced
 * in any case: the one who made it may have died before doing so. */
static int make_dir(
	struct file_store *fs, int at, const char *name, struct rj_error *err)
{
	int fd;

	if (mkdirat(at, name, 0700) && errno != EEXIST)
		return rj_fail_errno(err, errno, "%s: cannot make directory %s",
			fs->base.url, name);
	if (rj_fsync(at, fs->base.url, err))
		return -(int)err->code;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot open directory %s",
			fs->base.url, name);
	fs->dir = fd;
	return 0;
}

/* Have fs->dir be KEY's directory. */
static int enter_dir(
	struct file_store *fs, const struct rj_key *key, struct rj_error *err)
{
	struct rj_key dir = *key;
	char text[RJ_KEY_TEXT], *slash;
	int up, rc;

	dir.number = 0;
	if (fs->dir >= 0 && fs->dir_key.kind == dir.kind &&
		rj_uuid_equal(fs->dir_key.journal_uuid, dir.journal_uuid))
		return 0;
	forget_dir(fs);
	rj_key_text(&dir, text);
	text[strlen(text) - 1] = '\0';
	slash = strchr(text, '/');
	*slash = '\0';
	rc = make_dir(fs, fs->root, text, err);
	if (rc)
		return rc;
	up = fs->dir;
	fs->dir = -1;
	rc = make_dir(fs, up, slash + 1, err);
	close(up);
	if (!rc)
		fs->dir_key = dir;
	return rc;
}

/* A new, empty file in fs->dir; its name into NAME. */
static int open_temporary(struct file_store *fs, char *name, size_t size,
	int *out, struct rj_error *err)
{
	uint64_t salt;
	int tries, rc;

	for (tries = 0; tries < 100; tries++) {
		rc = rj_random_bytes(&salt, sizeof(salt));
		if (rc)
			return rj_fail(err, (enum rj_code) - rc,
				"%s: no random bytes", fs->base.url);
		snprintf(name, size, ".tmp-%d-%d-%016llx", (int)getpid(), tries,
			(unsigned long long)salt);
		*out = openat(fs->dir, name,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (*out >= 0 || errno != EEXIST)
			break;
	}
	if (*out < 0 && errno == EEXIST) /* RJ_E_EXISTS would mean the key */
		return rj_fail(err, RJ_E_IO,
			"%s: found no unused name for a temporary file",
			fs->base.url);
	if (*out < 0)
		return rj_fail_errno(err, errno,
			"%s: cannot create a temporary file", fs->base.url);
	return 0;
}

static int publish(struct file_store *fs, const char *tmp, const char *text,
	struct rj_error *err)
{
	int rc = 0;

	if (linkat(fs->dir, tmp, fs->dir, text + strlen(text) - DIGITS, 0)) {
		if (errno != EEXIST)
			return rj_fail_errno(err, errno, "%s: cannot create %s",
				fs->base.url, text);
		rc = rj_fail(err, RJ_E_EXISTS, "%s: %s is there already",
			fs->base.url, text);
	}
	/* Also when it was there: the caller may find it to be his own of an
	 * attempt that got no further than here, and count on it. From here on
	 * no failure may claim that the object was not created. */
	if (fsync(fs->dir))
		return rj_fail(err, RJ_E_IO,
			"%s: cannot fsync the directory of %s: %s",
			fs->base.url, text, strerror(errno));
	return rc;
}

static int file_put_new(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	struct file_store *fs = file_of(s);
	struct rj_error local;
	char text[RJ_KEY_TEXT], tmp[64], what[WHAT_BYTES];
	int fd = -1, rc;

	if (!err)
		err = &local;
	rj_key_text(key, text);
	snprintf(what, sizeof(what), "%s: %s", s->url, text);
	rc = enter_dir(fs, key, err);
	if (rc)
		return rc;
	rc = open_temporary(fs, tmp, sizeof(tmp), &fd, err);
	if (rc)
		goto out;
	rc = rj_write_all(fd, data, len, what, err);
	if (!rc)
		rc = rj_fsync(fd, what, err);
	if (!rc)
		rc = rj_close(&fd, what, err);
	if (!rc)
		rc = publish(fs, tmp, text, err);
	/* one that stays behind wastes space, and is never listed */
	unlinkat(fs->dir, tmp, 0);
out:
	if (fd >= 0)
		close(fd);
	if (rc && rc != -RJ_E_EXISTS)
		forget_dir(fs); /* perhaps it was deleted: look anew */
	return rc;
}

static int file_get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	struct file_store *fs = file_of(s);
	char text[RJ_KEY_TEXT], what[WHAT_BYTES];
	uint64_t size;
	int fd, rc;

	rj_key_text(key, text);
	snprintf(what, sizeof(what), "%s: %s", s->url, text);
	fd = openat(fs->root, text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return rj_fail(err, RJ_E_NOTFOUND, "%s: no such object", what);
	if (fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot open", what);
	rc = rj_fd_size(fd, what, &size, err);
	if (rc)
		goto out;
	if (size > max) {
		rc = rj_fail(err, RJ_E_CORRUPT,
			"%s: %llu bytes long, at most %zu make sense", what,
			(unsigned long long)size, max);
		goto out;
	}
	if (rj_buf_reserve(out, (size_t)size)) {
		rc = rj_fail(err, RJ_E_NOMEM, "%s: out of memory", what);
		goto out;
	}
	rc = rj_pread_all(fd, out->data + out->len, (size_t)size, 0, what, err);
	if (!rc)
		out->len += (size_t)size;
out:
	close(fd); /* opened for reading: nothing of ours can be lost */
	return rc;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

/* Append the numbers above AFTER to NUMBERS. DIRP is read to its end. */
static int read_names(struct file_store *fs, DIR *dirp, const char *dir,
	uint64_t after, struct rj_buf *numbers, struct rj_error *err)
{
	char text[RJ_KEY_TEXT + DIGITS + 1];
	struct rj_key key;
	struct dirent *de;

	for (;;) {
		errno = 0;
		de = readdir(dirp);
		if (!de && errno)
			return rj_fail_errno(err, errno,
				"%s: cannot read directory %s", fs->base.url,
				dir);
		if (!de)
			return 0;
		if (strlen(de->d_name) != DIGITS)
			continue;
		snprintf(text, sizeof(text), "%s%s", dir, de->d_name);
		if (!rj_key_parse(text, strlen(text), &key) ||
			key.number <= after)
			continue;
		if (rj_buf_append(numbers, &key.number, sizeof(key.number)))
			return rj_fail(err, RJ_E_NOMEM, "%s: out of memory",
				fs->base.url);
	}
}

static int file_list(struct rj_store *s, const struct rj_key *dir,
	uint64_t after, rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	struct file_store *fs = file_of(s);
	struct rj_buf numbers = {0};
	char text[RJ_KEY_TEXT], name[DIGITS + 1];
	DIR *dirp = NULL;
	struct stat st;
	uint64_t n;
	size_t i;
	int fd, rc;

	rj_key_text(dir, text);
	fd = openat(fs->root, text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd >= 0)
		dirp = fdopendir(fd);
	if (!dirp) {
		rc = rj_fail_errno(err, errno, "%s: cannot open directory %s",
			s->url, text);
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rc = read_names(fs, dirp, text, after, &numbers, err);
	if (rc)
		goto out;
	if (numbers.len)
		qsort(numbers.data, numbers.len / sizeof(n), sizeof(n),
			by_number);
	for (i = 0; !rc && i < numbers.len; i += sizeof(n)) {
		memcpy(&n, numbers.data + i, sizeof(n));
		snprintf(name, sizeof(name), "%020llu", (unsigned long long)n);
		if (!fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
			rc = fn(arg, n, (uint64_t)st.st_size);
		else if (errno != ENOENT) /* removed meanwhile: not listed */
			rc = rj_fail_errno(err, errno, "%s: cannot stat %s%s",
				s->url, text, name);
	}
out:
	closedir(dirp);
	rj_buf_free(&numbers);
	return rc;
}

/* A claim is removed by those only who tried the store with a log that nobody
 * has. With the last one go the log's folders: empty ones would be listed as a
 * log. They stay as long as anything is in them. */
static void remove_dirs(struct file_store *fs, const struct rj_key *key)
{
	struct rj_key dir = {.kind = RJ_KEY_EPOCH};
	char text[RJ_KEY_TEXT];

	memcpy(dir.journal_uuid, key->journal_uuid, RJ_UUID_BYTES);
	rj_key_text(&dir, text);
	if (unlinkat(fs->root, text, AT_REMOVEDIR))
		return;
	forget_dir(fs);
	dir.kind = RJ_KEY_LOG;
	rj_key_text(&dir, text);
	unlinkat(fs->root, text, AT_REMOVEDIR);
	*strchr(text, '/') = '\0';
	unlinkat(fs->root, text, AT_REMOVEDIR);
}

static int file_remove(
	struct rj_store *s, const struct rj_key *key, struct rj_error *err)
{
	char text[RJ_KEY_TEXT];

	rj_key_text(key, text);
	if (!unlinkat(file_of(s)->root, text, 0)) {
		if (key->kind == RJ_KEY_EPOCH)
			remove_dirs(file_of(s), key);
		return 0;
	}
	if (errno == ENOENT)
		return rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such object",
			s->url, text);
	return rj_fail_errno(err, errno, "%s: cannot remove %s", s->url, text);
}

/* Append the UUIDs that name directories of DIRP to UUIDS. */
static int read_uuids(struct file_store *fs, DIR *dirp, struct rj_buf *uuids,
	struct rj_error *err)
{
	char text[RJ_KEY_TEXT];
	struct rj_key key;
	struct dirent *de;
	struct stat st;

	for (;;) {
		errno = 0;
		de = readdir(dirp);
		if (!de && errno)
			return rj_fail_errno(
				err, errno, "%s: cannot read", fs->base.url);
		if (!de)
			return 0;
		/* by the key's own rules: lower case only */
		snprintf(text, sizeof(text), "%.40s/log/", de->d_name);
		if (!rj_key_parse(text, strlen(text), &key) ||
			fstatat(fs->root, de->d_name, &st, 0) ||
			!S_ISDIR(st.st_mode))
			continue;
		if (rj_buf_append(uuids, key.journal_uuid, RJ_UUID_BYTES))
			return rj_fail(err, RJ_E_NOMEM, "%s: out of memory",
				fs->base.url);
	}
}

static int by_uuid(const void *a, const void *b)
{
	return memcmp(a, b, RJ_UUID_BYTES);
}

static int file_list_journals(struct rj_store *s, rj_store_journal_fn fn,
	void *arg, struct rj_error *err)
{
	struct file_store *fs = file_of(s);
	struct rj_buf uuids = {0};
	DIR *dirp = NULL;
	int fd, rc = 0;
	size_t i;

	fd = openat(fs->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		dirp = fdopendir(fd);
	if (!dirp) {
		rc = rj_fail_errno(err, errno, "%s: cannot open", s->url);
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rc = read_uuids(fs, dirp, &uuids, err);
	if (!rc && uuids.len)
		qsort(uuids.data, uuids.len / RJ_UUID_BYTES, RJ_UUID_BYTES,
			by_uuid);
	for (i = 0; !rc && i < uuids.len; i += RJ_UUID_BYTES)
		rc = fn(arg, uuids.data + i);
	closedir(dirp);
	rj_buf_free(&uuids);
	return rc;
}

/* By descriptor, not by name: what is mounted there may have changed. */
static int file_dup(
	struct rj_store *s, struct rj_store **out, struct rj_error *err)
{
	struct file_store *fs = malloc(sizeof(*fs));

	if (!fs)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	*fs = *file_of(s);
	fs->dir = -1;
	fs->root = fcntl(fs->root, F_DUPFD_CLOEXEC, 0);
	if (fs->root < 0) {
		free(fs);
		return rj_fail_errno(
			err, errno, "%s: cannot open another handle", s->url);
	}
	*out = &fs->base;
	return 0;
}

static void file_close(struct rj_store *s)
{
	struct file_store *fs = file_of(s);

	forget_dir(fs);
	if (fs->root >= 0)
		close(fs->root);
	free(fs);
}

static const struct rj_store_ops file_ops = {
	.put_new = file_put_new,
	.get = file_get,
	.list = file_list,
	.remove = file_remove,
	.list_journals = file_list_journals,
	.dup = file_dup,
	.close = file_close,
};

int rj_store_file_open(const struct rj_url *url,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err)
{
	struct file_store *fs;
	int root;

	if (url->host[0] || url->path[0] != '/')
		return rj_fail(err, RJ_E_INVAL,
			"file://%s%s: not an absolute path; write "
			"file:///directory, with three slashes",
			url->host, url->path);
	root = open(url->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 && errno == ENOENT)
		return rj_fail(err, RJ_E_NOTFOUND,
			"file://%s: there is no such directory; make it first, "
			"or mount what holds it",
			url->path);
	if (root < 0)
		return rj_fail_errno(
			err, errno, "file://%s: cannot open", url->path);
	if (!out) {
		close(root);
		return 0;
	}
	fs = calloc(1, sizeof(*fs));
	if (!fs) {
		close(root);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	fs->base.ops = &file_ops;
	fs->base.caps = (struct rj_store_caps){
		.put_new = true,
		.list_consistent = true,
		.list_ranged = false, /* a directory is read whole */
		.durability = RJ_DURABLE,
	};
	snprintf(fs->base.url, sizeof(fs->base.url), "file://%.*s",
		(int)sizeof(fs->base.url) - 8, url->path);
	fs->root = root;
	fs->dir = -1;
	*out = &fs->base;
	return 0;
}
