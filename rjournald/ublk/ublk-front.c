// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The front end of ublk: a block device without a write cache, whose requests come to one
 * thread, the reader, and only it can answer them. It answers reads itself, from the ring. A
 * write may wait for the store, so it goes to a second thread, the writer, which runs the
 * pipeline and wakes the reader with the result.
 *
 * The next worker takes the device over, and is sent what was not answered. When there will
 * be none, the warden removes the device.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/thread.h"
#include "os/ublk/ublkdev.h"
#include "rjournald/front/front-priv.h"
#include "util/environ.h"
#include "util/log.h"
#include "warden.h"

#define FLAGS (RJ_UBLK_COPY | RJ_UBLK_RECOVER)
/* Every journal block is a multiple of it, and so is every tool's write. */
#define BLOCK 512
/* How often to look for the last user: an unmount ends with a write. */
#define LOOK_MS	     20
#define LOOK_IDLE_MS 1000
#define BUSY_NS	     2000000000LL

_Static_assert(RJ_UBLK_BYTES <= RJ_PIPELINE_WRITE_BYTES, "a write fits");

struct ublk_front {
	struct rj_front front; /* first */
	struct rj_ublk *queue;
	unsigned number; /* RJ_WARDEN_NONE: no device */
	int warden;	 /* -1 */
	int answers;	 /* an eventfd, written to by the writer; -1 */
	pthread_t reader, writer;
	bool reading, writing; /* these threads exist */
	sem_t opened;	       /* the queue is, or OPEN_ERR says why not */
	int open_rc;
	struct rj_error open_err;
	/* What the writer gets, first come first served. The count of those that it has
	 * done; a place is used again when the request in it was answered. */
	struct rj_ublk_request given[RJ_UBLK_DEPTH];
	int results[RJ_UBLK_DEPTH];
	unsigned given_count, answered;
	atomic_uint done;
	sem_t work;
	atomic_bool stopping;
	_Atomic int64_t written_ns; /* monotonic: the last write */
	uint8_t *buffer;	    /* RJ_UBLK_BYTES, for the writer */
};

static int prepare(const char *volume, int *held, struct rj_error *err)
{
	int rc = rj_ublk_check(err);

	return rc ? rc : rj_warden_start(volume, held, err);
}

static struct rj_front *make(void)
{
	struct ublk_front *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->number = RJ_WARDEN_NONE;
	u->warden = u->answers = -1;
	sem_init(&u->opened, 0, 0);
	sem_init(&u->work, 0, 0);
	return &u->front;
}

static int serve_read(struct ublk_front *u, const struct rj_ublk_request *r)
{
	const struct rj_ring *ring = u->front.ring;

	if (r->at + r->bytes > rj_ring_bytes(ring) ||
		!rj_ublk_copy(u->queue, r, ring->data + r->at))
		return -EIO;
	return (int)r->bytes;
}

/* Answer what the writer has done. */
static void answer_done(struct ublk_front *u)
{
	unsigned i;

	rj_ublk_listen(u->queue, u->answers);
	for (; u->answered != u->done; u->answered++) {
		i = u->answered % RJ_UBLK_DEPTH;
		rj_ublk_answer(u->queue, u->given[i].tag, u->results[i]);
	}
}

static void take(struct ublk_front *u, const struct rj_ublk_request *r)
{
	if (r->op == RJ_UBLK_WOKEN) {
		answer_done(u);
	} else if (r->op == RJ_UBLK_READ) {
		rj_ublk_answer(u->queue, r->tag, serve_read(u, r));
	} else {
		u->given[u->given_count++ % RJ_UBLK_DEPTH] = *r;
		sem_post(&u->work);
	}
}

static void *reader(void *arg)
{
	struct ublk_front *u = arg;
	struct rj_ublk_request r;
	struct rj_error err;
	int rc;

	u->open_rc = rj_ublk_open(u->number, FLAGS, &u->queue, &u->open_err);
	if (!u->open_rc)
		rj_ublk_listen(u->queue, u->answers);
	rc = u->open_rc;
	sem_post(&u->opened);
	if (rc)
		return NULL;
	while ((rc = rj_ublk_next(u->queue, &r, &err)) > 0)
		take(u, &r);
	if (rc < 0) {
		rj_log(RJ_LOG_ERROR, "%s", err.msg);
		_exit(1); /* another worker may do better */
	}
	u->front.ended = true;
	rj_front_wake(&u->front);
	return NULL;
}

static int serve_write(struct ublk_front *u, const struct rj_ublk_request *r)
{
	int e;

	switch (r->op) {
	case RJ_UBLK_WRITE:
		u->written_ns = rj_monotonic_ns();
		if (!rj_ublk_copy(u->queue, r, u->buffer)) {
			rj_log(RJ_LOG_ERROR, "a write's data cannot be read");
			return -rj_front_errno(&u->front, -RJ_E_IO);
		}
		e = rj_front_write(&u->front, u->buffer, r->bytes, r->at);
		return e ? -e : (int)r->bytes;
	case RJ_UBLK_FLUSH: /* none is sent to a device without a cache */
		return -rj_front_flush(&u->front);
	default:
		return -EOPNOTSUPP;
	}
}

static void *writer(void *arg)
{
	const uint64_t one = 1;
	struct ublk_front *u = arg;
	unsigned i;

	for (i = 0;; i++) {
		while (sem_wait(&u->work)) /* EINTR */
			;
		if (u->stopping)
			return NULL;
		u->results[i % RJ_UBLK_DEPTH] = serve_write(u, &u->given[i % RJ_UBLK_DEPTH]);
		u->done = i + 1;
		if (write(u->answers, &one, sizeof(one)) != sizeof(one))
			rj_log(RJ_LOG_ERROR, "eventfd: %s", strerror(errno));
	}
}

/* A write's data goes to memory that is there. */
static int start_threads(struct ublk_front *u, struct rj_error *err)
{
	int e;

	u->answers = eventfd(0, EFD_CLOEXEC);
	u->buffer = mmap(NULL, RJ_UBLK_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (u->buffer == MAP_FAILED)
		u->buffer = NULL;
	if (u->answers == -1 || !u->buffer)
		return rj_fail_errno(err, errno, "eventfd or mmap");
	memset(u->buffer, 0, RJ_UBLK_BYTES);
	e = rj_thread_start(&u->writer, writer, u);
	u->writing = !e;
	if (!e)
		e = rj_thread_start(&u->reader, reader, u);
	u->reading = u->writing && !e;
	if (e)
		return rj_fail_errno(err, e, "cannot start a thread");
	while (sem_wait(&u->opened))
		;
	if (u->open_rc)
		*err = u->open_err;
	return u->open_rc;
}

static int make_device(struct ublk_front *u, uint64_t owner, struct rj_error *err)
{
	int rc = rj_ublk_add(rj_ring_bytes(u->front.ring), BLOCK, FLAGS, owner, &u->number, err);

	if (rc)
		return rc;
	rj_warden_tell(u->warden, u->number, owner);
	u->front.shm->ublk = u->number + 1;
	snprintf(u->front.device.path, sizeof(u->front.device.path),
		RJ_UBLK_PATH, u->number);
	return 0;
}

static int start(struct rj_front *front, const struct rj_front_opts *opts,
	struct rj_error *err)
{
	struct ublk_front *u = (struct ublk_front *)front;
	const bool again = opts->resumed != NULL;
	int rc;

	u->warden = again ? opts->resumed->fd[RJ_WORKER_FD_FRONT] : opts->held;
	if (again) {
		u->number = front->shm->ublk - 1;
		rc = rj_ublk_take_over(u->number, err);
	} else {
		rc = make_device(u, opts->owner, err);
	}
	if (!rc)
		rc = start_threads(u, err);
	if (!rc)
		rc = rj_ublk_begin(u->number, again, err);
	if (rc && again) {
		rj_log(RJ_LOG_ERROR, "%s", err->msg);
		_exit(1); /* not stopped: another worker may do better */
	}
	return rc;
}

static void fds(const struct rj_front *front, struct rj_worker_fds *out)
{
	/* there is no loop device: that place takes any descriptor */
	out->fd[RJ_WORKER_FD_FRONT] = out->fd[RJ_WORKER_FD_LOOP] =
		((const struct ublk_front *)front)->warden;
}

static bool can_resume(const struct rj_front *front)
{
	return true;
}

/* The kernel tells no close: who can open it exclusively is alone, and stays so. */
static bool used(struct rj_front *front)
{
	if (front->claim == -1 && !rj_loop_mounted(&front->device))
		front->claim = open(front->device.path,
			O_RDONLY | O_EXCL | O_CLOEXEC);
	return front->claim == -1 && !front->ended;
}

static int look_ms(const struct rj_front *front)
{
	const struct ublk_front *u = (const struct ublk_front *)front;

	return rj_monotonic_ns() - u->written_ns < BUSY_NS ? LOOK_MS
							   : LOOK_IDLE_MS;
}

static void stop(struct rj_front *front)
{
	struct ublk_front *u = (struct ublk_front *)front;
	struct rj_error err;

	if (u->number != RJ_WARDEN_NONE) {
		if (rj_ublk_delete(u->number, &err))
			rj_log(RJ_LOG_WARNING, "%s", err.msg);
		rj_warden_tell(u->warden, RJ_WARDEN_NONE, 0);
		front->shm->ublk = 0;
	}
	if (u->reading)
		pthread_join(u->reader, NULL);
	u->stopping = true;
	sem_post(&u->work);
	if (u->writing)
		pthread_join(u->writer, NULL);
	rj_ublk_close(u->queue);
	if (u->buffer)
		munmap(u->buffer, RJ_UBLK_BYTES);
	if (u->answers != -1)
		close(u->answers);
	if (u->warden != -1)
		close(u->warden);
	sem_destroy(&u->opened);
	sem_destroy(&u->work);
}

const struct rj_front_ops rj_front_ublk = {
	.name = "ublk",
	.prepare = prepare,
	.make = make,
	.start = start,
	.fds = fds,
	.can_resume = can_resume,
	.used = used,
	.look_ms = look_ms,
	.stop = stop,
};
