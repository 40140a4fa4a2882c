// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ublk.h"

#define CONTROL(op) _IOWR('u', op, struct ublksrv_ctrl_cmd)
#define IO(op)	    _IOWR('u', op, struct ublksrv_io_cmd)
#define BLOCK_BITS  12
#define RESUME_US   1000 /* until it is asked again whether the dead server is gone */

void ublk_die(const char *what, int e)
{
	fprintf(stderr, "ublk-disk: %s: %s\n", what, strerror(e));
	exit(1);
}

struct io_uring_sqe *ublk_sqe(struct ublk *u)
{
	struct io_uring_sqe *s = io_uring_get_sqe(&u->ring);

	if (!s)
		ublk_die("io_uring", EBUSY);
	memset(s, 0, 2 * sizeof(*s)); /* IORING_SETUP_SQE128 */
	return s;
}

static void queue(struct ublk *u, int fd, unsigned op, uint64_t user_data, const void *cmd,
	size_t bytes)
{
	struct io_uring_sqe *s = ublk_sqe(u);

	s->opcode = IORING_OP_URING_CMD;
	s->fd = fd;
	s->cmd_op = op;
	s->user_data = user_data;
	memcpy(s->cmd, cmd, bytes);
}

/* Do a command of the control device, and wait for it: 0 or a negated errno. */
static int control(struct ublk *u, unsigned op, const struct ublksrv_ctrl_cmd *c)
{
	struct io_uring_cqe *cqe;
	int rc;

	queue(u, u->control, op, UBLK_STARTED, c, sizeof(*c));
	rc = io_uring_submit_and_wait(&u->ring, 1);
	if (rc >= 0)
		rc = io_uring_wait_cqe(&u->ring, &cqe);
	if (rc < 0)
		ublk_die("io_uring", -rc);
	rc = cqe->res;
	io_uring_cqe_seen(&u->ring, cqe);
	return rc;
}

static void fetch(struct ublk *u, unsigned op, unsigned tag, int result)
{
	uint8_t *to = u->buffers ? u->buffers + (size_t)tag * UBLK_MAX_BYTES : NULL;
	const struct ublksrv_io_cmd c = {
		.tag = (uint16_t)tag,
		.result = result,
		.addr = (uint64_t)(uintptr_t)to,
	};

	queue(u, u->device, op, tag, &c, sizeof(c));
}

void ublk_answer(struct ublk *u, unsigned tag, int result)
{
	fetch(u, IO(UBLK_IO_COMMIT_AND_FETCH_REQ), tag, result);
}

static void open_device(struct ublk *u)
{
	char path[32];
	void *p;

	snprintf(path, sizeof(path), "/dev/ublkc%u", u->number);
	u->device = open(path, O_RDWR | O_CLOEXEC);
	if (u->device < 0)
		ublk_die(path, errno);
	p = mmap(NULL, UBLK_DEPTH * sizeof(*u->descs), PROT_READ, MAP_SHARED | MAP_POPULATE,
		u->device, UBLKSRV_CMD_BUF_OFFSET);
	if (p == MAP_FAILED)
		ublk_die(path, errno);
	u->descs = p;
}

static void open_ring(struct ublk *u)
{
	int rc = io_uring_queue_init(2 * UBLK_DEPTH, &u->ring, IORING_SETUP_SQE128 |
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);

	if (rc)
		ublk_die("io_uring", -rc);
	u->control = open("/dev/ublk-control", O_RDWR | O_CLOEXEC);
	if (u->control < 0)
		ublk_die("/dev/ublk-control", errno);
}

/* Ask for all requests, and do C with OP, which waits for that. */
static void begin(struct ublk *u, uint64_t flags, unsigned op, struct ublksrv_ctrl_cmd *c)
{
	unsigned tag;

	open_device(u);
	if (!(flags & UBLK_F_USER_COPY))
		u->buffers = aligned_alloc(UBLK_BLOCK, (size_t)UBLK_DEPTH * UBLK_MAX_BYTES);
	if (!(flags & UBLK_F_USER_COPY) && !u->buffers)
		ublk_die("buffers", ENOMEM);
	for (tag = 0; tag < UBLK_DEPTH; tag++)
		fetch(u, IO(UBLK_IO_FETCH_REQ), tag, 0);
	c->addr = c->len = 0;
	c->data[0] = (uint64_t)getpid();
	/* the kernel may read the device before it answers: not waited for */
	queue(u, u->control, op, UBLK_STARTED, c, sizeof(*c));
}

void ublk_resume(struct ublk *u, unsigned number, uint64_t flags)
{
	struct ublksrv_ctrl_cmd c = {.dev_id = number, .queue_id = UINT16_MAX};
	int rc;

	open_ring(u);
	u->number = number;
	while ((rc = control(u, CONTROL(UBLK_CMD_START_USER_RECOVERY), &c)) == -EBUSY)
		usleep(RESUME_US);
	if (rc)
		ublk_die("resume the device", -rc);
	begin(u, flags, CONTROL(UBLK_CMD_END_USER_RECOVERY), &c);
}

void ublk_add(struct ublk *u, uint64_t bytes, uint64_t flags, unsigned attrs)
{
	struct ublksrv_ctrl_dev_info info = {
		.nr_hw_queues = 1,
		.queue_depth = UBLK_DEPTH,
		.max_io_buf_bytes = UBLK_MAX_BYTES,
		.dev_id = UINT32_MAX, /* any */
		.flags = flags,
	};
	struct ublk_params params = {
		.len = sizeof(params),
		.types = UBLK_PARAM_TYPE_BASIC,
		.basic = {
			.attrs = attrs,
			.logical_bs_shift = BLOCK_BITS,
			.physical_bs_shift = BLOCK_BITS,
			.io_opt_shift = BLOCK_BITS,
			.io_min_shift = BLOCK_BITS,
			.max_sectors = UBLK_MAX_BYTES >> 9,
			.dev_sectors = bytes >> 9,
		},
	};
	struct ublksrv_ctrl_cmd c = {
		.dev_id = info.dev_id,
		.queue_id = UINT16_MAX,
		.addr = (uint64_t)(uintptr_t)&info,
		.len = sizeof(info),
	};
	int rc;

	open_ring(u);
	rc = control(u, CONTROL(UBLK_CMD_ADD_DEV), &c);
	if (rc)
		ublk_die("add the device", -rc);
	c.dev_id = u->number = info.dev_id;
	c.addr = (uint64_t)(uintptr_t)&params;
	c.len = sizeof(params);
	rc = control(u, CONTROL(UBLK_CMD_SET_PARAMS), &c);
	if (rc)
		ublk_die("set its parameters", -rc);
	begin(u, flags, CONTROL(UBLK_CMD_START_DEV), &c);
}
