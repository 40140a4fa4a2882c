// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log/hold.h"

#include <stdio.h>
#include <string.h>

#include "log/own.h"
#include "os/hostname.h"
#include "util/environ.h"
#include "util/error-class.h"

#define TRIES	   16
#define NUMBERS	   1000000000000u /* are drawn below this */
#define LONGEST_S  (36525u * 86400u)

static int draw(uint64_t *number, struct rj_error *err)
{
	int rc = rj_random_bytes(number, sizeof(*number));

	if (rc)
		return rj_fail(err, (enum rj_code)-rc, "no random bytes");
	*number = *number % (NUMBERS - 1) + 1;
	return 0;
}

static int oldest(struct rj_store *store, const struct rj_log_id *id,
	uint64_t *out, struct rj_error *err)
{
	struct rj_listing l = {0};
	struct rj_seghdr last;
	int rc = rj_listing_end(store, id, false, 0, &l, err);

	if (!rc && !l.last)
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: the log is empty",
			store->url);
	if (!rc)
		rc = rj_log_fetch_header(store, id, l.last, &last, err);
	if (!rc)
		*out = last.oldest;
	rj_listing_free(&l);
	return rc;
}

int rj_hold_put_at(struct rj_store *store, const struct rj_log_id *id, const char *program,
	uint64_t seconds, uint64_t first, struct rj_hold *out, struct rj_error *err)
{
	struct rj_hold h = {.first = first, .host = "-"};
	struct rj_buf text = {0};
	struct rj_key key;
	int rc, i;

	if (seconds > LONGEST_S)
		return rj_fail(err, RJ_E_INVAL,
			"a hold of %llu seconds: at most 100 years",
			(unsigned long long)seconds);
	rc = -RJ_E_EXISTS;
	memcpy(h.journal_uuid, id->journal_uuid, RJ_UUID_BYTES);
	if (!id->key) /* as in a claim: with a key nothing readable is left */
		rj_host_name(h.host, sizeof(h.host));
	snprintf(h.program, sizeof(h.program), "%s", program);
	h.time = rj_realtime_ns() / 1000000000;
	h.until = h.time + (int64_t)seconds;
	for (i = 0; rc == -RJ_E_EXISTS && i < TRIES; i++) {
		rc = draw(&h.number, err);
		if (rc)
			break;
		key = rj_log_key(id, RJ_KEY_HOLD, h.number);
		text.len = 0;
		rc = rj_hold_encode(&h, &text)
			     ? rj_fail(err, RJ_E_NOMEM, "out of memory")
			     : rj_log_put_own(store, &key, &text, 0, err);
	}
	rj_buf_free(&text);
	if (!rc || rj_code_transient(rc))
		*out = h; /* without an answer it may be there */
	return rc ? rj_fail_prefix(err, "cannot put a hold") : 0;
}

int rj_hold_put(struct rj_store *store, const struct rj_log_id *id,
	const char *program, uint64_t seconds, struct rj_hold *out,
	struct rj_error *err)
{
	uint64_t first;
	int rc = oldest(store, id, &first, err);

	return rc ? rc : rj_hold_put_at(store, id, program, seconds, first, out, err);
}

int rj_hold_remove(struct rj_store *store, const struct rj_log_id *id,
	uint64_t number, struct rj_error *err)
{
	struct rj_key key = rj_log_key(id, RJ_KEY_HOLD, number);

	return rj_log_remove_own(store, &key, err);
}

int rj_hold_look(struct rj_store *store, const struct rj_log_id *id,
	int retry_ms, struct rj_hold_seen *s, struct rj_error *err)
{
	struct rj_key key = rj_log_key(id, RJ_KEY_HOLD, s->hold.number);
	struct rj_buf text = {0};
	struct rj_hold h;
	int rc = rj_log_get_own(store, &key, retry_ms, &text, err);

	if (!rc && !rj_hold_decode(text.data, text.len, &h, err) &&
		h.number == s->hold.number &&
		rj_uuid_equal(h.journal_uuid, id->journal_uuid))
		*s = (struct rj_hold_seen){.hold = h};
	rj_buf_free(&text);
	/* what does not pass by itself is bad, so that expire --hold can remove it */
	return rj_code_transient(rc) || rc == -RJ_E_NOTFOUND ||
			       rc == -RJ_E_NOMEM
		       ? rc
		       : 0;
}

/* Hold NUMBER was listed and could not be got. It was removed in between if another list
 * does not have it; else it stays BAD: a hold that was lost keeps the log. */
static int look_again(struct rj_store *store, const struct rj_log_id *id,
	int retry_ms, struct rj_hold_seen *s, struct rj_error *err)
{
	struct rj_buf numbers = {0};
	int rc = rj_log_list_own(
		store, id, RJ_KEY_HOLD, retry_ms, &numbers, err);

	if (!rc && !rj_log_own_listed(&numbers, s->hold.number))
		rc = -RJ_E_NOTFOUND;
	rj_buf_free(&numbers);
	return rc;
}

/* *MISSED: one was removed since it was listed. */
static int list_once(struct rj_store *store, const struct rj_log_id *id,
	int retry_ms, struct rj_buf *out, bool *missed, struct rj_error *err)
{
	struct rj_buf found = {0};
	struct rj_hold_seen s;
	size_t i;
	int rc = rj_log_list_own(store, id, RJ_KEY_HOLD, retry_ms, &found, err);

	*missed = false;
	for (i = 0; !rc && i < found.len; i += sizeof(uint64_t)) {
		s = (struct rj_hold_seen){.bad = true};
		memcpy(&s.hold.number, found.data + i, sizeof(uint64_t));
		rc = rj_hold_look(store, id, retry_ms, &s, err);
		if (rc == -RJ_E_NOTFOUND)
			rc = look_again(store, id, retry_ms, &s, err);
		if (!rc && rj_buf_append(out, &s, sizeof(s)))
			rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
		*missed |= rc == -RJ_E_NOTFOUND;
		if (rc == -RJ_E_NOTFOUND)
			rc = 0;
	}
	rj_buf_free(&found);
	return rc;
}

int rj_hold_list(struct rj_store *store, const struct rj_log_id *id,
	int retry_ms, struct rj_buf *out, struct rj_error *err)
{
	size_t before = out->len;
	bool missed;
	int rc, i = 0;

	do {
		out->len = before;
		rc = list_once(store, id, retry_ms, out, &missed, err);
	} while (!rc && missed && ++i < TRIES);
	if (!rc && missed)
		rc = rj_fail(err, RJ_E_UNREACHABLE,
			"%s: holds are listed that are not there", store->url);
	return rc;
}

bool rj_hold_expired(const struct rj_hold *h)
{
	return rj_realtime_ns() / 1000000000 >= h->until;
}

int rj_hold_lowest(struct rj_store *store, const struct rj_log_id *id, int retry_ms,
	int64_t until_ns, uint64_t *first, struct rj_hold *by, struct rj_error *err)
{
	struct rj_buf all = {0};
	struct rj_hold_seen s;
	int64_t now;
	size_t i;
	int rc = rj_hold_list(store, id, retry_ms, &all, err);

	/* after the list, whose answer says the time of the server */
	now = rj_store_now(store, until_ns) / 1000000000;
	*first = UINT64_MAX;
	for (i = 0; !rc && i < all.len; i += sizeof(s)) {
		memcpy(&s, all.data + i, sizeof(s));
		if (s.bad) {
			rc = rj_fail(err, RJ_E_CORRUPT,
				"%s: hold %llu cannot be read, so that nothing of the log is deleted: if no base needs it, rjbackup expire --hold=%llu removes it",
				store->url, (unsigned long long)s.hold.number,
				(unsigned long long)s.hold.number);
		} else if (s.hold.first < *first && now < s.hold.until) {
			*first = s.hold.first;
			*by = s.hold;
		}
	}
	rj_buf_free(&all);
	return rc;
}

uint64_t rj_hold_bytes(
	const struct rj_listing *l, uint64_t first, uint64_t below)
{
	const struct rj_range *r = (const void *)l->ranges.data;
	const uint32_t *bytes = (const void *)l->bytes.data;
	size_t count = l->ranges.len / sizeof(*r), i;
	uint64_t all = 0, n, left;

	for (i = 0; i < count; i++) {
		n = r[i].first;
		for (left = r[i].last - n + 1; left; left--, n++, bytes++)
			if (n >= first && n < below)
				all += *bytes;
	}
	return all;
}
