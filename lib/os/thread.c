// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/thread.h"

#include <signal.h>
#include <stddef.h>

#define NS_PER_S 1000000000

int rj_thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg)
{
	sigset_t all, before;
	int e;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	e = pthread_create(thread, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return e;
}

void rj_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

struct timespec rj_cond_until(int64_t ns)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns += t.tv_nsec;
	t.tv_sec += ns / NS_PER_S;
	t.tv_nsec = ns % NS_PER_S;
	return t;
}

/* True: told to stop. */
static bool wait_for_turn(struct rj_ticker *t)
{
	struct timespec until = rj_cond_until(t->period_ns);
	bool stop;

	pthread_mutex_lock(&t->lock);
	while (!t->stop && !t->rung &&
		!pthread_cond_timedwait(&t->wake, &t->lock, &until))
		;
	t->rung = false;
	stop = t->stop;
	pthread_mutex_unlock(&t->lock);
	return stop;
}

static void *run(void *arg)
{
	struct rj_ticker *t = arg;

	while (!wait_for_turn(t))
		t->fn(t->arg);
	return NULL;
}

static void release(struct rj_ticker *t)
{
	pthread_cond_destroy(&t->wake);
	pthread_mutex_destroy(&t->lock);
}

int rj_ticker_start(struct rj_ticker *t, int64_t period_ns,
	void (*fn)(void *arg), void *arg)
{
	int e;

	t->stop = t->rung = false;
	t->period_ns = period_ns;
	t->fn = fn;
	t->arg = arg;
	pthread_mutex_init(&t->lock, NULL);
	rj_cond_init(&t->wake);
	e = rj_thread_start(&t->thread, run, t);
	if (e)
		release(t);
	return e;
}

void rj_ticker_ring(struct rj_ticker *t)
{
	pthread_mutex_lock(&t->lock);
	t->rung = true;
	pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&t->lock);
}

void rj_ticker_stop(struct rj_ticker *t)
{
	pthread_mutex_lock(&t->lock);
	t->stop = true;
	pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	release(t);
}
