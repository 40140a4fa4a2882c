// SPDX-License-Identifier: GPL-2.0-or-later
/* The recorder's eye on file:// stores: an object appears by link(2). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record.h"

static char store[PATH_MAX];

void record_store(const char *root)
{
	if (!root || !realpath(root, store))
		store[0] = '\0';
}

/* The name below the stores' directory of NAME in the directory AT; false: it
 * is not there, or a temporary. */
static bool object_name(int at, const char *name, char out[TRACE_NAME])
{
	char link[64], dir[PATH_MAX];
	size_t len = strlen(store);
	ssize_t n;

	if (!len || name[0] == '.' || name[0] == '/')
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
	n = readlink(link, dir, sizeof(dir) - 1);
	if (n < 0)
		return false;
	dir[n] = '\0';
	if (strncmp(dir, store, len) || (dir[len] != '/' && dir[len]))
		return false;
	n = snprintf(out, TRACE_NAME, "%s/%s", dir + len, name);
	return n > 0 && n < TRACE_NAME;
}

static void note_put(int at, const char *name, struct trace_event *e)
{
	int fd = openat(at, name, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data = NULL;

	if (fd >= 0 && !fstat(fd, &st) && (data = malloc((size_t)st.st_size)) &&
		read(fd, data, (size_t)st.st_size) == st.st_size) {
		e->len = (uint64_t)st.st_size;
		record_note(e, data);
	}
	free(data);
	if (fd >= 0)
		close(fd);
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
	struct trace_event e = {.kind = TRACE_PUT};
	bool ours = object_name(to_at, to, e.name);
	int rc = (int)syscall(SYS_linkat, from_at, from, to_at, to, flags);

	if (!rc && ours)
		note_put(to_at, to, &e);
	return rc;
}

int unlinkat(int at, const char *name, int flags)
{
	struct trace_event e = {.kind = TRACE_REMOVE};
	/* an empty folder that goes is no object */
	bool ours = !(flags & AT_REMOVEDIR) && object_name(at, name, e.name);
	int rc = (int)syscall(SYS_unlinkat, at, name, flags);

	if (!rc && ours)
		record_note(&e, NULL);
	return rc;
}
