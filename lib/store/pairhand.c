// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The two hands: each puts into its side what it is given, so that who gave it
 * need not wait for a store that hangs; and catches its side up.
 */
#include <errno.h>
#include <string.h>

#include "store/pair.h"
#include "util/environ.h"
#include "util/thread.h"

#define MS 1000000LL

/* With the lock held. */
static void do_job(struct pair *p, struct pair_hand *h)
{
	pthread_mutex_unlock(&p->lock);
	h->rc = pair_put_side(
		p, h->side, &h->key, h->bytes.data, h->bytes.len, &h->err);
	pthread_mutex_lock(&p->lock);
	h->done = true;
	h->given = false;
	pthread_cond_broadcast(&p->done);
}

static void *run(void *arg)
{
	struct pair_hand *h = arg;
	struct pair *p = h->pair;
	struct timespec t;

	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		if (h->given) {
			do_job(p, h);
			continue;
		}
		if (pair_behind(p) && p->shared->need == !h->side) {
			h->following = true;
			pthread_mutex_unlock(&p->lock);
			pair_follow(p);
			pthread_mutex_lock(&p->lock);
			h->following = false;
			pthread_cond_broadcast(&p->done);
		}
		if (p->stop || h->given)
			continue;
		t = rj_cond_until(RJ_PAIR_RETRY_MS * MS);
		pthread_cond_timedwait(&h->wake, &p->lock, &t);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int pair_hand_start(struct pair *p, int side, struct rj_error *err)
{
	struct pair_hand *h = &p->hand[side];
	int e;

	if (!p->threads || h->started)
		return 0;
	e = rj_thread_start(&h->thread, run, h);
	if (e)
		return rj_fail_errno(err, e, "cannot start a thread");
	h->started = true;
	return 0;
}

void pair_hand_stop(struct pair *p)
{
	int i;

	pthread_mutex_lock(&p->lock);
	p->stop = true;
	for (i = 0; i < 2; i++)
		pthread_cond_signal(&p->hand[i].wake);
	pthread_mutex_unlock(&p->lock);
	for (i = 0; i < 2; i++) {
		if (p->hand[i].started)
			pthread_join(p->hand[i].thread, NULL);
		p->hand[i].started = false;
	}
}

static bool same_job(const struct pair_hand *h, const struct rj_key *key,
	const void *data, size_t len)
{
	return h->key.kind == key->kind && h->key.number == key->number &&
	       h->bytes.len == len && !memcmp(h->bytes.data, data, len);
}

/* Wait for a hand to do something. With the lock held. False: it is UNTIL. */
static bool something_done(struct pair *p, int64_t until)
{
	int64_t left = until - rj_monotonic_ns();
	struct timespec t;

	if (left <= 0)
		return false;
	t = rj_cond_until(left);
	pthread_cond_timedwait(&p->done, &p->lock, &t);
	return true;
}

static int no_answer(struct pair *p, int side, struct rj_error *err)
{
	return rj_fail(err, RJ_E_UNREACHABLE, "%s: no answer in %d ms",
		p->url[side], p->loss_ms[side]);
}

int pair_hand_give(struct pair *p, int side, const struct rj_key *key,
	const void *data, size_t len, int64_t until, struct rj_error *err)
{
	struct pair_hand *h = &p->hand[side];
	int rc = pair_hand_start(p, side, err);
	bool same;

	if (rc)
		return rc;
	pthread_mutex_lock(&p->lock);
	while (!(same = h->given && same_job(h, key, data, len)) &&
		(h->given || h->following) && something_done(p, until))
		;
	if (!same && (h->given || h->following))
		rc = no_answer(p, side, err);
	if (!rc && !same) {
		h->bytes.len = 0;
		h->key = *key;
		rc = rj_buf_append(&h->bytes, data, len);
		if (rc)
			rj_fail(err, RJ_E_NOMEM, "out of memory");
		h->given = !rc;
		h->done = false;
		pthread_cond_signal(&h->wake);
	}
	pthread_mutex_unlock(&p->lock);
	return rc;
}

int pair_hand_take(struct pair *p, int side, int64_t until, struct rj_error *err)
{
	struct pair_hand *h = &p->hand[side];
	int rc;

	pthread_mutex_lock(&p->lock);
	while (!h->done && something_done(p, until))
		;
	if (h->done) {
		rc = h->rc;
		*err = h->err;
	} else {
		rc = no_answer(p, side, err);
	}
	pthread_mutex_unlock(&p->lock);
	return rc;
}

void pair_hand_rest(struct pair *p)
{
	const struct pair_hand *h = p->hand;

	pthread_mutex_lock(&p->lock);
	p->settled = false;
	while (h[0].given || h[0].following || h[1].given || h[1].following)
		pthread_cond_wait(&p->done, &p->lock);
	pthread_mutex_unlock(&p->lock);
}
