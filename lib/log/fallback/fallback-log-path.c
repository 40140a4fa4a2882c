// SPDX-License-Identifier: LGPL-2.1-or-later
/* Find the path of a fallback file from the volume's setting. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log/fallback/fallback-log-priv.h"
#include "os/beneath.h"
#include "os/fileio.h"
#include "store/conf.h"

/* DIR/NAME: in a folder of that name, the file that is named after ID. MUST: it has
 * to be a folder. */
static int into_folder(struct rj_fallback_path *p, const struct rj_log_id *id,
	bool must, struct rj_error *err)
{
	char uuid[RJ_UUID_TEXT];
	size_t len = strlen(p->path);
	struct stat st;
	int dir;

	if (rj_fallback_path_stat(p, &st))
		return must ? rj_fail_errno(err, errno, "%s/", p->path) : 0;
	if (S_ISLNK(st.st_mode))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: a symbolic link, which is not followed there; rj.conf may name it: [local], fallback_dirs",
			p->path);
	if (!S_ISDIR(st.st_mode))
		return must ? rj_fail(err, RJ_E_INVAL, "%s/: not a directory",
				      p->path)
			    : 0;
	dir = rj_fallback_path_open(p, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir == -1)
		return rj_fail_errno(err, errno, "%s", p->path);
	close(p->dir);
	p->dir = dir;
	p->nofollow = O_NOFOLLOW;
	snprintf(p->name, sizeof(p->name), "%s.rjfallback",
		rj_uuid_text(id->journal_uuid, uuid));
	if (len + 1 + strlen(p->name) >= sizeof(p->path))
		return rj_fail(err, RJ_E_INVAL, "%s: path too long", p->path);
	snprintf(p->path + len, sizeof(p->path) - len, "/%.60s", p->name);
	return 0;
}

static int open_dir(struct rj_fallback_path *p, char *root, const char *rest,
	struct rj_error *err)
{
	const char *name;
	char *slash;
	int rc;

	if (!strcmp(root, RJ_FALLBACK_DIRS))
		mkdir(root, 0700); /* if that fails the next lines say so */
	p->nofollow = *rest ? O_NOFOLLOW : 0;
	if (!*rest && *root) { /* named by rj.conf as it is: its links are meant */
		slash = strrchr(root, '/');
		*slash = 0;
		rest = slash + 1;
	}
	rc = rj_beneath_open(*root ? root : "/", rest, &p->dir, &name, err);
	if (rc)
		return rc;
	p->open = true;
	snprintf(p->name, sizeof(p->name), "%s", name);
	return 0;
}

int rj_fallback_path_find(const char *path, const struct rj_log_id *id,
	struct rj_fallback_path *out, struct rj_error *err)
{
	struct rj_fallback_path p = {0};
	struct rj_conf_local local;
	char root[RJ_FALLBACK_PATH_BYTES];
	const char *rest = "";
	int rc;

	*out = p;
	if (path[0] != '/')
		return rj_fail(err, RJ_E_INVAL,
			"fallback=%s: give the whole path, beginning with /",
			path);
	if (strlen(path) >= sizeof(p.path))
		return rj_fail(err, RJ_E_INVAL, "%s: path too long", path);
	rc = rj_conf_local_load(&local, err);
	if (rc)
		return rc;
	snprintf(p.path, sizeof(p.path), "%.*s",
		(int)rj_path_length(path, strlen(path)), path);
	if (!rj_beneath_which(p.path, local.fallback_dirs, root, sizeof(root), &rest))
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: not where this host keeps fallback files (%.120s); allow it in rj.conf: [local], fallback_dirs",
			path, local.fallback_dirs);
	rj_conf_local_free(&local);
	if (!rc)
		rc = open_dir(&p, root, rest, err);
	if (!rc)
		rc = into_folder(&p, id,
			path[strlen(path) - 1] == '/', err);
	if (rc)
		rj_fallback_path_close(&p);
	else
		*out = p;
	return rc;
}

void rj_fallback_path_close(struct rj_fallback_path *p)
{
	if (p->open)
		close(p->dir);
	p->open = false;
}

int rj_fallback_path_open(const struct rj_fallback_path *p, int flags)
{
	return openat(p->dir, p->name, flags | p->nofollow, 0600);
}

int rj_fallback_path_stat(const struct rj_fallback_path *p, struct stat *st)
{
	return fstatat(p->dir, p->name, st,
		p->nofollow ? AT_SYMLINK_NOFOLLOW : 0);
}

int rj_fallback_path_sync(
	const struct rj_fallback_path *p, struct rj_error *err)
{
	int fd = openat(p->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

	if (fd == -1)
		return rj_fail_errno(err, errno, "%s", p->path);
	rc = rj_fsync(fd, p->path, err);
	close(fd); /* opened for reading: nothing of ours can be lost */
	return rc;
}
