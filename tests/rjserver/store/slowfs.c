// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slowfs DIR MOUNTPOINT GATE: the files of DIR, never cached. While the file GATE
 * exists, a read of a data file (.rjd) waits; each that waits adds a byte to
 * GATE.parked, and holds up nothing else. In the foreground, until it is unmounted.
 */
#define FUSE_USE_VERSION 35
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <dirent.h>

#define DATA (1ull << 32) /* in a handle, beside the descriptor: of a data file */

static int top;
static const char *gate;
static char parked[4096];

static const char *below(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static int result(long rc)
{
	return rc < 0 ? -errno : (int)rc;
}

static int s_getattr(
	const char *path, struct stat *st, struct fuse_file_info *fi)
{
	if (fi)
		return result(fstat((int)fi->fh, st));
	return result(fstatat(top, below(path), st, AT_SYMLINK_NOFOLLOW));
}

static int s_mkdir(const char *path, mode_t mode)
{
	return result(mkdirat(top, below(path), mode));
}

static int s_mknod(const char *path, mode_t mode, dev_t dev)
{
	return result(mknodat(top, below(path), mode, dev));
}

static int s_unlink(const char *path)
{
	return result(unlinkat(top, below(path), 0));
}

static int s_rename(const char *from, const char *to, unsigned flags)
{
	return result(renameat2(top, below(from), top, below(to), flags));
}

static int s_chmod(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	if (fi)
		return result(fchmod((int)fi->fh, mode));
	return result(fchmodat(top, below(path), mode, 0));
}

static int s_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
	return result(ftruncate((int)fi->fh, size));
}

static int keep(const char *path, int fd, struct fuse_file_info *fi)
{
	if (fd < 0)
		return -errno;
	fi->fh = (uint64_t)fd | (strstr(path, ".rjd") ? DATA : 0);
	fi->direct_io = 1;
	return 0;
}

static int s_open(const char *path, struct fuse_file_info *fi)
{
	return keep(path, openat(top, below(path), fi->flags & ~O_DIRECT), fi);
}

static int s_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	return keep(path, openat(top, below(path),
				  (fi->flags & ~O_DIRECT) | O_CREAT, mode),
		fi);
}

static int s_release(const char *path, struct fuse_file_info *fi)
{
	return result(close((int)fi->fh));
}

static void park(void)
{
	int fd = open(parked, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, "x", 1) != 1)
		abort();
	close(fd);
	while (!access(gate, F_OK))
		usleep(10000);
}

static int s_read(const char *path, char *buf, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	if ((fi->fh & DATA) && !access(gate, F_OK))
		park();
	return result(pread((int)fi->fh, buf, size, off));
}

static int s_write(const char *path, const char *buf, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	return result(pwrite((int)fi->fh, buf, size, off));
}

static int s_fsync(const char *path, int data, struct fuse_file_info *fi)
{
	return result(fdatasync((int)fi->fh));
}

static int s_fallocate(const char *path, int mode, off_t off, off_t len,
	struct fuse_file_info *fi)
{
	return result(fallocate((int)fi->fh, mode, off, len));
}

static int s_statfs(const char *path, struct statvfs *st)
{
	return result(fstatvfs(top, st));
}

static int s_opendir(const char *path, struct fuse_file_info *fi)
{
	int fd = openat(top, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	fi->fh = (uintptr_t)d;
	return d ? 0 : -errno;
}

static int s_readdir(const char *path, void *buf, fuse_fill_dir_t fill,
	off_t off, struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	DIR *d = (DIR *)(uintptr_t)fi->fh;
	struct dirent *e;

	rewinddir(d);
	while ((e = readdir(d)))
		if (fill(buf, e->d_name, NULL, 0, 0))
			break;
	return 0;
}

static int s_releasedir(const char *path, struct fuse_file_info *fi)
{
	return result(closedir((DIR *)(uintptr_t)fi->fh));
}

/* A file that is being read can be deleted, as on a disk. */
static void *s_init(struct fuse_conn_info *conn, struct fuse_config *cfg)
{
	cfg->hard_remove = 1;
	cfg->nullpath_ok = 1; /* with a path, libfuse has an unlink wait for reads */
	return NULL;
}

static const struct fuse_operations ops = {
	.init = s_init,
	.getattr = s_getattr,
	.mkdir = s_mkdir,
	.mknod = s_mknod,
	.unlink = s_unlink,
	.rename = s_rename,
	.chmod = s_chmod,
	.truncate = s_truncate,
	.open = s_open,
	.create = s_create,
	.release = s_release,
	.read = s_read,
	.write = s_write,
	.fsync = s_fsync,
	.fallocate = s_fallocate,
	.statfs = s_statfs,
	.opendir = s_opendir,
	.readdir = s_readdir,
	.releasedir = s_releasedir,
};

int main(int argc, char **argv)
{
	char *args[] = {argv[0], (char *)"-f", argv[2], NULL};

	if (argc != 4)
		return 2;
	top = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
	gate = argv[3];
	snprintf(parked, sizeof(parked), "%s.parked", gate);
	if (top < 0) {
		perror(argv[1]);
		return 2;
	}
	return fuse_main(3, args, &ops, NULL);
}
