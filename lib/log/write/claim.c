// SPDX-License-Identifier: LGPL-2.1-or-later
/* Become the log's one writer: claim an epoch, then put the fence that stops the older one. */
#include <stdlib.h>
#include <string.h>

#include "log/listing.h"
#include "log/retry.h"
#include "log/verify.h"
#include "log/write/epoch.h"
#include "log/write/writer.h"
#include "util/bytes.h"
#include "util/environ.h"
#include "util/error-class.h"

#define NS_PER_MS 1000000LL
/* How long to run after an older writer that keeps appending. */
#define CHASE_NS (30000 * NS_PER_MS)
/* How long to lie in wait for its next segment. */
#define AMBUSH_NS (200 * NS_PER_MS)
/* Puts lost to it before doing so. */
#define AMBUSH_AFTER 2
/* Segments stepped over, one by one, before the next put. */
#define STEPS 8

struct claim {
	struct rj_store *store;
	const struct rj_log_claim_opts *opts;
	struct rj_log_writer *w;
	struct rj_verify verify; /* its place is after the last segment */
	uint64_t highest_epoch;
};

/*
 * Something before segment NEXT does not verify (ERR says what). When the
 * caller allows a break, go on as if nothing were known; else that is the end.
 */
static int broken(struct claim *c, uint64_t next, int rc)
{
	if (!rj_code_damage(rc) || !c->opts->allow_break)
		return rc;
	rj_verify_start(&c->verify, c->store->url, &c->w->id, next);
	c->verify.tail.sequence = next - 1;
	c->verify.chained = false;
	c->verify.need_base = true;
	return 0;
}

/* Verify segment LAST by itself and that what it needs is listed. */
static int check_last(
	struct claim *c, struct rj_listing *l, struct rj_error *err)
{
	struct rj_log_writer *w = c->w;
	struct rj_segment seg = {0};
	uint64_t last = l->last, after = 0;
	struct rj_range hole;
	int rc;

	rj_verify_start(&c->verify, c->store->url, &w->id, l->last);
	rc = rj_log_fetch(
		c->store, &w->id, l->last, c->opts->retry_ms, &w->back, err);
	if (rc)
		return rc;
	rc = rj_verify_next(&c->verify, w->back.data, w->back.len, &seg, err);
	rj_segment_release(&seg);
	if (rc)
		return rc;
	/* a break without its base is no log to continue */
	rc = rj_verify_end(&c->verify, err);
	if (rc)
		return rc;
	/* what is needed may begin before what was listed */
	if (c->store->ops->last && c->verify.tail.oldest) {
		after = c->verify.tail.oldest - 1;
		rc = rj_listing_log(c->store, &w->id, after, c->opts->retry_ms,
			l, err);
		if (rc)
			return rc;
	}
	return rj_listing_check(c->store, &w->id, after, c->opts->retry_ms, l,
		c->verify.tail.oldest, last, &hole, err);
}

/* The log goes on at opts->begin_at, whatever is there; NEXT is the number after its end. */
static void begin_at(struct claim *c, uint64_t next)
{
	uint64_t epoch = c->verify.tail.epoch;

	if (next < c->opts->begin_at)
		next = c->opts->begin_at;
	rj_verify_start(&c->verify, c->store->url, &c->w->id, next);
	c->verify.tail = (struct rj_log_tail){.sequence = next - 1, .epoch = epoch};
	c->verify.chained = false;
	c->verify.need_base = true;
}

/* Look at the log as it is. Nothing is written yet. */
static int survey(struct claim *c, struct rj_error *err)
{
	struct rj_listing l = {0};
	int rc;

	rc = rj_listing_end(c->store, &c->w->id, c->opts->new_log,
		c->opts->retry_ms, &l, err);
	if (!rc && l.last < c->opts->reaches)
		rc = rj_fail(err, RJ_E_UNREACHABLE,
			"%s: segment %llu was stored, and is not there: is it the right server, with all that it had?",
			c->store->url, (unsigned long long)c->opts->reaches);
	if (rc)
		goto out;
	rc = rj_listing_epoch(
		c->store, &c->w->id, c->opts->retry_ms, &c->highest_epoch, err);
	if (rc)
		goto out;
	if (l.last && c->opts->new_log) {
		rc = rj_fail(err, RJ_E_EXISTS,
			"%s: a log is there already, segments %llu to %llu",
			c->store->url, (unsigned long long)l.first,
			(unsigned long long)l.last);
		goto out;
	}
	rj_verify_start(&c->verify, c->store->url, &c->w->id, 1);
	if (!l.last)
		goto out;
	if (l.last == UINT64_MAX) {
		rc = rj_fail(err, RJ_E_CORRUPT, "%s: no segment number is left",
			c->store->url);
		goto out;
	}
	rc = check_last(c, &l, err);
	/* what a move left that was cut off has no base */
	if (c->opts->begin_at && c->verify.need_base)
		rc = 0;
	if (rc)
		rc = broken(c, l.last + 1, rc);
	/* an epoch whose object was lost is taken nevertheless */
	if (!rc && c->verify.tail.epoch > c->highest_epoch)
		c->highest_epoch = c->verify.tail.epoch;
out:
	if (!rc && c->opts->begin_at)
		begin_at(c, l.last + 1);
	rj_listing_free(&l);
	return rc;
}

/* Is the last segment that of an older writer? */
static int check_stale(const struct claim *c, struct rj_error *err)
{
	const struct rj_log_tail *t = &c->verify.tail;

	if (t->epoch < c->w->epoch)
		return 0;
	return rj_fail(err, RJ_E_FENCED,
		"%s: segment %llu: another writer took over with epoch %llu "
		"(ours is %llu)",
		c->store->url, (unsigned long long)t->sequence,
		(unsigned long long)t->epoch, (unsigned long long)c->w->epoch);
}

/*
 * Another's segment has the number that our fence wanted; its bytes are in
 * w->back. An older writer's is stepped over, a newer one's ends the claim.
 */
static int step_over(struct claim *c, struct rj_error *err)
{
	struct rj_log_writer *w = c->w;
	uint64_t number = c->verify.next;
	struct rj_segment seg = {0};
	int rc;

	rc = rj_verify_next(&c->verify, w->back.data, w->back.len, &seg, err);
	rj_segment_release(&seg);
	if (rc)
		return broken(c, number + 1, rc);
	rc = check_stale(c, err);
	if (rc)
		return rc;
	if (c->opts->new_log)
		return rj_fail(err, RJ_E_EXISTS,
			"%s: another writer is beginning the same log",
			c->store->url);
	/* the older writer itself may just have broken the log off */
	if (c->verify.need_base && !c->opts->allow_break)
		return rj_verify_end(&c->verify, err);
	return 0;
}

static int put_fence_once(struct claim *c, struct rj_error *err)
{
	struct rj_seg_draft draft = {.header = {.kind = RJ_SEG_FENCE}};
	struct rj_log_writer *w = c->w;
	struct rj_retry retry;
	int rc;

	w->tail = c->verify.tail;
	w->must_base = c->verify.need_base;
	if (w->must_base)
		draft.header.flags |= RJ_SEG_F_BREAK;
	if (c->opts->clean)
		draft.header.flags |= RJ_SEG_F_CLEAN;
	draft.header.oldest = w->tail.oldest;
	rc = rj_writer_seal(w, &draft, false, err);
	if (rc)
		return rc;
	rj_retry_start(&retry, c->opts->retry_ms);
	do
		rc = rj_writer_put(w, err);
	while (rj_retry_again(&retry, rc));
	return rc;
}

/* To the end of the log in two requests, however many segments are between: as
 * in the survey, what is before the last one need not be fetched. */
static int leap(struct claim *c, struct rj_error *err)
{
	uint64_t oldest = c->verify.tail.oldest;
	struct rj_listing l = {0};
	int rc;

	if (c->verify.need_base)
		return 0;
	rc = rj_listing_log(c->store, &c->w->id, oldest ? oldest - 1 : 0,
		c->opts->retry_ms, &l, err);
	if (!rc && l.last > c->verify.next && l.last < UINT64_MAX) {
		rc = check_last(c, &l, err);
		if (c->verify.tail.epoch >= c->w->epoch)
			rc = check_stale(c, err);
		else if (rc)
			rc = broken(c, l.last + 1, rc);
	}
	rj_listing_free(&l);
	return rc;
}

/*
 * Go over whatever more the older writer has appended. One that appends as
 * fast as it can is always a put ahead: as soon as one is acknowledged it sends
 * the next, while we still have to fetch that segment for its chain. So after some
 * LOST races lie in wait: look for its next segment without putting anything,
 * and put right after it when it shows; then we are the first. It may also be
 * so much faster that not even this helps; it then gives way (yield.h), and
 * no more segments show.
 */
static int catch_up(struct claim *c, int lost, struct rj_error *err)
{
	int64_t until = rj_monotonic_ns() + AMBUSH_NS;
	struct rj_log_writer *w = c->w;
	bool wait = lost >= AMBUSH_AFTER, waited = false;
	struct rj_key key;
	int rc, i;

	rc = wait ? leap(c, err) : 0;
	if (rc)
		return rc;
	for (i = 0; i < STEPS; i++) {
		key = rj_log_key(&w->id, RJ_KEY_LOG, c->verify.next);
		w->back.len = 0;
		rc = rj_store_get(
			c->store, &key, RJ_SEG_MAX_BYTES, &w->back, err);
		if (rc == -RJ_E_NOTFOUND && wait && rj_monotonic_ns() < until) {
			waited = true;
			i = 0;
			continue;
		}
		if (rc) /* nothing there: the put that comes will tell */
			return 0;
		rc = step_over(c, err);
		if (rc || waited)
			return rc;
	}
	return 0;
}

static int put_fence(struct claim *c, struct rj_error *err)
{
	int64_t until = rj_monotonic_ns() + CHASE_NS;
	int lost, rc;

	for (lost = 0; !lost || rj_monotonic_ns() < until; lost++) {
		rc = put_fence_once(c, err);
		if (rc != -RJ_E_EXISTS)
			return rc;
		rc = step_over(c, err);
		if (!rc)
			rc = catch_up(c, lost, err);
		if (rc)
			return rc;
	}
	return rj_fail(err, RJ_E_BUSY,
		"%s: an older writer keeps appending (segment %llu): try again",
		c->store->url, (unsigned long long)c->verify.next - 1);
}

/* Is the last segment that of the writer whose successor we are? */
static int check_wrote(const struct claim *c, struct rj_error *err)
{
	uint64_t epoch = c->verify.tail.epoch, wrote = c->opts->wrote;

	if (!wrote)
		wrote = c->opts->successor_of;
	if (!wrote || epoch <= wrote)
		return 0;
	return rj_fail(err, RJ_E_FENCED,
		"%s: another writer took over with epoch %llu (ours was %llu)",
		c->store->url, (unsigned long long)epoch, (unsigned long long)wrote);
}

/* And the newest claim? */
static int check_successor(const struct claim *c, struct rj_error *err)
{
	uint64_t successor_of = c->opts->successor_of;
	int rc = check_wrote(c, err);

	if (rc || !successor_of || c->highest_epoch <= successor_of)
		return rc;
	return rj_fail(err, RJ_E_BUSY, "%s: epoch %llu was claimed just now: try again",
		c->store->url, (unsigned long long)c->highest_epoch);
}

int rj_log_claim(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_claim_opts *opts, struct rj_log_writer **out,
	struct rj_error *err)
{
	static const struct rj_log_claim_opts none;
	struct claim c = {.store = store, .opts = opts ? opts : &none};
	struct rj_epoch_want want = {
		.only_next = c.opts->successor_of != 0,
		.continues = c.opts->continues,
		.retry_ms = c.opts->retry_ms,
	};
	struct rj_error unseen;
	int rc = 0;

	*out = NULL;
	if (!err)
		err = &unseen;
	if (!store->caps.put_new && !store->caps.exclusive_container)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: this store has nothing that only one of several "
			"writers can do, so it cannot hold a log",
			store->url);
	c.w = rj_writer_new();
	if (!c.w)
		return rj_fail(err, RJ_E_NOMEM, "out of memory for a log");
	c.w->store = store;
	c.w->id = *id;
	if (c.opts->nonce)
		memcpy(c.w->nonce, c.opts->nonce, sizeof(c.w->nonce));
	else
		rc = rj_random_bytes(c.w->nonce, sizeof(c.w->nonce));
	if (rc) {
		rc = rj_fail(err, RJ_E_IO, "cannot get random bytes");
		goto out;
	}
	rc = survey(&c, err);
	if (rc)
		goto out;
	if (c.opts->min_epoch > c.highest_epoch)
		c.highest_epoch = c.opts->min_epoch;
	rc = check_successor(&c, err);
	if (rc)
		goto out;
	want.above = c.highest_epoch;
	want.nonce = c.w->nonce;
	rc = rj_epoch_claim(store, id, &want, &c.w->epoch, err);
	/* mode B: only now the log that we continue is certain */
	if (!rc && !store->caps.put_new)
		rc = survey(&c, err);
	if (!rc)
		rc = check_wrote(&c, err);
	if (!rc && c.opts->claimed)
		c.opts->claimed(c.opts->arg, c.w->epoch);
	if (!rc)
		rc = put_fence(&c, err);
	if (!rc) {
		*out = c.w;
		c.w = NULL;
	}
out:
	rj_log_writer_free(c.w);
	return rc;
}
