// SPDX-License-Identifier: LGPL-2.1-or-later
/* List a log's numbers as ranges, and fetch single objects again until they come. */
#include "log/listing.h"

#include <stdio.h>
#include <string.h>

#include "log/retry.h"
#include "log/trim.h"
#include "log/verify.h"
#include "util/environ.h"

struct collect {
	struct rj_listing *l;
	uint64_t seen;  /* the last number, in any listing */
	int64_t until_ns; /* monotonic: the listing has ended by then; later with each number */
	uint64_t limit; /* take no notice of numbers above */
	const char *url;
	struct rj_error *err;
};

static int out_of_order(const struct collect *c, uint64_t number)
{
	return rj_fail(c->err, RJ_E_PROTOCOL,
		"%s: its listing is not in order: %llu came after %llu", c->url,
		(unsigned long long)number, (unsigned long long)c->seen);
}

/* Take note of NUMBER, the next one of a listing. */
static int see(struct collect *c, uint64_t number)
{
	if (number <= c->seen)
		return out_of_order(c, number);
	if (rj_monotonic_ns() > c->until_ns)
		return rj_fail(c->err, RJ_E_PROTOCOL,
			"%s: its listing has not ended after an hour, at number %llu: is it the right server?",
			c->url, (unsigned long long)number);
	c->seen = number;
	c->until_ns += RJ_LISTING_EACH_NS;
	return 0;
}

static int too_long(const struct collect *c)
{
	return rj_fail(c->err, RJ_E_PROTOCOL,
		"%s: its listing has more than %u segments, or more than %u holes, which no log has: is it the right server?",
		c->url, RJ_LISTING_SEGMENTS, RJ_LISTING_RANGES);
}

static int collect_segment(void *arg, uint64_t number, uint64_t bytes)
{
	struct collect *c = arg;
	struct rj_listing *l = c->l;
	struct rj_range *last, one = {number, number};
	uint32_t len = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
	int rc = see(c, number);

	if (rc || number > c->limit)
		return rc;
	if (l->bytes.len / sizeof(len) >= RJ_LISTING_SEGMENTS ||
		l->ranges.len / sizeof(one) >= RJ_LISTING_RANGES)
		return too_long(c);
	if (rj_buf_append(&l->bytes, &len, sizeof(len)))
		return rj_fail(
			c->err, RJ_E_NOMEM, "out of memory for a listing");
	if (!l->first) {
		l->first = number;
	} else if (number == l->last + 1) {
		last = (void *)(l->ranges.data + l->ranges.len - sizeof(*last));
		last->last = l->last = number;
		return 0;
	}
	l->last = number;
	if (rj_buf_append(&l->ranges, &one, sizeof(one)))
		return rj_fail(
			c->err, RJ_E_NOMEM, "out of memory for a listing");
	return 0;
}

static int collect_epoch(void *arg, uint64_t number, uint64_t bytes)
{
	(void)bytes;
	return see(arg, number);
}

struct rj_key rj_log_key(
	const struct rj_log_id *id, enum rj_key_kind kind, uint64_t number)
{
	struct rj_key key = {.kind = kind, .number = number};

	memcpy(key.journal_uuid, id->journal_uuid, sizeof(key.journal_uuid));
	return key;
}

static void empty(struct rj_listing *l)
{
	l->first = l->last = 0;
	l->ranges.len = l->bytes.len = 0;
}

/* Get segment SEQUENCE into OUT (emptied first), as its name says, tried again as transient
 * errors are; not after STOP (may be NULL) is set. The store's errors. */
static int get_segment(struct rj_store *store, const struct rj_log_id *id, uint64_t sequence,
	int retry_ms, const atomic_bool *stop, struct rj_buf *out, struct rj_error *err)
{
	struct rj_key key = rj_log_key(id, RJ_KEY_LOG, sequence);
	struct rj_retry retry;
	int rc;

	out->len = 0;
	rj_retry_start(&retry, retry_ms);
	do
		rc = rj_store_get(store, &key, RJ_SEG_MAX_BYTES, out, err);
	while (!(stop && *stop) && rj_retry_again(&retry, rc));
	return rc;
}

/* Is segment NUMBER there, whatever a list says? One that the store knows to be lost is not. */
static int is_there(struct rj_store *store, const struct rj_log_id *id, uint64_t number,
	int retry_ms, bool *there, struct rj_error *err)
{
	struct rj_buf bytes = {0};
	int rc = get_segment(store, id, number, retry_ms, NULL, &bytes, err);

	rj_buf_free(&bytes);
	*there = !rc;
	if (!rc || rc == -RJ_E_CORRUPT || rc == -RJ_E_NOTFOUND)
		return 0;
	return rj_log_fail_store(store, "cannot ask for segment", number, err);
}

static int list_once(struct rj_store *store, const struct rj_log_id *id, uint64_t after,
	int retry_ms, struct collect *c, struct rj_error *err)
{
	struct rj_key dir = rj_log_key(id, RJ_KEY_LOG, 0);
	struct rj_retry retry;
	int rc;

	rj_retry_start(&retry, retry_ms);
	do {
		empty(c->l);
		c->seen = after;
		c->until_ns = rj_monotonic_ns() + RJ_LISTING_S * 1000000000LL;
		rc = rj_store_list(store, &dir, after, collect_segment, c, err);
	} while (rj_retry_again(&retry, rc));
	if (rc)
		empty(c->l);
	return rc;
}

/*
 * A server may cut a long list without a word. So the number after its last one is asked for by
 * name; if it is there, it was put in between, or a second list does not show it either. A store of
 * mode B asks itself, before it says where the log ends (store/tree/mkdir-view.h).
 */
static int list_up_to(struct rj_store *store, const struct rj_log_id *id,
	uint64_t after, uint64_t limit, int retry_ms, struct rj_listing *l,
	struct rj_error *err)
{
	struct collect c = {
		.l = l, .limit = limit, .url = store->url, .err = err};
	int rc = list_once(store, id, after, retry_ms, &c, err);
	uint64_t next = c.seen + 1;
	bool there;

	if (rc || store->caps.exclusive_container || !next)
		return rc;
	rc = is_there(store, id, next, retry_ms, &there, err);
	if (!rc && there)
		rc = list_once(store, id, after, retry_ms, &c, err);
	if (!rc && there && c.seen < next)
		rc = rj_store_fail_cut(store->url, next, err);
	if (rc)
		empty(l);
	return rc;
}

int rj_listing_log(struct rj_store *store, const struct rj_log_id *id,
	uint64_t after, int retry_ms, struct rj_listing *l,
	struct rj_error *err)
{
	return list_up_to(store, id, after, UINT64_MAX, retry_ms, l, err);
}

int rj_listing_end(struct rj_store *store, const struct rj_log_id *id,
	bool new_log, int retry_ms, struct rj_listing *l, struct rj_error *err)
{
	struct rj_key dir = rj_log_key(id, RJ_KEY_LOG, 0);
	struct rj_retry retry;
	uint64_t last = 1;
	int rc = 0;

	rj_retry_start(&retry, retry_ms);
	if (store->ops->last && !new_log)
		do
			rc = store->ops->last(store, &dir, &last, err);
		while (rj_retry_again(&retry, rc));
	if (rc)
		return rc;
	return rj_listing_log(store, id, last ? last - 1 : 0, retry_ms, l, err);
}

int rj_listing_epoch(struct rj_store *store, const struct rj_log_id *id,
	int retry_ms, uint64_t *highest, struct rj_error *err)
{
	struct rj_key dir = rj_log_key(id, RJ_KEY_EPOCH, 0);
	struct collect c = {.url = store->url, .err = err};
	struct rj_retry retry;
	int rc;

	rj_retry_start(&retry, retry_ms);
	do {
		c.seen = 0;
		c.until_ns = rj_monotonic_ns() + RJ_LISTING_S * 1000000000LL;
		rc = rj_store_list(store, &dir, 0, collect_epoch, &c, err);
	} while (rj_retry_again(&retry, rc));
	*highest = rc ? 0 : c.seen;
	return rc;
}

/* The first numbers of FROM..TO that are not listed; false: none. */
static bool find_hole(const struct rj_listing *l, uint64_t from, uint64_t to,
	struct rj_range *hole)
{
	const struct rj_range *r = (const void *)l->ranges.data;
	size_t count = l->ranges.len / sizeof(*r), i;
	uint64_t want = from;

	for (i = 0; i < count && want <= to; i++) {
		if (r[i].last < want)
			continue;
		if (r[i].first > want) {
			hole->first = want;
			hole->last = r[i].first - 1 < to ? r[i].first - 1 : to;
			return true;
		}
		if (r[i].last >= to)
			return false;
		want = r[i].last + 1;
	}
	if (want > to)
		return false;
	*hole = (struct rj_range){want, to};
	return true;
}

int rj_listing_fail_hole(const struct rj_listing *l, const char *url,
	const struct rj_range *hole, struct rj_error *err)
{
	if (hole->first == hole->last)
		return rj_fail(err, RJ_E_GAP,
			"%s: segment %llu is missing (the log reaches to %llu)",
			url, (unsigned long long)hole->first,
			(unsigned long long)l->last);
	return rj_fail(err, RJ_E_GAP,
		"%s: segments %llu to %llu are missing (the log reaches to %llu)",
		url, (unsigned long long)hole->first,
		(unsigned long long)hole->last, (unsigned long long)l->last);
}

int rj_listing_check(struct rj_store *store, const struct rj_log_id *id,
	uint64_t after, int retry_ms, struct rj_listing *l, uint64_t from,
	uint64_t to, struct rj_range *hole, struct rj_error *err)
{
	bool there;
	int rc;

	if (!find_hole(l, from, to, hole))
		return 0;
	rc = list_up_to(store, id, after, l->last, retry_ms, l, err);
	if (rc || !find_hole(l, from, to, hole))
		return rc;
	rc = is_there(store, id, hole->first, retry_ms, &there, err);
	if (rc)
		return rc;
	if (there)
		return rj_store_fail_cut(store->url, hole->first, err);
	if (rj_listing_only_fences(l))
		return rj_fail(err, RJ_E_GAP,
			"%s: from segment %llu on only fences are there: the log was removed (rjlog rm), or what it held is lost",
			store->url, (unsigned long long)from);
	return rj_listing_fail_hole(l, store->url, hole, err);
}

bool rj_listing_only_fences(const struct rj_listing *l)
{
	const uint32_t *bytes = (const void *)l->bytes.data;
	size_t count = l->bytes.len / sizeof(*bytes), i;

	for (i = 0; i < count; i++)
		if (bytes[i] > RJ_LOG_FENCE_BYTES)
			return false;
	return count;
}

uint64_t rj_listing_bytes(const struct rj_listing *l, uint64_t number)
{
	const struct rj_range *r = (const void *)l->ranges.data;
	size_t count = l->ranges.len / sizeof(*r), i;
	uint64_t before = 0;
	uint32_t len;

	for (i = 0; i < count && r[i].last < number; i++)
		before += r[i].last - r[i].first + 1;
	if (i == count || number < r[i].first)
		return 0;
	before += number - r[i].first;
	memcpy(&len, l->bytes.data + before * sizeof(len), sizeof(len));
	return len;
}

void rj_listing_free(struct rj_listing *l)
{
	if (!l)
		return;
	rj_buf_free(&l->ranges);
	rj_buf_free(&l->bytes);
}

int rj_log_fetch_until(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, int retry_ms, const atomic_bool *stop,
	struct rj_buf *out, struct rj_error *err)
{
	int rc = get_segment(store, id, sequence, retry_ms, stop, out, err);

	if (rc == -RJ_E_NOTFOUND)
		return rj_fail(err, RJ_E_GAP,
			"%s: segment %llu is missing: it was listed, and is "
			"not there",
			store->url, (unsigned long long)sequence);
	if (rc)
		rj_log_fail_store(store, "cannot read segment", sequence, err);
	return rc;
}

int rj_log_fetch(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, int retry_ms, struct rj_buf *out,
	struct rj_error *err)
{
	return rj_log_fetch_until(
		store, id, sequence, retry_ms, NULL, out, err);
}

int rj_log_fetch_header(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, struct rj_seghdr *out, struct rj_error *err)
{
	struct rj_buf bytes = {0};
	int rc = rj_log_fetch(store, id, sequence, 0, &bytes, err);

	if (!rc && bytes.len < RJ_SEG_HEADER_BYTES)
		rc = rj_fail(err, RJ_E_CORRUPT,
			"%s: segment %llu is shorter than a header", store->url,
			(unsigned long long)sequence);
	if (!rc)
		rc = rj_seghdr_decode(bytes.data, out, err);
	rj_buf_free(&bytes);
	return rc;
}

int rj_log_fetch_place(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, int retry_ms, struct rj_log_tail *out,
	struct rj_error *err)
{
	struct rj_segment header = {0};
	struct rj_buf bytes = {0};
	struct rj_verify v;
	int rc = rj_log_fetch(store, id, sequence, retry_ms, &bytes, err);

	rj_verify_start(&v, store->url, id, sequence);
	if (!rc)
		rc = rj_verify_header(&v, bytes.data, bytes.len, &header, err);
	rj_segment_release(&header);
	rj_buf_free(&bytes);
	*out = v.tail;
	return rc;
}

int rj_log_fail_store(const struct rj_store *store, const char *what,
	uint64_t number, struct rj_error *err)
{
	size_t len = strlen(store->url);
	char *text = err->msg;

	if (!strncmp(text, store->url, len) && !strncmp(text + len, ": ", 2))
		memmove(text, text + len + 2, strlen(text + len + 2) + 1);
	return rj_fail_prefix(err, "%s: %s %llu", store->url, what, (unsigned long long)number);
}
