// SPDX-License-Identifier: LGPL-2.1-or-later
/* Search /proc for a process of another mount namespace that has a volume mounted. */
#include "os/holder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "os/mountinfo.h"
#include "util/printable.h"

/* A process of a namespace beyond these is looked at, whether another one of it was or
 * not. */
#define NAMESPACES_MAX 64

struct namespaces {
	ino_t seen[NAMESPACES_MAX];
	unsigned count;
};

/* Is the mount namespace of the process PID ("self" or a number) one that was not seen? */
static bool is_new(struct namespaces *n, const char *pid)
{
	struct stat st;
	char path[300];
	unsigned i;

	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
	if (stat(path, &st))
		return false;
	for (i = 0; i < n->count; i++)
		if (n->seen[i] == st.st_ino)
			return false;
	if (n->count < NAMESPACES_MAX)
		n->seen[n->count++] = st.st_ino;
	return true;
}

/* Is the process PID in our user namespace? Another one's mounts are locked: they cannot
 * be unmounted one by one. */
static bool has_our_users(long pid)
{
	struct stat ours, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/ns/user", pid);
	return !stat("/proc/self/ns/user", &ours) && !stat(path, &its) &&
	       ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
}

/* Not by /proc/PID/cmdline: reading that waits for a process that waits for the volume. */
static void name(struct rj_holder *h)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/comm", h->pid);
	f = fopen(path, "re");
	if (!f || !fgets(h->command, sizeof(h->command), f))
		snprintf(h->command, sizeof(h->command), "?");
	h->command[strcspn(h->command, "\n")] = 0;
	if (f)
		fclose(f);
}

bool rj_holder_find(const char *volume, struct rj_holder *out)
{
	struct namespaces n = {.count = 0};
	bool found = false;
	struct dirent *e;
	dev_t dev;
	DIR *dir;

	if (!is_new(&n, "self") || rj_mountinfo_of_volume(volume, out->dir,
					   sizeof(out->dir), &dev))
		return false;
	dir = opendir("/proc");
	while (dir && !found && (e = readdir(dir))) {
		out->pid = strtol(e->d_name, NULL, 10);
		found = out->pid > 0 && is_new(&n, e->d_name) &&
			rj_mountinfo_of_process(out->pid, volume, out->dir,
				sizeof(out->dir));
	}
	if (dir)
		closedir(dir);
	if (found) {
		name(out);
		out->locked = !has_our_users(out->pid);
	}
	return found;
}

/* Append WORD to the text OUT of SIZE bytes as one word of a shell command. */
static void quote(char *out, size_t size, const char *word)
{
	size_t n = strlen(out);

	for (n += (size_t)snprintf(out + n, size - n, "'"); *word && n + 6 < size; word++)
		n += (size_t)snprintf(out + n, size - n, *word == '\'' ? "'\\''" : "%c", *word);
	snprintf(out + n, size - n, "'");
}

const char *rj_holder_text(const struct rj_holder *h, char out[RJ_HOLDER_TEXT])
{
	int n = snprintf(out, RJ_HOLDER_TEXT,
		"mounted on %s in the mount namespace of process %ld (%s); ",
		h->dir, h->pid, h->command);

	if (h->locked) {
		snprintf(out + n, RJ_HOLDER_TEXT - (size_t)n,
			"it is unmounted there when the last process of that namespace ends");
	} else {
		snprintf(out + n, RJ_HOLDER_TEXT - (size_t)n,
			"this unmounts it there: nsenter -m -t %ld umount ", h->pid);
		quote(out, RJ_HOLDER_TEXT, h->dir);
	}
	rj_make_printable(out);
	return out;
}
