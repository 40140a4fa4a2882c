// SPDX-License-Identifier: GPL-2.0-or-later
/* Drop root for the owner of a directory that is not root's. */
#include "become-owner.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first directory on the way to PATH, or link there or where it leads, that
 * is not root's. */
static bool not_roots(const char *path, struct stat *st)
{
	char part[PATH_MAX];
	const char *p = path;

	if (path[0] != '/' && !lstat(".", st) && st->st_uid)
		return true;
	while ((p = strchr(p, '/'))) {
		snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
		if (part[0] && ((!lstat(part, st) && st->st_uid) ||
				       (!stat(part, st) && st->st_uid)))
			return true;
		p++;
	}
	return false;
}

/* The same for the directories above those that links lead to. */
static bool really_not_roots(const char *path, struct stat *st)
{
	char dir[PATH_MAX], real[PATH_MAX + 1];
	const char *slash = strrchr(path, '/');

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1,
		slash ? path : ".");
	if (!realpath(dir[0] ? dir : "/", real))
		return false;
	strcat(real, "/");
	return not_roots(real, st);
}

int owner_become(const char *path, struct rj_error *err)
{
	struct stat st;

	if (geteuid() ||
		(!not_roots(path, &st) && !really_not_roots(path, &st)))
		return 0;
	if (setgroups(0, NULL) || setgid(st.st_gid) || setuid(st.st_uid))
		return rj_fail_errno(err, errno,
			"%s: cannot become user %u, who owns its directory",
			path, (unsigned)st.st_uid);
	return 0;
}
