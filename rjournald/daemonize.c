// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemonize.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fileio.h"

/* Wait for the child's line, or its end. */
static void __attribute__((noreturn)) parent(int fd, pid_t child)
{
	char line[256];
	size_t len = 0;
	ssize_t n;
	int status = 1;

	while (len < sizeof(line) - 1) {
		n = read(fd, line + len, sizeof(line) - 1 - len);
		if (n > 0)
			len += (size_t)n;
		else if (n == 0 || errno != EINTR)
			break;
	}
	line[len] = 0;
	if (len && line[len - 1] == '\n') {
		fputs(line, stdout);
		_exit(fflush(stdout) ? 1 : 0);
	}
	while (waitpid(child, &status, 0) == -1 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status))
		_exit(WEXITSTATUS(status));
	fprintf(stderr, "rjournald: the daemon ended before it was ready\n");
	_exit(1);
}

int rj_background(int *ready_fd, struct rj_error *err)
{
	int fd[2];
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) == -1)
		return rj_fail_errno(err, errno, "pipe");
	fflush(NULL);
	pid = fork();
	if (pid == -1) {
		close(fd[0]);
		close(fd[1]);
		return rj_fail_errno(err, errno, "fork");
	}
	if (pid) {
		close(fd[1]);
		parent(fd[0], pid);
	}
	close(fd[0]);
	*ready_fd = fd[1];
	setsid();
	return 0;
}

int rj_background_detach(struct rj_error *err)
{
	int null, i;

	null = open("/dev/null", O_RDWR);
	if (null == -1)
		return rj_fail_errno(err, errno, "/dev/null");
	for (i = 0; i < 3; i++)
		if (dup2(null, i) == -1)
			return rj_fail_errno(err, errno, "/dev/null");
	if (null > 2)
		close(null);
	return 0;
}

int rj_background_ready(int *ready_fd, const char *line, struct rj_error *err)
{
	int rc = rj_write_all(*ready_fd, line, strlen(line), "pipe", err);

	if (!rc)
		rc = rj_background_detach(err);
	return rc ? rc : rj_close(ready_fd, "pipe", err);
}
