// SPDX-License-Identifier: GPL-2.0-or-later
/* A queue of segments, and the thread that puts them. */
#include "inflight.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "os/thread.h"

/* Jobs are numbered: TAKEN <= PUT <= GIVEN; number n lies in jobs[n % depth]. */
struct rj_inflight {
	struct rj_inflight_opts o;
	struct rj_inflight_job *jobs;
	uint64_t taken; /* the giver's alone */
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	uint64_t given, put;
	bool stop, running;
	pthread_t thread;
};

static struct rj_inflight_job *job(const struct rj_inflight *u, uint64_t n)
{
	return &u->jobs[n % u->o.depth];
}

unsigned rj_inflight_count(const struct rj_inflight *u)
{
	return u ? (unsigned)(u->given - u->taken) : 0;
}

struct rj_inflight_job *rj_inflight_slot(struct rj_inflight *u)
{
	return u && rj_inflight_count(u) < u->o.depth ? job(u, u->given) : NULL;
}

void rj_inflight_give(struct rj_inflight *u)
{
	pthread_mutex_lock(&u->lock);
	u->given++;
	pthread_cond_signal(&u->work);
	pthread_mutex_unlock(&u->lock);
}

bool rj_inflight_step(struct rj_inflight *u)
{
	struct rj_inflight_job *j;

	if (!u || u->o.thread || u->put == u->given)
		return false;
	j = job(u, u->put);
	j->rc = u->o.put(u->o.arg, &j->a);
	u->put++;
	return true;
}

const struct rj_inflight_job *rj_inflight_done(struct rj_inflight *u, bool wait)
{
	bool there;

	if (!rj_inflight_count(u))
		return NULL;
	if (wait && !u->o.thread && u->put == u->taken)
		rj_inflight_step(u);
	pthread_mutex_lock(&u->lock);
	while (wait && u->put == u->taken)
		pthread_cond_wait(&u->done, &u->lock);
	there = u->put != u->taken;
	pthread_mutex_unlock(&u->lock);
	return there ? job(u, u->taken) : NULL;
}

void rj_inflight_taken(struct rj_inflight *u)
{
	u->taken++;
}

bool rj_inflight_contains(
	const struct rj_inflight *u, uint32_t block, uint32_t count)
{
	const struct rj_inflight_job *j;
	const struct rj_seg_run *r;
	uint64_t n;
	uint32_t i;

	for (n = u ? u->taken : 0; u && n < u->given; n++) {
		j = job(u, n);
		for (i = 0; i < j->a.run_count; i++) {
			r = &j->runs[i];
			if (block < r->block + r->count &&
				r->block < block + count)
				return true;
		}
	}
	return false;
}

static void *run(void *arg)
{
	struct rj_inflight *u = arg;
	struct rj_inflight_job *j;

	pthread_mutex_lock(&u->lock);
	while (!u->stop) {
		if (u->put == u->given) {
			pthread_cond_wait(&u->work, &u->lock);
			continue;
		}
		j = job(u, u->put);
		pthread_mutex_unlock(&u->lock);
		j->rc = u->o.put(u->o.arg, &j->a);
		pthread_mutex_lock(&u->lock);
		u->put++;
		pthread_cond_signal(&u->done);
	}
	pthread_mutex_unlock(&u->lock);
	return NULL;
}

int rj_inflight_new(const struct rj_inflight_opts *opts,
	struct rj_inflight **out, struct rj_error *err)
{
	struct rj_inflight *u = calloc(1, sizeof(*u));
	unsigned i;
	int e = 0;

	*out = NULL;
	if (!u)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	u->o = *opts;
	pthread_mutex_init(&u->lock, NULL);
	rj_cond_init(&u->work);
	rj_cond_init(&u->done);
	u->jobs = calloc(opts->depth, sizeof(*u->jobs));
	for (i = 0; u->jobs && i < opts->depth; i++) {
		u->jobs[i].runs = calloc(opts->blocks, sizeof(*u->jobs->runs));
		if (!u->jobs[i].runs)
			e = ENOMEM;
	}
	if (!u->jobs || e) {
		rj_inflight_free(u);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	e = opts->thread ? rj_thread_start(&u->thread, run, u) : 0;
	if (e) {
		rj_inflight_free(u);
		return rj_fail_errno(err, e, "cannot start a thread");
	}
	u->running = opts->thread;
	*out = u;
	return 0;
}

void rj_inflight_free(struct rj_inflight *u)
{
	unsigned i;

	if (!u)
		return;
	if (u->running) {
		pthread_mutex_lock(&u->lock);
		u->stop = true;
		pthread_cond_signal(&u->work);
		pthread_mutex_unlock(&u->lock);
		pthread_join(u->thread, NULL);
	}
	for (i = 0; u->jobs && i < u->o.depth; i++)
		free(u->jobs[i].runs);
	free(u->jobs);
	pthread_cond_destroy(&u->work);
	pthread_cond_destroy(&u->done);
	pthread_mutex_destroy(&u->lock);
	free(u);
}
