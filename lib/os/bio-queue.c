// SPDX-License-Identifier: LGPL-2.1-or-later
/* Queue transfers of a block-I/O object by io_uring, or do them one by one. */
#include "os/bio-queue.h"

#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBURING
#include <liburing.h>

#define ALIGN_MASK 511u /* what most devices ask for; the rest refuse */
#endif

/* One transfer: number n is slots[n % depth]. It may be several requests,
 * where the bio's bytes do not stand together. */
struct slot {
	bool busy, write, failed;
	unsigned requests; /* under way */
	struct iovec *iov; /* of a read: &own; of a write: vec */
	int count, capacity; /* in iov, in vec */
	uint64_t off;
	struct iovec own, *vec;
	int rc; /* once not busy */
	struct rj_error err;
};

struct rj_queue {
	struct rj_bio *bio;
	unsigned depth;
	uint64_t next; /* the number of the next one */
	bool async;    /* RING is there */
	struct slot *slots;
#ifdef HAVE_LIBURING
	struct io_uring ring;
#endif
};

/* The ordinary way, whose outcome counts. */
static void do_now(struct rj_queue *q, struct slot *s)
{
	struct rj_bio *b = q->bio;

	if (s->write)
		s->rc = b->writev(b, s->iov, s->count, s->off, &s->err);
	else
		s->rc = b->read(
			b, s->own.iov_base, s->own.iov_len, s->off, &s->err);
	s->busy = false;
}

#ifdef HAVE_LIBURING
static void ring_open(struct rj_queue *q)
{
	unsigned entries = q->depth < 8 ? 8 : q->depth;

	q->async = q->bio->locate && !io_uring_queue_init(entries, &q->ring, 0);
}

static void ring_close(struct rj_queue *q)
{
	if (q->async)
		io_uring_queue_exit(&q->ring);
	q->async = false;
}

/* A request, handing to the kernel what waits when there is no space. */
static struct io_uring_sqe *request(struct rj_queue *q)
{
	struct io_uring_sqe *e = io_uring_get_sqe(&q->ring);

	if (!e) {
		io_uring_submit(&q->ring);
		e = io_uring_get_sqe(&q->ring);
	}
	return e;
}

static bool prepare(struct rj_queue *q, struct slot *s)
{
	size_t len = 0, done = 0, n;
	struct io_uring_sqe *e;
	uint64_t at, bits = s->off;
	int fd, i;

	for (i = 0; i < s->count; i++) {
		bits |= (uintptr_t)s->iov[i].iov_base | s->iov[i].iov_len;
		len += s->iov[i].iov_len;
	}
	if (bits & ALIGN_MASK)
		return false;
	for (; done < len; done += n) {
		n = q->bio->locate(q->bio, s->write, len - done,
			s->off + done, &fd, &at);
		if (!n || ((n | at) & ALIGN_MASK) || (s->write && n != len))
			return false;
		e = request(q);
		if (!e)
			return false;
		if (s->write)
			io_uring_prep_writev(
				e, fd, s->iov, (unsigned)s->count, at);
		else
			io_uring_prep_read(e, fd,
				(uint8_t *)s->own.iov_base + done, (unsigned)n,
				at);
		/* the kernel hands it back with the result; its length is in
		 * the low half */
		e->user_data = (uint64_t)(s - q->slots) << 32 | (uint32_t)n;
		s->requests++;
	}
	return true;
}

static void begin(struct rj_queue *q, struct slot *s)
{
	s->requests = 0;
	s->failed = !q->async || !prepare(q, s);
	if (q->async)
		io_uring_submit(&q->ring);
	if (!s->requests)
		do_now(q, s);
}

/* Take one answer of the kernel. */
static void take(struct rj_queue *q)
{
	struct io_uring_cqe *c = NULL;
	struct slot *s;
	int rc;

	do { /* until it comes: the kernel still has our memory */
		io_uring_submit_and_wait(&q->ring, 1);
		rc = io_uring_peek_cqe(&q->ring, &c);
	} while (rc);
	s = &q->slots[c->user_data >> 32];
	if (c->res < 0 || (uint32_t)c->res != (uint32_t)c->user_data)
		s->failed = true;
	io_uring_cqe_seen(&q->ring, c);
	if (--s->requests)
		return;
	s->rc = 0;
	s->busy = false;
	if (s->failed)
		do_now(q, s);
}

static void finish(struct rj_queue *q, struct slot *s)
{
	while (s->busy)
		take(q);
}
#else
static void ring_open(struct rj_queue *q)
{
}

static void ring_close(struct rj_queue *q)
{
}

static void begin(struct rj_queue *q, struct slot *s)
{
	do_now(q, s);
}

static void finish(struct rj_queue *q, struct slot *s)
{
}
#endif

/* Report the slot's failure, once. */
static int outcome(struct slot *s, struct rj_error *err)
{
	int rc = s->rc;

	if (rc && err)
		*err = s->err;
	s->rc = 0;
	return rc;
}

struct rj_queue *rj_queue_new(struct rj_bio *bio, unsigned depth)
{
	struct rj_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->bio = bio;
	q->depth = depth;
	q->slots = calloc(depth, sizeof(*q->slots));
	if (!q->slots) {
		free(q);
		return NULL;
	}
	ring_open(q);
	return q;
}

uint64_t rj_queue_read(struct rj_queue *q, void *out, size_t len, uint64_t off)
{
	struct slot *s = &q->slots[q->next % q->depth];

	finish(q, s);
	s->write = false;
	s->own = (struct iovec){out, len};
	s->iov = &s->own;
	s->count = 1;
	s->off = off;
	s->rc = 0;
	s->busy = true;
	begin(q, s);
	return q->next++;
}

static int copy_iov(struct rj_queue *q, struct slot *s,
	const struct iovec *iov, int count, struct rj_error *err)
{
	struct iovec *v;

	if (count > s->capacity) {
		v = reallocarray(s->vec, (size_t)count, sizeof(*v));
		if (!v)
			return rj_fail(err, RJ_E_NOMEM, "%s: out of memory",
				q->bio->name);
		s->vec = v;
		s->capacity = count;
	}
	s->iov = s->vec;
	memcpy(s->iov, iov, (size_t)count * sizeof(*iov));
	return 0;
}

int rj_queue_writev(struct rj_queue *q, const struct iovec *iov, int count,
	uint64_t off, struct rj_error *err)
{
	struct slot *s = &q->slots[q->next % q->depth];
	int rc;

	finish(q, s);
	rc = outcome(s, err);
	if (!rc)
		rc = copy_iov(q, s, iov, count, err);
	if (rc)
		return rc;
	s->write = true;
	s->count = count;
	s->off = off;
	s->busy = true;
	begin(q, s);
	q->next++;
	return s->busy ? 0 : outcome(s, err);
}

int rj_queue_wait(struct rj_queue *q, uint64_t number, struct rj_error *err)
{
	struct slot *s = &q->slots[number % q->depth];

	finish(q, s);
	return outcome(s, err);
}

int rj_queue_drain(struct rj_queue *q, struct rj_error *err)
{
	int rc = 0, one;
	unsigned i;

	for (i = 0; i < q->depth; i++) {
		struct slot *s = &q->slots[(q->next + i) % q->depth];

		finish(q, s);
		one = outcome(s, rc ? NULL : err);
		rc = rc ? rc : one;
	}
	return rc;
}

void rj_queue_free(struct rj_queue *q)
{
	unsigned i;

	if (!q)
		return;
	rj_queue_drain(q, NULL);
	ring_close(q);
	for (i = 0; i < q->depth; i++)
		free(q->slots[i].vec);
	free(q->slots);
	free(q);
}
