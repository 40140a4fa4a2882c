// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libfuse is given each request as one piece of memory, and answers by a call of ours
 * (fuse_session_custom_io()). A request comes as headers and as a payload, in a buffer of
 * the ring's entry; the headers are copied to the place right before the payload.
 */
#define FUSE_USE_VERSION 35
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <liburing.h>
#include <linux/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fuse-ring.h"

#define QUEUE_ENTRIES 16u /* of each CPU's queue */
#define PAYLOAD_BYTES (1u << 20)
#define HEADROOM      4096u

/* Linux 6.14; older headers do not have them. */
#define OVER_IO_URING_2 (1u << (41 - 32)) /* in flags2 of FUSE_INIT */
enum { CMD_REGISTER = 1, CMD_COMMIT_AND_FETCH = 2 };
struct ring_headers {
	uint8_t in_out[128]; /* struct fuse_in_header, then struct fuse_out_header */
	uint8_t op_in[128];  /* what comes before the payload */
	uint64_t flags, commit_id;
	uint32_t payload_bytes, padding;
	uint64_t reserved;
};
struct ring_cmd {
	uint64_t flags, commit_id;
	uint16_t queue;
	uint8_t padding[6];
};

struct entry {
	struct ring_headers headers;
	uint8_t *payload; /* behind HEADROOM bytes */
	struct iovec iov[2];
	unsigned queue;
};

static struct io_uring ring;
static struct entry *current; /* is being answered; NULL: what /dev/fuse gave */

static ssize_t reply(int fd, struct iovec *iov, int count, void *userdata)
{
	struct fuse_init_out *init = count > 1 ? iov[1].iov_base : NULL;
	size_t at = 0;
	int i;

	if (!current) {
		if (init) {
			init->flags |= FUSE_INIT_EXT;
			init->flags2 |= OVER_IO_URING_2;
		}
		return writev(fd, iov, count);
	}
	memcpy(current->headers.in_out, iov[0].iov_base, sizeof(struct fuse_out_header));
	for (i = 1; i < count; at += iov[i++].iov_len)
		memcpy(current->payload + at, iov[i].iov_base, iov[i].iov_len);
	current->headers.payload_bytes = (uint32_t)at;
	return (ssize_t)(iov[0].iov_len + at);
}

static ssize_t get(int fd, void *buf, size_t bytes, void *userdata)
{
	return read(fd, buf, bytes);
}

static struct io_uring_sqe *command(int fd, unsigned op, struct entry *e)
{
	struct io_uring_sqe *s = io_uring_get_sqe(&ring);
	const struct ring_cmd c = {
		.commit_id = op == CMD_REGISTER ? 0 : e->headers.commit_id,
		.queue = (uint16_t)e->queue,
	};

	memset(s, 0, 2 * sizeof(*s)); /* IORING_SETUP_SQE128 */
	s->opcode = IORING_OP_URING_CMD;
	s->fd = fd;
	s->cmd_op = op;
	s->user_data = (uint64_t)(uintptr_t)e;
	memcpy(s->cmd, &c, sizeof(c));
	return s;
}

/* Give the kernel QUEUE_ENTRIES entries for each CPU there may be. */
static int add_entries(int fd)
{
	unsigned i, n = (unsigned)sysconf(_SC_NPROCESSORS_CONF) * QUEUE_ENTRIES;
	struct entry *entries = calloc(n, sizeof(*entries));
	struct io_uring_sqe *s;
	struct entry *e;
	uint8_t *mem;
	int rc;

	rc = io_uring_queue_init(n, &ring, IORING_SETUP_SQE128 |
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
	for (i = 0; entries && !rc && i < n; i++) {
		e = &entries[i];
		mem = aligned_alloc(HEADROOM, HEADROOM + PAYLOAD_BYTES);
		if (!mem)
			return -1;
		e->payload = mem + HEADROOM;
		e->queue = i / QUEUE_ENTRIES;
		e->iov[0] = (struct iovec){&e->headers, sizeof(e->headers)};
		e->iov[1] = (struct iovec){e->payload, PAYLOAD_BYTES};
		s = command(fd, CMD_REGISTER, e);
		s->addr = (uint64_t)(uintptr_t)e->iov;
		s->len = 2;
	}
	errno = rc ? -rc : errno;
	return rc || !entries || io_uring_submit(&ring) < 0 ? -1 : 0;
}

static void process(struct fuse_session *se, struct entry *e)
{
	struct fuse_in_header head;
	struct fuse_buf buf;
	size_t op_bytes;

	memcpy(&head, e->headers.in_out, sizeof(head));
	op_bytes = head.len - sizeof(head) - e->headers.payload_bytes;
	buf = (struct fuse_buf){.size = head.len};
	buf.mem = e->payload - op_bytes - sizeof(head);
	memcpy(buf.mem, &head, sizeof(head));
	memcpy((uint8_t *)buf.mem + sizeof(head), e->headers.op_in, op_bytes);
	current = e;
	fuse_session_process_buf(se, &buf);
	command(fuse_session_fd(se), CMD_COMMIT_AND_FETCH, e);
}

static int loop(struct fuse_session *se)
{
	struct io_uring_cqe *cqe;
	unsigned head, count;
	int rc, res = 0;

	while (res >= 0 && !fuse_session_exited(se)) {
		rc = io_uring_submit_and_wait(&ring, 1);
		if (rc < 0 && rc != -EINTR)
			return errno = -rc, -1;
		count = 0;
		io_uring_for_each_cqe(&ring, head, cqe) {
			count++;
			res = cqe->res;
			if (res >= 0)
				process(se, (struct entry *)(uintptr_t)cqe->user_data);
		}
		io_uring_cq_advance(&ring, count);
	}
	errno = -res;
	return res < 0 && res != -ENOTCONN ? -1 : 0;
}

int fuse_ring_serve(struct fuse_session *se, const char *mountpoint)
{
	static const struct fuse_custom_io io = {.writev = reply, .read = get};
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC), rc = -1;
	struct fuse_buf greeting = {0};
	char options[64];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (fd >= 0 && !fuse_session_custom_io(se, &io, fd) &&
		!mount("slow-disk", mountpoint, "fuse", 0, options) &&
		fuse_session_receive_buf(se, &greeting) > 0) {
		fuse_session_process_buf(se, &greeting);
		rc = add_entries(fd) ? -1 : loop(se);
	}
	free(greeting.mem);
	return rc;
}
