// SPDX-License-Identifier: LGPL-2.1-or-later
/* A ublk device of one queue: the commands of its control device, and the queue. */
#include "config.h"

#include "os/ublk/ublkdev.h"

#ifdef HAVE_UBLK

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/ublk_cmd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/environ.h"

/* Headers before Linux 6.9 do not have all of them. */
#define COPY	      (1ULL << 7) /* UBLK_F_USER_COPY */
#define TAG_OFFSET    25
#define ANY_QUEUE     UINT16_MAX
#define ANY_NUMBER    UINT32_MAX
#define SECTOR_BITS   9
#define CONTROL(op)   _IOWR('u', op, struct ublksrv_ctrl_cmd)
#define GET_INFO      _IOR('u', UBLK_CMD_GET_DEV_INFO, struct ublksrv_ctrl_cmd)
#define GET_FEATURES  _IOR('u', 0x13, struct ublksrv_ctrl_cmd)
#define DELETE_ASYNC  _IOR('u', 0x14, struct ublksrv_ctrl_cmd)
#define QUEUE(op)     _IOWR('u', op, struct ublksrv_io_cmd)
#define LISTEN	      RJ_UBLK_DEPTH /* user_data of what has no tag */
#define RETRY_NS      1000000LL
#define RECOVER	      (UBLK_F_USER_RECOVERY | UBLK_F_USER_RECOVERY_REISSUE)

struct rj_ublk {
	struct io_uring ring;
	int device; /* /dev/ublkcN */
	const struct ublksrv_io_desc *descs; /* the request of each tag */
	uint8_t *buffers; /* RJ_UBLK_BYTES of each tag; NULL: RJ_UBLK_COPY */
	unsigned open_tags; /* not given back by the kernel */
	uint64_t heard;	    /* read from rj_ublk_listen()'s descriptor */
};

static struct io_uring_sqe *blank(struct io_uring *ring)
{
	struct io_uring_sqe *s;

	while (!(s = io_uring_get_sqe(ring))) /* as many as are asked for there are */
		io_uring_submit(ring);
	memset(s, 0, 2 * sizeof(*s)); /* IORING_SETUP_SQE128 */
	return s;
}

static struct io_uring_sqe *command(struct io_uring *ring, int fd, unsigned op,
	const void *cmd, size_t bytes)
{
	struct io_uring_sqe *s = blank(ring);

	s->opcode = IORING_OP_URING_CMD;
	s->fd = fd;
	s->cmd_op = op;
	memcpy(s->cmd, cmd, bytes);
	return s;
}

/* Do a command of the control device, and wait for it: 0 or a negated errno. */
static int control(unsigned op, const struct ublksrv_ctrl_cmd *c)
{
	int fd = open("/dev/ublk-control", O_RDWR | O_CLOEXEC), rc;
	struct io_uring_cqe *cqe;
	struct io_uring ring;

	if (fd == -1)
		return -errno;
	rc = io_uring_queue_init(1, &ring, IORING_SETUP_SQE128);
	if (!rc) {
		command(&ring, fd, op, c, sizeof(*c));
		do
			rc = io_uring_submit_and_wait(&ring, 1);
		while (rc == -EINTR);
		while (rc >= 0 && (rc = io_uring_wait_cqe(&ring, &cqe)) == -EINTR)
			;
		if (!rc)
			rc = cqe->res;
		io_uring_queue_exit(&ring);
	}
	close(fd);
	return rc;
}

int rj_ublk_check(struct rj_error *err)
{
	uint64_t features = 0;
	const struct ublksrv_ctrl_cmd c = {
		.dev_id = ANY_NUMBER,
		.queue_id = ANY_QUEUE,
		.addr = (uint64_t)(uintptr_t)&features,
		.len = sizeof(features),
	};
	int rc = control(GET_FEATURES, &c);

	if (rc == -ENOENT)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"/dev/ublk-control is not there (is the module ublk_drv loaded?)");
	if (rc < 0)
		return rj_fail(err, RJ_E_UNSUPPORTED, "/dev/ublk-control: %s",
			strerror(-rc));
	if (~features & (COPY | RECOVER))
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"/dev/ublk-control: this kernel's ublk is too old");
	return 0;
}

int rj_ublk_add(uint64_t bytes, unsigned block, unsigned flags, uint64_t owner,
	unsigned *number, struct rj_error *err)
{
	const uint8_t bits = (uint8_t)__builtin_ctz(block);
	struct ublksrv_ctrl_dev_info info = {
		.nr_hw_queues = 1,
		.queue_depth = RJ_UBLK_DEPTH,
		.max_io_buf_bytes = RJ_UBLK_BYTES,
		.dev_id = ANY_NUMBER,
		.flags = (flags & RJ_UBLK_COPY ? COPY : 0) |
			 (flags & RJ_UBLK_RECOVER ? RECOVER : 0),
		.ublksrv_flags = owner,
	};
	const struct ublk_params params = {
		.len = sizeof(params),
		.types = UBLK_PARAM_TYPE_BASIC,
		.basic = {
			.attrs = flags & RJ_UBLK_CACHE
				? UBLK_ATTR_VOLATILE_CACHE | UBLK_ATTR_FUA : 0,
			.logical_bs_shift = bits,
			.physical_bs_shift = bits,
			.io_opt_shift = bits,
			.io_min_shift = bits,
			.max_sectors = RJ_UBLK_BYTES >> SECTOR_BITS,
			.dev_sectors = bytes >> SECTOR_BITS,
		},
	};
	struct ublksrv_ctrl_cmd c = {
		.dev_id = info.dev_id,
		.queue_id = ANY_QUEUE,
		.addr = (uint64_t)(uintptr_t)&info,
		.len = sizeof(info),
	};
	int rc = control(CONTROL(UBLK_CMD_ADD_DEV), &c);

	if (rc < 0)
		return rj_fail_errno(err, -rc, "cannot make a ublk device");
	c.dev_id = *number = info.dev_id;
	c.addr = (uint64_t)(uintptr_t)&params;
	c.len = sizeof(params);
	rc = control(CONTROL(UBLK_CMD_SET_PARAMS), &c);
	if (!rc)
		return 0;
	rj_ublk_delete(*number, NULL);
	return rj_fail_errno(err, -rc, "cannot make a ublk device");
}

bool rj_ublk_is_of(unsigned number, uint64_t owner)
{
	struct ublksrv_ctrl_dev_info info = {0};
	const struct ublksrv_ctrl_cmd c = {
		.dev_id = number,
		.queue_id = ANY_QUEUE,
		.addr = (uint64_t)(uintptr_t)&info,
		.len = sizeof(info),
	};

	return !control(GET_INFO, &c) && info.ublksrv_flags == owner;
}

int rj_ublk_take_over(unsigned number, struct rj_error *err)
{
	const struct ublksrv_ctrl_cmd c = {.dev_id = number, .queue_id = ANY_QUEUE};
	int rc;

	/* until the dead server is gone, with all its threads */
	while ((rc = control(CONTROL(UBLK_CMD_START_USER_RECOVERY), &c)) == -EBUSY)
		rj_sleep_ns(RETRY_NS);
	return rc < 0 ? rj_fail_errno(err, -rc,
				"cannot take over " RJ_UBLK_PATH, number)
		      : 0;
}

int rj_ublk_begin(unsigned number, bool again, struct rj_error *err)
{
	const struct ublksrv_ctrl_cmd c = {
		.dev_id = number,
		.queue_id = ANY_QUEUE,
		.data = {(uint64_t)getpid()},
	};
	int rc = control(again ? CONTROL(UBLK_CMD_END_USER_RECOVERY)
			       : CONTROL(UBLK_CMD_START_DEV), &c);

	return rc < 0 ? rj_fail_errno(err, -rc, "cannot start " RJ_UBLK_PATH, number)
		      : 0;
}

int rj_ublk_delete(unsigned number, struct rj_error *err)
{
	const struct ublksrv_ctrl_cmd c = {.dev_id = number, .queue_id = ANY_QUEUE};
	int rc = control(CONTROL(UBLK_CMD_STOP_DEV), &c);

	if (!rc)
		rc = control(DELETE_ASYNC, &c);
	return rc < 0 ? rj_fail_errno(err, -rc, "cannot remove " RJ_UBLK_PATH, number)
		      : 0;
}

static void ask(struct rj_ublk *u, unsigned op, unsigned tag, int result)
{
	uint8_t *to = u->buffers ? u->buffers + (size_t)tag * RJ_UBLK_BYTES : NULL;
	const struct ublksrv_io_cmd c = {
		.tag = (uint16_t)tag,
		.result = result,
		.addr = (uint64_t)(uintptr_t)to,
	};

	command(&u->ring, u->device, QUEUE(op), &c, sizeof(c))->user_data = tag;
}

/* None of it goes to a child that is forked: with a copy of the map the device would seem
 * to be served after our death. */
static int open_queue(struct rj_ublk *u, unsigned number, unsigned flags)
{
	const size_t bytes = (size_t)RJ_UBLK_DEPTH * RJ_UBLK_BYTES;
	char path[32];
	void *p;

	snprintf(path, sizeof(path), "/dev/ublkc%u", number);
	u->device = open(path, O_RDWR | O_CLOEXEC);
	if (u->device < 0)
		return -errno;
	p = mmap(NULL, RJ_UBLK_DEPTH * sizeof(*u->descs), PROT_READ,
		MAP_SHARED | MAP_POPULATE, u->device, UBLKSRV_CMD_BUF_OFFSET);
	if (p == MAP_FAILED)
		return -errno;
	u->descs = p;
	if (madvise(p, RJ_UBLK_DEPTH * sizeof(*u->descs), MADV_DONTFORK))
		return -errno;
	if (flags & RJ_UBLK_COPY)
		return io_uring_ring_dontfork(&u->ring);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	u->buffers = p;
	return io_uring_ring_dontfork(&u->ring);
}

int rj_ublk_open(unsigned number, unsigned flags, struct rj_ublk **out,
	struct rj_error *err)
{
	struct rj_ublk *u = calloc(1, sizeof(*u));
	unsigned tag;
	int rc;

	*out = NULL;
	if (!u)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	u->device = -1;
	rc = io_uring_queue_init(2 * RJ_UBLK_DEPTH, &u->ring, IORING_SETUP_SQE128 |
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
	if (rc) {
		free(u);
		return rj_fail_errno(err, -rc, "io_uring");
	}
	rc = open_queue(u, number, flags);
	for (tag = 0; !rc && tag < RJ_UBLK_DEPTH; tag++)
		ask(u, UBLK_IO_FETCH_REQ, tag, 0);
	if (!rc && (rc = io_uring_submit(&u->ring)) >= 0)
		rc = rc == RJ_UBLK_DEPTH ? 0 : -EIO;
	if (rc) {
		rj_ublk_close(u);
		return rj_fail_errno(err, -rc, "the queue of " RJ_UBLK_PATH, number);
	}
	u->open_tags = RJ_UBLK_DEPTH;
	*out = u;
	return 0;
}

/* Is C a request, or another thing to tell (1)? Fill in R. 0: the tag is given back. An
 * answer that the kernel could not take would never come to its request: a negated errno. */
static int take(struct rj_ublk *u, const struct io_uring_cqe *c,
	struct rj_ublk_request *r)
{
	static const enum rj_ublk_op ops[] = {
		[UBLK_IO_OP_READ] = RJ_UBLK_READ,
		[UBLK_IO_OP_WRITE] = RJ_UBLK_WRITE,
		[UBLK_IO_OP_FLUSH] = RJ_UBLK_FLUSH,
	};
	const struct ublksrv_io_desc *d;
	unsigned op;

	*r = (struct rj_ublk_request){.op = RJ_UBLK_WOKEN};
	if (c->user_data == LISTEN)
		return 1;
	if (c->res == UBLK_IO_RES_ABORT)
		u->open_tags--;
	if (c->res != UBLK_IO_RES_OK)
		return c->res == UBLK_IO_RES_ABORT ? 0 : c->res;
	r->tag = (unsigned)c->user_data;
	d = &u->descs[r->tag];
	op = ublksrv_get_op(d);
	r->op = op < sizeof(ops) / sizeof(*ops) ? ops[op] : RJ_UBLK_OTHER;
	r->at = d->start_sector << SECTOR_BITS;
	r->bytes = (size_t)d->nr_sectors << SECTOR_BITS;
	if (u->buffers)
		r->data = u->buffers + (size_t)r->tag * RJ_UBLK_BYTES;
	return 1;
}

int rj_ublk_next(
	struct rj_ublk *u, struct rj_ublk_request *r, struct rj_error *err)
{
	struct io_uring_cqe *c;
	int rc = 0;

	while (!rc && u->open_tags) {
		if (io_uring_peek_cqe(&u->ring, &c)) {
			rc = io_uring_submit_and_wait(&u->ring, 1);
			if (rc == -EAGAIN || rc == -EBUSY) /* no memory right now */
				rj_sleep_ns(RETRY_NS);
			else if (rc < 0 && rc != -EINTR)
				break;
			rc = 0;
		} else {
			rc = take(u, c, r);
			io_uring_cqe_seen(&u->ring, c);
		}
	}
	return rc < 0 ? rj_fail_errno(err, -rc, "ublk: io_uring") : rc;
}

void rj_ublk_answer(struct rj_ublk *u, unsigned tag, int result)
{
	ask(u, UBLK_IO_COMMIT_AND_FETCH_REQ, tag, result);
}

void rj_ublk_listen(struct rj_ublk *u, int fd)
{
	struct io_uring_sqe *s = blank(&u->ring);

	io_uring_prep_read(s, fd, &u->heard, sizeof(u->heard), 0);
	s->user_data = LISTEN;
}

bool rj_ublk_copy(
	const struct rj_ublk *u, const struct rj_ublk_request *r, uint8_t *data)
{
	const off_t there = UBLKSRV_IO_BUF_OFFSET + ((off_t)r->tag << TAG_OFFSET);

	return (r->op == RJ_UBLK_WRITE ? pread(u->device, data, r->bytes, there)
				       : pwrite(u->device, data, r->bytes, there)) ==
	       (ssize_t)r->bytes;
}

void rj_ublk_close(struct rj_ublk *u)
{
	if (!u)
		return;
	io_uring_queue_exit(&u->ring);
	if (u->buffers)
		munmap(u->buffers, (size_t)RJ_UBLK_DEPTH * RJ_UBLK_BYTES);
	if (u->descs)
		munmap((void *)u->descs, RJ_UBLK_DEPTH * sizeof(*u->descs));
	if (u->device != -1)
		close(u->device);
	free(u);
}

#else

static int absent(struct rj_error *err)
{
	return rj_fail(err, RJ_E_UNSUPPORTED, "built without ublk");
}

int rj_ublk_check(struct rj_error *err)
{
	return absent(err);
}

int rj_ublk_add(uint64_t bytes, unsigned block, unsigned flags, uint64_t owner,
	unsigned *number, struct rj_error *err)
{
	return absent(err);
}

bool rj_ublk_is_of(unsigned number, uint64_t owner)
{
	return false;
}

int rj_ublk_take_over(unsigned number, struct rj_error *err)
{
	return absent(err);
}

int rj_ublk_open(unsigned number, unsigned flags, struct rj_ublk **out,
	struct rj_error *err)
{
	*out = NULL;
	return absent(err);
}

int rj_ublk_begin(unsigned number, bool again, struct rj_error *err)
{
	return absent(err);
}

int rj_ublk_next(
	struct rj_ublk *u, struct rj_ublk_request *r, struct rj_error *err)
{
	return absent(err);
}

void rj_ublk_answer(struct rj_ublk *u, unsigned tag, int result)
{
}

void rj_ublk_listen(struct rj_ublk *u, int fd)
{
}

bool rj_ublk_copy(
	const struct rj_ublk *u, const struct rj_ublk_request *r, uint8_t *data)
{
	return false;
}

void rj_ublk_close(struct rj_ublk *u)
{
}

int rj_ublk_delete(unsigned number, struct rj_error *err)
{
	return absent(err);
}

#endif
