// SPDX-License-Identifier: GPL-2.0-or-later
/* Flush the volume's own disk before a commit block is shipped. (For the store the
 * kernel's fsync waits later, in commit/put-wait.c.) */
#include "volume-flush.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jbd2/jbd2.h"

/*
 * fsync(2) of a block device writes back all of its page cache first, where
 * the kernel has its metadata: more than a flush, and it would wait for buffers
 * that the running commit holds. msync(2) of one page writes back that page
 * only, and then flushes the device just the same. The last page is part of a
 * file or of nothing.
 */
static int map_page(struct rj_volume_flush *b, const char *device,
	struct rj_error *err)
{
	off_t end = lseek(b->fd, 0, SEEK_END), page = sysconf(_SC_PAGESIZE);

	if (end < page)
		return rj_fail(err, RJ_E_IO, "%s: too small", device);
	b->page = mmap(NULL, (size_t)page, PROT_READ, MAP_SHARED, b->fd,
		end / page * page - page);
	if (b->page != MAP_FAILED)
		return 0;
	b->page = NULL;
	return rj_fail_errno(err, errno, "%s: cannot map it", device);
}

int rj_volume_flush_open(struct rj_volume_flush *b, const char *device,
	uint32_t block_size, struct rj_error *err)
{
	struct stat st;
	int rc = 0;

	*b = (struct rj_volume_flush){.block_size = block_size};
	b->fd = open(device, O_RDWR | O_CLOEXEC);
	if (b->fd < 0 || fstat(b->fd, &st))
		rc = rj_fail_errno(err, errno, "%s", device);
	else if (S_ISBLK(st.st_mode))
		rc = map_page(b, device, err);
	if (rc)
		rj_volume_flush_close(b);
	return rc;
}

static bool has_commit(
	const struct rj_volume_flush *b, const uint8_t *data, size_t len)
{
	enum rj_jbd2_block_type type;
	uint32_t tid;
	size_t at;

	for (at = 0; at + b->block_size <= len; at += b->block_size) {
		if (rj_jbd2_block_header(data + at, &type, &tid) &&
			type == RJ_JBD2_COMMIT)
			return true;
	}
	return false;
}

int rj_volume_flush_before_commit(const struct rj_volume_flush *b,
	const void *data, size_t len, struct rj_error *err)
{
	int rc;

	if (b->fd < 0 || !has_commit(b, data, len))
		return 0;
	if (b->page)
		rc = msync(b->page, (size_t)sysconf(_SC_PAGESIZE), MS_SYNC);
	else
		rc = fdatasync(b->fd);
	return rc ? rj_fail_errno(err, errno, "cannot flush the volume") : 0;
}

void rj_volume_flush_close(struct rj_volume_flush *b)
{
	if (b->page)
		munmap(b->page, (size_t)sysconf(_SC_PAGESIZE));
	if (b->fd >= 0)
		close(b->fd);
	*b = (struct rj_volume_flush){.fd = -1};
}
