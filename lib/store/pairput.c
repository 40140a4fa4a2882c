// SPDX-License-Identifier: LGPL-2.1-or-later
/* Put into two stores. */
#include <string.h>

#include "store/pair.h"
#include "util/environ.h"
#include "util/log.h"

#define MS       1000000LL
#define PAUSE_MS 50

int pair_put_side(struct pair *p, int side, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	struct rj_store *s = p->side[side];
	struct rj_buf back = {0};
	int rc;

	if (!s) {
		if (err)
			*err = p->open_err[side];
		return -RJ_E_UNREACHABLE;
	}
	rc = rj_store_put_new(s, key, data, len, err);
	if (rc != -RJ_E_EXISTS)
		return rc;
	/* ours, of an attempt whose answer was lost? */
	rc = rj_store_get(s, key, RJ_SEG_MAX_BYTES, &back, err);
	if (!rc && (back.len != len || memcmp(back.data, data, len)))
		rc = rj_fail(err, RJ_E_EXISTS,
			"%s: another's object has the number %llu", s->url,
			(unsigned long long)key->number);
	rj_buf_free(&back);
	return rc;
}

void pair_note_conflict(struct pair *p, int side, const struct rj_key *key)
{
	p->conflict = true;
	p->conflict_side = side;
	p->conflict_key = *key;
}

int pair_copy(struct pair *p, struct rj_store *from, int to,
	const struct rj_key *key, struct rj_error *err)
{
	struct rj_buf bytes = {0};
	int rc = rj_store_get(from, key, RJ_SEG_MAX_BYTES, &bytes, err);

	if (!rc) {
		p->side[to]->copying = true;
		rc = pair_put_side(p, to, key, bytes.data, bytes.len, err);
		p->side[to]->copying = false;
	}
	rj_buf_free(&bytes);
	return rc;
}

/* Is NUMBER one that side I showed, or that came after it was looked at? */
static bool may_have(const struct pair_view *v, uint64_t number)
{
	const struct pair_object *o = (const void *)v->objects.data;
	size_t count = v->objects.len / sizeof(*o), i;

	if (number > v->last)
		return true;
	for (i = count; i > 0 && o[i - 1].number >= number; i--)
		if (o[i - 1].number == number)
			return true;
	return false;
}

/* Lift side TO to UPTO with what the other has: segments that were under way
 * when their writer ended. */
static int lift(struct pair *p, int to, uint64_t upto, struct rj_error *err)
{
	struct rj_key key = {.kind = RJ_KEY_LOG};
	int rc = 0;

	memcpy(key.journal_uuid, p->journal, RJ_UUID_BYTES);
	while (!rc && p->end[to] < upto) {
		key.number = p->end[to] + 1;
		if (may_have(&p->view[!to], key.number))
			rc = pair_copy(p, p->side[!to], to, &key, err);
		if (!rc)
			p->end[to]++;
	}
	return rc;
}

static int busy(struct pair *p, uint64_t number, struct rj_error *err)
{
	p->looked = p->settled = false;
	return rj_fail(err, RJ_E_BUSY,
		"%s: segment %llu: another writer appended to one of the two "
		"stores at the same time: try again",
		p->base.url, (unsigned long long)number);
}

/* Is what stands in the way of a higher epoch than DATA's? */
static bool newer_in_the_way(struct pair *p, int side, const struct rj_key *key,
	const struct rj_seghdr *ours)
{
	struct rj_buf back = {0};
	struct rj_seghdr h = {0};
	bool newer = !rj_store_get(p->side[side], key, RJ_SEG_MAX_BYTES, &back,
			     NULL) &&
		     back.len >= RJ_SEG_HEADER_BYTES &&
		     !rj_seghdr_decode(back.data, &h, NULL) &&
		     h.epoch > ours->epoch;

	rj_buf_free(&back);
	return newer;
}

/*
 * Both are needed, and what they hold was only just looked at: first the one
 * whose log is the log, then the other, each lifted to the number before.
 */
static int put_first(struct pair *p, const struct rj_key *key,
	const struct rj_seghdr *h, const void *data, size_t len,
	struct rj_error *err)
{
	int order[2] = {p->source, !p->source}, i, side, rc;

	for (i = 0; i < 2; i++) {
		side = order[i];
		rc = lift(p, side, key->number - 1, err);
		if (rc == -RJ_E_EXISTS)
			return busy(p, p->end[side] + 1, err);
		if (!rc)
			rc = pair_put_side(p, side, key, data, len, err);
		if (rc == -RJ_E_EXISTS) {
			pair_note_conflict(p, side, key);
			if (i && !newer_in_the_way(p, side, key, h))
				return busy(p, key->number, err);
		}
		if (!rc || rc == -RJ_E_EXISTS)
			if (p->end[side] < key->number)
				p->end[side] = key->number;
		if (rc)
			return rc;
	}
	p->settled = true;
	return 0;
}

/* Will waiting not help? Then nothing about the other store matters. */
static bool final(int rc)
{
	return rc == -RJ_E_EXISTS || rc == -RJ_E_FENCED || rc == -RJ_E_INVAL;
}

/* From here on only side X is needed, and it must say so. */
static void go_alone(struct pair *p, int x, uint64_t number,
	const struct rj_error *why)
{
	p->shared->need = x;
	p->mark_due = true;
	p->rejoining = false;
	rj_log(RJ_LOG_WARNING, "%s; going on with %s alone, from segment %llu",
		why->msg, p->url[x], (unsigned long long)number);
}

/* Both at once: the second by the second hand. */
static int put_both(struct pair *p, const struct rj_key *key, const void *data,
	size_t len, struct rj_error *err)
{
	int64_t until = rj_monotonic_ns() + p->loss_ms * MS;
	struct rj_error e[2] = {0};
	bool ok[2] = {false, false};
	int rc[2], i;

	for (;;) {
		rc[1] = 0;
		if (!ok[1] && p->threads &&
			pair_hand_give(p, key, data, len, err))
			return -RJ_E_NOMEM;
		rc[0] = ok[0] ? 0 : pair_put_side(p, 0, key, data, len, &e[0]);
		if (!ok[1] && !p->threads)
			rc[1] = pair_put_side(p, 1, key, data, len, &e[1]);
		else if (!ok[1] && !pair_hand_wait(p, until))
			rc[1] = rj_fail(&e[1], RJ_E_UNREACHABLE,
				"%s: no answer in %d ms", p->url[1], p->loss_ms);
		else if (!ok[1]) {
			rc[1] = p->job.rc;
			e[1] = p->job.err;
		}
		for (i = 0; i < 2; i++) {
			ok[i] = !rc[i];
			if (ok[i])
				p->end[i] = key->number;
			if (rc[i] == -RJ_E_EXISTS)
				pair_note_conflict(p, i, key);
			if (final(rc[i]) || (rc[i] && rc[!i])) {
				if (err)
					*err = final(rc[!i]) ? e[!i] : e[i];
				return final(rc[!i]) ? rc[!i] : rc[i];
			}
		}
		if (ok[0] && ok[1])
			return 0;
		if (rj_monotonic_ns() >= until)
			break;
		rj_sleep_ns(PAUSE_MS * MS);
	}
	go_alone(p, ok[1], key->number, &e[ok[0]]);
	return 0;
}

/* The segment that makes them two again has to be in X before Y is believed:
 * until then X's log says that X is alone. */
static void put_rejoining(struct pair *p, int y, int alone,
	const struct rj_key *key, const void *data, size_t len)
{
	struct rj_error e = {0};
	int rc = pair_put_side(p, y, key, data, len, &e);

	if (rc) {
		p->rejoining = false;
		p->mark_due = alone == RJ_PAIR_BOTH;
		return;
	}
	p->end[y] = key->number;
	if (alone != RJ_PAIR_BOTH)
		return;
	p->rejoining = false;
	p->shared->need = RJ_PAIR_BOTH;
	rj_log(RJ_LOG_NOTICE, "%s is caught up: both stores again, from segment "
			      "%llu",
		p->url[y], (unsigned long long)key->number);
}

static int put_alone(struct pair *p, int x, int alone, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	int rc;

	if (alone == !x)
		return rj_fail(err, RJ_E_INVAL,
			"%s: segment %llu says that the other store is alone",
			p->url[x], (unsigned long long)key->number);
	rc = pair_put_side(p, x, key, data, len, err);
	if (rc == -RJ_E_EXISTS)
		pair_note_conflict(p, x, key);
	if (rc)
		return rc;
	p->end[x] = key->number;
	p->settled = true;
	p->mark_due = false;
	if (p->rejoining)
		put_rejoining(p, !x, alone, key, data, len);
	else
		p->mark_due = alone != x;
	return 0;
}

int pair_put_log(struct pair *p, const struct rj_key *key, const void *data,
	size_t len, struct rj_error *err)
{
	struct rj_seghdr h = {0};
	int rc = 0, need, alone;

	if (len < RJ_SEG_HEADER_BYTES || rj_seghdr_decode(data, &h, err))
		return rj_fail(err, RJ_E_INVAL, "%s: not a segment",
			p->base.url);
	alone = pair_alone(h.flags);
	/* another handle has put meanwhile */
	if (!p->looked || (p->settled && key->number > p->next))
		rc = pair_look(p, err);
	if (rc)
		return rc;
	pthread_mutex_lock(&p->lock);
	need = p->shared->need;
	if (need == RJ_PAIR_BOTH && alone != RJ_PAIR_BOTH) {
		/* sealed before they were two again */
		p->shared->need = need = alone;
		p->rejoining = p->settled;
	}
	if (need != RJ_PAIR_BOTH)
		rc = put_alone(p, need, alone, key, data, len, err);
	pthread_mutex_unlock(&p->lock);
	if (!rc && need != RJ_PAIR_BOTH)
		pair_hand_start(p, NULL);
	if (need == RJ_PAIR_BOTH && !p->settled)
		rc = put_first(p, key, &h, data, len, err);
	else if (need == RJ_PAIR_BOTH)
		rc = put_both(p, key, data, len, err);
	if (!rc)
		p->next = key->number + 1;
	return rc;
}
