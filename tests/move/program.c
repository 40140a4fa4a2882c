// SPDX-License-Identifier: GPL-2.0-or-later
#include "program.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void read_tail(const char *path, char *tail, size_t size)
{
	char buf[4096];
	ssize_t n = 0;
	size_t i;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);

	if (end > (off_t)size - 64)
		lseek(fd, end - ((off_t)size - 64), SEEK_SET);
	else if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	if (fd >= 0) {
		n = read(fd, buf, size < sizeof(buf) ? size : sizeof(buf));
		close(fd);
	}
	for (i = 0; n > 0 && i < (size_t)n; i++)
		if (buf[i] == '\n')
			buf[i] = '|';
	snprintf(tail, size, "%.*s", n > 0 ? (int)n : 0, buf);
}

int program_run(const char *const *argv, const char *dir, char *tail,
	size_t size)
{
	posix_spawn_file_actions_t files;
	char out[PATH_MAX];
	int status = -1, rc;
	pid_t pid;

	snprintf(out, sizeof(out), "%.4000s/output", dir);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(
		&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&files, 1, 2);
	rc = posix_spawnp(
		&pid, argv[0], &files, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&files);
	if (!rc)
		waitpid(pid, &status, 0);
	rc = !rc && WIFEXITED(status) ? WEXITSTATUS(status) : 128;
	if (rc && tail)
		read_tail(out, tail, size);
	return rc;
}

int program_shell(const char *dir, char *tail, size_t size, const char *fmt, ...)
{
	const char *argv[] = {"/bin/sh", "-c", NULL, NULL};
	char line[16384];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(line))
		return 128;
	argv[2] = line;
	return program_run(argv, dir, tail, size);
}

int program_write(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	const char *p = data;
	ssize_t n = 1;

	if (fd < 0)
		return -1;
	for (; len && n > 0; p += n, len -= (size_t)n)
		n = write(fd, p, len);
	close(fd);
	return n > 0 ? 0 : -1;
}
