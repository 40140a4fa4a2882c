// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/base/target.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ext4/journal.h"
#include "os/fileio.h"

bool rj_target_is_device(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISBLK(st.st_mode);
}

static int make_zeros(int fd, const char *path, uint64_t from, uint64_t to, struct rj_error *err)
{
	int rc = 0;

	/* zeros by unmapping, where the device can do that (blkdev_fallocate()) */
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
		    (off_t)(to - from)))
		rc = rj_fd_zero(fd, to - from, from, path, err);
	return rc ? rc : rj_fsync(fd, path, err);
}

static int check_size(int fd, const char *path, uint64_t bytes, struct rj_error *err)
{
	uint64_t has;
	int rc = rj_fd_size(fd, path, &has, err);

	if (!rc && has < bytes)
		rc = rj_fail(err, RJ_E_NOSPACE, "%s: has %llu bytes, and the volume %llu", path,
			(unsigned long long)has, (unsigned long long)bytes);
	return rc;
}

static int check_fits(const char *path, uint64_t bytes, struct rj_error *err)
{
	int fd, rc;

	if (!rj_target_is_device(path))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot open", path);
	rc = check_size(fd, path, bytes, err);
	close(fd); /* only read */
	return rc;
}

int rj_target_grow(struct rj_bio *fs, int fd, const char *path, uint64_t from, uint64_t to,
	struct rj_error *err)
{
	int rc = 0;

	if (!fs)
		return check_fits(path, to, err);
	if (rj_target_is_device(path)) {
		rc = check_size(fd, path, to, err);
		if (!rc)
			rc = make_zeros(fd, path, from, to, err);
	} else if (ftruncate(fd, (off_t)from) || ftruncate(fd, (off_t)to)) {
		rc = rj_fail_errno(err, errno, "%s: cannot grow to %llu bytes, as the volume did",
			path, (unsigned long long)to);
	}
	if (!rc && fs->size_bytes < to)
		fs->size_bytes = to;
	return rc;
}

int rj_target_open(const char *path, uint64_t bytes, int *fd, struct rj_error *err)
{
	int rc;

	*fd = open(path, O_RDWR | O_EXCL | O_CLOEXEC);
	if (*fd < 0 && errno == EBUSY)
		return rj_fail(err, RJ_E_BUSY, "%s: is mounted, or in use otherwise", path);
	if (*fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot open", path);
	rj_take_old_error(*fd, path);
	rc = check_size(*fd, path, bytes, err);
	if (!rc)
		rc = rj_check_blank(*fd, path, err);
	return rc ? rc : make_zeros(*fd, path, 0, bytes, err);
}

int rj_target_share(const char *path, int *fd, struct rj_error *err)
{
	int rc = rj_fsync(*fd, path, err);

	if (!rc)
		rc = rj_close(fd, path, err);
	if (rc)
		return rc;
	*fd = open(path, O_RDWR | O_CLOEXEC);
	return *fd < 0 ? rj_fail_errno(err, errno, "%s: cannot open", path) : 0;
}
