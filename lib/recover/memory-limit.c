// SPDX-License-Identifier: LGPL-2.1-or-later
/* How much memory a recovery may use for a log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/fileio.h"
#include "recover/session.h"

#define MOST     (2ull << 30) /* bytes */
#define UNKNOWN  (4 * MOST)   /* where nothing says how much there is */
#define TEXT_MAX 65536

/* The number after NAME in the file PATH, or at its beginning (NAME ""). */
static bool number_in(const char *path, const char *name, uint64_t *out)
{
	struct rj_buf text = {0};
	char *p = NULL, *end = NULL;

	if (!rj_read_file(path, TEXT_MAX, &text, NULL) &&
		!rj_buf_append(&text, "", 1))
		p = strstr((char *)text.data, name);
	if (p) {
		p += strlen(name);
		*out = strtoull(p, &end, 10);
	}
	rj_buf_free(&text);
	return p && end != p;
}

/* The limit less the use of the control group whose directory is DIR, and of
 * all that it is in. */
static void shrink_to_group(char *dir, const char *limit, const char *use,
	const char *root, uint64_t *free_bytes)
{
	uint64_t most, used;
	char path[4300];

	while (strlen(dir) >= strlen(root)) {
		snprintf(path, sizeof(path), "%s/%s", dir, limit);
		/* (half of it or more is free, as below: no less than what is free anyway) */
		if (number_in(path, "", &most) && most / 2 < *free_bytes) {
			snprintf(path, sizeof(path), "%s/%s", dir, use);
			if (!number_in(path, "", &used) || used > most)
				used = 0; /* page cache: it can go */
			most = most - used > most / 2 ? most - used : most / 2;
			if (most < *free_bytes)
				*free_bytes = most;
		}
		if (!strrchr(dir, '/') || strlen(dir) == strlen(root))
			return;
		*strrchr(dir, '/') = '\0';
	}
}

/* Each line of /proc/self/cgroup is ID:CONTROLLERS:PATH; version 2 has no
 * controllers there. */
static void shrink_to_groups(uint64_t *free_bytes)
{
	struct rj_buf text = {0};
	char dir[4200], *line, *save = NULL, *names, *path;

	if (rj_read_file("/proc/self/cgroup", TEXT_MAX, &text, NULL) ||
		rj_buf_append(&text, "", 1))
		goto out;
	for (line = strtok_r((char *)text.data, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		names = strchr(line, ':');
		path = names ? strchr(names + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		if (!strcmp(names, ":")) {
			snprintf(dir, sizeof(dir), "/sys/fs/cgroup%.4000s",
				path);
			shrink_to_group(dir, "memory.max", "memory.current",
				"/sys/fs/cgroup", free_bytes);
		} else if (!strcmp(names, ":memory")) {
			snprintf(dir, sizeof(dir),
				"/sys/fs/cgroup/memory%.4000s", path);
			shrink_to_group(dir, "memory.limit_in_bytes",
				"memory.usage_in_bytes",
				"/sys/fs/cgroup/memory", free_bytes);
		}
	}
out:
	rj_buf_free(&text);
}

uint64_t rj_recovery_memory(struct rj_recovery *r)
{
	uint64_t bytes = UNKNOWN;

	if (r->memory)
		return r->memory;
	if (number_in("/proc/meminfo", "MemAvailable:", &bytes))
		bytes = bytes > UINT64_MAX / 1024 ? UNKNOWN : bytes * 1024;
	shrink_to_groups(&bytes);
	r->memory = bytes / 4 < MOST ? bytes / 4 : MOST;
	return r->memory;
}
