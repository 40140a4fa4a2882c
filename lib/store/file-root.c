// SPDX-License-Identifier: LGPL-2.1-or-later
/* Open again or close the directories that a store of file:// uses. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/beneath.h"
#include "os/rundir.h"
#include "store/conf.h"
#include "store/file-priv.h"
#include "store/url.h"

#define FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* Open PATH below the directory of DIRS that holds it; links there are not followed. */
static int open_allowed(const char *path, const char *dirs, int *out, struct rj_error *err)
{
	char root[RJ_URL_BYTES];
	const char *rest;
	int dir;

	if (!rj_beneath_which(path, dirs, root, sizeof(root), &rest))
		return rj_fail(err, RJ_E_REFUSED,
			"file://%s: not where this host keeps logs (%.120s); allow it in rj.conf: [local], file_dirs",
			path, dirs);
	*out = dir = open(root[0] ? root : "/", FLAGS);
	if (dir >= 0 && *rest) {
		*out = rj_beneath_openat(dir, rest, FLAGS);
		close(dir);
	}
	if (*out < 0 && (errno == ELOOP || errno == EXDEV))
		return rj_fail(err, RJ_E_REFUSED,
			"file://%s: leads out of %s/, or may: no \"..\" and no symbolic link is followed there; rj.conf may name the link itself: [local], file_dirs",
			path, root);
	return 0;
}

/* What this host saved (rjctl stop --force) is read again, whatever is allowed. */
static bool is_saved(const char *path)
{
	char saved[PATH_MAX], root[PATH_MAX];
	const char *rest;

	snprintf(saved, sizeof(saved), "%s/saved", rj_state_dir());
	return !strstr(path, "/..") && rj_beneath_which(path, saved, root, sizeof(root), &rest);
}

int rj_file_open_root(const char *path, int *out, struct rj_error *err)
{
	struct rj_conf_local local;
	int rc = rj_conf_local_load(&local, err);

	*out = -1;
	if (rc)
		return rc;
	if (local.file_dirs && !is_saved(path))
		rc = open_allowed(path, local.file_dirs, out, err);
	else
		*out = open(path, FLAGS);
	if (!rc && *out < 0 && errno == ENOENT)
		rc = rj_fail(err, RJ_E_NOTFOUND,
			"file://%s: there is no such directory; make it first, or mount what holds it",
			path);
	else if (!rc && *out < 0)
		rc = rj_fail_errno(err, errno, "file://%s: cannot open", path);
	rj_conf_local_free(&local);
	return rc;
}

int rj_file_openat(const struct file_store *fs, const char *text, int flags)
{
	return rj_beneath_openat(fs->root, text, flags);
}

int rj_file_fail(const struct file_store *fs, int e, const char *doing, const char *text,
	struct rj_error *err)
{
	if (e != ELOOP && e != EXDEV)
		return rj_fail_errno(err, e, "%s: %s %s", fs->base.url, doing, text);
	return rj_fail(err, RJ_E_DENIED,
		"%s: %s %s: a symbolic link is in the way, and none is followed below that directory: put what it leads to in its place (mv, or mount --bind)",
		fs->base.url, doing, text);
}

void rj_file_forget_dir(struct file_store *fs)
{
	if (fs->dir >= 0)
		close(fs->dir);
	fs->dir = -1;
}

/* A directory that was deleted (also by the NFS server) takes no new files, and may have
 * been made again. One that was moved, or that is mounted over, is still the right one. */
void rj_file_find_root(struct file_store *fs)
{
	struct stat st;
	int fd;

	if (fstat(fs->root, &st) ? errno != ESTALE : st.st_nlink > 0)
		return;
	if (rj_file_open_root(fs->base.url + strlen("file://"), &fd, NULL))
		return;
	rj_file_forget_dir(fs);
	close(fs->root);
	fs->root = fd;
}
