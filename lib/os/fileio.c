// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read and write files whole, and sync directories. */
#include "os/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/log.h"

int rj_pread_all(int fd, void *out, size_t len, uint64_t off, const char *what,
	struct rj_error *err)
{
	uint8_t *p = out;
	ssize_t n;

	while (len) {
		n = pread(fd, p, len, (off_t)off);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rj_fail_errno(err, errno,
				"%s: cannot read %zu bytes at byte %llu", what,
				len, (unsigned long long)off);
		if (n == 0)
			return rj_fail(err, RJ_E_IO,
				"%s: ends before byte %llu", what,
				(unsigned long long)off + len);
		p += n;
		len -= (size_t)n;
		off += (uint64_t)n;
	}
	return 0;
}

int rj_pwrite_all(int fd, const void *data, size_t len, uint64_t off,
	const char *what, struct rj_error *err)
{
	const uint8_t *p = data;
	ssize_t n;

	while (len) {
		n = pwrite(fd, p, len, (off_t)off);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return rj_fail_errno(err, n ? errno : EIO,
				"%s: cannot write %zu bytes at byte %llu", what,
				len, (unsigned long long)off);
		p += n;
		len -= (size_t)n;
		off += (uint64_t)n;
	}
	return 0;
}

/* What fallocate(2) takes in one call: a signal or a slow device gets a turn */
#define ZERO_STEP  (256u << 20)
#define ZERO_CHUNK (1u << 20)

static int write_zeros(int fd, uint64_t len, uint64_t off, const char *what,
	struct rj_error *err)
{
	uint8_t *zeros = calloc(1, ZERO_CHUNK);
	size_t n;
	int rc = 0;

	if (!zeros)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", what);
	for (; !rc && len; len -= n, off += n) {
		n = len < ZERO_CHUNK ? (size_t)len : ZERO_CHUNK;
		rc = rj_pwrite_all(fd, zeros, n, off, what, err);
	}
	free(zeros);
	return rc;
}

int rj_fd_zero(int fd, uint64_t len, uint64_t off, const char *what,
	struct rj_error *err)
{
	/* a hole is as good, and the only thing that tmpfs can do */
	static const int modes[] = {FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
		FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE};
	unsigned mode = 0;
	struct stat st;
	uint64_t n;

	/* on a device the second would discard, which need not read as zeros */
	unsigned count = !fstat(fd, &st) && S_ISREG(st.st_mode) ? 2 : 1;

	while (len && mode < count) {
		n = len < ZERO_STEP ? len : ZERO_STEP;
		if (!fallocate(fd, modes[mode], (off_t)off, (off_t)n)) {
			off += n;
			len -= n;
		} else if (errno != EINTR) {
			mode++;
		}
	}
	return len ? write_zeros(fd, len, off, what, err) : 0;
}

int rj_write_all(int fd, const void *data, size_t len, const char *what,
	struct rj_error *err)
{
	const uint8_t *p = data;
	ssize_t n;

	while (len) {
		n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return rj_fail_errno(err, n ? errno : EIO,
				"%s: cannot write", what);
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int rj_fsync(int fd, const char *what, struct rj_error *err)
{
	if (fsync(fd))
		return rj_fail_errno(err, errno, "%s: cannot fsync", what);
	return 0;
}

void rj_take_old_error(int fd, const char *what)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISBLK(st.st_mode) && fsync(fd))
		rj_log(RJ_LOG_WARNING,
			"%s: a write before this one failed (%s): look at the kernel's log, and at the disk",
			what, strerror(errno));
}

int rj_fsync_dir(const char *path, struct rj_error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot open", path);
	rc = rj_fsync(fd, path, err);
	close(fd); /* opened for reading: nothing of ours can be lost */
	return rc;
}

int rj_fsync_parent(const char *path, struct rj_error *err)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, slash == path
						     ? 1
						     : (size_t)(slash - path))
			  : strdup(".");
	int rc;

	if (!dir)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	rc = rj_fsync_dir(dir, err);
	free(dir);
	return rc;
}

int rj_fd_above(int *fd, int other, struct rj_error *err)
{
	int above = *fd > other ? *fd : fcntl(*fd, F_DUPFD_CLOEXEC, other + 1);

	if (above == -1)
		return rj_fail_errno(err, errno, "cannot duplicate a descriptor");
	if (above != *fd)
		close(*fd);
	*fd = above;
	return 0;
}

int rj_close(int *fd, const char *what, struct rj_error *err)
{
	int old = *fd;

	*fd = -1;
	if (old >= 0 && close(old) && errno != EINTR)
		return rj_fail_errno(err, errno, "%s: cannot close", what);
	return 0;
}

int rj_replace_file(const char *path, mode_t mode, const void *data, size_t len,
	struct rj_error *err)
{
	char tmp[PATH_MAX + 8];
	int fd, rc, close_rc;

	snprintf(tmp, sizeof(tmp), "%s.tmp", path);
	unlink(tmp); /* of a process that was killed */
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot create", tmp);
	rc = fchmod(fd, mode) ? rj_fail_errno(err, errno, "%s: cannot chmod", tmp) : 0;
	if (!rc)
		rc = rj_write_all(fd, data, len, tmp, err);
	if (!rc)
		rc = rj_fsync(fd, tmp, err);
	close_rc = rj_close(&fd, tmp, rc ? NULL : err);
	if (!rc)
		rc = close_rc;
	if (!rc && rename(tmp, path))
		rc = rj_fail_errno(err, errno, "%s: cannot replace", path);
	if (rc) {
		unlink(tmp);
		return rc;
	}
	return rj_fsync_parent(path, err);
}

int rj_make_dir(const char *path, struct rj_error *err)
{
	char parent[PATH_MAX], *slash;

	if (!mkdir(path, 0700) || errno == EEXIST)
		return 0;
	if (errno != ENOENT)
		return rj_fail_errno(err, errno, "%s", path);
	snprintf(parent, sizeof(parent), "%s", path);
	slash = strrchr(parent, '/');
	*slash = 0;
	if (slash != parent && (!mkdir(parent, 0700) || errno == EEXIST) &&
		!mkdir(path, 0700))
		return 0;
	return rj_fail_errno(err, errno, "%s", path);
}

int rj_read_file(const char *path, size_t max, struct rj_buf *out,
	struct rj_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t start = out->len;
	ssize_t n;
	int rc = 0;

	if (fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot open", path);
	for (;;) {
		if (rj_buf_reserve(out, 65536)) {
			rc = rj_fail(err, RJ_E_NOMEM, "%s: out of memory", path);
			break;
		}
		n = read(fd, out->data + out->len, 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			rc = rj_fail_errno(err, errno, "%s: cannot read", path);
			break;
		}
		if (n == 0)
			break;
		out->len += (size_t)n;
		if (out->len - start > max) {
			rc = rj_fail(err, RJ_E_INVAL,
				"%s: longer than %zu bytes", path, max);
			break;
		}
	}
	close(fd);
	return rc;
}

int rj_fd_size(int fd, const char *what, uint64_t *bytes, struct rj_error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return rj_fail_errno(err, errno, "%s: cannot stat", what);
	if (S_ISBLK(st.st_mode)) {
		if (ioctl(fd, BLKGETSIZE64, bytes))
			return rj_fail_errno(err, errno,
				"%s: cannot read its size", what);
		return 0;
	}
	if (!S_ISREG(st.st_mode))
		return rj_fail(err, RJ_E_INVAL,
			"%s: not a block device or regular file", what);
	*bytes = (uint64_t)st.st_size;
	return 0;
}

void rj_fill_standard_fds(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

bool rj_device_read_only(int fd, int sys_errno)
{
	int ro = 0;

	if (fd < 0)
		return sys_errno == EROFS;
	return !ioctl(fd, BLKROGET, &ro) && ro;
}
