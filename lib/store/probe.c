// SPDX-License-Identifier: LGPL-2.1-or-later
/* Try what a store can do, and judge it. */
#include "store/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/sbx.h"
#include "store/probe-run.h"
#include "util/environ.h"

/* At most, for the race of a brief probe, in which three rounds are made at least. Where making a
 * folder is the exclusive act, no round finds for certain what several do. */
#define BRIEF_NS	1500000000LL
#define BRIEF_FOLDER_NS 6000000000LL

static void step(const struct probe_run *r, const char *what)
{
	if (r->opts.progress)
		r->opts.progress(r->opts.arg, what);
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
	if (rc == -RJ_E_EXISTS && probe_holds(r->store, &key, "first\n", 6))
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
	else if (!probe_holds(r->store, &key, "first\n", 6))
		probe_not(r,
			"an object that must not be replaced does not hold "
			"its first bytes any more",
			NULL);
	return 0;
}

struct listed {
	uint64_t first, last, count;
};

static int take_number(void *arg, uint64_t number, uint64_t bytes)
{
	struct listed *l = arg;

	if (!l->count++)
		l->first = number;
	l->last = number;
	return 0;
}

/* A list from the beginning has all epochs, and one that begins after the last but one has the
 * last: a log whose end cannot be found is of no use. */
static int try_lists(struct probe_run *r, struct rj_error *err)
{
	struct rj_key dir = probe_key(r, RJ_KEY_EPOCH, 0);
	struct listed all = {0}, last = {0};
	int rc = rj_store_list(r->other, &dir, 0, take_number, &all, err);

	if (!rc)
		rc = rj_store_list(r->other, &dir, r->epochs - 1, take_number, &last, err);
	if (rc == -RJ_E_PROTOCOL || rc == -RJ_E_UNSUPPORTED) {
		probe_not(r, "its lists cannot be used", err->msg);
		return 0;
	}
	if (!rc && (all.first != 1 || all.last != r->epochs || all.count != r->epochs))
		probe_not(r, "a list lacks objects that were acknowledged", NULL);
	else if (!rc && (last.first != r->epochs || last.count != 1))
		probe_not(r, "a list that is to begin after an object does not", NULL);
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
	rc = probe_race(r, err);
	if (rc || r->out->why[0])
		return rc;
	step(r, "listing");
	rc = try_lists(r, err);
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
	const uint8_t journal_uuid[RJ_UUID_BYTES], int race_ms, uint8_t *seen,
	struct rj_error *err)
{
	struct rj_probe out = {0};
	struct probe_run r = {
		.opts = {.racers = 4, .rounds = 2},
		.budget_ns = BRIEF_NS,
		.out = &out,
		.store = store,
	};
	struct rj_error local;
	int rc;

	if (!err)
		err = &local;
	if (store->caps.foreign) {
		r.opts.racers = 8;
		r.opts.rounds = 20;
		if (store->caps.exclusive_container)
			r.budget_ns = BRIEF_FOLDER_NS;
	}
	if (race_ms)
		r.budget_ns = race_ms * 1000000LL;
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
		"%s: no journal can be kept there: %s; name another store", url,
		p->why);
}
