// SPDX-License-Identifier: GPL-2.0-or-later
#define FUSE_USE_VERSION 35
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_INO  2
#define FILE_NAME "rjbackup" /* losetup shows it */
#define CACHE_S	  86400.0    /* nothing but bytes ever changes */

static int errno_of(int rc)
{
	return rc == -RJ_E_NOSPACE ? ENOSPC : rc == -RJ_E_INVAL ? EINVAL : EIO;
}

static struct stat stat_of(fuse_req_t req, fuse_ino_t ino)
{
	const struct rj_bio *volume = fuse_req_userdata(req);
	struct stat st = {.st_ino = ino, .st_mode = S_IFDIR | 0500, .st_nlink = 2};

	if (ino == FILE_INO) {
		st.st_mode = S_IFREG | 0600;
		st.st_nlink = 1;
		st.st_size = (off_t)volume->size_bytes;
	}
	return st;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	const struct fuse_entry_param e = {
		.ino = FILE_INO,
		.attr = stat_of(req, FILE_INO),
		.attr_timeout = CACHE_S,
		.entry_timeout = CACHE_S,
	};

	if (parent == FUSE_ROOT_ID && !strcmp(name, FILE_NAME))
		fuse_reply_entry(req, &e);
	else
		fuse_reply_err(req, ENOENT);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st = stat_of(req, ino);

	(void)fi;
	fuse_reply_attr(req, &st, CACHE_S);
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	fi->direct_io = 1;
	fuse_reply_open(req, fi);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	struct rj_bio *volume = fuse_req_userdata(req);
	uint64_t at = (uint64_t)off, left = at < volume->size_bytes ? volume->size_bytes - at : 0;
	char *buf;
	int rc;

	(void)ino, (void)fi;
	if (size > left)
		size = (size_t)left;
	buf = malloc(size + 1);
	rc = buf ? volume->read(volume, buf, size, at, NULL) : -RJ_E_NOMEM;
	if (rc)
		fuse_reply_err(req, errno_of(rc));
	else
		fuse_reply_buf(req, buf, size);
	free(buf);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	struct rj_bio *volume = fuse_req_userdata(req);
	int rc = volume->write(volume, data, size, (uint64_t)off, NULL);

	(void)ino, (void)fi;
	if (rc)
		fuse_reply_err(req, errno_of(rc));
	else
		fuse_reply_write(req, size);
}

static const struct fuse_lowlevel_ops ops = {
	.lookup = op_lookup,
	.getattr = op_getattr,
	.open = op_open,
	.read = op_read,
	.write = op_write,
};

/* glibc has these since 2.36. */
static int set(int fs, unsigned command, const char *key, const char *value)
{
	return (int)syscall(SYS_fsconfig, fs, command, key, value, 0);
}

int serve_connect(int *fuse, int *mnt, struct rj_error *err)
{
	char fd[16];
	int fs, rc = 0;

	*fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (*fuse < 0)
		return rj_fail_errno(err, errno, "/dev/fuse (is the fuse module loaded?)");
	snprintf(fd, sizeof(fd), "%d", *fuse);
	fs = (int)syscall(SYS_fsopen, "fuse", FSOPEN_CLOEXEC);
	if (fs < 0 || set(fs, FSCONFIG_SET_STRING, "source", "rjbackup") ||
		set(fs, FSCONFIG_SET_STRING, "fd", fd) ||
		set(fs, FSCONFIG_SET_STRING, "rootmode", "40000") ||
		set(fs, FSCONFIG_SET_STRING, "user_id", "0") ||
		set(fs, FSCONFIG_SET_STRING, "group_id", "0") ||
		set(fs, FSCONFIG_CMD_CREATE, NULL, NULL) ||
		(*mnt = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0)) < 0)
		rc = rj_fail_errno(err, errno, "cannot make a FUSE file system");
	if (fs >= 0)
		close(fs);
	return rc;
}

static int serve(struct rj_bio *volume, int fuse)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct fuse_session *session;
	char name[32];

	snprintf(name, sizeof(name), "/dev/fd/%d", fuse);
	if (fuse_opt_add_arg(&args, "rjbackup"))
		return 1;
	session = fuse_session_new(&args, &ops, sizeof(ops), volume);
	if (!session || fuse_session_mount(session, name))
		return 1;
	return fuse_session_loop(session) ? 1 : 0;
}

int serve_start(struct rj_bio *volume, int *fuse, int mnt, struct rj_error *err)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), i;
	pid_t child;

	if (null < 0)
		return rj_fail_errno(err, errno, "/dev/null");
	fflush(NULL);
	child = fork();
	if (!child) {
		close(mnt); /* or the file system would never end */
		for (i = 0; i < 3; i++)
			dup2(null, i);
		_exit(setsid() < 0 || chdir("/") ? 1 : serve(volume, *fuse));
	}
	i = errno;
	close(null);
	close(*fuse); /* or opening the file would wait for a child that died */
	*fuse = -1;
	return child < 0 ? rj_fail_errno(err, i, "cannot fork") : 0;
}

int serve_open(int mnt, int flags, struct rj_error *err)
{
	int fd = openat(mnt, FILE_NAME, flags | O_CLOEXEC);

	return fd < 0 ? rj_fail_errno(err, errno, "cannot open the volume over FUSE") : fd;
}
