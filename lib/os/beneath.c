// SPDX-License-Identifier: LGPL-2.1-or-later
/* Open paths that must stay below one directory. */
#include "os/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLANKS " \t"
#define FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

static bool is_link(int dir, const char *part)
{
	struct stat st;

	return !fstatat(dir, part, &st, AT_SYMLINK_NOFOLLOW) &&
	       S_ISLNK(st.st_mode);
}

static bool leads_out(const char *part)
{
	return !part[0] || !strcmp(part, ".") || !strcmp(part, "..");
}

static int refuse(const char *root, const char *rest, struct rj_error *err)
{
	return rj_fail(err, RJ_E_REFUSED,
		"%s/%s: leads out of %s, or may: no \"..\" and no symbolic link is followed there",
		root, rest, root);
}

/* From *DIR to PART of it. */
static int descend(int *dir, const char *part, const char *root,
	const char *rest, struct rj_error *err)
{
	int next = openat(*dir, part, FLAGS | O_NOFOLLOW), rc = 0;

	if (next == -1)
		rc = is_link(*dir, part)
			     ? refuse(root, rest, err)
			     : rj_fail_errno(err, errno, "%s/%s", root, rest);
	close(*dir);
	*dir = next;
	return rc;
}

int rj_beneath_open(const char *root, const char *rest, int *dir,
	const char **name, struct rj_error *err)
{
	char part[NAME_MAX + 1];
	const char *p = rest, *slash;
	int at, rc = 0;

	*dir = -1;
	at = open(root, FLAGS);
	if (at == -1)
		return rj_fail_errno(err, errno, "%s", root);
	for (; !rc && (slash = strchr(p, '/')); p = slash + 1) {
		if ((size_t)snprintf(part, sizeof(part), "%.*s",
			    (int)(slash - p), p) >= sizeof(part))
			rc = rj_fail_errno(err, ENAMETOOLONG, "%s", rest);
		else if (part[0] && leads_out(part))
			rc = refuse(root, rest, err);
		else if (part[0]) /* "a//b" is "a/b" */
			rc = descend(&at, part, root, rest, err);
	}
	if (!rc && leads_out(p))
		rc = refuse(root, rest, err);
	if (rc) {
		if (at != -1)
			close(at);
		return rc;
	}
	*dir = at;
	*name = p;
	return 0;
}

int rj_beneath_openat(int dir, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

size_t rj_path_length(const char *path, size_t len)
{
	while (len && path[len - 1] == '/')
		len--;
	return len;
}

/* Is PATH below DIR (LEN bytes, no slash at its end)? *REST: what of PATH is below;
 * empty: the same. */
static bool below(const char *path, const char *dir, size_t len, const char **rest)
{
	if (strncmp(path, dir, len) != 0 || (path[len] && path[len] != '/'))
		return false;
	*rest = path + len + strspn(path + len, "/");
	return true;
}

bool rj_beneath_which(
	const char *path, const char *dirs, char *root, size_t size, const char **rest)
{
	size_t len, bare, longest = 0;
	const char *below_it;
	bool is = false;

	for (dirs += strspn(dirs, BLANKS); *dirs; dirs += len, dirs += strspn(dirs, BLANKS)) {
		len = strcspn(dirs, BLANKS);
		bare = rj_path_length(dirs, len);
		if (bare >= size || (is && bare <= longest) || !below(path, dirs, bare, &below_it))
			continue;
		is = true;
		longest = bare;
		*rest = below_it;
		snprintf(root, size, "%.*s", (int)bare, dirs);
	}
	return is;
}
