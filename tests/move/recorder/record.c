// SPDX-License-Identifier: GPL-2.0-or-later
#undef _FILE_OFFSET_BITS /* pwrite() and pwrite64() are two functions here */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
	pthread_mutex_t lock;
	struct {
		bool used, device;
		dev_t dev;
		ino_t ino;
	} watched[TRACE_TARGETS];
	struct trace *into;
	int lost;
} R = {.lock = PTHREAD_MUTEX_INITIALIZER};

int record_watch(unsigned n, const char *path)
{
	struct stat st;

	if (n >= TRACE_TARGETS || stat(path, &st))
		return -1;
	R.watched[n].used = true;
	R.watched[n].device = S_ISBLK(st.st_mode);
	R.watched[n].dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	R.watched[n].ino = st.st_ino;
	return 0;
}

void record_forget(void)
{
	memset(R.watched, 0, sizeof(R.watched));
	record_store(NULL);
}

void record_into(struct trace *t)
{
	R.into = t;
}

int record_lost(void)
{
	return R.lost;
}

/* Which target FD is, or -1. */
static int target_of(int fd)
{
	struct stat st;
	int i;

	if (!R.into || fstat(fd, &st))
		return -1;
	for (i = 0; i < TRACE_TARGETS; i++) {
		if (!R.watched[i].used ||
			R.watched[i].device != !!S_ISBLK(st.st_mode))
			continue;
		if (R.watched[i].device ? st.st_rdev == R.watched[i].dev
					: st.st_dev == R.watched[i].dev &&
						  st.st_ino == R.watched[i].ino)
			return i;
	}
	return -1;
}

void record_note(const struct trace_event *e, const void *data)
{
	int saved = errno;

	pthread_mutex_lock(&R.lock);
	if (!R.into || trace_add(R.into, e, data))
		R.lost = 1;
	pthread_mutex_unlock(&R.lock);
	errno = saved;
}

static void note_write(int target, const void *data, size_t len, uint64_t off)
{
	struct trace_event e = {.kind = TRACE_WRITE,
		.target = (uint32_t)target,
		.off = off,
		.len = len};

	if (target >= 0 && len)
		record_note(&e, data);
}

static void note_zeroes(int target, uint64_t off, uint64_t len)
{
	void *zeroes = target >= 0 ? calloc(1, len) : NULL;

	if (zeroes)
		note_write(target, zeroes, len, off);
	else if (target >= 0)
		R.lost = 1;
	free(zeroes);
}

static ssize_t do_pwrite(int fd, const void *data, size_t len, off_t off)
{
	int target = target_of(fd);
	ssize_t n = syscall(SYS_pwrite64, fd, data, len, off);

	if (n > 0)
		note_write(target, data, (size_t)n, (uint64_t)off);
	return n;
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t off)
{
	return do_pwrite(fd, data, len, off);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t off)
{
	return do_pwrite(fd, data, len, off);
}

ssize_t write(int fd, const void *data, size_t len)
{
	int target = target_of(fd);
	ssize_t n;
	off_t off = 0;

	if (target >= 0)
		off = lseek(fd, 0, SEEK_CUR);
	n = syscall(SYS_write, fd, data, len);
	if (n > 0)
		note_write(target, data, (size_t)n, (uint64_t)off);
	return n;
}

static ssize_t do_pwritev(int fd, const struct iovec *iov, int count, off_t off)
{
	int target = target_of(fd), i;
	size_t len = 0, at = 0;
	uint8_t *all;
	ssize_t n = syscall(SYS_pwritev, fd, iov, count, off, 0);

	if (n <= 0 || target < 0)
		return n;
	for (i = 0; i < count; i++)
		len += iov[i].iov_len;
	all = malloc(len);
	for (i = 0; all && i < count; at += iov[i++].iov_len)
		memcpy(all + at, iov[i].iov_base, iov[i].iov_len);
	if (all)
		note_write(target, all, (size_t)n, (uint64_t)off);
	else
		R.lost = 1;
	free(all);
	return n;
}

ssize_t pwritev(int fd, const struct iovec *iov, int count, off_t off)
{
	return do_pwritev(fd, iov, count, off);
}

ssize_t pwritev64(int fd, const struct iovec *iov, int count, off64_t off)
{
	return do_pwritev(fd, iov, count, off);
}

static int do_flush(int fd, long call)
{
	struct trace_event e = {.kind = TRACE_FLUSH};
	int target = target_of(fd);
	int rc = (int)syscall(call, fd);

	e.target = (uint32_t)target;
	if (!rc && target >= 0)
		record_note(&e, NULL);
	return rc;
}

int fsync(int fd)
{
	return do_flush(fd, SYS_fsync);
}

int fdatasync(int fd)
{
	return do_flush(fd, SYS_fdatasync);
}

static int do_fallocate(int fd, int mode, off_t off, off_t len)
{
	int target = target_of(fd);
	int rc = (int)syscall(SYS_fallocate, fd, mode, off, len);

	if (!rc && mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))
		note_zeroes(target, (uint64_t)off, (uint64_t)len);
	return rc;
}

int fallocate(int fd, int mode, off_t off, off_t len)
{
	return do_fallocate(fd, mode, off, len);
}

int fallocate64(int fd, int mode, off64_t off, off64_t len)
{
	return do_fallocate(fd, mode, off, len);
}

static int do_ftruncate(int fd, off_t len)
{
	if (target_of(fd) >= 0)
		R.lost = 1;
	return (int)syscall(SYS_ftruncate, fd, len);
}

int ftruncate(int fd, off_t len)
{
	return do_ftruncate(fd, len);
}

int ftruncate64(int fd, off64_t len)
{
	return do_ftruncate(fd, len);
}

int ioctl(int fd, unsigned long request, ...)
{
	int target = -1, rc;
	uint64_t range[2];
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (request == BLKDISCARD || request == BLKZEROOUT) {
		target = target_of(fd);
		memcpy(range, arg, sizeof(range));
	}
	rc = (int)syscall(SYS_ioctl, fd, request, arg);
	if (!rc && target >= 0)
		note_zeroes(target, range[0], range[1]);
	return rc;
}

/* As an LD_PRELOAD library: what to watch comes with the environment. */
static struct trace preloaded;

__attribute__((constructor)) static void begin(void)
{
	char files[PATH_MAX], *at, *next;
	unsigned n = 0;

	if (!getenv("RJ_RECORD_TO") || !getenv("RJ_RECORD_FILES"))
		return;
	snprintf(files, sizeof(files), "%s", getenv("RJ_RECORD_FILES"));
	for (at = files; at; at = next) {
		next = strchr(at, ':');
		if (next)
			*next++ = '\0';
		if (record_watch(n++, at))
			R.lost = 1;
	}
	record_into(&preloaded);
}

__attribute__((destructor)) static void end(void)
{
	const char *to = getenv("RJ_RECORD_TO");
	int fd;

	if (R.into != &preloaded)
		return;
	record_into(NULL);
	fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || R.lost || trace_save(&preloaded, fd))
		_exit(98); /* half a trace would prove nothing */
	close(fd);
}
