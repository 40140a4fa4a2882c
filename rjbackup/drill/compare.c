// SPDX-License-Identifier: GPL-2.0-or-later
/* A restored volume against the mounted one. */
#include "rjbackup/drill/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <linux/limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "util/printable.h"

#define NS_PER_S 1000000000LL

static int64_t ns_of(struct timespec t)
{
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static bool same_content(const char *a, const char *b)
{
	static char x[65536], y[sizeof(x)];
	int f = open(a, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int g = open(b, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	off_t at = 0;
	ssize_t n = -1, m = -1;

	while (f >= 0 && g >= 0) {
		n = pread(f, x, sizeof(x), at);
		m = pread(g, y, sizeof(y), at);
		if (n <= 0 || n != m || memcmp(x, y, (size_t)n))
			break;
		at += n;
	}
	if (f >= 0)
		close(f);
	if (g >= 0)
		close(g);
	return !n && !m;
}

static bool same_target(const char *a, const char *b)
{
	char x[PATH_MAX], y[PATH_MAX];
	ssize_t n = readlink(a, x, sizeof(x)), m = readlink(b, y, sizeof(y));

	return n >= 0 && n == m && !memcmp(x, y, (size_t)n);
}

/* What is different, apart from extended attributes; NULL: nothing. */
static const char *difference(const char *live, const struct stat *a,
	const char *restored, const struct stat *b)
{
	if (a->st_mode != b->st_mode)
		return "kind or mode";
	if (a->st_uid != b->st_uid || a->st_gid != b->st_gid)
		return "owner";
	if (a->st_nlink != b->st_nlink)
		return "number of links";
	if ((S_ISCHR(a->st_mode) || S_ISBLK(a->st_mode)) && a->st_rdev != b->st_rdev)
		return "device number";
	if (ns_of(a->st_mtim) != ns_of(b->st_mtim))
		return "mtime";
	if (S_ISDIR(a->st_mode))
		return NULL;
	if (a->st_size != b->st_size)
		return "size";
	if (S_ISREG(a->st_mode) && !same_content(live, restored))
		return "content";
	if (S_ISLNK(a->st_mode) && !same_target(live, restored))
		return "target";
	return NULL;
}

/* ---- extended attributes: user.*, trusted.*, security.* and system.*, in which ext4 keeps the
 * access control lists; the memory for one list and one value is enough ---- */

/* Their names in OUT, each with its NUL; -1. A file system without any has none. */
static ssize_t names(const char *path, char out[XATTR_LIST_MAX])
{
	ssize_t n = llistxattr(path, out, XATTR_LIST_MAX);

	return n < 0 && errno == ENOTSUP ? 0 : n;
}

static bool same_value(const char *a, const char *b, const char *name)
{
	static char x[XATTR_SIZE_MAX], y[sizeof(x)];
	ssize_t n = lgetxattr(a, name, x, sizeof(x)), m = lgetxattr(b, name, y, sizeof(y));

	return n >= 0 && n == m && !memcmp(x, y, (size_t)n);
}

/* One of FROM's that TO lacks, or has another value of; NULL: none. */
static const char *different(const char *from, const char *list, ssize_t n, const char *to)
{
	const char *name;

	for (name = list; name < list + n; name += strlen(name) + 1)
		if (!same_value(from, to, name))
			return name;
	return NULL;
}

static bool same_attrs(const char *live, const char *restored, char *why, size_t size)
{
	static char x[XATTR_LIST_MAX], y[sizeof(x)];
	ssize_t n = names(live, x), m = names(restored, y);
	const char *name;

	snprintf(why, size, "extended attributes");
	if (n < 0 || m < 0)
		return false;
	name = different(live, x, n, restored);
	if (!name)
		name = different(restored, y, m, live);
	if (name)
		snprintf(why, size, "extended attribute %s", name);
	return !name;
}

/*
 * A file that lies below a moved folder has not changed: a folder that is another one in
 * RESTORED, by its inode number, was itself changed, and is left out with all below it.
 */
static void compare_one(FTS *fts, FTSENT *e, const char *restored, int64_t cut_ns,
	struct comparison *out)
{
	struct stat there, again;
	char attr[256 + 32], line[2 * PATH_MAX];
	const char *what = NULL;
	bool found = !lstat(restored, &there) && there.st_ino == e->fts_statp->st_ino;
	bool newer = ns_of(e->fts_statp->st_ctim) > cut_ns;

	if (e->fts_info == FTS_D && !found)
		fts_set(fts, e, FTS_SKIP);
	if (!newer) {
		what = found ? difference(e->fts_accpath, e->fts_statp, restored, &there)
			     : "not there";
		if (!what && !same_attrs(e->fts_accpath, restored, attr, sizeof(attr)))
			what = attr;
		/* changed or removed while it was compared */
		newer = what && (lstat(e->fts_accpath, &again) ||
					ns_of(again.st_ctim) > cut_ns);
	}
	if (newer) {
		out->newer++;
	} else if (what) {
		out->different++;
		snprintf(line, sizeof(line), "differs: %s: %s", e->fts_path, what);
		rj_make_printable(line);
		fprintf(stderr, "rjbackup: %s\n", line);
	} else {
		out->same++;
	}
}

/* The root of both has the same inode number: else nothing would be compared, as nothing is
 * found. */
static bool same_root(const char *live, const char *restored)
{
	struct stat a, b;

	if (!stat(live, &a) && !stat(restored, &b) && a.st_ino == b.st_ino)
		return true;
	fprintf(stderr, "rjbackup: %s: is not where the volume is mounted\n", live);
	return false;
}

/* LIVE may be a link; SKIP bytes of each path are those of LIVE, without a slash at its end. */
static int compare_all(char *live, size_t skip, const char *restored, int64_t cut_ns,
	struct comparison *out)
{
	char *const roots[] = {live, NULL};
	FTS *fts = fts_open(
		roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_XDEV | FTS_NOCHDIR, NULL);
	char path[PATH_MAX];
	int rc = fts ? 0 : -1;
	FTSENT *e;

	while (!rc && (errno = 0, e = fts_read(fts))) {
		switch (e->fts_info) {
		case FTS_DP:
			break;
		case FTS_NS:
		case FTS_DNR:
		case FTS_ERR:
			errno = e->fts_errno;
			/* what was removed since is no failure */
			rc = errno == ENOENT && e->fts_level ? 0 : -1;
			break;
		default:
			snprintf(path, sizeof(path), "%s%s", restored, e->fts_path + skip);
			compare_one(fts, e, path, cut_ns, out);
		}
	}
	if (rc || errno) {
		fprintf(stderr, "rjbackup: %s: cannot read all of it: %s\n", live,
			strerror(errno));
		rc = -1;
	}
	if (fts)
		fts_close(fts);
	return rc;
}

int compare(const char *live, const char *restored, int64_t cut_ns,
	struct comparison *out)
{
	size_t skip = strlen(live);

	while (skip && live[skip - 1] == '/')
		skip--;
	if (!same_root(live, restored))
		return -1;
	return compare_all((char *)live, skip, restored, cut_ns, out);
}
