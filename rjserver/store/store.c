// SPDX-License-Identifier: GPL-2.0-or-later
/* Open, lock and close the store. */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "commit.h"
#include "os/fileio.h"
#include "rjserver/log.h"
#include "store-checkpoint.h"
#include "store-clean.h"
#include "store-read.h"
#include "util/environ.h"

#define FILE_BYTES	 (64ull << 20)
#define FILE_BYTES_LEAST (1ull << 20)

static int make_dir(const char *path, struct rj_error *err)
{
	char parent[PATH_MAX];

	if (mkdir(path, 0700)) {
		if (errno == EEXIST)
			return 0;
		return rj_fail_errno(
			err, errno, "%s: cannot make the directory", path);
	}
	snprintf(parent, sizeof(parent), "%s", path);
	return rj_fsync_dir(dirname(parent), err);
}

static int take_lock(struct store *s, struct rj_error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/lock", s->dir);
	s->lock_fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
		0600);
	if (s->lock_fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot open", path);
	if (!flock(s->lock_fd, LOCK_EX | LOCK_NB))
		return 0;
	if (errno == EWOULDBLOCK)
		return rj_fail(err, RJ_E_BUSY,
			"%s: another rjserver is using it", s->dir);
	return rj_fail_errno(err, errno, "%s: cannot lock", path);
}

static int make_dirs(struct store *s, const char *dir, struct rj_error *err)
{
	static const char *const below[] = {"store", "damaged"};
	char path[PATH_MAX];
	size_t i;
	int rc;

	if (strlen(dir) >= sizeof(s->dir))
		return rj_fail(
			err, RJ_E_INVAL, "%s: the name is too long", dir);
	snprintf(s->dir, sizeof(s->dir), "%s", dir);
	rc = make_dir(s->dir, err);
	if (!rc)
		rc = take_lock(s, err);
	for (i = 0; i < 2 && !rc; i++) {
		snprintf(path, sizeof(path), "%s/%s", s->dir, below[i]);
		rc = make_dir(path, err);
	}
	return rc;
}

static void store_free(struct store *s)
{
	clean_free(s->clean);
	reader_free(s); /* all that matters is on the disk by now */
	store_ahead_end(s);
	store_checkpoint_end(s);
	store_files_free(s);
	free(s->batch);
	commit_free(s->commit);
	idx_free(s->index);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	free(s);
}

/* A power of two, 64 MiB at most: of a small disk a 32nd, so that a few files can be cleaned while
 * others are written. */
static uint64_t choose_file_bytes(const char *dir)
{
	uint64_t bytes = FILE_BYTES;
	struct statvfs vfs;

	if (statvfs(dir, &vfs))
		return bytes;
	while (bytes > FILE_BYTES_LEAST && bytes > vfs.f_blocks * (uint64_t)vfs.f_frsize / 32)
		bytes /= 2;
	return bytes;
}

int store_open(
	const struct store_opts *opts, struct store **out, struct rj_error *err)
{
	struct store *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	s->lock_fd = -1;
	s->received = opts->received;
	s->scan_all = opts->scan_all;
	s->file_bytes = opts->file_bytes;
	s->index = idx_new();
	s->commit = commit_new(s, clean_add);
	rc = s->index && s->commit ? make_dirs(s, opts->dir, err)
				   : rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (!rc && !s->file_bytes)
		s->file_bytes = choose_file_bytes(opts->dir);
	if (!rc)
		rc = store_scan(s, err);
	while (!rc && !s->store_id)
		rc = rj_random_bytes(&s->store_id, sizeof(s->store_id));
	if (!rc) {
		/* from here on, all that was found is known to be durable */
		rc = commit_mark(s->commit, false, err);
		if (rc == -RJ_E_NOSPACE) {
			log_warning("%s", err->msg);
			rc = 0;
		}
	}
	if (rc) {
		store_free(s);
		return rc;
	}
	store_drop_dead(s);
	*out = s;
	return 0;
}

int store_close(struct store *s, struct rj_error *err)
{
	int rc;

	if (!s)
		return 0;
	clean_stop(s);
	rc = commit_mark(s->commit, true, err);
	store_ahead_end(s);
	if (!rc)
		store_checkpoint_now(s);
	store_free(s);
	return rc;
}

int store_get(struct store *s, const struct okey *okey, struct rj_buf *out,
	struct rj_error *err)
{
	commit_entry(s->commit, okey); /* one that is pending is written */
	return object_get(s, okey, out, err);
}
