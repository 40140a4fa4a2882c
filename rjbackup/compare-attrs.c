// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The extended attributes of two files: user.*, trusted.*, security.* and system.*, in which
 * ext4 keeps the access control lists. The memory for one list and one value is enough.
 */
#include <errno.h>
#include <linux/limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "compare.h"

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

bool compare_attrs(const char *live, const char *restored, char *why, size_t size)
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
