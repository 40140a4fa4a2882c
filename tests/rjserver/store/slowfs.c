// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slowfs DIR MOUNTPOINT GATE: the files of DIR, never cached. While the file GATE
 * exists, a read of a data file (.rjd) waits; each that waits adds a byte to
 * GATE.parked. In the foreground, until it is unmounted.
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
	return result(fchmodat(top, below(path), mode, 0));
}

static int s_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
	return result(ftruncate((int)fi->fh, size));
}

static int keep(int fd, struct fuse_file_info *fi)
{
	fi->fh = (uint64_t)fd;
	fi->direct_io = 1;
	return fd < 0 ? -errno : 0;
}

static int s_open(const char *path, struct fuse_file_info *fi)
{
	return keep(openat(top, below(path), fi->flags & ~O_DIRECT), fi);
}

static int s_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	return keep(openat(top, below(path),
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
	if (strstr(path, ".rjd") && !access(gate, F_OK))
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

static int s_readdir(const char *path, void *buf, fuse_fill_dir_t fill,
	off_t off, struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	DIR *d = fdopendir(openat(top, below(path), O_RDONLY | O_DIRECTORY));
	struct dirent *e;

	if (!d)
		return -errno;
	while ((e = readdir(d)))
		if (fill(buf, e->d_name, NULL, 0, 0))
			break;
	closedir(d);
	return 0;
}

static const struct fuse_operations ops = {
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
	.readdir = s_readdir,
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
