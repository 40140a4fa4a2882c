// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * orphans DIR IMAGE COPY: in DIR of each kind of inode three that share a block of
 * extended attributes; two of them are deleted while open, and IMAGE is copied with
 * cp(1) then. orphans DIR: the third of each kind still has the attribute.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define BYTES 600
#define NAME  "trusted.orphans"

static const char *const kinds[] = {"link", "fifo", "dir", "small", "large"};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void fill(char value[BYTES], size_t kind)
{
	memset(value, 'a' + (int)kind, BYTES);
}

static int make_file(const char *path, size_t bytes)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, 0600);
	char *data = calloc(1, bytes);
	int rc = fd < 0 || !data || write(fd, data, bytes) != (ssize_t)bytes;

	free(data);
	return rc || close(fd);
}

static int make(const char *path, size_t kind)
{
	char value[BYTES];
	int rc = 1;

	switch (kind) {
	case 0:
		rc = symlink("x", path);
		break;
	case 1:
		rc = mkfifo(path, 0600);
		break;
	case 2:
		rc = mkdir(path, 0700);
		break;
	case 3:
		rc = make_file(path, 50);
		break;
	case 4:
		rc = make_file(path, 50000);
		break;
	}
	fill(value, kind);
	return rc || lsetxattr(path, NAME, value, BYTES, 0);
}

static void name(char *out, const char *dir, size_t kind, int nr)
{
	snprintf(out, 4096, "%s/%s%d", dir, kinds[kind], nr);
}

static int sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 || syncfs(fd);

	return rc || close(fd);
}

static int orphan(const char *dir)
{
	char path[4096];
	size_t kind;
	int nr;

	for (kind = 0; kind < KINDS; kind++)
		for (nr = 0; nr < 3; nr++) {
			name(path, dir, kind, nr);
			if (make(path, kind))
				return 1;
		}
	if (sync_dir(dir))
		return 1;
	for (kind = 0; kind < KINDS; kind++)
		for (nr = 0; nr < 2; nr++) {
			name(path, dir, kind, nr);
			/* stays open until the end */
			if (open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC) < 0 ||
				(kind == 2 ? rmdir(path) : unlink(path)))
				return 1;
		}
	return sync_dir(dir);
}

static int look(const char *dir)
{
	char path[4096], value[BYTES], got[BYTES];
	size_t kind;

	for (kind = 0; kind < KINDS; kind++) {
		name(path, dir, kind, 2);
		fill(value, kind);
		if (lgetxattr(path, NAME, got, BYTES) != BYTES ||
			memcmp(value, got, BYTES)) {
			fprintf(stderr, "%s: not its attribute\n", path);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	char command[3 * 4096];

	if (argc == 2)
		return look(argv[1]);
	if (argc != 4 || orphan(argv[1])) {
		perror("orphans");
		return 1;
	}
	snprintf(command, sizeof(command), "cp --sparse=always '%s' '%s'",
		argv[2], argv[3]);
	return system(command) != 0;
}
