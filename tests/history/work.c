// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * work ops DIR SEED COUNT: random operations of every kind on the files in DIR.
 * work manifest DIR: one line for each file: what a restore must bring back.
 */
#include "manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <unistd.h>

#define NAMES 48
#define GRAIN 4096u
#define MOST  (96u * 1024)

static uint64_t state;
static uint64_t done, refused;

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % below;
}

/* In one of four folders, or in the root. */
static const char *name(char *out, size_t size)
{
	uint32_t n = draw(NAMES);

	if (n % 5 == 4)
		snprintf(out, size, "f%u", n);
	else
		snprintf(out, size, "d%u/f%u", n % 5, n);
	return out;
}

static void fill(uint8_t *p, size_t len)
{
	uint32_t v = draw(1u << 30);
	size_t i;

	for (i = 0; i < len; i++, v = v * 1103515245u + 12345u)
		p[i] = (uint8_t)(v >> 16);
}

/* Blocks that begin as one of the journal's own: they are escaped there. */
static void disguise(uint8_t *p, size_t len)
{
	static const uint8_t magic[] = {0xC0, 0x3B, 0x39, 0x98};
	size_t i;

	for (i = 0; i + sizeof(magic) <= len; i += 1024)
		memcpy(p + i, magic, sizeof(magic));
}

static int put(int fd, bool direct)
{
	static _Alignas(GRAIN) uint8_t buf[MOST];
	uint32_t len = draw(MOST / 2) + 1, off = draw(MOST);

	if (direct) {
		len = (len + GRAIN - 1) & ~(GRAIN - 1);
		off &= ~(GRAIN - 1);
	}
	fill(buf, len);
	if (!draw(6)) {
		off &= ~(GRAIN - 1);
		disguise(buf, len);
	}
	return pwrite(fd, buf, len, off) == (ssize_t)len ? 0 : -1;
}

/* One of four is short, and fits into an inode. */
static int append(int fd)
{
	static uint8_t buf[MOST / 8];
	uint32_t len = draw(draw(4) ? sizeof(buf) : 60) + 1;
	struct stat st;

	if (fstat(fd, &st) || st.st_size > 2 * MOST)
		return -1;
	fill(buf, len);
	return write(fd, buf, len) == (ssize_t)len ? 0 : -1;
}

static int put_mapped(int fd)
{
	struct stat st;
	uint8_t *p;

	if (fstat(fd, &st) || st.st_size < 2)
		return -1;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		fd, 0);
	if (p == MAP_FAILED)
		return -1;
	fill(p + st.st_size / 2, (size_t)(st.st_size - st.st_size / 2));
	return munmap(p, (size_t)st.st_size);
}

/*
 * Whether moving extents drops what was written by mmap(2) and not synced
 * since, with data=journal: a log has it, and the volume does not
 * (doc/history.md).
 */
static bool shift_drops_mapped(void)
{
	struct utsname u;
	unsigned major, minor;

	return !uname(&u) && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
		(major < 6 || (major == 6 && minor < 4));
}

static int change_space(int fd)
{
	static const int modes[] = {0, FALLOC_FL_KEEP_SIZE,
		FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		FALLOC_FL_ZERO_RANGE, FALLOC_FL_COLLAPSE_RANGE,
		FALLOC_FL_INSERT_RANGE};
	int mode = modes[draw(6)];
	off_t off = (off_t)(draw(16) * GRAIN), len = (off_t)((draw(8) + 1) * GRAIN);

	if (mode != FALLOC_FL_COLLAPSE_RANGE && mode != FALLOC_FL_INSERT_RANGE) {
		off += draw(GRAIN);
		len -= draw(GRAIN / 2);
	} else if (shift_drops_mapped() && fsync(fd)) {
		return -1;
	}
	return fallocate(fd, mode, off, len);
}

static int set_xattr(int fd)
{
	uint8_t value[1500];
	char key[32];
	uint32_t len = draw(draw(4) ? 60 : 1500) + 1;

	snprintf(key, sizeof(key), "user.k%u", draw(4));
	if (!draw(4))
		return fremovexattr(fd, key);
	fill(value, len);
	return fsetxattr(fd, key, value, len, 0);
}

static int set_flags(int fd)
{
	int flags;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags))
		return -1;
	flags ^= draw(2) ? FS_NODUMP_FL : FS_NOATIME_FL;
	return ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

static int set_times(int fd)
{
	struct timespec t[2] = {{draw(1u << 31), draw(1000000000)},
		{draw(1u << 31), draw(1000000000)}};

	return futimens(fd, t);
}

static int on_file(uint32_t what)
{
	int flags = O_RDWR | O_CREAT | (what == 3 ? O_DIRECT : 0), rc = -1;
	char path[64];
	int fd;

	flags |= what == 10 ? O_APPEND : 0;
	fd = open(name(path, sizeof(path)), flags | O_NONBLOCK, 0600 | draw(64));

	if (fd < 0)
		return -1;
	switch (what) {
	case 0:
	case 1:
	case 2:
	case 3:
		rc = put(fd, what == 3);
		break;
	case 4:
		rc = ftruncate(fd, draw(MOST));
		break;
	case 5:
		rc = put_mapped(fd);
		break;
	case 6:
	case 7:
		rc = change_space(fd);
		break;
	case 8:
		rc = set_xattr(fd);
		break;
	case 9:
		rc = fsync(fd);
		break;
	case 10:
	case 11:
		rc = append(fd);
		break;
	case 12:
		rc = set_flags(fd);
		break;
	case 13:
		rc = set_times(fd);
		break;
	}
	return close(fd) ? -1 : rc;
}

/* A file without a name, written, then named. */
static int name_later(const char *path)
{
	char proc[64];
	int fd = open(".", O_TMPFILE | O_RDWR, 0644), rc;

	if (fd < 0)
		return -1;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	rc = put(fd, false);
	if (!rc)
		rc = linkat(AT_FDCWD, proc, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
	return close(fd) ? -1 : rc;
}

/* A folder with many names, made and removed. */
static int folder(void)
{
	char dir[16], path[64];
	uint32_t names = draw(4) ? draw(8) : draw(300), i;
	int fd, rc;

	snprintf(dir, sizeof(dir), "t%u", draw(4));
	rc = mkdir(dir, 0700 | draw(64));
	for (i = 0; !rc && i < names; i++) {
		snprintf(path, sizeof(path), "%s/a-name-of-some-length-%u", dir, i);
		fd = open(path, O_CREAT | O_WRONLY, 0600);
		rc = fd < 0 ? -1 : close(fd);
	}
	for (i = 0; rc && errno == EEXIST && i < 300; i++) {
		snprintf(path, sizeof(path), "%s/a-name-of-some-length-%u", dir, i);
		unlink(path);
	}
	return rc && errno == ENOENT ? rmdir(dir) : rc;
}

static int discard(void)
{
	struct fstrim_range all = {.len = UINT64_MAX};
	int fd = open(".", O_RDONLY), rc;

	if (fd < 0)
		return -1;
	rc = ioctl(fd, FITRIM, &all);
	return close(fd) ? -1 : rc;
}

static int on_names(uint32_t what)
{
	char a[64], b[64];

	name(a, sizeof(a));
	name(b, sizeof(b));
	switch (what) {
	case 0:
		return rename(a, b);
	case 1:
		return link(a, b);
	case 2:
		return symlink(a, b);
	case 3:
		return chmod(a, 0600 | draw(64));
	case 4:
		return lchown(a, draw(70000), draw(70000));
	case 5:
		return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
	case 6:
		return mknod(a, draw(2) ? S_IFIFO | 0600 : S_IFCHR | 0600, draw(256));
	case 7:
		return name_later(a);
	case 8:
		return folder();
	case 9:
		return draw(8) ? rename(a, b) : discard();
	default:
		return unlink(a);
	}
}

static int ops(const char *dir, const char *seed, const char *count)
{
	uint64_t n = strtoull(count, NULL, 10), i;
	char sub[8];
	uint32_t what;

	state = strtoull(seed, NULL, 10) * 2862933555777941757ull + 1;
	if (chdir(dir))
		return perror(dir), 1;
	for (i = 0; i < 4; i++) {
		snprintf(sub, sizeof(sub), "d%u", (unsigned)i);
		mkdir(sub, 0755);
	}
	for (i = 0; i < n; i++) {
		what = draw(28);
		if ((what < 14 ? on_file(what) : on_names(what - 14)))
			refused++;
		else
			done++;
		if (errno == EIO || errno == EROFS)
			return perror("work"), 1;
	}
	printf("%llu done, %llu refused\n", (unsigned long long)done,
		(unsigned long long)refused);
	return done < n / 4;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "ops"))
		return ops(argv[2], argv[3], argv[4]);
	if (argc != 3 || strcmp(argv[1], "manifest"))
		return 2;
	if (chdir(argv[2]))
		return perror(argv[2]), 1;
	manifest(".");
	return fflush(stdout) ? 1 : 0;
}
