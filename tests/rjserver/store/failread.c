// SPDX-License-Identifier: GPL-2.0-or-later
/* LD_PRELOAD: reads that touch the bytes FROM up to TO of a file whose path ends in NAME
 * fail with EIO, while the file $FAILREAD exists and says "NAME FROM TO". */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static bool fails(int fd, size_t len, off_t off)
{
	const char *rule = getenv("FAILREAD");
	unsigned long long from = 0, to = 0;
	char name[64] = "", link[64], path[4096];
	ssize_t n;
	FILE *in = rule ? fopen(rule, "re") : NULL;

	if (!in)
		return false;
	if (fscanf(in, "%63s %llu %llu", name, &from, &to) != 3)
		to = 0;
	fclose(in);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	return n >= (ssize_t)strlen(name) && n < (ssize_t)sizeof(path) &&
	       !memcmp(path + n - strlen(name), name, strlen(name)) &&
	       (unsigned long long)off < to && (unsigned long long)off + len > from;
}

ssize_t pread(int fd, void *data, size_t len, off_t off)
{
	if (!fails(fd, len, off))
		return syscall(SYS_pread64, fd, data, len, off);
	errno = EIO;
	return -1;
}

/* What fails is not in the page cache. */
ssize_t preadv2(int fd, const struct iovec *v, int count, off_t off, int flags)
{
	if (!fails(fd, v->iov_len, off))
		return syscall(SYS_preadv2, fd, v, count, off, 0, flags);
	errno = EAGAIN;
	return -1;
}
