// SPDX-License-Identifier: GPL-2.0-or-later
#include "target.h"

#include <stdio.h>
#include <string.h>

#include "log/prefetch.h"
#include "log/trim.h"
#include "print.h"

#define CLAIM_BYTES 4096

int target_open(struct target *t, const struct options *o, const char *url,
	struct rj_error *err)
{
	char store[RJ_ERROR_BYTES];
	size_t len = strlen(url);
	char *slash;
	int rc;

	if (len >= sizeof(store))
		return rj_fail(err, RJ_E_INVAL, "the URL is too long");
	memcpy(store, url, len + 1);
	while (len && store[len - 1] == '/')
		store[--len] = '\0';
	slash = strrchr(store, '/');
	if (slash && rj_uuid_parse(slash + 1, t->id.journal_uuid)) {
		t->named = true;
		*slash = '\0';
	}
	rc = rj_log_sealing_load(
		t->named ? store : url, o->keyfile, NULL, &t->sealing, err);
	if (rc)
		return rc;
	rj_log_sealing_use(&t->sealing, &t->id);
	t->key_of_conf = !o->keyfile;
	return rj_store_open(t->named ? store : url, NULL, &t->store, err);
}

void target_close(struct target *t)
{
	rj_store_close(t->store);
	rj_log_sealing_free(&t->sealing);
	t->store = NULL;
}

static int add_journal(void *arg, const uint8_t uuid[RJ_UUID_BYTES])
{
	return rj_buf_append(arg, uuid, RJ_UUID_BYTES);
}

int list_logs(struct target *t, struct rj_buf *uuids, struct rj_error *err)
{
	int rc = rj_store_list_journals(t->store, add_journal, uuids, err);

	return rc == -RJ_E_NOMEM ? rj_fail(err, RJ_E_NOMEM, "out of memory") : rc;
}

static bool removed(struct target *t, const struct rj_listing *l)
{
	return rj_listing_only_fences(l);
}

static bool moved_away(struct target *t, const struct rj_listing *l)
{
	struct rj_seghdr h;

	/* only a fence has this flag */
	return l->last && !rj_log_fetch_header(t->store, &t->id, l->last, &h, NULL) &&
	       h.flags & RJ_SEG_F_CLEAN;
}

/* Drop from UUIDS the logs that are UNUSED, unless that is all of them. */
static int drop(struct target *t, bool (*unused)(struct target *t, const struct rj_listing *l),
	struct rj_buf *uuids, struct rj_error *err)
{
	struct rj_listing l = {0};
	size_t i, kept = 0;
	int rc = 0;

	for (i = 0; !rc && i < uuids->len; i += RJ_UUID_BYTES) {
		memcpy(t->id.journal_uuid, uuids->data + i, RJ_UUID_BYTES);
		rc = rj_listing_log(t->store, &t->id, 0, 0, &l, err);
		if (!rc && !unused(t, &l)) {
			memmove(uuids->data + kept, uuids->data + i,
				RJ_UUID_BYTES);
			kept += RJ_UUID_BYTES;
		}
		rj_listing_free(&l);
	}
	if (!rc && kept)
		uuids->len = kept;
	return rc;
}

static int pick_only(struct target *t, struct rj_error *err)
{
	struct rj_buf uuids = {0};
	int rc = list_logs(t, &uuids, err);

	if (!rc && uuids.len > RJ_UUID_BYTES)
		rc = drop(t, removed, &uuids, err);
	if (!rc && uuids.len > RJ_UUID_BYTES)
		rc = drop(t, moved_away, &uuids, err);
	if (!rc && !uuids.len)
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: there is no log",
			t->store->url);
	if (!rc && uuids.len > RJ_UUID_BYTES)
		rc = rj_fail(err, RJ_E_INVAL,
			"%s: there are %zu logs; name one as %s/<journal uuid> "
			"(see rjlog ls %s)",
			t->store->url, uuids.len / RJ_UUID_BYTES, t->store->url,
			t->store->url);
	if (!rc)
		memcpy(t->id.journal_uuid, uuids.data, RJ_UUID_BYTES);
	rj_buf_free(&uuids);
	return rc;
}

/* The volume, from the newest epoch claim: its bytes bind nothing, but they
 * stand apart from the segments that are to be judged. */
static bool volume_of_claim(struct target *t, uint64_t epoch)
{
	struct rj_key key = rj_log_key(&t->id, RJ_KEY_EPOCH, epoch);
	char line[64] = "", *at;
	struct rj_buf text = {0};
	bool found = false;

	if (!rj_store_get(t->store, &key, CLAIM_BYTES, &text, NULL) &&
		!rj_buf_append(&text, "", 1)) {
		at = strstr((char *)text.data, "\nvolume ");
		if (at)
			sscanf(at, "\nvolume %36s\n", line);
		found = rj_uuid_parse(line, t->id.volume_uuid);
	}
	rj_buf_free(&text);
	return found;
}

/* The volume, from the last segment's header, even one that is damaged. */
static int volume_of_last(struct target *t, uint64_t last, struct rj_error *err)
{
	struct rj_seghdr h;
	int rc = rj_log_fetch_header(t->store, &t->id, last, &h, err);

	if (!rc)
		memcpy(t->id.volume_uuid, h.volume_uuid, RJ_UUID_BYTES);
	return rc == -RJ_E_CORRUPT || rc == -RJ_E_UNSUPPORTED ? 0 : rc;
}

/* In doubt it is. */
static bool encrypted(struct target *t, uint64_t number)
{
	struct rj_seghdr h;

	return rj_log_fetch_header(t->store, &t->id, number, &h, NULL) ||
	       h.flags & RJ_SEG_F_AESGCM;
}

/* rj.conf may name a key for a prefix under which some logs are not encrypted.
 * One that begins and ends so is read without; that is said, because anyone
 * who can write to the store could have made all of it. */
static void doubt_key(struct target *t, const struct rj_listing *l)
{
	char line[sizeof(t->text) + 120];

	if (!t->id.key || !t->key_of_conf || !l->last ||
		encrypted(t, l->first) || encrypted(t, l->last))
		return;
	t->id.key = NULL;
	snprintf(line, sizeof(line),
		"%s: warning: not encrypted, though rj.conf names a key for it",
		t->text);
	complain(line);
}

int target_choose(struct target *t, struct rj_error *err)
{
	struct rj_listing l = {0};
	char uuid[RJ_UUID_TEXT];
	uint64_t epoch = 0;
	int rc = t->named ? 0 : pick_only(t, err);

	if (rc)
		return rc;
	snprintf(t->text, sizeof(t->text), "%s/%s", t->store->url,
		rj_uuid_text(t->id.journal_uuid, uuid));
	rc = rj_listing_log(t->store, &t->id, 0, 0, &l, err);
	if (!rc)
		rc = rj_listing_epoch(t->store, &t->id, 0, &epoch, err);
	if (!rc && !l.last && !epoch)
		rc = rj_fail(
			err, RJ_E_NOTFOUND, "%s: there is no log", t->text);
	if (!rc && !(epoch && volume_of_claim(t, epoch)) && l.last)
		rc = volume_of_last(t, l.last, err);
	if (!rc)
		doubt_key(t, &l);
	rj_listing_free(&l);
	return rc;
}

/* One segment, without threads that fetch ahead. */
static void fetch_one(struct target *t, uint64_t n, struct rj_fetched *f)
{
	f->open_rc = 0;
	f->fetch_rc =
		rj_log_fetch(t->store, &t->id, n, 0, &f->bytes, &f->fetch_err);
	if (!f->fetch_rc)
		f->open_rc = rj_segment_open_with(f->bytes.data,
			f->bytes.len, t->id.key, &f->seg, &f->open_err);
}

static int walk_range(struct target *t, const struct rj_listing *l,
	const struct rj_range *range,
	int (*fn)(void *arg, const struct segment_seen *s), void *arg)
{
	struct rj_prefetch *ahead = rj_prefetch_start(
		t->store, &t->id, l, range->first, range->last, 0);
	struct rj_fetched own = {0}, *f = &own;
	uint64_t count = range->last - range->first + 1, i;
	struct segment_seen seen;
	int rc = 0;

	for (i = 0; i < count && !rc; i++) {
		if (ahead)
			f = rj_prefetch_next(ahead);
		else
			fetch_one(t, range->first + i, f);
		seen = (struct segment_seen){
			.number = range->first + i,
			.bytes = f->bytes.len,
			.fetch_rc = f->fetch_rc,
			.open_rc = f->open_rc,
			.fetch_err = &f->fetch_err,
			.open_err = &f->open_err,
			.seg = &f->seg,
			.raw = &f->bytes,
		};
		rc = fn(arg, &seen);
		rj_segment_release(&own.seg);
	}
	rj_prefetch_stop(ahead);
	rj_buf_free(&own.bytes);
	return rc;
}

int walk_segments(struct target *t, const struct rj_listing *l,
	int (*fn)(void *arg, const struct segment_seen *s), void *arg)
{
	const struct rj_range *ranges = (const void *)l->ranges.data;
	size_t count = l->ranges.len / sizeof(*ranges), i;
	int rc = 0;

	for (i = 0; i < count && !rc; i++)
		rc = walk_range(t, l, &ranges[i], fn, arg);
	return rc;
}
