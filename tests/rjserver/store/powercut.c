// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LD_PRELOAD: what a power cut would leave. Below the directory
 * $POWERCUT_DIR, what was synced is copied to $POWERCUT_DISK:
 *
 *	inodes/N   what fsync() or fdatasync() made durable of inode N
 *	tree/      the names that fsync() of their directory made durable,
 *	           links to those
 *
 * Nothing else gets there, but for some sectors of unsynced writes, chosen at
 * random: a disk may write early what it likes. A rename or a new name that
 * nobody synced the directory for has not happened. Only for a file system
 * that does not use inode numbers again at once (tmpfs).
 */
#undef _FILE_OFFSET_BITS /* pwrite() and pwrite64() are two functions here */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH   1024
#define SECTOR 512
#define RANGES 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range {
	ino_t ino;
	off_t off;
	size_t len;
} ranges[RANGES]; /* written and not synced */
static size_t range_count;
static unsigned seed = 1;

static ssize_t real_pwrite(int fd, const void *data, size_t len, off_t off)
{
	static ssize_t (*real)(int, const void *, size_t, off_t);

	if (!real)
		real = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(
			RTLD_NEXT, "pwrite");
	return real(fd, data, len, off);
}

static void die(const char *what)
{
	fprintf(stderr, "powercut: %s: %s\n", what, strerror(errno));
	_exit(98);
}

/* The path of FD below POWERCUT_DIR ("" is that itself), or false. */
static bool below(int fd, char *out)
{
	const char *dir = getenv("POWERCUT_DIR");
	char link[64], path[PATH];
	ssize_t n;

	if (!dir || !getenv("POWERCUT_DISK"))
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = 0;
	if (strncmp(path, dir, strlen(dir)) ||
		(path[strlen(dir)] != '/' && path[strlen(dir)]))
		return false;
	snprintf(out, PATH, "%s", path + strlen(dir));
	return true;
}

static int open_inode(ino_t ino)
{
	char path[PATH * 2];
	int fd;

	snprintf(path, sizeof(path), "%s/inodes", getenv("POWERCUT_DISK"));
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/inodes/%llu", getenv("POWERCUT_DISK"),
		(unsigned long long)ino);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		die(path);
	return fd;
}

/* Some of its sectors reach the disk before anyone asks. */
static void leak(int disk, const uint8_t *data, size_t len, off_t off)
{
	size_t i, n;

	for (i = 0; i < len; i += n) {
		n = SECTOR - (size_t)(off + (off_t)i) % SECTOR;
		if (n > len - i)
			n = len - i;
		if (rand_r(&seed) % 4 == 0 &&
			real_pwrite(disk, data + i, n, off + (off_t)i) !=
				(ssize_t)n)
			die("write");
	}
}

static void wrote(int fd, const void *data, size_t len, off_t off)
{
	char path[PATH];
	struct stat st;
	int disk;

	if (!len || !below(fd, path) || fstat(fd, &st))
		return;
	pthread_mutex_lock(&lock);
	if (range_count == RANGES)
		die("too many unsynced writes");
	ranges[range_count++] = (struct range){st.st_ino, off, len};
	if (rand_r(&seed) % 4 == 0) {
		disk = open_inode(st.st_ino);
		leak(disk, data, len, off);
		close(disk);
	}
	pthread_mutex_unlock(&lock);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t off)
{
	ssize_t n = real_pwrite(fd, data, len, off);

	if (n > 0)
		wrote(fd, data, (size_t)n, off);
	return n;
}

ssize_t pwrite64(int fd, const void *data, size_t len, off_t off)
{
	return pwrite(fd, data, len, off);
}

ssize_t write(int fd, const void *data, size_t len)
{
	static ssize_t (*real)(int, const void *, size_t);
	off_t off = lseek(fd, 0, SEEK_CUR);
	ssize_t n;

	if (!real)
		real = (ssize_t(*)(int, const void *, size_t))dlsym(
			RTLD_NEXT, "write");
	n = real(fd, data, len);
	if (n > 0 && off >= 0)
		wrote(fd, data, (size_t)n, off);
	return n;
}

static void copy_range(int from, int to, off_t off, size_t len)
{
	static uint8_t data[1 << 20];
	ssize_t n;

	while (len) {
		n = pread(from, data, len < sizeof(data) ? len : sizeof(data),
			off);
		if (n <= 0)
			return; /* truncated since */
		if (real_pwrite(to, data, (size_t)n, off) != n)
			die("write");
		off += n;
		len -= (size_t)n;
	}
}

static void sync_file(int fd, const struct stat *st)
{
	size_t i, keep = 0;
	char link[64];
	int from, to;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	from = open(link, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		die(link);
	to = open_inode(st->st_ino);
	for (i = 0; i < range_count; i++) {
		if (ranges[i].ino == st->st_ino)
			copy_range(from, to, ranges[i].off, ranges[i].len);
		else
			ranges[keep++] = ranges[i];
	}
	range_count = keep;
	if (ftruncate(to, st->st_size))
		die("truncate");
	close(from);
	close(to);
}

static void keep_name(const char *disk_dir, const struct dirent *de, int dirfd)
{
	char to[PATH * 3], from[PATH * 2];
	struct stat st, have;
	int fd;

	snprintf(to, sizeof(to), "%s/%s", disk_dir, de->d_name);
	if (fstatat(dirfd, de->d_name, &st, AT_SYMLINK_NOFOLLOW))
		return; /* gone meanwhile */
	if (S_ISDIR(st.st_mode)) {
		mkdir(to, 0700);
		return;
	}
	fd = open_inode(st.st_ino);
	if (fstat(fd, &have))
		die(to);
	close(fd);
	snprintf(from, sizeof(from), "%s/inodes/%llu", getenv("POWERCUT_DISK"),
		(unsigned long long)st.st_ino);
	if (!stat(to, &st) && st.st_ino == have.st_ino)
		return;
	unlink(to);
	if (link(from, to))
		die(to);
}

/* The names of the directory FD, as they are now. */
static void sync_dir(int fd, const char *path)
{
	char disk_dir[PATH * 2], name[PATH * 3], self[64];
	struct dirent *de;
	struct stat st;
	DIR *d;

	snprintf(disk_dir, sizeof(disk_dir), "%s/tree",
		getenv("POWERCUT_DISK"));
	mkdir(disk_dir, 0700);
	snprintf(disk_dir, sizeof(disk_dir), "%s/tree%s",
		getenv("POWERCUT_DISK"), path);
	mkdir(disk_dir, 0700);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	d = opendir(self);
	if (!d)
		die(self);
	while ((de = readdir(d)))
		if (de->d_name[0] != '.')
			keep_name(disk_dir, de, fd);
	closedir(d);
	d = opendir(disk_dir);
	while (d && (de = readdir(d))) {
		if (de->d_name[0] == '.' ||
			!fstatat(fd, de->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		snprintf(name, sizeof(name), "%s/%s", disk_dir, de->d_name);
		unlink(name);
	}
	if (d)
		closedir(d);
}

static int do_sync(int fd)
{
	char path[PATH];
	struct stat st;

	if (!below(fd, path) || fstat(fd, &st))
		return 0;
	pthread_mutex_lock(&lock);
	if (S_ISDIR(st.st_mode))
		sync_dir(fd, path);
	else
		sync_file(fd, &st);
	pthread_mutex_unlock(&lock);
	return 0;
}

int fsync(int fd)
{
	return do_sync(fd);
}

int fdatasync(int fd)
{
	return do_sync(fd);
}

__attribute__((constructor)) static void begin(void)
{
	seed = (unsigned)getpid();
}
