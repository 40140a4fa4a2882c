/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Direct I/O beside a file descriptor: large, aligned transfers go around the
 * page cache. Only an attempt: whatever is refused, fails or is short is for
 * the ordinary way to do again, and to report. The kernel keeps the two
 * coherent; fsync of the ordinary descriptor covers both.
 */
#ifndef RJ_OS_DIRECT_H
#define RJ_OS_DIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define RJ_DIRECT_BYTES 65536u /* the smallest transfer that is tried */

struct rj_direct {
	int fd; /* -1: not open */
	bool off;
};

#define RJ_DIRECT_INIT ((struct rj_direct){.fd = -1})

/* FD: the ordinary descriptor of the file. True: all bytes were transferred. */
bool rj_direct_read(
	struct rj_direct *d, int fd, void *out, size_t len, uint64_t off);
bool rj_direct_writev(struct rj_direct *d, int fd, const struct iovec *iov,
	int count, uint64_t off);
/* The descriptor for direct I/O, open until rj_direct_close(); -1: none. */
int rj_direct_fd(struct rj_direct *d, int fd);
void rj_direct_close(struct rj_direct *d);

#endif
