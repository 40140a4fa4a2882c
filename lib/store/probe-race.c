// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Race puts of one object at a store. A server that first looks whether the object is there, and
 * then makes it, is found out if the racers' requests come at one moment: the last byte of each
 * object is held back until all others have come (S3), or the whole requests are (mode B: TCP_CORK,
 * which holds back less than a full packet for up to 200 ms), and are let go at once.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "os/thread.h"
#include "store/probe-run.h"
#include "util/environ.h"

#define LEAST_ROUNDS 3
#define SEND_NS	     3000000 /* from the last arrival until each request is in the kernel */
#define MEET_NS	     500000000 /* a server may answer one connection after the other */

/* Does KEY hold the LEN bytes of DATA? */
bool probe_holds(
	struct rj_store *s, const struct rj_key *key, const void *data, size_t len)
{
	struct rj_buf got = {0};
	bool same = !rj_store_get(s, key, PROBE_MAX, &got, NULL) &&
		    got.len == len && !memcmp(got.data, data, len);

	rj_buf_free(&got);
	return same;
}

/* Where the racers meet. */
struct meeting {
	pthread_mutex_t lock;
	pthread_cond_t all; /* have arrived, or it is over */
	pthread_barrier_t round; /* begins when all have ended the one before */
	unsigned arrived, rounds;
	int64_t until;
	bool over;
};

struct racer {
	pthread_t thread;
	struct meeting *m;
	struct probe_run *run;
	struct rj_store *store;
	struct rj_put_gate gate;
	unsigned id;
	bool met;
	int corked; /* the connection whose request is held back; -1: none */
	struct {
		int rc;
		bool doubt;
	} round[PROBE_ROUNDS];
	struct rj_error err;
};

static void cork(int fd, int on)
{
	setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
}

/* Once in a round: hold back what is sent over SOCKET from now on; without one, wait for the
 * others, and not for long. */
static void meet(void *arg, int socket)
{
	struct racer *a = arg;
	struct meeting *m = a->m;
	struct timespec until;
	int late = 0;

	if (a->met)
		return;
	a->met = true;
	until = rj_cond_until(MEET_NS);
	pthread_mutex_lock(&m->lock);
	if (a->corked >= 0) /* the kernel let it go before let_go() did */
		cork(a->corked, 0);
	a->corked = socket;
	if (socket >= 0)
		cork(socket, 1);
	if (++m->arrived == a->run->out->racers)
		pthread_cond_broadcast(&m->all);
	while (socket < 0 && !late && m->arrived < a->run->out->racers)
		late = pthread_cond_timedwait(&m->all, &m->lock, &until);
	pthread_mutex_unlock(&m->lock);
}

/* In each round, when all requests are on their way, let them go. */
static void let_go(struct meeting *m, struct racer *a, unsigned racers)
{
	unsigned i, let = 0;

	pthread_mutex_lock(&m->lock);
	while (!m->over) {
		if (m->arrived < racers || let == m->rounds) {
			pthread_cond_wait(&m->all, &m->lock);
			continue;
		}
		let = m->rounds;
		pthread_mutex_unlock(&m->lock);
		rj_sleep_ns(SEND_NS);
		pthread_mutex_lock(&m->lock);
		for (i = 0; i < racers; i++) {
			if (a[i].corked >= 0)
				cork(a[i].corked, 0);
			a[i].corked = -1;
		}
	}
	pthread_mutex_unlock(&m->lock);
}

/* Begin the next round together. False: there is none. */
static bool next_round(struct racer *a)
{
	struct meeting *m = a->m;
	const struct rj_probe *p = a->run->out;

	if (pthread_barrier_wait(&m->round) == PTHREAD_BARRIER_SERIAL_THREAD) {
		pthread_mutex_lock(&m->lock);
		m->over = m->rounds == p->rounds ||
			  (m->rounds >= LEAST_ROUNDS && rj_monotonic_ns() > m->until);
		m->rounds += !m->over;
		m->arrived = 0;
		pthread_cond_broadcast(&m->all);
		pthread_mutex_unlock(&m->lock);
	}
	pthread_barrier_wait(&m->round);
	a->met = false;
	return !m->over;
}

static void *race(void *arg)
{
	struct racer *a = arg;
	char text[64];
	unsigned i;

	pthread_mutex_lock(&a->m->lock); /* they start when it is known how many they are */
	pthread_mutex_unlock(&a->m->lock);
	for (i = 0; next_round(a); i++) {
		struct rj_key key = probe_key(
			a->run, RJ_KEY_EPOCH, a->run->epochs + i + 1);

		snprintf(text, sizeof(text), "racer %04u\n", a->id);
		a->round[i].rc = probe_put(a->store, &key, text, strlen(text),
			&a->round[i].doubt, &a->err);
		meet(a, -1);
	}
	return NULL;
}

/*
 * Does KEY hold what one of the racers brought? libcurl sends a request again
 * by itself when a kept connection dies before the answer, so that a winner, too,
 * may only hear "exists".
 */
static bool stands(struct probe_run *r, const struct rj_key *key)
{
	char text[64];
	unsigned i;

	for (i = 0; i < r->out->racers; i++) {
		snprintf(text, sizeof(text), "racer %04u\n", i);
		if (probe_holds(r->store, key, text, strlen(text)))
			return true;
	}
	return false;
}

static void judge_round(struct probe_run *r, struct racer *a, unsigned round)
{
	struct rj_key key = probe_key(r, RJ_KEY_EPOCH, r->epochs + round + 1);
	unsigned i, winners = 0, winner = 0, doubts = 0;
	char text[64];

	for (i = 0; i < r->out->racers; i++) {
		int rc = a[i].round[round].rc;

		if (!rc) {
			winners++;
			winner = i;
		} else if (rc == -RJ_E_UNREACHABLE || a[i].round[round].doubt) {
			doubts++;
		} else if (rc != -RJ_E_EXISTS) {
			probe_not(r, "a racer failed", a[i].err.msg);
		}
	}
	snprintf(text, sizeof(text), "racer %04u\n", winner);
	if (winners > 1) {
		r->out->several++;
		probe_not(r,
			"of several that created one object at once, more than "
			"one was told that it was the first",
			NULL);
	} else if (winners == 1 && probe_holds(r->store, &key, text, strlen(text))) {
		r->out->one_winner++;
	} else if (winners == 1) {
		probe_not(r, "a race's winner does not find its own bytes",
			NULL);
	} else if (stands(r, &key)) {
		r->out->one_winner++; /* only its answer was lost */
	} else if (doubts) {
		r->out->undecided++;
	} else {
		probe_not(r, "a race for one object had no winner", NULL);
	}
}

static int open_handle(
	struct probe_run *r, struct rj_store **out, struct rj_error *err)
{
	return r->url ? rj_store_open(r->url, NULL, out, err)
		      : rj_store_dup(r->store, out, err);
}

/* Open the racers' handles. */
static int open_racers(
	struct probe_run *r, struct racer *a, struct rj_error *err)
{
	unsigned i;
	int rc = 0;

	for (i = 0; !rc && i < r->out->racers; i++) {
		a[i].id = i;
		a[i].run = r;
		rc = open_handle(r, &a[i].store, err);
		a[i].corked = -1;
		a[i].gate = (struct rj_put_gate){meet, &a[i]};
		if (!rc)
			a[i].store->gate = &a[i].gate;
	}
	return rc;
}

int probe_race(struct probe_run *r, struct rj_error *err)
{
	struct racer *a = calloc(r->out->racers, sizeof(*a));
	struct meeting m = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.until = r->budget_ns ? rj_monotonic_ns() + r->budget_ns : INT64_MAX,
	};
	unsigned i, started;
	int rc;

	if (!a)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	rc = open_racers(r, a, err);
	if (rc)
		goto out;
	rj_cond_init(&m.all);
	pthread_mutex_lock(&m.lock);
	for (started = 0; started < r->out->racers; started++) {
		a[started].m = &m;
		if (rj_thread_start(&a[started].thread, race, &a[started]))
			break;
	}
	if (started < r->out->racers)
		rc = rj_fail(err, RJ_E_NOMEM, "cannot start %u threads",
			r->out->racers);
	pthread_barrier_init(&m.round, NULL, started ? started : 1);
	pthread_mutex_unlock(&m.lock);
	if (!rc)
		let_go(&m, a, started);
	for (i = 0; i < started; i++)
		pthread_join(a[i].thread, NULL);
	pthread_barrier_destroy(&m.round);
	pthread_cond_destroy(&m.all);
	r->out->rounds = m.rounds;
	for (i = 0; !rc && i < r->out->rounds; i++)
		judge_round(r, a, i);
	r->epochs += r->out->rounds;
out:
	for (i = 0; i < r->out->racers; i++)
		rj_store_close(a[i].store);
	free(a);
	return rc;
}
