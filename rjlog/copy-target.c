// SPDX-License-Identifier: GPL-2.0-or-later
/* What a copy finds at its target, and puts there. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "log/own.h"
#include "log/retry.h"
#include "log/write/epoch.h"
#include "segment/digest.h"

#define CLAIM_BYTES 65536

/* The text of claim EPOCH; RJ_E_NOTFOUND: it has none. */
static int get_claim(struct target *t, uint64_t epoch, struct rj_buf *out,
	struct rj_error *err)
{
	struct rj_key key = rj_log_key(&t->id, RJ_KEY_EPOCH, epoch);
	struct rj_retry retry;
	int rc;

	rj_retry_start(&retry, 0);
	do {
		out->len = 0;
		rc = rj_store_get(t->store, &key, CLAIM_BYTES, out, err);
	} while (rj_retry_again(&retry, rc));
	return rc;
}

static const char *unchanged(const struct copy *c)
{
	return c->writing ? "" : " (nothing was changed)";
}

static int compare_claim(struct copy *c, uint64_t epoch, struct rj_error *err)
{
	struct rj_buf a = {0}, b = {0};
	int rc = 0, here, there;

	if (!rj_log_own_listed(&c->claims, epoch))
		return rj_fail(err, RJ_E_FOREIGN,
			"%s: epoch %" PRIu64 " was claimed there and not at "
			"%s: it lives a life of its own%s",
			c->to.text, epoch, c->from->text, unchanged(c));
	here = get_claim(c->from, epoch, &a, err);
	there = !here || here == -RJ_E_NOTFOUND
			? get_claim(&c->to, epoch, &b, err)
			: 0;
	if (here && here != -RJ_E_NOTFOUND)
		rc = here;
	else if (there && there != -RJ_E_NOTFOUND)
		rc = there;
	else if (!here && !there &&
		 (a.len != b.len || memcmp(a.data, b.data, a.len) != 0))
		rc = rj_fail(err, RJ_E_FOREIGN,
			"%s: epoch %" PRIu64 " is another writer's there than "
			"at %s%s",
			c->to.text, epoch, c->from->text, unchanged(c));
	rj_buf_free(&a);
	rj_buf_free(&b);
	return rc;
}

static int by_number(const void *a, const void *b)
{
	const struct copy_mark *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

struct compare {
	struct copy *c;
	uint64_t total, done;
	struct rj_error *err;
};

static int compare_segment(void *arg, const struct segment_seen *s)
{
	struct compare *k = arg;
	struct copy *c = k->c;
	struct copy_mark want = {.number = s->number}, *m, *marks;
	uint8_t hash[RJ_SEG_HASH_BYTES];
	size_t count = copy_marks(c, &marks);
	int rc;

	progress_step(&c->progress, ++k->done, k->total);
	if (s->fetch_rc) {
		*k->err = *s->fetch_err;
		return s->fetch_rc;
	}
	m = count ? bsearch(&want, marks, count, sizeof(*m), by_number) : NULL;
	if (!m && s->number < c->oldest) { /* trimmed at the source since */
		c->older++;
		return 0;
	}
	rc = copy_hash(s, hash, k->err);
	if (rc)
		return rc;
	if (m && !memcmp(hash, m->hash, sizeof(hash))) {
		m->there = true;
		c->present++;
		return 0;
	}
	return rj_fail(k->err, RJ_E_FOREIGN,
		"%s: segment %" PRIu64 " is not that of %s: this is no copy of "
		"it, or it was damaged%s",
		c->to.text, s->number, c->from->text, unchanged(c));
}

int copy_compare(struct copy *c, struct rj_error *err)
{
	struct compare k = {.c = c, .err = err};
	struct rj_listing l = {0};
	struct rj_buf claims = {0};
	const uint64_t *n;
	size_t i;
	int rc;

	c->present = c->older = 0;
	rc = rj_log_list_own(c->to.store, &c->to.id, RJ_KEY_EPOCH, 0, &claims, err);
	n = (const void *)claims.data;
	for (i = 0; !rc && i < claims.len / sizeof(*n); i++)
		rc = compare_claim(c, n[i], err);
	rj_buf_free(&claims);
	if (!rc)
		rc = rj_listing_log(c->to.store, &c->to.id, 0, 0, &l, err);
	k.total = l.bytes.len / sizeof(uint32_t);
	if (!rc)
		rc = walk_segments(&c->to, &l, compare_segment, &k);
	progress_clear(&c->progress);
	rj_listing_free(&l);
	return rc;
}

static int put(struct copy *c, const struct rj_key *key,
	const struct rj_store_place *place, const struct rj_buf *data,
	const char *what, struct rj_error *err)
{
	struct rj_retry retry;
	int rc;

	rj_retry_start(&retry, 0);
	do
		rc = rj_store_put_copy(c->to.store, key, place, data->data,
			data->len, err);
	while (rj_retry_again(&retry, rc));
	if (rc && rc != -RJ_E_EXISTS)
		rj_log_fail_store(c->to.store, what, key->number, err);
	return rc;
}

int copy_put_claims(struct copy *c, struct rj_error *err)
{
	static const uint8_t nobody[RJ_SEG_NONCE_BYTES];
	const struct rj_store_place none = {0};
	const uint64_t *n = (const void *)c->claims.data;
	struct rj_buf text = {0}, back = {0};
	struct rj_key key;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < c->claims.len / sizeof(*n); i++) {
		rc = get_claim(&c->to, n[i], &back, err);
		if (rc != -RJ_E_NOTFOUND)
			continue;
		rc = get_claim(c->from, n[i], &text, err);
		/* its text was lost; that it exists is what counts */
		if (rc == -RJ_E_NOTFOUND)
			rc = rj_epoch_text(
				&c->from->id, n[i], nobody, 0, &text, err);
		if (rc)
			break;
		key = rj_log_key(&c->to.id, RJ_KEY_EPOCH, n[i]);
		rc = put(c, &key, &none, &text, "cannot copy epoch", err);
		if (rc == -RJ_E_EXISTS)
			rc = 0;
	}
	rj_buf_free(&text);
	rj_buf_free(&back);
	return rc;
}

int copy_put_segment(struct copy *c, const struct copy_mark *m,
	const struct rj_buf *raw, struct rj_error *err)
{
	struct rj_key key = rj_log_key(&c->to.id, RJ_KEY_LOG, m->number);
	const struct rj_store_place place = {
		.epoch = m->epoch,
		.fence = m->fence,
		.before = m->fence ? m->before : 0,
	};

	return put(c, &key, &place, raw, "cannot copy", err);
}

size_t copy_marks(const struct copy *c, struct copy_mark **out)
{
	*out = (void *)c->marks.data;
	return c->marks.len / sizeof(**out);
}

int copy_hash(const struct segment_seen *s, uint8_t hash[RJ_SEG_HASH_BYTES],
	struct rj_error *err)
{
	return rj_digest(s->raw->data, s->raw->len, NULL, 0, hash, err);
}
