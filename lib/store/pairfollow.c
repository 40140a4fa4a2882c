// SPDX-License-Identifier: LGPL-2.1-or-later
/* The second hand: puts beside the caller, and catches up who was away. */
#include <errno.h>
#include <string.h>

#include "store/pair.h"
#include "util/environ.h"
#include "util/log.h"
#include "util/thread.h"

#define MS 1000000LL
/* So many segments may be left to copy while the caller waits. */
#define LAST_STEP 8

/* ---- catching up ---- */

static int give_up(struct pair *p, int y, const char *why)
{
	p->shared->diverged = true;
	rj_log(RJ_LOG_WARNING,
		"%s: %s; it is left alone, and the journal is kept in one "
		"store only: rjtune -J makes a new pair",
		p->url[y], why);
	return -RJ_E_FOREIGN;
}

/* Handles: of Y its own, of X a dup. */
static int open_both(struct pair *p, int x, struct rj_error *err)
{
	int rc = pair_open_side(p, !x, err);

	if (rc)
		return rc;
	if (p->from && p->from_side == x)
		return 0;
	rj_store_close(p->from);
	p->from = NULL;
	pthread_mutex_lock(&p->lock);
	rc = rj_store_dup(p->side[x], &p->from, err);
	pthread_mutex_unlock(&p->lock);
	p->from_side = x;
	return rc;
}

/* In mode B nothing can be put before the epoch is ours there, too. */
static int claim_there(struct pair *p, int y, uint64_t epoch,
	struct rj_error *err)
{
	struct rj_key key = {.kind = RJ_KEY_EPOCH, .number = epoch};
	int rc;

	memcpy(key.journal_uuid, p->journal, RJ_UUID_BYTES);
	rc = pair_copy(p, p->from, y, &key, err);
	if (rc == -RJ_E_EXISTS && !p->side[y]->caps.put_new)
		return give_up(p, y, "another writer claimed our epoch there");
	return rc == -RJ_E_EXISTS || rc == -RJ_E_NOTFOUND ? 0 : rc;
}

/* What X shows beyond Y's end, in order. */
static int copy_listed(struct pair *p, int y, const struct pair_view *xv,
	uint64_t *have, struct rj_error *err)
{
	const struct pair_object *o = (const void *)xv->objects.data;
	size_t count = xv->objects.len / sizeof(*o), i;
	struct rj_key key = {.kind = RJ_KEY_LOG};
	int rc = 0;

	memcpy(key.journal_uuid, p->journal, RJ_UUID_BYTES);
	for (i = 0; !rc && !p->stop && i < count; i++) {
		if (o[i].number <= *have)
			continue;
		key.number = o[i].number;
		rc = pair_copy(p, p->from, y, &key, err);
		if (rc == -RJ_E_NOTFOUND && key.number < xv->last)
			rc = 0; /* trimmed meanwhile */
		else if (rc == -RJ_E_EXISTS)
			rc = give_up(p, y, "it holds another log by now");
		if (!rc)
			*have = key.number;
	}
	return rc;
}

/* The rest while the caller waits: then both hold the same. */
static int last_step(struct pair *p, int x, uint64_t have, struct rj_error *err)
{
	struct rj_key key = {.kind = RJ_KEY_LOG};
	int rc = 0;

	memcpy(key.journal_uuid, p->journal, RJ_UUID_BYTES);
	pthread_mutex_lock(&p->lock);
	if (p->stop || p->mark_due || !p->settled || p->end[x] < have ||
		p->end[x] - have > LAST_STEP)
		rc = -RJ_E_BUSY;
	while (!rc && have < p->end[x]) {
		key.number = have + 1;
		rc = pair_copy(p, p->from, !x, &key, err);
		have += !rc;
	}
	if (!rc) {
		p->end[!x] = have;
		p->rejoining = true;
		if (p->leave_out & RJ_PAIR_ORDER) {
			p->rejoining = false;
			p->shared->need = RJ_PAIR_BOTH;
		}
	}
	pthread_mutex_unlock(&p->lock);
	return rc;
}

static int catch_up(struct pair *p, struct pair_view *yv, struct pair_view *xv,
	struct rj_error *err)
{
	int x = p->shared->need, y = !x, rc;
	bool prefix;
	uint64_t have;

	rc = open_both(p, x, err);
	if (rc)
		return rc;
	pair_look_at(p->side[y], p->journal, yv);
	if (!yv->away)
		pair_look_at(p->from, p->journal, xv);
	if (yv->away || xv->away) {
		*err = yv->away ? yv->why : xv->why;
		return -(int)err->code;
	}
	rc = pair_is_prefix(p->side[y], yv, p->from, xv, p->journal, &prefix,
		err);
	if (rc)
		return rc;
	if (!prefix || yv->last > xv->last)
		return give_up(p, y, "it holds another log by now");
	rc = claim_there(p, y, xv->epoch, err);
	have = yv->last;
	if (!rc)
		rc = copy_listed(p, y, xv, &have, err);
	return rc ? rc : last_step(p, x, have, err);
}

static void follow(struct pair *p)
{
	struct pair_view yv = {0}, xv = {0};
	struct rj_error err = {0};
	int rc = catch_up(p, &yv, &xv, &err);

	if (rc && rc != -RJ_E_BUSY && err.msg[0])
		rj_log(RJ_LOG_DEBUG, "cannot catch up %s yet: %s",
			p->url[!p->shared->need], err.msg);
	pair_view_free(&yv);
	pair_view_free(&xv);
}

/* Is there anybody to catch up? With the lock held. */
static bool behind(const struct pair *p)
{
	return p->looked && p->settled && p->shared->need != RJ_PAIR_BOTH &&
	       !p->shared->diverged && !p->rejoining;
}

void rj_pair_step(struct rj_store *s)
{
	struct pair *p = pair_of(s);

	if (behind(p))
		follow(p);
}

/* ---- the thread ---- */

static void do_job(struct pair *p)
{
	struct pair_job *j = &p->job;

	pthread_mutex_unlock(&p->lock);
	j->rc = pair_put_side(p, 1, &j->key, j->bytes.data, j->bytes.len,
		&j->err);
	pthread_mutex_lock(&p->lock);
	j->done = true;
	j->given = false;
	pthread_cond_broadcast(&p->done);
}

static void *run(void *arg)
{
	struct pair *p = arg;
	struct timespec t;

	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		if (p->job.given) {
			do_job(p);
			continue;
		}
		if (behind(p)) {
			p->following = true;
			pthread_mutex_unlock(&p->lock);
			follow(p);
			pthread_mutex_lock(&p->lock);
			p->following = false;
			pthread_cond_broadcast(&p->done);
		}
		if (p->stop || p->job.given)
			continue;
		t = rj_cond_until(RJ_PAIR_RETRY_MS * MS);
		pthread_cond_timedwait(&p->wake, &p->lock, &t);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int pair_hand_start(struct pair *p, struct rj_error *err)
{
	int e;

	if (!p->threads || p->started)
		return 0;
	e = rj_thread_start(&p->thread, run, p);
	if (e)
		return rj_fail_errno(err, e, "cannot start a thread");
	p->started = true;
	return 0;
}

void pair_hand_stop(struct pair *p)
{
	if (!p->started)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	p->started = false;
}

int pair_hand_give(struct pair *p, const struct rj_key *key, const void *data,
	size_t len, struct rj_error *err)
{
	struct pair_job *j = &p->job;
	int rc = pair_hand_start(p, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&p->lock);
	while (j->given || p->following)
		pthread_cond_wait(&p->done, &p->lock);
	j->bytes.len = 0;
	j->key = *key;
	rc = rj_buf_append(&j->bytes, data, len);
	if (rc)
		rj_fail(err, RJ_E_NOMEM, "out of memory");
	j->given = !rc;
	j->done = false;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
	return rc;
}

bool pair_hand_wait(struct pair *p, int64_t deadline)
{
	int64_t left = deadline - rj_monotonic_ns();
	struct timespec t = rj_cond_until(left > 0 ? left : 0);
	bool done;

	pthread_mutex_lock(&p->lock);
	while (!p->job.done &&
		pthread_cond_timedwait(&p->done, &p->lock, &t) != ETIMEDOUT)
		;
	done = p->job.done;
	pthread_mutex_unlock(&p->lock);
	return done;
}

void pair_hand_rest(struct pair *p)
{
	if (!p->started)
		return;
	pthread_mutex_lock(&p->lock);
	p->settled = false;
	while (p->job.given || p->following)
		pthread_cond_wait(&p->done, &p->lock);
	pthread_mutex_unlock(&p->lock);
}
