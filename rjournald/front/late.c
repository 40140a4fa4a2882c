// SPDX-License-Identifier: GPL-2.0-or-later
#include "late.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum place {
	ELSEWHERE,
	LATE,
	RUNS, /* on a processor, which is not looked into */
};

static enum place place_of(pid_t thread)
{
	char path[32], stack[8192];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/stack", (long)thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd != -1) {
		n = read(fd, stack, sizeof(stack) - 1);
		close(fd);
	}
	if (n <= 0)
		return n ? ELSEWHERE : RUNS;
	stack[n] = 0;
	return strstr(stack, "ext4_sync_file+") && !strstr(stack, "jbd2_log_wait_commit+") &&
			       !strstr(stack, "start_this_handle+")
		       ? LATE
		       : ELSEWHERE;
}

static void add(struct rj_late *l, pid_t thread)
{
	size_t i;

	for (i = 0; i < l->count && l->thread[i] != thread; i++)
		;
	if (i < RJ_LATE_MAX && i == l->count && place_of(thread) == LATE)
		l->thread[l->count++] = thread;
}

void rj_late_find(struct rj_late *l)
{
	DIR *all = opendir("/proc"), *threads;
	struct dirent *p, *t;
	char path[32];

	while (all && (p = readdir(all))) {
		snprintf(path, sizeof(path), "/proc/%.10s/task", p->d_name);
		threads = atol(p->d_name) > 0 ? opendir(path) : NULL;
		while (threads && (t = readdir(threads)))
			if (atol(t->d_name) > 0)
				add(l, (pid_t)atol(t->d_name));
		if (threads)
			closedir(threads);
	}
	if (all)
		closedir(all);
}

size_t rj_late_left(struct rj_late *l)
{
	size_t i, left = 0;

	for (i = 0; i < l->count; i++)
		if (place_of(l->thread[i]) != ELSEWHERE)
			l->thread[left++] = l->thread[i];
	return l->count = left;
}
