/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that leave their process' signals alone, and waits with an end. */
#ifndef RJ_OS_THREAD_H
#define RJ_OS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * pthread_create() with every signal blocked in the new thread. A signal goes to
 * any thread that does not block it: a daemon that waits for SIGTERM in a
 * signalfd would be killed by it through a thread that the library had started
 * before. Returns 0, or an errno value.
 */
int rj_thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg);

/* A condition whose timed waits go by CLOCK_MONOTONIC: setting the date neither
 * ends nor prolongs them. */
void rj_cond_init(pthread_cond_t *cond);
/* NS nanoseconds (not negative) from now, for such a wait. */
struct timespec rj_cond_until(int64_t ns);

/* A thread that does something every so often. Its members are its own. */
struct rj_ticker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop, rung;
	int64_t period_ns;
	void (*fn)(void *arg);
	void *arg;
};

/* Call FN each PERIOD_NS nanoseconds, the first time after one. T must stay
 * where it is until rj_ticker_stop(). Returns 0, or an errno value: then there
 * is nothing to stop. */
int rj_ticker_start(struct rj_ticker *t, int64_t period_ns,
	void (*fn)(void *arg), void *arg);
/* Call FN once more at once, or as soon as it is over; from any thread. */
void rj_ticker_ring(struct rj_ticker *t);
/* Returns when FN is over and will not be called again. */
void rj_ticker_stop(struct rj_ticker *t);

#endif
