// SPDX-License-Identifier: GPL-2.0-or-later
#include "manifest.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "segment/digest.h"

static void __attribute__((noreturn)) die(const char *path)
{
	perror(path);
	exit(1);
}

static void hex(const void *data, size_t len)
{
	uint8_t sum[RJ_SEG_HASH_BYTES];
	size_t i;

	if (rj_digest(data, len, NULL, 0, sum, NULL))
		exit(1);
	for (i = 0; i < sizeof(sum); i++)
		printf("%02x", sum[i]);
}

/* A file's bytes and its flags. */
static void bytes(const char *path, size_t size)
{
	int fd = open(path, O_RDONLY | O_NOATIME), flags;
	uint8_t *p = malloc(size + 1);

	if (fd < 0 || !p || pread(fd, p, size, 0) != (ssize_t)size ||
		ioctl(fd, FS_IOC_GETFLAGS, &flags))
		die(path);
	printf(" flags=%x ", (unsigned)flags);
	hex(p, size);
	free(p);
	close(fd);
}

static void content(const char *path, const struct statx *st)
{
	char target[PATH_MAX] = "";

	if (S_ISLNK(st->stx_mode)) {
		if (readlink(path, target, sizeof(target) - 1) < 0)
			die(path);
		printf(" -> %s", target);
	}
	if (S_ISREG(st->stx_mode))
		bytes(path, (size_t)st->stx_size);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void xattrs(const char *path)
{
	char names[4096], *sorted[64], *p;
	ssize_t len = llistxattr(path, names, sizeof(names)), size;
	uint8_t value[8192];
	size_t n = 0, i;

	if (len < 0)
		die(path);
	for (p = names; p < names + len && n < 64; p += strlen(p) + 1)
		sorted[n++] = p;
	qsort(sorted, n, sizeof(sorted[0]), by_text);
	for (i = 0; i < n; i++) {
		size = lgetxattr(path, sorted[i], value, sizeof(value));
		if (size < 0)
			die(path);
		printf(" %s=", sorted[i]);
		hex(value, (size_t)size);
	}
}

static void when(const char *what, const struct statx_timestamp *t)
{
	printf(" %s=%lld.%09u", what, (long long)t->tv_sec, t->tv_nsec);
}

static void stat_line(const char *path, const struct statx *st)
{
	printf("%s %llu %o %u:%u %u %llu %llu", path, (unsigned long long)st->stx_ino,
		st->stx_mode, st->stx_uid, st->stx_gid, st->stx_nlink,
		(unsigned long long)st->stx_size, (unsigned long long)st->stx_blocks);
	if (S_ISCHR(st->stx_mode))
		printf(" %u:%u", st->stx_rdev_major, st->stx_rdev_minor);
	when("m", &st->stx_mtime);
	when("c", &st->stx_ctime);
	if (st->stx_mask & STATX_BTIME)
		when("b", &st->stx_btime);
	/* readlink(2) changes it */
	if (!S_ISLNK(st->stx_mode))
		when("a", &st->stx_atime);
}

#define NAMES_MAX 1024

/* The names in folder PATH, sorted, without changing its atime. */
static int list(const char *path, char **names)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOATIME), n = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir)
		die(path);
	while ((e = readdir(dir)) != NULL) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (n == NAMES_MAX || !(names[n++] = strdup(e->d_name)))
			die(path);
	}
	closedir(dir);
	qsort(names, (size_t)n, sizeof(names[0]), by_text);
	return n;
}

void manifest(const char *path)
{
	char *names[NAMES_MAX], below[PATH_MAX];
	struct statx st;
	int n, i;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &st))
		die(path);
	stat_line(path, &st);
	content(path, &st);
	xattrs(path);
	printf("\n");
	if (!S_ISDIR(st.stx_mode))
		return;
	n = list(path, names);
	for (i = 0; i < n; i++) {
		if ((size_t)snprintf(below, sizeof(below), "%s/%s", path, names[i]) >=
			sizeof(below))
			die(names[i]);
		manifest(below);
		free(names[i]);
	}
}
