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
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/beneath.h"
#include "os/fileio.h"
#include "store/backend.h"
#include "store/file-priv.h"
#include "store/put-throttle.h"
#include "util/environ.h"

#define WHAT_BYTES (RJ_URL_BYTES + RJ_KEY_TEXT + 8) /* "url: key" */

/* mkdir NAME below AT unless it is there, and open it. The parent is fsynced
 * in any case: the process that made it may have died before doing so. */
static int make_dir(
	struct file_store *fs, int at, const char *name, struct rj_error *err)
{
	int fd;

	if (mkdirat(at, name, 0700) && errno != EEXIST)
		return rj_fail_errno(err, errno, "%s: cannot make directory %s",
			fs->base.url, name);
	if (rj_fsync(at, fs->base.url, err))
		return -(int)err->code;
	fd = rj_beneath_openat(at, name, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return rj_file_fail(fs, errno, "cannot open directory", name, err);
	fs->dir = fd;
	return 0;
}

/* Is fs->dir still what TEXT, its path, names? It may have been moved away, and a
 * copy put into its place. */
static bool still_there(struct file_store *fs, const char *text)
{
	int fd = rj_file_openat(fs, text, O_PATH | O_DIRECTORY);
	struct stat path, held;
	bool same;

	if (fd < 0)
		return false;
	same = !fstat(fd, &path) && !fstat(fs->dir, &held) &&
	       path.st_dev == held.st_dev && path.st_ino == held.st_ino;
	close(fd);
	return same;
}

/* Have fs->dir be KEY's directory. */
static int enter_dir(
	struct file_store *fs, const struct rj_key *key, struct rj_error *err)
{
	struct rj_key dir = *key;
	char text[RJ_KEY_TEXT], *slash;
	int up, rc;

	dir.number = 0;
	rj_key_text(&dir, text);
	text[strlen(text) - 1] = '\0';
	if (fs->dir >= 0 && fs->dir_key.kind == dir.kind &&
		rj_uuid_equal(fs->dir_key.journal_uuid, dir.journal_uuid) &&
		still_there(fs, text))
		return 0;
	rj_file_forget_dir(fs);
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
	const char *name = text + strlen(text) - RJ_FILE_DIGITS;
	int rc = 0;

	if (linkat(fs->dir, tmp, fs->dir, name, 0)) {
		if (errno != EEXIST)
			return rj_fail_errno(err, errno, "%s: cannot create %s",
				fs->base.url, text);
		rc = rj_fail(err, RJ_E_EXISTS, "%s: %s is there already",
			fs->base.url, text);
	}
	/* Also when it was there: the caller may find it to be its own, of an
	 * attempt that got no further than here, and count on it. From here on
	 * no failure may claim that the object was not created. */
	if (fsync(fs->dir))
		return rj_fail(err, RJ_E_IO,
			"%s: cannot fsync the directory of %s: %s",
			fs->base.url, text, strerror(errno));
	return rc;
}

static int file_get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	struct file_store *fs = file_of(s);
	char text[RJ_KEY_TEXT], what[WHAT_BYTES];
	uint64_t size;
	int fd, rc;

	rj_file_find_root(fs);
	rj_key_text(key, text);
	snprintf(what, sizeof(what), "%s: %s", s->url, text);
	fd = rj_file_openat(fs, text, O_RDONLY | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return rj_fail(err, RJ_E_NOTFOUND, "%s: no such object", what);
	if (fd < 0)
		return rj_file_fail(fs, errno, "cannot open", text, err);
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

/* Is any other than *ARG listed? */
static int another(void *arg, uint64_t number, uint64_t bytes)
{
	const uint64_t *key = arg;

	(void)bytes;
	return number != *key;
}

/*
 * Are the segments before KEY still there? Without them it is worth nothing, and
 * they go when the directory of a log that is written is deleted, or an older copy
 * put into its place. (What is copied from elsewhere may begin anywhere.)
 */
static int reaches(
	struct file_store *fs, const struct rj_key *key, struct rj_error *err)
{
	struct rj_key dir = *key, before = *key;
	uint64_t number = key->number;
	char text[RJ_KEY_TEXT];
	int fd, rc;

	before.number--;
	rj_key_text(&before, text);
	fd = rj_file_openat(fs, text, O_PATH);
	if (fd >= 0)
		return close(fd), 0;
	if (errno != ENOENT)
		return rj_file_fail(fs, errno, "cannot look for", text, err);
	/* if it was trimmed since, later ones are there */
	dir.number = 0;
	rc = rj_file_list(&fs->base, &dir, number - 2, another, &number, err);
	if (rc)
		return rc > 0 ? 0 : rc;
	return rj_fail_missing(fs->base.url, "directory", before.number, err);
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
	rj_file_find_root(fs);
	rj_key_text(key, text);
	snprintf(what, sizeof(what), "%s: %s", s->url, text);
	if (key->kind == RJ_KEY_LOG && key->number > 1 && !s->copying)
		rc = reaches(fs, key, err);
	else
		rc = 0;
	if (!rc)
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
	/* if it stays it wastes space, and is never listed */
	unlinkat(fs->dir, tmp, 0);
out:
	if (fd >= 0)
		close(fd);
	if (rc && rc != -RJ_E_EXISTS)
		rj_file_forget_dir(fs); /* perhaps it was deleted: look again */
	return rc;
}

/* Only a probe of the store removes a claim, that of a log of its own. With the
 * last claim go the log's folders: empty ones would be listed as a
 * log. They stay as long as anything is in them. */
static void remove_dirs(struct file_store *fs, const struct rj_key *key)
{
	char uuid[RJ_UUID_TEXT];
	int dir;

	rj_uuid_text(key->journal_uuid, uuid);
	dir = rj_file_openat(fs, uuid, O_PATH | O_DIRECTORY);
	if (dir < 0)
		return;
	if (!unlinkat(dir, "epoch", AT_REMOVEDIR)) {
		rj_file_forget_dir(fs);
		unlinkat(dir, "log", AT_REMOVEDIR);
		unlinkat(fs->root, uuid, AT_REMOVEDIR);
	}
	close(dir);
}

/* Delete the file TEXT. Returns 0 or an errno. */
static int remove_file(struct file_store *fs, char *text)
{
	char *slash = strrchr(text, '/');
	int dir, e = 0;

	*slash = '\0';
	dir = rj_file_openat(fs, text, O_PATH | O_DIRECTORY);
	*slash = '/';
	if (dir < 0 || unlinkat(dir, slash + 1, 0))
		e = errno;
	if (dir >= 0)
		close(dir);
	return e;
}

static int file_remove(
	struct rj_store *s, const struct rj_key *key, struct rj_error *err)
{
	char text[RJ_KEY_TEXT];
	int e;

	rj_file_find_root(file_of(s));
	rj_key_text(key, text);
	e = remove_file(file_of(s), text);
	if (!e && key->kind == RJ_KEY_EPOCH)
		remove_dirs(file_of(s), key);
	if (e == ENOENT)
		return rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such object",
			s->url, text);
	return e ? rj_file_fail(file_of(s), e, "cannot remove", text, err) : 0;
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

	rj_file_forget_dir(fs);
	if (fs->root >= 0)
		close(fs->root);
	free(fs);
}

static const struct rj_store_ops file_ops = {
	.put_new = file_put_new,
	.get = file_get,
	.list = rj_file_list,
	.remove = file_remove,
	.list_journals = rj_file_list_journals,
	.dup = file_dup,
	.close = file_close,
};

int rj_store_file_open(const struct rj_url *url,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err)
{
	struct file_store *fs;
	int root, rc;

	if (url->host[0] || url->path[0] != '/')
		return rj_fail(err, RJ_E_INVAL,
			"%s: not an absolute path; write file:///directory, with three slashes",
			url->text);
	rc = rj_file_open_root(url->path, &root, err);
	if (rc)
		return rc;
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
