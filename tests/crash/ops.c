// SPDX-License-Identifier: GPL-2.0-or-later
#include "ops.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define DIRECT_ALIGNED 4096
#define VERITY_BLOCK   4096

static int close_with(int fd, int rc)
{
	int saved = errno;

	if (close(fd) && !rc)
		return -1;
	errno = saved;
	return rc;
}

static int sync_dir(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -1 : close_with(fd, fsync(fd));
}

/* Of a file in its inode the kernel's fdatasync forgets what was overwritten; after mmap and
 * fallocate fsync does, too (doc/upstream/inline-data.md): it is written to instead. */
static bool is_inline(int fd)
{
	int flags = 0;

	return !ioctl(fd, FS_IOC_GETFLAGS, &flags) && flags & FS_INLINE_DATA_FL;
}

static int done(int fd, enum op_sync sync, int rc)
{
	if (sync == OP_SYNC_DATA && is_inline(fd))
		sync = OP_SYNC_ALL;
	if (!rc && sync == OP_SYNC_DATA)
		rc = fdatasync(fd);
	else if (!rc && sync == OP_SYNC_ALL)
		rc = fsync(fd);
	return close_with(fd, rc);
}

static int put(int fd, const void *data, uint32_t len, uint32_t off)
{
	ssize_t n = pwrite(fd, data, len, off);

	if (n >= 0 && (size_t)n != len)
		errno = ENOSPC;
	return n < 0 || (size_t)n != len ? -1 : 0;
}

static int put_filled(int fd, const struct op *op)
{
	void *data = NULL;
	int rc;

	errno = posix_memalign(&data, DIRECT_ALIGNED, op->len + 1);
	if (errno)
		return -1;
	ops_fill(data, op->off, op->len, op->fill);
	rc = put(fd, data, op->len, op->off);
	free(data);
	return rc;
}

/* msync is the fdatasync of what is mapped: of all, then. */
static int put_mapped(int fd, const struct op *op, uint32_t size)
{
	uint8_t *map;
	int rc = 0;

	if (is_inline(fd))
		return put_filled(fd, op) ? -1 : fsync(fd);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -1;
	ops_fill(map + op->off, op->off, op->len, op->fill);
	if (op->sync == OP_SYNC_DATA)
		rc = msync(map, size, MS_SYNC);
	return munmap(map, size) ? -1 : rc;
}

static int set_xattr(int fd, const struct op *op)
{
	uint8_t value[OPS_XATTR_MAX];

	if (!op->len)
		return fremovexattr(fd, OPS_XATTR);
	ops_fill(value, 0, op->len, op->fill);
	return fsetxattr(fd, OPS_XATTR, value, op->len, 0);
}

/* ext3 has no extents to move, bigalloc moves whole clusters: the same bytes, written. */
static int allocate(
	int fd, int mode, const struct op *op, const struct ops_version *want)
{
	if (is_inline(fd))
		errno = EOPNOTSUPP;
	else if (!fallocate(fd, mode, op->off, op->len))
		return 0;
	if (errno != EOPNOTSUPP && errno != EINVAL)
		return -1;
	if (op->off < want->size && op->kind != OP_ALLOCATE_KEEP &&
		put(fd, want->data + op->off, want->size - op->off, op->off))
		return -1;
	return ftruncate(fd, want->size);
}

static int act(int fd, const struct op *op, const struct ops_version *want)
{
	switch (op->kind) {
	case OP_MMAP:
		return put_mapped(fd, op, want->size);
	case OP_TRUNCATE:
		return ftruncate(fd, op->len);
	case OP_ALLOCATE:
		return allocate(fd, 0, op, want);
	case OP_ALLOCATE_KEEP:
		return allocate(fd, FALLOC_FL_KEEP_SIZE, op, want);
	case OP_PUNCH:
		return allocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			op, want);
	case OP_ZERO:
		return allocate(fd, FALLOC_FL_ZERO_RANGE, op, want);
	case OP_COLLAPSE:
		return allocate(fd, FALLOC_FL_COLLAPSE_RANGE, op, want);
	case OP_INSERT:
		return allocate(fd, FALLOC_FL_INSERT_RANGE, op, want);
	case OP_XATTR:
		return set_xattr(fd, op);
	default: /* OP_CREATE, OP_WRITE, OP_DIRECT, OP_REPLACE, OP_BIG */
		return put_filled(fd, op);
	}
}

static int act_at(int dir, const char *name, int flags, enum op_sync sync,
	const struct op *op, const struct ops_version *want)
{
	int fd = openat(dir, name, O_RDWR | O_CLOEXEC | flags, 0644);

	if (fd < 0)
		return -1;
	if (op->kind == OP_MMAP && sync == OP_SYNC_DATA)
		sync = OP_SYNC_NONE; /* msync was it */
	return done(fd, sync, act(fd, op, want));
}

/* Where the volume has the feature verity. */
static int seal_at(int dir, const char *name)
{
	struct fsverity_enable_arg arg = {.version = 1,
		.hash_algorithm = FS_VERITY_HASH_ALG_SHA256,
		.block_size = VERITY_BLOCK};
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? -1 : ioctl(fd, FS_IOC_ENABLE_VERITY, &arg);

	if (fd < 0)
		return -1;
	if (rc && (errno == ENOTTY || errno == EOPNOTSUPP || errno == EINVAL))
		rc = 0;
	return close_with(fd, rc);
}

static int replace_at(int dir, const char *name, const struct op *op)
{
	char tmp[OPS_NAME_BYTES + 8];

	snprintf(tmp, sizeof(tmp), "%s.new", name);
	if (act_at(dir, tmp, O_CREAT | O_TRUNC, OP_SYNC_ALL, op, NULL) ||
		(op->kind == OP_BIG && seal_at(dir, tmp)) ||
		renameat(dir, tmp, dir, name))
		return -1;
	return op->sync == OP_SYNC_NONE ? 0 : sync_dir(dir, ".");
}

static int unlink_at(int dir, const char *name, const struct op *op)
{
	if (unlinkat(dir, name, 0))
		return -1;
	return op->sync == OP_SYNC_NONE ? 0 : sync_dir(dir, ".");
}

static int make_tree(int dir, uint32_t names)
{
	char name[OPS_NAME_BYTES];
	uint32_t i;
	int at, fd;

	if (mkdirat(dir, "tree", 0755))
		return -1;
	at = openat(dir, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return -1;
	for (i = 0; i < names; i++) {
		ops_tree_name(name, i);
		fd = openat(at, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0 || close(fd))
			return close_with(at, -1);
	}
	return close_with(at, fsync(at));
}

static int drop_tree(int dir, uint32_t names)
{
	char name[OPS_NAME_BYTES];
	uint32_t i;
	int at = openat(dir, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (at < 0)
		return -1;
	for (i = 0; i < names; i++) {
		ops_tree_name(name, i);
		if (unlinkat(at, name, 0))
			return close_with(at, -1);
	}
	if (close_with(at, 0) || unlinkat(dir, "tree", AT_REMOVEDIR))
		return -1;
	return sync_dir(dir, ".");
}

static int run_in(const struct ops *o, int dir)
{
	const struct op *op = &o->next;
	const struct ops_version *want = ops_now(o, op->slot);
	char name[OPS_NAME_BYTES];

	ops_name(name, op->slot);
	switch (op->kind) {
	case OP_CREATE:
		return act_at(dir, name, O_CREAT | O_EXCL, op->sync, op, want);
	case OP_DIRECT:
		return act_at(dir, name, O_DIRECT, op->sync, op, want);
	case OP_REPLACE:
		return replace_at(dir, name, op);
	case OP_UNLINK:
		return unlink_at(dir, name, op);
	case OP_TREE:
		return make_tree(dir, op->len);
	case OP_UNTREE:
		return drop_tree(dir, o->tree);
	case OP_BIG:
		return replace_at(dir, "big", op);
	default:
		return act_at(dir, name, 0, op->sync, op, want);
	}
}

/* With the volume's feature casefold the names in it are folded. */
static int make_dir(int root, const char *name)
{
	int flags, fd = mkdirat(root, name, 0755)
				? -1
				: openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (!ioctl(fd, FS_IOC_GETFLAGS, &flags)) {
		flags |= FS_CASEFOLD_FL;
		ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
	return close_with(fd, fsync(fd)) ? -1 : sync_dir(root, ".");
}

int ops_run(const struct ops *o, int root)
{
	char name[OPS_NAME_BYTES];
	int dir, rc;

	snprintf(name, sizeof(name), "t%u", o->thread);
	if (o->next.kind == OP_MKDIR)
		return make_dir(root, name);
	dir = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	rc = run_in(o, dir);
	return close_with(dir, rc);
}
