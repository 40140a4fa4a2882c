// SPDX-License-Identifier: GPL-2.0-or-later
#include "view.h"

#include <dirent.h>
#include <errno.h>
#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

struct view {
	ext2_filsys fs; /* NULL: a directory */
	int root;
};

int view_open(const char *path, struct view **out, long *code)
{
	struct view *v = calloc(1, sizeof(*v));
	struct stat st;

	*out = v;
	*code = ENOMEM;
	if (!v)
		return -1;
	v->root = -1;
	*code = stat(path, &st) ? errno : 0;
	if (!*code && S_ISDIR(st.st_mode)) {
		v->root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		*code = v->root == -1 ? errno : 0;
	} else if (!*code) {
		*code = ext2fs_open(path, EXT2_FLAG_64BITS, 0, 0, unix_io_manager, &v->fs);
	}
	if (!*code)
		return 0;
	view_close(v);
	*out = NULL;
	return -1;
}

void view_close(struct view *v)
{
	if (!v)
		return;
	if (v->fs)
		ext2fs_close(v->fs);
	if (v->root != -1)
		close(v->root);
	free(v);
}

static ext2_ino_t inode(struct view *v, const char *name)
{
	ext2_ino_t ino = 0;

	return ext2fs_namei(v->fs, EXT2_ROOT_INO, EXT2_ROOT_INO, name, &ino) ? 0 : ino;
}

bool view_has(struct view *v, const char *name)
{
	struct stat st;

	return v->fs ? inode(v, name) != 0
		     : !fstatat(v->root, name, &st, AT_SYMLINK_NOFOLLOW);
}

/* ---- directories ---- */

struct listing {
	int (*fn)(void *arg, const char *name);
	void *arg;
};

static int list_one(struct ext2_dir_entry *e, int offset, int blocksize, char *buf, void *arg)
{
	struct listing *l = arg;
	char name[EXT2_NAME_LEN + 1];
	int len = ext2fs_dirent_name_len(e);

	memcpy(name, e->name, (size_t)len);
	name[len] = 0;
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return 0;
	return l->fn(l->arg, name) ? DIRENT_ABORT : 0;
}

static int list_directory(struct view *v, const char *dir, struct listing *l, long *code)
{
	int fd = openat(v->root, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd == -1 ? NULL : fdopendir(fd);
	struct dirent *e;

	*code = d ? 0 : errno;
	while (d && (errno = 0, e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
			l->fn(l->arg, e->d_name))
			break;
	if (d && errno)
		*code = errno;
	if (d)
		closedir(d);
	return *code ? -1 : 0;
}

int view_list(struct view *v, const char *dir, int (*fn)(void *arg, const char *name),
	void *arg, long *code)
{
	struct listing l = {.fn = fn, .arg = arg};

	if (!v->fs)
		return list_directory(v, dir, &l, code);
	*code = ext2fs_dir_iterate(v->fs, inode(v, dir), 0, NULL, list_one, &l);
	return *code ? -1 : 0;
}

/* ---- files ---- */

static int read_file(struct view *v, const char *name, void *data, size_t max, uint32_t *got,
	uint64_t *size, long *code)
{
	int fd = openat(v->root, name, O_RDONLY | O_CLOEXEC);
	struct stat st = {0};
	ssize_t n = 0;

	*code = fd == -1 || fstat(fd, &st) ? errno : 0;
	*size = (uint64_t)st.st_size;
	if (!*code && *size <= max && (n = read(fd, data, max)) == -1)
		*code = errno;
	*got = n > 0 ? (uint32_t)n : 0;
	if (fd != -1)
		close(fd);
	return *code ? -1 : 0;
}

int view_read(struct view *v, const char *name, void *data, size_t max, uint32_t *got,
	uint64_t *size, long *code)
{
	ext2_file_t f;
	__u64 bytes = 0;
	unsigned n = 0;

	if (!v->fs)
		return read_file(v, name, data, max, got, size, code);
	*got = 0;
	*code = ext2fs_file_open(v->fs, inode(v, name), 0, &f);
	if (*code)
		return -1;
	*code = ext2fs_file_get_lsize(f, &bytes);
	if (!*code && bytes <= max)
		*code = ext2fs_file_read(f, data, (unsigned)bytes, &n);
	ext2fs_file_close(f);
	*got = n;
	*size = bytes;
	return *code ? -1 : 0;
}

static int read_xattr(struct view *v, const char *name, const char *key, void *value,
	size_t *len, long *code)
{
	int fd = openat(v->root, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd == -1 ? -1 : fgetxattr(fd, key, value, *len);

	*code = n == -1 && errno != ENODATA ? errno : 0;
	*len = n > 0 ? (size_t)n : 0;
	if (fd != -1)
		close(fd);
	return *code ? -1 : 0;
}

int view_xattr(struct view *v, const char *name, const char *key, void *value, size_t *len,
	long *code)
{
	struct ext2_xattr_handle *h = NULL;
	size_t most = *len;
	void *found = NULL;

	if (!v->fs)
		return read_xattr(v, name, key, value, len, code);
	*len = 0;
	*code = ext2fs_xattrs_open(v->fs, inode(v, name), &h);
	if (!*code)
		*code = ext2fs_xattrs_read(h);
	if (!*code && ext2fs_xattr_get(h, key, &found, len))
		*len = 0;
	if (h)
		ext2fs_xattrs_close(&h);
	if (!*code && *len && *len <= most)
		memcpy(value, found, *len);
	ext2fs_free_mem(&found);
	return *code || *len > most ? -1 : 0;
}
