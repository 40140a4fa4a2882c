// SPDX-License-Identifier: GPL-2.0-or-later
/* Find another program of this suite: installed, or in the build tree. */
#include "sibling.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/proc.h"

/* Whose programs are ours, in the build tree. */
static const char *const build_folders[] = {"mkrjfs", "rjmount", "rjrecover"};

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       access(path, X_OK) == 0;
}

/* Take the last component away; returns it. */
static const char *cut(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return "";
	*slash = 0;
	return slash + 1;
}

static bool last_is(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return slash && strcmp(slash + 1, name) == 0;
}

static bool in_build_tree(const char *dir)
{
	unsigned i;

	for (i = 0; i < sizeof(build_folders) / sizeof(*build_folders); i++)
		if (last_is(dir, build_folders[i]))
			return true;
	return false;
}

static int found(const char *path, struct rj_buf *out, struct rj_error *err)
{
	if (rj_buf_printf(out, "%s", path))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	return 0;
}

int rj_sibling_find(const char *tool, struct rj_buf *out, struct rj_error *err)
{
	const char *env = getenv("RJ_SBINDIR");
	char dir[PATH_MAX], path[2 * PATH_MAX];
	ssize_t n;

	if (env && *env) {
		snprintf(path, sizeof(path), "%s/%s", env, tool);
		if (is_program(path))
			return found(path, out, err);
		return rj_fail(err, RJ_E_NOTFOUND,
			"%s: no such program (RJ_SBINDIR)", path);
	}
	n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	if (n > 0) {
		dir[n] = 0;
		cut(dir);
		snprintf(path, sizeof(path), "%s/%s", dir, tool);
		if (is_program(path))
			return found(path, out, err);
		/* build/rjmount/.libs/mount.rj: build/TOOL/TOOL */
		if (last_is(dir, ".libs"))
			cut(dir);
		if (in_build_tree(dir)) {
			cut(dir);
			snprintf(path, sizeof(path), "%s/%s/%s", dir, tool,
				tool);
			if (is_program(path))
				return found(path, out, err);
		}
	}
	return rj_proc_find(tool, out, err);
}
