// SPDX-License-Identifier: LGPL-2.1-or-later
/* Find the logs of other volumes at a store. */
#include "journal/others.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/listing.h"
#include "text/when.h"
#include "util/environ.h"
#include "util/log.h"

#define CLAIM_BYTES 4096
/* The last segment of a log of which only the beginning was made: a fence, the empty journal. */
#define BEGUN	    2
/* A log that grew so lately may be growing still. */
#define LATELY_NS   (600 * 1000000000LL)
#define FENCES	    8 /* at the end of a log; before them the last write is looked for */
#define LOOKED	    64 /* logs that are looked at; further logs are only counted */

struct others {
	unsigned count;	 /* logs in use of other volumes */
	unsigned beyond; /* logs that were not looked at */
	/* Of the log that was written last: */
	uint8_t journal_uuid[RJ_UUID_BYTES], volume_uuid[RJ_UUID_BYTES];
	char host[RJ_CLAIM_HOST]; /* "": not known */
	uint64_t last;		  /* segment */
	int64_t written_ns;	  /* since 1970, by the clock of that host */
};

void rj_log_claimed_by(struct rj_store *store, const struct rj_log_id *id, uint64_t epoch,
	char host[RJ_CLAIM_HOST])
{
	struct rj_key key = rj_log_key(id, RJ_KEY_EPOCH, epoch);
	struct rj_buf text = {0};
	const char *at = NULL;
	char *p;

	_Static_assert(RJ_CLAIM_HOST >= 64, "sscanf writes 64 bytes");
	host[0] = 0;
	if (epoch && !rj_store_get(store, &key, CLAIM_BYTES, &text, NULL) &&
		!rj_buf_append(&text, "", 1))
		at = strstr((const char *)text.data, "\nhost ");
	if (at)
		sscanf(at, "\nhost %63s", host);
	for (p = host; *p; p++) /* chosen by anyone who can write there */
		if (*p < '!' || *p > '~')
			*p = '_';
	rj_buf_free(&text);
}

static int take_journal(void *arg, const uint8_t uuid[RJ_UUID_BYTES])
{
	return rj_buf_append(arg, uuid, RJ_UUID_BYTES);
}

/* H is the header of the last segment of ID's log: is the log in use? */
static int judge(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_seghdr *h, bool *in_use, struct rj_error *err)
{
	struct rj_listing l = {0};
	int rc;

	*in_use = h->sequence > BEGUN && h->kind != RJ_SEG_FENCE;
	/* only a fence has this flag: the journal was moved away */
	if (h->sequence <= BEGUN || *in_use || h->flags & RJ_SEG_F_CLEAN)
		return 0;
	rc = rj_listing_log(store, id, 0, 0, &l, err);
	*in_use = !rc && !rj_listing_only_fences(&l);
	rj_listing_free(&l);
	return rc;
}

/* Find the last segment of ID's log that is no fence, from H, the last, backwards: a host puts a
 * fence when it takes a log over, or leaves it. Not found: its time is 0. */
static void find_written(struct rj_store *store, const struct rj_log_id *id, struct rj_seghdr *h)
{
	uint64_t number = h->sequence, least = number > FENCES ? number - FENCES : 1;

	while (h->kind == RJ_SEG_FENCE && --number >= least)
		if (rj_log_fetch_header(store, id, number, h, NULL))
			break;
	if (h->kind == RJ_SEG_FENCE)
		h->time_ns = 0;
}

static void take(struct rj_store *store, const struct rj_log_id *id, struct rj_seghdr *h,
	struct others *out)
{
	find_written(store, id, h);
	if (h->kind != RJ_SEG_FENCE && h->sequence <= BEGUN)
		return;
	if (out->count++ && (int64_t)h->time_ns <= out->written_ns)
		return;
	memcpy(out->journal_uuid, id->journal_uuid, RJ_UUID_BYTES);
	memcpy(out->volume_uuid, h->volume_uuid, RJ_UUID_BYTES);
	out->last = h->sequence;
	out->written_ns = (int64_t)h->time_ns;
	rj_log_claimed_by(store, id, h->epoch, out->host);
}

static int look(struct rj_store *store, const struct rj_log_id *own,
	const struct rj_log_id *id, struct others *out, struct rj_error *err)
{
	struct rj_listing l = {0};
	struct rj_seghdr h = {0};
	bool in_use = false;
	int rc = rj_listing_end(store, id, false, 0, &l, err);

	if (!rc && l.last)
		rc = rj_log_fetch_header(store, id, l.last, &h, err);
	/* whether that log is whole is no concern of a new one */
	if (rc == -RJ_E_CORRUPT || rc == -RJ_E_UNSUPPORTED || rc == -RJ_E_GAP ||
		rc == -RJ_E_NOTFOUND)
		rc = 0;
	if (!rc)
		rc = judge(store, id, &h, &in_use, err);
	if (!rc && in_use && !(own && rj_uuid_equal(own->volume_uuid, h.volume_uuid)))
		take(store, id, &h, out);
	rj_listing_free(&l);
	return rc;
}

static int look_at_all(struct rj_store *store, const struct rj_log_id *own, struct others *out,
	struct rj_error *err)
{
	struct rj_buf uuids = {0};
	struct rj_log_id id = {0};
	size_t i;
	int rc;

	*out = (struct others){0};
	rc = rj_store_list_journals(store, take_journal, &uuids, err);
	for (i = 0; !rc && i < uuids.len; i += RJ_UUID_BYTES) {
		memcpy(id.journal_uuid, uuids.data + i, RJ_UUID_BYTES);
		if (own && rj_uuid_equal(own->journal_uuid, id.journal_uuid))
			continue;
		if (i / RJ_UUID_BYTES < LOOKED)
			rc = look(store, own, &id, out, err);
		else
			out->beyond++;
	}
	rj_buf_free(&uuids);
	return rc == -RJ_E_UNSUPPORTED || rc == -RJ_E_NOTFOUND ? 0 : rc;
}

int rj_log_others_check(struct rj_store *store, const struct rj_log_id *own, bool force,
	const char *way, struct rj_error *err)
{
	char journal[RJ_UUID_TEXT], owner[RJ_UUID_TEXT], when[RJ_WHEN_TEXT], more[48] = "";
	struct others o;
	int rc = look_at_all(store, own, &o, err);

	/* the probe says better what a store does not allow */
	if (rc == -RJ_E_DENIED)
		return 0;
	if (rc && force && rc != -RJ_E_UNREACHABLE) {
		rj_log(RJ_LOG_WARNING, "%s; whose log that is is not known", err->msg);
		return 0;
	}
	if (!rc && !o.count && o.beyond)
		rj_log(RJ_LOG_NOTICE, "%s: has more than %u logs: %u were not looked at", store->url,
			LOOKED, o.beyond);
	if (rc || !o.count)
		return rc;
	if (o.count + o.beyond > 1)
		snprintf(more, sizeof(more), ", and %u more log%s", o.count + o.beyond - 1,
			o.count + o.beyond > 2 ? "s" : "");
	rc = rj_fail(err, RJ_E_EXISTS,
		"%s: has the log of journal %s of another volume, %s, last written by %s (segment %llu, %s)%s",
		store->url, rj_uuid_text(o.journal_uuid, journal),
		rj_uuid_text(o.volume_uuid, owner), o.host[0] ? o.host : "an unknown host",
		(unsigned long long)o.last,
		o.written_ns ? rj_when_text(o.written_ns, when) : "long ago", more);
	if (!force && llabs(rj_realtime_ns() - o.written_ns) < LATELY_NS)
		return rj_fail_suffix(err,
			"; that volume may be in use: give each volume a name of its own%s%s",
			way ? ", or say " : "", way ? way : "");
	rj_log(RJ_LOG_NOTICE, "%s; that log stays as it is", err->msg);
	return 0;
}
