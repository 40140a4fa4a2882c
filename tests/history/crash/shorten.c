// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shorten DIR SECONDS: write to files in DIR and shorten them, while a second process makes one
 * commit after the other.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILES 8
#define BYTES 16384

static char bytes[BYTES];

static int open_file(const char *dir, int n)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/shortened-%d", dir, n);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static int commits(const char *dir, time_t end)
{
	int fd = open_file(dir, FILES);

	while (time(NULL) < end)
		if (pwrite(fd, bytes, 100, 0) != 100 || fsync(fd))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	time_t end = argc == 3 ? time(NULL) + atoi(argv[2]) : 0;
	int fd[FILES], i, status;
	pid_t pid;

	if (argc != 3)
		return 2;
	memset(bytes, 7, sizeof(bytes));
	for (i = 0; i < FILES; i++)
		fd[i] = open_file(argv[1], i);
	pid = fork();
	if (pid < 0)
		return 1;
	if (!pid)
		_exit(commits(argv[1], end));
	while (time(NULL) < end) {
		i = rand() % FILES;
		if (pwrite(fd[i], bytes, BYTES, 0) != BYTES ||
			ftruncate(fd[i], 100 + rand() % (BYTES - 100)))
			return 1;
	}
	return waitpid(pid, &status, 0) == pid && !status ? 0 : 1;
}
