// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * work ops DIR SEED COUNT: random operations of every kind on the files in DIR.
 * work manifest DIR: one line for each file: what a restore must bring back.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "segment/digest.h"

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

static int put(int fd, bool direct)
{
	static _Alignas(GRAIN) uint8_t buf[MOST];
	uint32_t len = draw(MOST / 2) + 1, off = draw(MOST);

	if (direct) {
		len = (len + GRAIN - 1) & ~(GRAIN - 1);
		off &= ~(GRAIN - 1);
	}
	fill(buf, len);
	return pwrite(fd, buf, len, off) == (ssize_t)len ? 0 : -1;
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

static int on_file(uint32_t what)
{
	char path[64];
	int flags = O_RDWR | O_CREAT | (what == 3 ? O_DIRECT : 0), rc = -1;
	int fd = open(name(path, sizeof(path)), flags, 0600 | draw(64));

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
	}
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
		what = draw(16);
		if ((what < 10 ? on_file(what) : on_names(what - 10)))
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

static void hex(const void *data, size_t len)
{
	uint8_t sum[RJ_SEG_HASH_BYTES];
	size_t i;

	if (rj_digest(data, len, NULL, 0, sum, NULL))
		exit(1);
	for (i = 0; i < sizeof(sum); i++)
		printf("%02x", sum[i]);
}

static void content(const char *path, const struct stat *st)
{
	char target[PATH_MAX] = "";
	uint8_t *p = NULL;
	int fd;

	if (S_ISLNK(st->st_mode)) {
		if (readlink(path, target, sizeof(target) - 1) < 0)
			exit(1);
		printf(" -> %s", target);
	}
	if (!S_ISREG(st->st_mode))
		return;
	fd = open(path, O_RDONLY);
	p = malloc((size_t)st->st_size + 1);
	if (fd < 0 || !p || pread(fd, p, (size_t)st->st_size, 0) != st->st_size)
		exit((perror(path), 1));
	printf(" ");
	hex(p, (size_t)st->st_size);
	free(p);
	close(fd);
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
		exit((perror(path), 1));
	for (p = names; p < names + len && n < 64; p += strlen(p) + 1)
		sorted[n++] = p;
	qsort(sorted, n, sizeof(sorted[0]), by_text);
	for (i = 0; i < n; i++) {
		size = lgetxattr(path, sorted[i], value, sizeof(value));
		if (size < 0)
			exit((perror(path), 1));
		printf(" %s=", sorted[i]);
		hex(value, (size_t)size);
	}
}

static void manifest(const char *path)
{
	struct dirent **list = NULL;
	char below[PATH_MAX];
	struct stat st;
	int n, i;

	if (lstat(path, &st))
		exit((perror(path), 1));
	printf("%s %o %u %lld %lld.%09ld", path, st.st_mode,
		(unsigned)st.st_nlink,
		S_ISDIR(st.st_mode) ? 0LL : (long long)st.st_size,
		(long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	content(path, &st);
	xattrs(path);
	printf("\n");
	if (!S_ISDIR(st.st_mode))
		return;
	n = scandir(path, &list, NULL, alphasort);
	for (i = 0; i < n; i++) {
		if (strcmp(list[i]->d_name, ".") &&
			strcmp(list[i]->d_name, "..") &&
			(size_t)snprintf(below, sizeof(below), "%s/%s", path,
				list[i]->d_name) < sizeof(below))
			manifest(below);
		free(list[i]);
	}
	free(list);
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
