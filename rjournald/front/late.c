// SPDX-License-Identifier: GPL-2.0-or-later
#include "late.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum place {
	ELSEWHERE,
	LATE,
	RUNS, /* on a processor, which is not looked into */
};

/* The beginning of /proc/THREAD/FILE, as text. Returns its length, or -1. */
static ssize_t read_proc(pid_t thread, const char *file, char *text, size_t size)
{
	char path[40];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)thread, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd != -1) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = 0;
	return n;
}

/* Does THREAD sync a file, and one of another file system than DEV's? */
static bool syncs_other(pid_t thread, dev_t dev)
{
	char text[256], path[40];
	unsigned long fd;
	struct stat st;
	long call;

	if (read_proc(thread, "syscall", text, sizeof(text)) <= 0 ||
		sscanf(text, "%ld %lx", &call, &fd) != 2 ||
		(call != SYS_fsync && call != SYS_fdatasync))
		return false;
	snprintf(path, sizeof(path), "/proc/%ld/fd/%lu", (long)thread, fd);
	return !stat(path, &st) && st.st_dev != dev;
}

static enum place place_of(pid_t thread, dev_t dev)
{
	/* JBD2 ends these waits with an error when the journal has failed */
	static const char *const told[] = {"jbd2_log_wait_commit",
		"start_this_handle", "jbd2_journal_get_write_access"};
	char stack[8192];
	ssize_t n = read_proc(thread, "stack", stack, sizeof(stack));
	size_t i;

	if (n <= 0)
		return n ? ELSEWHERE : RUNS;
	for (i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (strstr(stack, told[i]))
			return ELSEWHERE;
	return strstr(stack, "ext4_sync_file+") && !syncs_other(thread, dev)
		       ? LATE
		       : ELSEWHERE;
}

static void add(struct rj_late *l, pid_t thread)
{
	size_t i;

	for (i = 0; i < l->count && l->thread[i] != thread; i++)
		;
	if (i < RJ_LATE_MAX && i == l->count && place_of(thread, l->dev) == LATE)
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
		if (place_of(l->thread[i], l->dev) != ELSEWHERE)
			l->thread[left++] = l->thread[i];
	return l->count = left;
}
