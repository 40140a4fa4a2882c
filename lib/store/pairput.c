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
	const struct pair_view *v = &p->view[to];
	struct pair_end end = {
		p->end[to], v->bridge && v->last == p->end[to]};
	uint64_t number = end.number;
	int rc = 0;

	while (!rc && number++ < upto) {
		if (may_have(&p->view[!to], number))
			rc = pair_copy_next(
				p, p->side[!to], to, number, &end, err);
		p->end[to] = end.number;
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
	struct rj_seghdr h = {0};

	return !pair_read_header(p->side[side], key, &h, NULL) &&
	       h.epoch > ours->epoch;
}

/* Is a bridge in the way of what was put? Nothing may stand behind it but what
 * its writer is copying. */
static bool bridge_in_the_way(struct pair *p)
{
	return p->conflict && pair_has_bridge(p->side[p->conflict_side],
				      &p->conflict_key);
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
static void go_alone(struct pair *p, int x, uint64_t number, size_t len,
	const struct rj_error *why)
{
	p->shared->behind_segments = 1;
	p->shared->behind_bytes = len;
	p->shared->known = true;
	p->mark_due = true;
	p->rejoining = false;
	p->shared->need = x;
	rj_log(RJ_LOG_WARNING, "%s; going on with %s alone, from segment %llu",
		why->msg, p->url[x], (unsigned long long)number);
}

/* A segment on its way into both. */
struct both {
	const struct rj_key *key;
	const void *data;
	size_t len;
	int64_t until[2];
	bool ok[2];
	int rc[2];
	struct rj_error why[2];
};

/* One attempt, into both at the same time. */
static void put_each(struct pair *p, struct both *b)
{
	int i;

	for (i = 0; i < 2; i++)
		if (!b->ok[i])
			b->rc[i] = p->threads
					   ? pair_hand_give(p, i, b->key,
						     b->data, b->len,
						     b->until[i], &b->why[i])
					   : pair_put_side(p, i, b->key,
						     b->data, b->len,
						     &b->why[i]);
	for (i = 0; i < 2; i++) {
		if (!b->ok[i] && !b->rc[i] && p->threads)
			b->rc[i] = pair_hand_take(
				p, i, b->until[i], &b->why[i]);
		b->ok[i] = !b->rc[i];
		if (b->ok[i])
			p->end[i] = b->key->number;
		if (b->rc[i] == -RJ_E_EXISTS)
			pair_note_conflict(p, i, b->key);
	}
}

/* Whose answer nobody waits for any longer, the other one's being there;
 * RJ_PAIR_BOTH: nobody's. */
static int lost_one(const struct both *b)
{
	int64_t now = rj_monotonic_ns();
	int i;

	for (i = 0; i < 2; i++)
		if (!b->ok[i] && b->ok[!i] && now >= b->until[i])
			return i;
	return RJ_PAIR_BOTH;
}

static int put_both(struct pair *p, const struct rj_key *key, const void *data,
	size_t len, struct rj_error *err)
{
	struct both b = {.key = key, .data = data, .len = len};
	int64_t now = rj_monotonic_ns();
	int i, lost;

	for (i = 0; i < 2; i++)
		b.until[i] = now + p->loss_ms[i] * MS;
	for (;;) {
		put_each(p, &b);
		if (b.ok[0] && b.ok[1])
			return 0;
		for (i = 0; i < 2; i++) {
			if (!final(b.rc[i]) && !(b.rc[i] && b.rc[!i]))
				continue;
			i = final(b.rc[!i]) ? !i : i;
			if (err)
				*err = b.why[i];
			return b.rc[i];
		}
		lost = lost_one(&b);
		if (lost != RJ_PAIR_BOTH)
			break;
		rj_sleep_ns(PAUSE_MS * MS);
	}
	go_alone(p, !lost, key->number, len, &b.why[lost]);
	return 0;
}

static int put_bounded(struct pair *p, int side, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	int64_t until = rj_monotonic_ns() + p->loss_ms[side] * MS;
	int rc;

	if (!p->threads)
		return pair_put_side(p, side, key, data, len, err);
	rc = pair_hand_give(p, side, key, data, len, until, err);
	return rc ? rc : pair_hand_take(p, side, until, err);
}

/* The segment that makes them two again has to be in X before Y is believed:
 * until then X's log says that X is alone. */
static void put_rejoining(struct pair *p, int y, int alone,
	const struct rj_key *key, const void *data, size_t len)
{
	struct rj_error e = {0};
	int rc = put_bounded(p, y, key, data, len, &e);

	pthread_mutex_lock(&p->lock);
	if (rc) {
		p->rejoining = false;
		p->mark_due = alone == RJ_PAIR_BOTH;
		p->shared->behind_segments = 1;
		p->shared->behind_bytes = len;
	} else {
		p->end[y] = key->number;
	}
	if (!rc && alone == RJ_PAIR_BOTH) {
		p->rejoining = false;
		p->shared->need = RJ_PAIR_BOTH;
		rj_log(RJ_LOG_NOTICE,
			"%s is caught up: both stores again, from segment %llu",
			p->url[y], (unsigned long long)key->number);
	}
	pthread_mutex_unlock(&p->lock);
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
	p->mark_due = !p->rejoining && alone != x;
	if (!p->rejoining) {
		p->shared->behind_segments++;
		p->shared->behind_bytes += len;
		p->lone_bytes += len;
	}
	return 0;
}

/*
 * Has somebody put before NUMBER what we have not looked at? Who is needed may
 * be another by then: a writer that we take over from, alone when we looked,
 * may have been two again since, and alone with the other store. Only a put
 * right behind what was looked at proves that nothing of this has happened.
 */
static bool outdated(const struct pair *p, uint64_t number)
{
	int need = p->shared->need;

	if (!p->looked)
		return true;
	if (p->settled)
		return number > p->next;
	return need != RJ_PAIR_BOTH && number > p->end[need] + 1 &&
	       !(p->leave_out & RJ_PAIR_FRESH);
}

/* Is H no longer what is to be put, after another look? */
static bool changed(const struct pair *p, const struct rj_seghdr *h)
{
	int alone = pair_alone(h->flags);

	if (outdated(p, h->sequence))
		return true;
	/* a log that parted meanwhile: who claims has to fence the other first */
	if (p->shared->diverged && !p->fenced && !(p->leave_out & RJ_PAIR_RIVAL))
		return true;
	return h->kind == RJ_SEG_FENCE && alone != RJ_PAIR_BOTH &&
	       alone != p->shared->need;
}

int pair_put_log(struct pair *p, const struct rj_key *key, const void *data,
	size_t len, struct rj_error *err)
{
	struct rj_seghdr h = {0};
	bool rejoining = false;
	int rc = 0, need, alone;

	if (len < RJ_SEG_HEADER_BYTES || rj_seghdr_decode(data, &h, err))
		return rj_fail(err, RJ_E_INVAL, "%s: not a segment",
			p->base.url);
	alone = pair_alone(h.flags);
	if (outdated(p, key->number))
		rc = pair_look(p, err);
	if (!rc && !p->settled && changed(p, &h))
		rc = busy(p, key->number, err);
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
	rejoining = !rc && need != RJ_PAIR_BOTH && p->rejoining;
	pthread_mutex_unlock(&p->lock);
	if (rejoining)
		put_rejoining(p, !need, alone, key, data, len);
	if (!rc && need != RJ_PAIR_BOTH)
		pair_hand_start(p, !need, NULL);
	if (need == RJ_PAIR_BOTH && !p->settled)
		rc = put_first(p, key, &h, data, len, err);
	else if (need == RJ_PAIR_BOTH)
		rc = put_both(p, key, data, len, err);
	if (rc == -RJ_E_EXISTS && !p->settled && bridge_in_the_way(p))
		rc = busy(p, key->number, err);
	if (!rc)
		p->next = key->number + 1;
	return rc;
}
