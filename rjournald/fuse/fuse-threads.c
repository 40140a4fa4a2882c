// SPDX-License-Identifier: GPL-2.0-or-later
/* The threads that answer the kernel: a few read its requests, the others wait
 * aside. Some, never all, wait with requests that the store holds up. */
#include <errno.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuse-priv.h"
#include "os/thread.h"

/*
 * READERS threads wait in read(2); the others wait aside until the last of these
 * is at work. The kernel wakes its readers in turn: with all of them there each
 * request would be for the thread that has slept longest, with its stack and its
 * buffer out of the cache. Two, so that no thread need be called for a commit's one.
 */
#define READERS	    2
#define STACK_BYTES (256u << 10)
/* As many threads may be at work for the pipeline, or wait for it. The rest
 * answers reads. */
#define WAITERS	    (RJ_FUSE_THREADS - 4)
/* Interrupts a thread in read(2). */
#define SIGNAL_LEAVE SIGUSR2
#define LEAVE_NS     10000000LL

/* A request that waits for the pipeline without a thread. */
struct rj_fuse_parked {
	struct rj_fuse_parked *next;
	size_t size;
	uint8_t mem[];
};

/* Wait to be called, unless a reader is wanted now. */
static void wait_aside(struct rj_fuse *f, unsigned me)
{
	bool wanted;

	pthread_mutex_lock(&f->aside);
	wanted = f->reading < READERS || f->front.ended;
	if (!wanted)
		f->waiting[f->waiting_count++] = me;
	pthread_mutex_unlock(&f->aside);
	while (!wanted && sem_wait(&f->called[me])) /* EINTR */
		;
}

static void call_one(struct rj_fuse *f)
{
	pthread_mutex_lock(&f->aside);
	if (f->waiting_count)
		sem_post(&f->called[f->waiting[--f->waiting_count]]);
	pthread_mutex_unlock(&f->aside);
}

/* Count the calling thread among the readers, when one more is wanted. */
static void line_up(struct rj_fuse *f, unsigned me)
{
	unsigned n = f->reading;

	for (;;) {
		if (n >= READERS && !f->front.ended) {
			wait_aside(f, me);
			n = f->reading;
		} else if (atomic_compare_exchange_weak(
				   &f->reading, &n, n + 1)) {
			return;
		}
	}
}

/* It is no longer. The last one calls another: a request can arrive before it returns,
 * and this one may take long. */
static void leave(struct rj_fuse *f)
{
	if (--f->reading == 0)
		call_one(f);
}

static bool waits_for_store(const uint8_t *mem)
{
	struct fuse_in_header head;

	memcpy(&head, mem, sizeof(head));
	return head.opcode == FUSE_WRITE || head.opcode == FUSE_FSYNC ||
	       head.opcode == FUSE_FLUSH;
}

/* Leave a copy of a request for the next thread that is through with its own.
 * False: no memory. */
static bool park(struct rj_fuse *f, const uint8_t *mem, size_t size)
{
	struct rj_fuse_parked *p = malloc(sizeof(*p) + size);

	if (!p)
		return false;
	p->next = NULL;
	p->size = size;
	memcpy(p->mem, mem, size);
	*f->parked_end = p;
	f->parked_end = &p->next;
	return true;
}

/* The first parked request; NULL: there is none, and the calling thread is no
 * longer counted as one that waits. */
static struct rj_fuse_parked *unpark(struct rj_fuse *f)
{
	struct rj_fuse_parked *p;

	pthread_mutex_lock(&f->waiters_lock);
	p = f->parked;
	if (p)
		f->parked = p->next;
	else
		f->waiters--;
	if (!f->parked)
		f->parked_end = &f->parked;
	pthread_mutex_unlock(&f->waiters_lock);
	return p;
}

/* Answer what may have to wait for the store. While the store is away such
 * requests come by the dozen: were each to keep a thread, none would be left
 * to answer reads. */
static void serve_slow(struct rj_fuse *f, uint8_t *mem, size_t size)
{
	struct rj_fuse_parked *p;
	bool parked;

	pthread_mutex_lock(&f->waiters_lock);
	parked = f->waiters >= WAITERS && park(f, mem, size);
	if (!parked)
		f->waiters++;
	pthread_mutex_unlock(&f->waiters_lock);
	if (parked)
		return;
	rj_fuse_process(f, mem, size);
	while ((p = unpark(f))) {
		rj_fuse_process(f, p->mem, p->size);
		free(p);
	}
}

/*
 * Read into memory that is there: when a worker is killed while the kernel
 * copies a request to a page that has yet to come, the request fails.
 */
static void *serve(void *arg)
{
	struct rj_fuse *f = arg;
	unsigned me = f->threads_begun++;
	uint8_t *mem = f->buffers + (size_t)me * RJ_FUSE_BUFFER;
	ssize_t n;

	while (!fuse_session_exited(f->session)) {
		line_up(f, me);
		n = read(f->fuse_fd, mem, RJ_FUSE_BUFFER);
		leave(f);
		/* ENOENT: the request was interrupted before we had it */
		if (n == -1 && (errno == EINTR || errno == EAGAIN ||
				       errno == ENOENT))
			continue;
		if (n < (ssize_t)sizeof(struct fuse_in_header))
			break; /* unmounted */
		if (waits_for_store(mem))
			serve_slow(f, mem, (size_t)n);
		else
			rj_fuse_process(f, mem, (size_t)n);
	}
	f->front.ended = true;
	call_one(f); /* and so each one lets the next one go */
	rj_front_wake(&f->front);
	return NULL;
}

int rj_fuse_get_buffers(struct rj_fuse *f, struct rj_error *err)
{
	void *p = mmap(NULL, (size_t)RJ_FUSE_THREADS * RJ_FUSE_BUFFER,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	/* touched one by one: MAP_POPULATE has no effect where memory is locked
	 * on fault (harden.c) */
	memset(p, 0, (size_t)RJ_FUSE_THREADS * RJ_FUSE_BUFFER);
	f->buffers = p;
	return 0;
}

static void interrupted(int sig)
{
}

int rj_fuse_start_threads(struct rj_fuse *f, struct rj_error *err)
{
	const struct sigaction leave = {.sa_handler = interrupted};
	pthread_attr_t attr;
	sigset_t all, old;
	int e = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	/* the other signals are the main thread's */
	sigaction(SIGNAL_LEAVE, &leave, NULL);
	sigfillset(&all);
	sigdelset(&all, SIGNAL_LEAVE);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	while (!e && f->running < RJ_FUSE_THREADS) {
		e = pthread_create(
			&f->threads[f->running], &attr, serve, f);
		if (!e)
			f->running++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return e ? rj_fail_errno(err, e, "cannot start a thread") : 0;
}

/* A thread may be on its way to read(2) when the signal comes: it is sent again. */
void rj_fuse_join_threads(struct rj_fuse *f)
{
	struct timespec until;
	unsigned i;

	if (f->running)
		fuse_session_exit(f->session);
	while (f->running) {
		for (i = 0; i < f->running; i++)
			pthread_kill(f->threads[i], SIGNAL_LEAVE);
		until = rj_cond_until(LEAVE_NS);
		if (!pthread_clockjoin_np(f->threads[f->running - 1], NULL,
			    CLOCK_MONOTONIC, &until))
			f->running--;
	}
}
