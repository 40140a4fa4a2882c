// SPDX-License-Identifier: LGPL-2.1-or-later
/* Race puts at a store, and judge what it can do. */
#include "store/probe.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/sbx.h"
#include "os/thread.h"
#include "store/probe-run.h"
#include "util/environ.h"

static void step(const struct probe_run *r, const char *what)
{
	if (r->opts.progress)
		r->opts.progress(r->opts.arg, what);
}

/* Does KEY hold the LEN bytes of DATA? */
static bool holds(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len)
{
	struct rj_buf got = {0};
	bool same = !rj_store_get(s, key, PROBE_MAX, &got, NULL) &&
		    got.len == len && !memcmp(got.data, data, len);

	rj_buf_free(&got);
	return same;
}

/* Twice the same key, one after the other: the cheapest way to find a store
 * that overwrites. The first answer also says whether it can be used at all. */
static int try_twice(struct probe_run *r, struct rj_error *err)
{
	struct rj_key key = probe_key(r, RJ_KEY_EPOCH, ++r->epochs);
	struct rj_error second = {0};
	bool doubt;
	int rc;

	rc = probe_put(r->store, &key, "first\n", 6, &doubt, err);
	/* it may be ours, of an attempt whose answer was lost; if not, then in
	 * brief an earlier attempt at the same log got further */
	if (rc == -RJ_E_EXISTS && holds(r->store, &key, "first\n", 6))
		rc = 0;
	if (rc)
		return rc;
	rc = probe_put(r->other, &key, "second\n", 7, &doubt, &second);
	if (rc == -RJ_E_UNREACHABLE) {
		*err = second;
		return rc;
	}
	if (!rc)
		probe_not(r,
			"an object that was there was created again: the store "
			"ignores the condition, and two writers could not be "
			"told apart",
			NULL);
	else if (rc != -RJ_E_EXISTS)
		probe_not(r, "an object that was there", second.msg);
	else if (!holds(r->store, &key, "first\n", 6))
		probe_not(r,
			"an object that must not be replaced does not hold "
			"its first bytes any more",
			NULL);
	return 0;
}

struct racer {
	pthread_t thread;
	pthread_mutex_t *start;
	pthread_barrier_t *gate;
	struct probe_run *run;
	struct rj_store *store;
	unsigned id;
	struct {
		int rc;
		bool doubt;
	} round[PROBE_ROUNDS];
	struct rj_error err;
};

static void *race(void *arg)
{
	struct racer *a = arg;
	char text[64];
	unsigned i;

	pthread_mutex_lock(a->start);
	pthread_mutex_unlock(a->start);
	for (i = 0; i < a->run->out->rounds; i++) {
		struct rj_key key = probe_key(
			a->run, RJ_KEY_EPOCH, a->run->epochs + i + 1);

		snprintf(text, sizeof(text), "racer %04u\n", a->id);
		pthread_barrier_wait(a->gate);
		a->round[i].rc = probe_put(a->store, &key, text, strlen(text),
			&a->round[i].doubt, &a->err);
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
		if (holds(r->store, key, text, strlen(text)))
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
	} else if (winners == 1 && holds(r->store, &key, text, strlen(text))) {
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
	}
	return rc;
}

static int run_race(struct probe_run *r, struct rj_error *err)
{
	struct racer *a = calloc(r->out->racers, sizeof(*a));
	pthread_mutex_t start = PTHREAD_MUTEX_INITIALIZER;
	pthread_barrier_t gate;
	unsigned i, started;
	int rc;

	if (!a)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	rc = open_racers(r, a, err);
	if (rc)
		goto out;
	/* they start when it is known how many they are */
	pthread_mutex_lock(&start);
	for (started = 0; started < r->out->racers; started++) {
		a[started].start = &start;
		a[started].gate = &gate;
		if (rj_thread_start(&a[started].thread, race, &a[started]))
			break;
	}
	if (started < r->out->racers)
		rc = rj_fail(err, RJ_E_NOMEM, "cannot start %u threads",
			r->out->racers);
	pthread_barrier_init(&gate, NULL, started ? started : 1);
	pthread_mutex_unlock(&start);
	for (i = 0; i < started; i++)
		pthread_join(a[i].thread, NULL);
	pthread_barrier_destroy(&gate);
	for (i = 0; !rc && i < r->out->rounds; i++)
		judge_round(r, a, i);
	r->epochs += r->out->rounds;
out:
	for (i = 0; i < r->out->racers; i++)
		rj_store_close(a[i].store);
	free(a);
	return rc;
}

/* Remove what the probe made, as far as that goes. */
static void clean_up(struct probe_run *r)
{
	uint64_t n;

	for (n = 1; n <= r->objects; n++) {
		struct rj_key key = probe_key(r, RJ_KEY_LOG, n);

		rj_store_remove(r->store, &key, NULL);
	}
	for (n = 1; n <= r->epochs; n++) {
		struct rj_key key = probe_key(r, RJ_KEY_EPOCH, n);
		int rc = rj_store_remove(r->store, &key, NULL);

		r->out->left_behind |= rc && rc != -RJ_E_NOTFOUND;
	}
}

static int probe(struct probe_run *r, struct rj_error *err)
{
	int rc;

	step(r, "one object twice");
	rc = try_twice(r, err);
	if (rc || r->out->why[0])
		return rc;
	step(r, "racing");
	rc = run_race(r, err);
	if (rc || r->out->why[0] || !r->url)
		return rc;
	step(r, "measuring puts");
	rc = probe_measure(r, err);
	if (rc)
		return rc;
	step(r, "reading while writing");
	return probe_watch(r, err);
}

static void set_up(struct probe_run *r)
{
	struct rj_probe *p = r->out;

	p->racers = r->opts.racers ? r->opts.racers : 8;
	if (p->racers > RJ_PROBE_RACERS)
		p->racers = RJ_PROBE_RACERS;
	p->rounds = r->opts.rounds ? r->opts.rounds : 20;
	if (p->rounds > PROBE_ROUNDS)
		p->rounds = PROBE_ROUNDS;
	p->puts = r->opts.puts ? r->opts.puts : 50;
	p->put_bytes = r->opts.put_bytes ? r->opts.put_bytes : 8192;
	p->says = r->store->caps;
	p->mode = p->says.put_new	       ? RJ_PROBE_A
		  : p->says.exclusive_container ? RJ_PROBE_B
						: RJ_PROBE_NONE;
	if (p->mode == RJ_PROBE_NONE)
		probe_not(r, "this kind of store has nothing exclusive", NULL);
}

int rj_store_probe(const char *url, const struct rj_probe_opts *opts,
	struct rj_probe *out, struct rj_error *err)
{
	struct probe_run r = {.url = url, .out = out};
	struct rj_error unseen;
	int rc;

	if (!err)
		err = &unseen;
	if (opts)
		r.opts = *opts;
	memset(out, 0, sizeof(*out));
	if (rj_uuid_random(out->journal_uuid))
		return rj_fail(err, RJ_E_IO, "cannot get random bytes");
	rc = rj_store_open(url, NULL, &r.store, err);
	if (!rc)
		rc = rj_store_open(url, NULL, &r.other, err);
	if (!rc) {
		set_up(&r);
		if (!out->why[0])
			rc = probe(&r, err);
		clean_up(&r);
	}
	rj_store_close(r.store);
	rj_store_close(r.other);
	return rc;
}

/* What the store says of itself. */
static uint8_t kind_bits(const struct rj_store_caps *caps)
{
	uint8_t bits = 0;

	if (caps->put_new)
		bits |= RJ_SBX_PROBED_A;
	else if (caps->exclusive_container)
		bits |= RJ_SBX_PROBED_B;
	if (caps->durability == RJ_DURABLE)
		bits |= RJ_SBX_PROBED_DURABLE;
	return bits;
}

int rj_store_probe_brief(struct rj_store *store,
	const uint8_t journal_uuid[RJ_UUID_BYTES], uint8_t *seen,
	struct rj_error *err)
{
	struct rj_probe out = {0};
	struct probe_run r = {
		.opts = {.racers = 4, .rounds = 2},
		.out = &out,
		.store = store,
	};
	struct rj_error local;
	int rc;

	if (!err)
		err = &local;
	memcpy(out.journal_uuid, journal_uuid, RJ_UUID_BYTES);
	if (seen)
		*seen = kind_bits(&store->caps);
	rc = rj_store_dup(store, &r.other, err);
	if (rc == -RJ_E_UNSUPPORTED)
		return 0;
	if (rc)
		return rc;
	set_up(&r);
	if (!out.why[0])
		rc = probe(&r, err);
	if (rc == -RJ_E_EXISTS)
		rc = 0;
	else
		clean_up(&r);
	rj_store_close(r.other);
	if (seen && !rc && out.one_winner)
		*seen |= RJ_SBX_PROBED_RACED;
	return rc ? rc : rj_probe_verdict(store->url, &out, err);
}

int rj_probe_verdict(
	const char *url, const struct rj_probe *p, struct rj_error *err)
{
	if (p->mode != RJ_PROBE_NONE)
		return 0;
	return rj_fail(err, RJ_E_UNSUPPORTED,
		"%s: no journal can be kept there: %s", url, p->why);
}
