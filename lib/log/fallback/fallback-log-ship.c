// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a fallback file holds, brought to the store, or read together with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/fallback/fallback-log-priv.h"
#include "log/listing.h"
#include "log/retry.h"
#include "log/verify.h"

/* Begin to verify where the shipping begins. */
static void verify_start(const struct rj_fallback *s,
	const struct rj_log_id *id, struct rj_verify *v)
{
	struct rj_log_tail before = {.sequence = s->h.from - 1,
		.epoch = s->h.epoch, .oldest = 1};

	memcpy(before.chain, s->h.chain, sizeof(before.chain));
	if (s->next == s->h.from)
		rj_verify_resume(v, s->bio->name, id, &before);
	else
		rj_verify_start(v, s->bio->name, id, s->next);
}

static int ship_one(struct rj_fallback *s, struct rj_store *store,
	const struct rj_log_id *id, int retry_ms, struct rj_verify *v,
	struct rj_buf *bytes, struct rj_buf *back, bool *taken,
	struct rj_error *err)
{
	struct rj_segment seg = {0};
	struct rj_fallback_place at;
	struct rj_retry retry;
	int rc;

	rj_fallback_find(s, s->next, &at);
	rc = rj_fallback_fetch(s, &at, bytes, err);
	if (!rc)
		rc = rj_verify_next(v, bytes->data, bytes->len, &seg, err);
	rj_segment_release(&seg);
	if (rc)
		return rc;
	rj_retry_start(&retry, retry_ms);
	do
		rc = rj_log_put_sealed(store, id, at.sequence, s->h.epoch,
			&(struct iovec){bytes->data, bytes->len}, 1, back, taken,
			err);
	while (rj_retry_again(&retry, rc));
	if (!rc)
		rj_fallback_shipped(s, at.sequence);
	return rc;
}

int rj_fallback_ship(struct rj_fallback *s, struct rj_store *store,
	const struct rj_log_id *id, int retry_ms, uint64_t *count, bool *taken,
	struct rj_error *err)
{
	struct rj_buf bytes = {0}, back = {0};
	bool unseen = false;
	struct rj_verify v;
	uint64_t n = 0;
	int rc = 0;

	if (!taken)
		taken = &unseen;
	*taken = false;
	if (count)
		*count = 0;
	if (s->h.state != RJ_FALLBACK_LOCAL)
		return 0;
	if (s->next <= s->last)
		rc = rj_store_adopt(
			store, id->journal_uuid, s->h.epoch, s->h.fence, err);
	verify_start(s, id, &v);
	while (!rc && s->next <= s->last) {
		rc = ship_one(s, store, id, retry_ms, &v, &bytes, &back, taken,
			err);
		n += !rc;
	}
	if (count)
		*count = n;
	if (!rc)
		rc = rj_fallback_idle(s, err);
	else
		rj_fallback_note(s, NULL); /* less to do the next time */
	rj_buf_free(&bytes);
	rj_buf_free(&back);
	return rc;
}

/* ---- both together, as a store to read from ---- */

struct merged {
	struct rj_store base;
	struct rj_fallback *fallback;
	struct rj_store *inner; /* NULL: there is only the fallback file */
	uint8_t journal[RJ_UUID_BYTES];
};

static struct merged *merged_of(struct rj_store *s)
{
	return (struct merged *)s;
}

static int merged_put(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	return rj_fail(err, RJ_E_UNSUPPORTED, "%s: only for reading", s->url);
}

static int merged_remove(
	struct rj_store *s, const struct rj_key *key, struct rj_error *err)
{
	return merged_put(s, key, NULL, 0, err);
}

static int merged_get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	struct merged *m = merged_of(s);
	struct rj_fallback_place at;
	struct rj_buf bytes = {0};
	int rc;

	if (key->kind != RJ_KEY_LOG ||
		!rj_fallback_find(m->fallback, key->number, &at)) {
		if (m->inner)
			return rj_store_get(m->inner, key, max, out, err);
		return rj_fail(err, RJ_E_NOTFOUND, "%s: no such object", s->url);
	}
	rc = rj_fallback_fetch(m->fallback, &at, &bytes, err);
	if (!rc && rj_buf_append(out, bytes.data, bytes.len))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	rj_buf_free(&bytes);
	return rc;
}

struct listing {
	rj_store_list_fn fn;
	void *arg;
	uint64_t below; /* what the fallback file has itself begins here */
	uint64_t last;
};

static int list_inner(void *arg, uint64_t number, uint64_t bytes)
{
	struct listing *l = arg;

	if (number >= l->below)
		return 0;
	l->last = number;
	return l->fn(l->arg, number, bytes);
}

static int merged_list(struct rj_store *s, const struct rj_key *dir,
	uint64_t after, rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	struct merged *m = merged_of(s);
	struct rj_fallback *sp = m->fallback;
	struct listing l = {fn, arg, UINT64_MAX, 0};
	uint64_t n;
	int rc = 0;

	if (dir->kind == RJ_KEY_LOG)
		l.below = sp->first;
	if (m->inner)
		rc = rj_store_list(m->inner, dir, after, list_inner, &l, err);
	if (rc)
		return rc;
	if (rj_key_unclaimed(dir->kind))
		return 0;
	if (dir->kind == RJ_KEY_EPOCH)
		return l.last < sp->h.epoch && sp->h.epoch > after
			       ? fn(arg, sp->h.epoch, 0)
			       : 0;
	for (n = sp->first > after ? sp->first : after + 1;
		!rc && n <= sp->last; n++)
		rc = fn(arg, n, rj_fallback_entry(sp, n)->bytes);
	return rc;
}

static void merged_close(struct rj_store *s)
{
	free(s);
}

static const struct rj_store_ops merged_ops = {
	.put_new = merged_put,
	.get = merged_get,
	.list = merged_list,
	.remove = merged_remove,
	.close = merged_close,
};

int rj_fallback_store(struct rj_fallback *s, struct rj_store *inner,
	const struct rj_log_id *id, struct rj_store **out,
	struct rj_error *err)
{
	struct merged *m = calloc(1, sizeof(*m));

	*out = NULL;
	if (!m)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	m->base.ops = &merged_ops;
	if (inner)
		m->base.caps = inner->caps;
	m->base.caps.put_new = true; /* nothing is put, nothing to be pinned */
	m->base.caps.exclusive_container = false;
	snprintf(m->base.url, sizeof(m->base.url), "%.250s%s%.250s",
		inner ? inner->url : "", inner ? " and " : "", s->bio->name);
	m->fallback = s;
	m->inner = inner;
	memcpy(m->journal, id->journal_uuid, RJ_UUID_BYTES);
	*out = &m->base;
	return 0;
}
