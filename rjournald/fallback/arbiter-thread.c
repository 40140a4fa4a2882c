// SPDX-License-Identifier: GPL-2.0-or-later
/* The thread that runs the arbiter. */
#include "arbiter-thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "energy.h"
#include "link-disk.h"
#include "os/thread.h"
#include "util/environ.h"
#include "util/log.h"

#define TICK_NS 250000000LL
/* Only power= asks for the disk, and that is no matter of seconds. */
#define DISK_NS 5000000000LL

struct rj_arbiter_thread {
	struct rj_arbiter_thread_opts o;
	pthread_mutex_t lock;
	pthread_cond_t wake; /* another policy, or told to stop */
	pthread_t thread;
	bool stop, changed;
	enum rj_prefer prefer;
	struct rj_arbiter decided;
	/* of the thread alone: */
	struct rj_route route;
	enum rj_disk disk;
	struct rj_energy_sums energy;
	int64_t disk_ns; /* when it was looked at */
	bool told;	 /* that the file could not be taken */
};

static unsigned fill_of(const struct rj_fallback_facts *f)
{
	if (f->state != RJ_FALLBACK_LOCAL || !f->capacity)
		return 0;
	return (unsigned)(f->used * 1000 / f->capacity);
}

/* WAS_LOCAL: by the last decision. */
static void add_energy(struct rj_arbiter_thread *c, const struct rj_fallback_sink_stat *st,
	bool was_local, struct rj_arbiter_in *in)
{
	struct rj_energy_in e = {
		.disk = &c->o.disk_energy,
		.link = &c->o.link_energy,
		.disk_state = in->disk,
		.link_state = in->link,
		.local = was_local,
		.segments = st->segments,
		.bytes = st->bytes,
		.capacity = st->fallback.capacity,
		.now_ns = in->now_ns,
	};

	rj_energy_add(&c->energy, &e);
	in->file_j = c->energy.file_j;
	in->store_j = c->energy.store_j;
}

static void look(struct rj_arbiter_thread *c, enum rj_prefer prefer, bool was_local,
	struct rj_arbiter_in *in)
{
	struct rj_fallback_sink_stat st;

	in->prefer = prefer;
	in->link = rj_link_state(&c->route);
	in->now_ns = rj_monotonic_ns();
	if (prefer == RJ_PREFER_POWER &&
		(!c->disk_ns || in->now_ns - c->disk_ns >= DISK_NS)) {
		c->disk = rj_disk_state(c->o.file);
		c->disk_ns = in->now_ns;
	}
	in->disk = c->disk;
	rj_fallback_sink_stat(c->o.fallback_sink, &st);
	in->fill = fill_of(&st.fallback);
	if (prefer == RJ_PREFER_POWER)
		add_energy(c, &st, was_local, in);
	else /* what is written now is not looked at */
		c->energy = (struct rj_energy_sums){0};
}

/* Repeated at each look: a fallback sink that chose another way since (a
 * full file, a lost store) comes back to this one. */
static void go(struct rj_arbiter_thread *c, const struct rj_arbiter *a)
{
	struct rj_error err;

	if (!a->local) {
		rj_fallback_sink_back(c->o.fallback_sink);
	} else if (!rj_fallback_sink_leave(c->o.fallback_sink, &err)) {
		c->told = false;
	} else if (!c->told) {
		rj_log(RJ_LOG_WARNING, "%s; the journal stays at the store",
			err.msg);
		c->told = true;
	}
}

static void turn(struct rj_arbiter_thread *c, enum rj_prefer prefer)
{
	struct rj_arbiter was = c->decided, a;
	struct rj_arbiter_in in = {0};

	look(c, prefer, was.local, &in);
	a = rj_arbiter_next(&was, &in);
	/* before anything that waits for a put */
	*c->o.link_down = in.link == RJ_LINK_DOWN;
	pthread_mutex_lock(&c->lock);
	c->decided = a;
	pthread_mutex_unlock(&c->lock);
	if (a.local != was.local)
		rj_log(RJ_LOG_NOTICE, "prefer=%s: the journal goes %s: %s",
			rj_prefer_name(prefer),
			a.local ? "to the fallback file" : "to the store",
			rj_arbiter_reason(a.reason));
	go(c, &a);
}

static void *run(void *arg)
{
	struct rj_arbiter_thread *c = arg;
	enum rj_prefer prefer;
	struct timespec until;

	pthread_mutex_lock(&c->lock);
	while (!c->stop) {
		prefer = c->prefer;
		c->changed = false;
		if (prefer == RJ_PREFER_UNSET) {
			pthread_cond_wait(&c->wake, &c->lock);
			continue;
		}
		pthread_mutex_unlock(&c->lock);
		turn(c, prefer);
		until = rj_cond_until(TICK_NS);
		pthread_mutex_lock(&c->lock);
		while (!c->stop && !c->changed &&
			!pthread_cond_timedwait(&c->wake, &c->lock, &until))
			;
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

int rj_arbiter_thread_start(const struct rj_arbiter_thread_opts *opts,
	struct rj_arbiter_thread **out, struct rj_error *err)
{
	struct rj_arbiter_thread *c = calloc(1, sizeof(*c));
	int e;

	if (!c)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	c->o = *opts;
	c->prefer = opts->prefer;
	rj_route_init(&c->route, opts->url);
	pthread_mutex_init(&c->lock, NULL);
	rj_cond_init(&c->wake);
	e = rj_thread_start(&c->thread, run, c);
	if (e) {
		free(c);
		return rj_fail_errno(err, e, "cannot start a thread");
	}
	*out = c;
	return 0;
}

void rj_arbiter_thread_set(struct rj_arbiter_thread *c, enum rj_prefer prefer)
{
	pthread_mutex_lock(&c->lock);
	c->prefer = prefer;
	c->changed = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
}

enum rj_prefer rj_arbiter_thread_look(
	struct rj_arbiter_thread *c, struct rj_arbiter *out)
{
	enum rj_prefer prefer;

	if (!c)
		return RJ_PREFER_UNSET;
	pthread_mutex_lock(&c->lock);
	prefer = c->prefer;
	*out = c->decided;
	pthread_mutex_unlock(&c->lock);
	return prefer;
}

void rj_arbiter_thread_stop(struct rj_arbiter_thread *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	pthread_cond_destroy(&c->wake);
	pthread_mutex_destroy(&c->lock);
	free(c);
}
