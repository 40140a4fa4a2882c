// SPDX-License-Identifier: GPL-2.0-or-later
/* Make a data file, all of its blocks written once. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/fileio.h"
#include "store.h"

/*
 * Give the new file blocks that were written once. Blocks that fallocate()
 * only promised would have to be converted at the first write, and each
 * fdatasync would wait for the file system's journal: it took twice as long.
 */
static int fill_file(int fd, uint64_t bytes, bool fresh, const char *path,
	struct rj_error *err)
{
	static const uint8_t zeros[1 << 20];
	struct statfs fs;
	uint64_t off, n;
	int rc = 0;

	if (fallocate(fd, 0, 0, (off_t)bytes) && errno != EOPNOTSUPP)
		return rj_fail_errno(err, errno,
			"%s: cannot allocate %llu bytes", path,
			(unsigned long long)bytes);
	if (fresh && !fstatfs(fd, &fs) && fs.f_type == TMPFS_MAGIC)
		return 0; /* they are as good as written */
	for (off = 0; off < bytes && !rc; off += n) {
		n = bytes - off < sizeof(zeros) ? bytes - off : sizeof(zeros);
		rc = rj_pwrite_all(fd, zeros, n, off, path, err);
		/* in small portions, so that commits are not held up long */
		if (!rc && off % (4 << 20) == 0)
			rc = rj_fsync(fd, path, err);
	}
	return rc;
}

/* A dropped file of the right size, or a new one; NAME is where it is. */
static int open_new(const char *path, const char *spare, uint64_t bytes,
	const char **name, struct rj_error *err)
{
	struct stat st;
	int fd;

	*name = spare;
	fd = open(spare, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0) {
		if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
			st.st_size == (off_t)bytes)
			return fd;
		close(fd); /* not ours, or of another size */
		unlink(spare);
	}
	*name = path;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot create", path);
	return fd;
}

int store_file_make(const char *dir, const char *path, const char *spare,
	const struct file_head *head, int *fd, struct rj_error *err)
{
	uint8_t raw[FILE_HEAD_BYTES];
	const char *name;
	int rc;

	*fd = open_new(path, spare, head->bytes, &name, err);
	if (*fd < 0)
		return *fd;
	file_head_encode(head, raw);
	/* its old name must be gone for good before its bytes are */
	rc = name == spare ? rj_fsync_dir(dir, err) : 0;
	if (!rc)
		rc = fill_file(*fd, head->bytes, name == path, name, err);
	if (!rc)
		rc = rj_pwrite_all(*fd, raw, sizeof(raw), 0, name, err);
	if (!rc)
		rc = rj_fsync(*fd, name, err);
	/* only now, when nothing of what it held before is left */
	if (!rc && name == spare && rename(spare, path))
		rc = rj_fail_errno(err, errno, "%s: cannot rename", spare);
	else if (!rc)
		name = path;
	if (!rc)
		rc = rj_fsync_dir(dir, err);
	if (rc) {
		close(*fd); /* it holds nothing, and is gone */
		unlink(name);
		return rc;
	}
	/* what is written past the page cache need not be dropped from it */
	posix_fadvise(*fd, 0, 0, POSIX_FADV_DONTNEED);
	return 0;
}
