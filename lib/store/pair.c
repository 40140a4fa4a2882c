// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/conf.h"
#include "util/thread.h"

struct pair *pair_of(struct rj_store *s)
{
	return (struct pair *)s;
}

int rj_pair_need(const struct rj_store *s)
{
	return ((const struct pair *)s)->shared->need;
}

/* Another journal's turn: nothing that we know holds for it. */
void pair_turn_to(struct pair *p, const uint8_t journal[RJ_UUID_BYTES])
{
	if (rj_uuid_equal(p->journal, journal))
		return;
	pair_hand_rest(p);
	memcpy(p->journal, journal, RJ_UUID_BYTES);
	p->looked = p->settled = p->mark_due = false;
	p->rejoining = false;
	p->fenced = p->conflict = false;
	p->answered[0] = p->answered[1] = false;
	p->shared->need = RJ_PAIR_BOTH;
	p->shared->diverged = false;
}

/* Whose log a reader gets. */
static int source(const struct pair *p)
{
	int need = p->shared->need;

	return need == RJ_PAIR_BOTH ? p->source : need;
}

/* Side I's handle, to read with: a dup's may not have been to be had when it was
 * made. Of who writes its hand may be opening it. */
static int need_side(struct pair *p, int i, struct rj_error *err)
{
	if (p->side[i])
		return 0;
	if (p->reader)
		return pair_open_side(p, i, err);
	if (err)
		*err = p->open_err[i];
	return -(int)p->open_err[i].code;
}

/* ---- writing ---- */

/* An epoch is claimed in both. Where one is alone, the other is told if it
 * answers: what it says against it counts. */
static int put_epoch(struct pair *p, const struct rj_key *key, const void *data,
	size_t len, struct rj_error *err)
{
	int need = p->shared->need, i, rc;
	struct rj_error unseen;
	bool needed;

	for (i = 0; i < 2; i++) {
		needed = need == RJ_PAIR_BOTH || need == i;
		if (!needed && (!p->side[i] || p->view[i].away))
			continue;
		rc = pair_put_side(
			p, i, key, data, len, needed ? err : &unseen);
		if (rc == -RJ_E_EXISTS) {
			pair_note_conflict(p, i, key);
			return rj_fail(err, RJ_E_EXISTS,
				"%s: epoch %llu is another's", p->url[i],
				(unsigned long long)key->number);
		}
		if (rc && needed)
			return rc;
	}
	return 0;
}

static int pair_put_new(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	struct pair *p = pair_of(s);

	if (p->reader)
		return rj_fail(err, RJ_E_INVAL,
			"%s: this handle only reads", s->url);
	pair_turn_to(p, key->journal_uuid);
	p->conflict = false;
	if (key->kind == RJ_KEY_EPOCH)
		return put_epoch(p, key, data, len, err);
	return pair_put_log(p, key, data, len, err);
}

static uint32_t pair_flags(struct rj_store *s, bool *mark_due)
{
	struct pair *p = pair_of(s);
	uint32_t flags;

	pthread_mutex_lock(&p->lock);
	flags = p->rejoining ? 0 : pair_flag(p->shared->need);
	*mark_due = p->mark_due && !(p->leave_out & RJ_PAIR_MARK);
	pthread_mutex_unlock(&p->lock);
	return flags;
}

static struct rj_store *pair_part(struct rj_store *s, int which)
{
	return pair_of(s)->side[which];
}

static void pair_twin(const struct rj_store *s, struct rj_twin *out)
{
	const struct pair *p = (const struct pair *)s;
	const struct pair_shared *shared = p->shared;

	*out = (struct rj_twin){
		.url = {p->url[0], p->url[1]},
		.alone = shared->need,
		.left = shared->diverged,
	};
	if (out->alone == RJ_PAIR_BOTH)
		return;
	out->caught_up = p->rejoining;
	out->known = shared->known && !out->left;
	if (!out->known)
		return;
	out->segments = shared->behind_segments;
	out->bytes = shared->behind_bytes;
}

static struct rj_store *pair_rival(struct rj_store *s)
{
	struct pair *p = pair_of(s);

	if (!p->looked || !p->shared->diverged || p->fenced ||
		p->leave_out & RJ_PAIR_RIVAL)
		return NULL;
	p->fenced = true;
	return p->side[!p->source];
}

/*
 * Whoever goes on as the same writer puts what that one had sealed. Marks, and the
 * segments that make them two again, are sealed down here, and nobody wrote
 * down which: a worker is followed by one with an epoch of its own.
 */
static int pair_adopt(struct rj_store *s, const uint8_t journal[RJ_UUID_BYTES],
	uint64_t epoch, uint64_t fence, struct rj_error *err)
{
	return rj_fail(err, RJ_E_UNSUPPORTED,
		"%s: of two stores nobody goes on as the same writer", s->url);
}

/* ---- reading ---- */

static int look_once(struct pair *p, const uint8_t journal[RJ_UUID_BYTES],
	struct rj_error *err)
{
	pair_turn_to(p, journal);
	return p->looked ? 0 : pair_look(p, err);
}

static int pair_get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	struct pair *p = pair_of(s);
	int i, rc;

	rc = look_once(p, key->journal_uuid, err);
	if (rc)
		return rc;
	i = source(p);
	if (p->conflict && p->conflict_key.kind == key->kind &&
		p->conflict_key.number == key->number)
		i = p->conflict_side;
	rc = need_side(p, i, err);
	return rc ? rc : rj_store_get(p->side[i], key, max, out, err);
}

static int add_number(void *arg, uint64_t number, uint64_t bytes)
{
	struct pair_object o = {number, bytes};

	return rj_buf_append(arg, &o, sizeof(o));
}

static int by_number(const void *a, const void *b)
{
	const struct pair_object *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* The epochs that were claimed in either. */
static int list_epochs(struct pair *p, const struct rj_key *dir, uint64_t after,
	rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	const struct pair_object *o;
	struct rj_buf all = {0};
	uint64_t seen = 0;
	size_t n, k;
	int rc = 0, i, need = p->shared->need;

	for (i = 0; !rc && i < 2; i++) {
		/* once we write, the other one's handle is its hand's */
		if (p->looked && need != RJ_PAIR_BOTH && need != i &&
			(p->reader || p->view[i].away || p->settled))
			continue;
		rc = need_side(p, i, err);
		if (!rc)
			rc = rj_store_list(p->side[i], dir, after, add_number,
				&all, err);
		if (rc == -RJ_E_NOMEM)
			rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	n = all.len / sizeof(*o);
	if (n)
		qsort(all.data, n, sizeof(*o), by_number);
	o = (const void *)all.data;
	for (k = 0; !rc && k < n; k++) {
		if (o[k].number != seen)
			rc = fn(arg, o[k].number, o[k].bytes);
		seen = o[k].number;
	}
	rj_buf_free(&all);
	return rc;
}

static int list_view(const struct pair_view *v, uint64_t after,
	rj_store_list_fn fn, void *arg)
{
	const struct pair_object *o = (const void *)v->objects.data;
	size_t count = v->objects.len / sizeof(*o), k;
	int rc = 0;

	for (k = 0; !rc && k < count; k++)
		if (o[k].number > after)
			rc = fn(arg, o[k].number, o[k].bytes);
	return rc;
}

static int pair_list(struct rj_store *s, const struct rj_key *dir,
	uint64_t after, rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	struct pair *p = pair_of(s);
	int rc, i;

	pair_turn_to(p, dir->journal_uuid);
	if (dir->kind == RJ_KEY_EPOCH) {
		/* who takes over asks for these first; one may be away */
		rc = look_once(p, dir->journal_uuid, err);
		return rc ? rc : list_epochs(p, dir, after, fn, arg, err);
	}
	if (p->reader && p->looked) {
		i = source(p);
		rc = need_side(p, i, err);
		return rc ? rc
			  : rj_store_list(p->side[i], dir, after, fn, arg, err);
	}
	if (p->settled)
		return rj_store_list(
			p->side[source(p)], dir, after, fn, arg, err);
	rc = pair_look(p, err);
	return rc ? rc : list_view(&p->view[source(p)], after, fn, arg);
}

static int pair_stream(struct rj_store *s, const struct rj_key *dir,
	uint64_t from, size_t max, rj_store_stream_fn fn, void *arg,
	struct rj_error *err)
{
	struct pair *p = pair_of(s);
	int rc = look_once(p, dir->journal_uuid, err);

	return rc ? rc
		  : rj_store_stream(p->side[source(p)], dir, from, max, fn, arg,
			    err);
}

/* ---- deleting ---- */

static int pair_remove(
	struct rj_store *s, const struct rj_key *key, struct rj_error *err)
{
	struct pair *p = pair_of(s);
	int need = p->shared->need, rc = 0, found = 0, i;

	for (i = 0; !rc && i < 2; i++) {
		if (need != RJ_PAIR_BOTH && need != i)
			continue;
		rc = need_side(p, i, err);
		if (!rc)
			rc = rj_store_remove(p->side[i], key, err);
		found += !rc;
		if (rc == -RJ_E_NOTFOUND)
			rc = 0;
	}
	if (!rc && !found)
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: no such object", s->url);
	return rc;
}

int pair_open_side(struct pair *p, int i, struct rj_error *err)
{
	return p->side[i] ? 0
			  : rj_store_open(p->url[i], &p->opts, &p->side[i], err);
}

/* Who is behind keeps what it has: catching it up begins there. */
static int pair_remove_below(struct rj_store *s, const struct rj_key *dir,
	uint64_t below, uint64_t least, uint64_t *removed, struct rj_error *err)
{
	struct pair *p = pair_of(s);
	int need, rc = look_once(p, dir->journal_uuid, err), i;
	uint64_t n;

	need = p->shared->need;
	for (i = 0; !rc && i < 2; i++) {
		if (need != RJ_PAIR_BOTH && need != i)
			continue;
		n = 0;
		rc = pair_open_side(p, i, err);
		if (!rc)
			rc = rj_store_remove_below(
				p->side[i], dir, below, least, &n, err);
		if (removed && n > *removed)
			*removed = n;
	}
	return rc;
}

/* ---- handles ---- */

static void release(struct pair_shared *shared)
{
	if (shared && --shared->refs == 0)
		free(shared);
}

static void pair_close(struct rj_store *s)
{
	struct pair *p = pair_of(s);
	int i;

	pair_hand_stop(p);
	for (i = 0; i < 2; i++) {
		rj_store_close(p->side[i]);
		pair_view_free(&p->view[i]);
	}
	rj_store_close(p->from);
	for (i = 0; i < 2; i++) {
		rj_buf_free(&p->hand[i].bytes);
		pthread_cond_destroy(&p->hand[i].wake);
	}
	pthread_cond_destroy(&p->done);
	pthread_mutex_destroy(&p->lock);
	release(p->shared);
	free(p);
}

static int pair_dup(
	struct rj_store *s, struct rj_store **out, struct rj_error *err);

static const struct rj_store_ops pair_ops = {
	.put_new = pair_put_new,
	.get = pair_get,
	.list = pair_list,
	.remove = pair_remove,
	.remove_below = pair_remove_below,
	.stream = pair_stream,
	.dup = pair_dup,
	.adopt = pair_adopt,
	.flags = pair_flags,
	.part = pair_part,
	.twin = pair_twin,
	.rival = pair_rival,
	.close = pair_close,
};

static int init_sync(struct pair *p, struct rj_error *err)
{
	int i;

	pthread_mutex_init(&p->lock, NULL);
	for (i = 0; i < 2; i++) {
		p->hand[i].pair = p;
		p->hand[i].side = i;
		rj_cond_init(&p->hand[i].wake);
	}
	rj_cond_init(&p->done);
	if (p->shared) {
		p->shared->refs++;
		return 0;
	}
	p->shared = calloc(1, sizeof(*p->shared));
	if (!p->shared)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	p->shared->refs = 1;
	p->shared->need = RJ_PAIR_BOTH;
	return 0;
}

/* A reader of what the pair holds now: it follows who is needed. */
static int pair_dup(
	struct rj_store *s, struct rj_store **out, struct rj_error *err)
{
	struct pair *p = pair_of(s), *d = calloc(1, sizeof(*d));
	int rc, i;

	if (!d)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	d->base = p->base;
	d->opts = p->opts;
	d->shared = p->shared;
	d->reader = true;
	d->looked = p->looked;
	d->source = p->source;
	memcpy(d->journal, p->journal, RJ_UUID_BYTES);
	memcpy(d->url, p->url, sizeof(d->url));
	memcpy(d->open_err, p->open_err, sizeof(d->open_err));
	rc = init_sync(d, err);
	for (i = 0; !rc && i < 2; i++) {
		/* its hand may be using it at this moment */
		if (p->settled && p->shared->need == !i && p->threads)
			rj_fail(&d->open_err[i], RJ_E_UNREACHABLE,
				"%s: not caught up yet", p->url[i]);
		else if (p->side[i])
			rc = rj_store_dup(p->side[i], &d->side[i], err);
	}
	if (rc) {
		pair_close(&d->base);
		return rc;
	}
	*out = &d->base;
	return 0;
}

/* What both can do. */
static void set_caps(struct pair *p)
{
	struct rj_store_caps *c = &p->base.caps;
	const struct rj_store_caps *o;
	int i;

	*c = (struct rj_store_caps){.put_new = true,
		.list_consistent = true,
		.list_ranged = true,
		.durability = RJ_DURABLE};
	for (i = 0; i < 2; i++) {
		if (!p->side[i])
			continue;
		o = &p->side[i]->caps;
		if (!o->put_new && !o->exclusive_container)
			*c = (struct rj_store_caps){0};
		if (!o->put_new && c->put_new)
			c->exclusive_container = true;
		c->put_new &= o->put_new;
		c->list_consistent &= o->list_consistent;
		c->list_ranged &= o->list_ranged;
		if (o->durability != RJ_DURABLE)
			c->durability = o->durability;
	}
}

int rj_pair_open(struct rj_store *a, struct rj_store *b,
	const struct rj_pair_opts *opts, struct rj_store **out,
	struct rj_error *err)
{
	struct pair *p = calloc(1, sizeof(*p));
	int rc;

	if (!p) {
		rj_store_close(a);
		rj_store_close(b);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	p->base.ops = &pair_ops;
	p->side[0] = a;
	p->side[1] = b;
	p->opts = opts->store;
	p->opts.conf = NULL;
	memcpy(p->loss_ms, opts->loss_ms, sizeof(p->loss_ms));
	p->threads = opts->threads;
	p->leave_out = opts->leave_out;
	if (a)
		snprintf(p->url[0], sizeof(p->url[0]), "%s", a->url);
	if (b)
		snprintf(p->url[1], sizeof(p->url[1]), "%s", b->url);
	set_caps(p);
	rc = init_sync(p, err);
	if (rc) {
		pair_close(&p->base);
		return rc;
	}
	*out = &p->base;
	return 0;
}

static int loss_timeout(const char *url, int *ms, struct rj_error *err)
{
	struct rj_conf *conf = NULL;
	int rc = rj_conf_load(url, &conf, err);

	if (!rc)
		*ms = conf->loss_timeout_ms ? conf->loss_timeout_ms
					    : RJ_PAIR_LOSS_MS;
	rj_conf_release(conf);
	return rc;
}

int rj_pair_open_urls(const char *url, const char *second,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err)
{
	struct rj_pair_opts o = {.threads = true};
	struct rj_store *side[2] = {NULL, NULL};
	struct rj_error why[2] = {0}, unseen;
	char part[2][512];
	int rc = 0, i;

	if (opts)
		o.store = *opts;
	if (!err)
		err = &unseen;
	snprintf(part[0], sizeof(part[0]), "%.*s", (int)(second - url - 1), url);
	snprintf(part[1], sizeof(part[1]), "%s", second);
	for (i = 0; !rc && i < 2; i++) {
		rc = out ? loss_timeout(part[i], &o.loss_ms[i], err) : 0;
		if (!rc)
			rc = rj_store_open(
				part[i], opts, out ? &side[i] : NULL, err);
		/* a directory whose share is not mounted: the other may do */
		if (out && rc == -RJ_E_NOTFOUND) {
			why[i] = *err;
			why[i].code = RJ_E_UNREACHABLE;
			rc = 0;
		}
	}
	if (!rc && out && !side[0] && !side[1]) {
		*err = why[0];
		rc = -RJ_E_UNREACHABLE;
	}
	if (rc || !out) {
		rj_store_close(side[0]);
		rj_store_close(side[1]);
		return rc;
	}
	rc = rj_pair_open(side[0], side[1], &o, out, err);
	if (rc)
		return rc;
	memcpy(pair_of(*out)->open_err, why, sizeof(why));
	memcpy(pair_of(*out)->url, part, sizeof(part));
	snprintf((*out)->url, sizeof((*out)->url), "%s", url);
	return 0;
}
