// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/direct.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define ALIGN_MASK 511u /* what most devices ask for; the rest refuse */

/* Opened when it is first needed, with the rights that FD has. */
static bool usable(struct rj_direct *d, int fd)
{
	char path[40];
	int flags;

	if (d->off || d->fd >= 0)
		return !d->off;
	flags = fcntl(fd, F_GETFL);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (flags >= 0)
		d->fd = open(path, (flags & O_ACCMODE) | O_DIRECT | O_CLOEXEC);
	d->off = d->fd < 0;
	return !d->off;
}

bool rj_direct_read(
	struct rj_direct *d, int fd, void *out, size_t len, uint64_t off)
{
	ssize_t n;

	if (len < RJ_DIRECT_BYTES ||
		(((uintptr_t)out | len | off) & ALIGN_MASK) || !usable(d, fd))
		return false;
	n = pread(d->fd, out, len, (off_t)off);
	if (n < 0 && errno == EINVAL)
		d->off = true;
	return n == (ssize_t)len;
}

bool rj_direct_writev(struct rj_direct *d, int fd, const struct iovec *iov,
	int count, uint64_t off)
{
	uint64_t bits = off;
	size_t len = 0;
	ssize_t n;
	int i;

	for (i = 0; i < count; i++) {
		bits |= (uintptr_t)iov[i].iov_base | iov[i].iov_len;
		len += iov[i].iov_len;
	}
	if (len < RJ_DIRECT_BYTES || (bits & ALIGN_MASK) || !usable(d, fd))
		return false;
	n = pwritev(d->fd, iov, count, (off_t)off);
	if (n < 0 && errno == EINVAL)
		d->off = true;
	return n == (ssize_t)len;
}

int rj_direct_fd(struct rj_direct *d, int fd)
{
	return usable(d, fd) ? d->fd : -1;
}

void rj_direct_close(struct rj_direct *d)
{
	if (d->fd >= 0)
		close(d->fd); /* each write reported its own outcome */
	d->fd = -1;
}
