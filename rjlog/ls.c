// SPDX-License-Identifier: GPL-2.0-or-later
/* rjlog ls: the logs of a store, or the segments of a log. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "log/trim.h"
#include "print.h"
#include "tools/holds.h"
#include "tools/plan.h"

/* Before which number a hole is no loss: what was trimmed, or removed. */
static uint64_t oldest_needed(struct target *t, const struct rj_listing *l)
{
	struct rj_seghdr h;

	if (rj_listing_only_fences(l))
		return l->last;
	if (!l->last || rj_log_fetch_header(t->store, &t->id, l->last, &h, NULL))
		return 0;
	return h.oldest;
}

/* FENCES: how many of the segments hold no blocks; may be NULL. */
static uint64_t total_bytes(
	const struct rj_listing *l, uint64_t *segments, uint64_t *fences)
{
	const uint32_t *bytes = (const void *)l->bytes.data;
	uint64_t total = 0;
	size_t i;

	*segments = l->bytes.len / sizeof(*bytes);
	for (i = 0; i < *segments; i++) {
		total += bytes[i];
		if (fences)
			*fences += bytes[i] <= RJ_LOG_FENCE_BYTES;
	}
	return total;
}

static int ls_log(const struct options *o, struct target *t,
	struct json_object *logs, struct rj_error *err)
{
	struct json_object *log;
	struct rj_listing l = {0};
	struct rj_seghdr newest = {0};
	struct rj_buf holds = {0};
	uint64_t epoch, segments, bytes, fences = 0;
	char uuid[RJ_UUID_TEXT];
	int rc;

	rc = rj_listing_log(t->store, &t->id, 0, 0, &l, err);
	if (!rc)
		rc = rj_listing_epoch(t->store, &t->id, 0, &epoch, err);
	if (rc)
		goto out;
	rj_uuid_text(t->id.journal_uuid, uuid);
	bytes = total_bytes(&l, &segments, &fences);
	if (!o->json && !o->quiet)
		printf("%s  segments %" PRIu64 " to %" PRIu64 ", %" PRIu64
		       " bytes, epoch %" PRIu64 "%s\n",
			uuid, l.first, l.last, bytes, epoch,
			rj_listing_only_fences(&l) ? ", only fences" : "");
	log = json_object_new_object();
	add_text(log, "journal", uuid);
	add_u64(log, "first", l.first);
	add_u64(log, "last", l.last);
	add_u64(log, "segments", segments);
	add_u64(log, "bytes", bytes);
	add_u64(log, "fences", fences);
	add_u64(log, "epochs_claimed", epoch);
	json_object_array_add(logs, log);
	rc = rj_hold_list(t->store, &t->id, 0, &holds, err);
	if (!rc && holds.len && l.last)
		rc = rj_log_fetch_header(t->store, &t->id, l.last, &newest, err);
	if (!rc)
		holds_show(&holds, &l, newest.oldest, !o->json && !o->quiet, log);
out:
	rj_buf_free(&holds);
	rj_listing_free(&l);
	return rc;
}

static enum status ls_store(const struct options *o, struct target *t)
{
	struct json_object *top = json_object_new_object();
	struct json_object *logs = json_object_new_array();
	struct rj_buf uuids = {0};
	struct rj_error err;
	size_t i;
	int rc;

	add_text(top, "url", t->store->url);
	json_object_object_add(top, "logs", logs);
	rc = list_logs(t, &uuids, &err);
	for (i = 0; !rc && i < uuids.len; i += RJ_UUID_BYTES) {
		memcpy(t->id.journal_uuid, uuids.data + i, RJ_UUID_BYTES);
		rc = ls_log(o, t, logs, &err);
	}
	if (rc) {
		complain(err.msg);
		add_text(top, "error", err.msg);
	} else if (!uuids.len && !o->json && !o->quiet) {
		printf("%s: no logs\n", t->store->url);
	}
	rj_buf_free(&uuids);
	if (o->json)
		json_show(top, JSON_C_TO_STRING_PRETTY);
	else
		json_object_put(top);
	return status_of(rc);
}

static int ls_name(void *arg, const char *name)
{
	struct json_object *names = arg;

	if (names)
		json_object_array_add(names, json_object_new_string(name));
	else
		puts(name);
	return 0;
}

enum status run_ls_names(const struct options *o, const char *url)
{
	struct json_object *names = o->json ? json_object_new_array() : NULL;
	struct rj_store *store = NULL;
	char any[RJ_ERROR_BYTES];
	struct rj_error err;
	int rc;

	/* a store has a name; its server is asked, and not the store */
	snprintf(any, sizeof(any), "%s%snames", url, url[strlen(url) - 1] == '/' ? "" : "/");
	rc = rj_store_open(any, NULL, &store, &err);
	if (!rc)
		rc = store->ops->list_names(store, ls_name, names, &err);
	rj_store_close(store);
	if (rc)
		complain(err.msg);
	if (o->json) {
		struct json_object *top = json_object_new_object();

		add_text(top, "url", url);
		json_object_object_add(top, "names", names);
		if (rc)
			add_text(top, "error", err.msg);
		json_show(top, JSON_C_TO_STRING_PRETTY);
	}
	return status_of(rc);
}

struct ls {
	const struct options *o;
	struct target *t;
	struct json_object *segments; /* NULL: print text */
	struct progress progress;
	uint64_t expect, done, total;
	uint64_t oldest; /* a replay needs nothing before it; 0: not known */
	bool data_seen;
	enum status status;
};

static void raise_status(struct ls *ls, enum status s)
{
	if (s > ls->status)
		ls->status = s;
}

static void ls_missing(struct ls *ls, uint64_t first, uint64_t last)
{
	struct json_object *row;

	/* trimming deletes from the lowest on, and leaves fences */
	if (last < ls->oldest && !ls->data_seen)
		return;
	progress_clear(&ls->progress);
	if (last > first)
		fprintf(stderr,
			"rjlog: %s: segments %" PRIu64 " to %" PRIu64
			" are missing\n",
			ls->t->text, first, last);
	else
		fprintf(stderr, "rjlog: %s: segment %" PRIu64 " is missing\n",
			ls->t->text, first);
	raise_status(ls, STATUS_DAMAGED);
	if (!ls->segments)
		return;
	row = json_object_new_object();
	add_u64(row, "segment", first);
	add_u64(row, "to", last);
	add_text(row, "error", "missing");
	json_object_array_add(ls->segments, row);
}

static void ls_text(const struct segment_seen *s)
{
	const struct rj_seghdr *h = &s->seg->header;
	char when[RJ_WHEN_TEXT], tids[32] = "-";

	if (s->seg->body.tid_count)
		snprintf(tids, sizeof(tids), "%u-%u", s->seg->body.first_tid,
			s->seg->body.last_tid);
	printf("%10" PRIu64 " %6" PRIu64 "  %-9s %10" PRIu64 "  %-25s %7" PRIu64
	       "  %s\n",
		s->number, h->epoch, kind_text(h), s->bytes,
		plan_time_text((int64_t)h->time_ns, when), s->seg->block_count,
		tids);
}

static void ls_json(struct ls *ls, const struct segment_seen *s)
{
	const struct rj_seghdr *h = &s->seg->header;
	struct json_object *row = json_object_new_object();

	add_u64(row, "segment", s->number);
	add_u64(row, "epoch", h->epoch);
	add_text(row, "kind", kind_text(h));
	add_u64(row, "bytes", s->bytes);
	add_u64(row, "time_ns", h->time_ns);
	add_u64(row, "oldest", h->oldest);
	add_u64(row, "blocks", s->seg->block_count);
	if (s->seg->body.tid_count) {
		add_u64(row, "first_tid", s->seg->body.first_tid);
		add_u64(row, "last_tid", s->seg->body.last_tid);
	}
	json_object_array_add(ls->segments, row);
}

static void ls_bad(struct ls *ls, const struct segment_seen *s)
{
	bool opened = !s->fetch_rc;
	const struct rj_error *e = opened ? s->open_err : s->fetch_err;
	struct json_object *row;

	progress_clear(&ls->progress);
	if (opened)
		fprintf(stderr,
			"rjlog: %s: segment %" PRIu64 " is damaged: %s\n",
			ls->t->text, s->number, e->msg);
	else
		complain(e->msg);
	raise_status(ls, status_of(opened ? s->open_rc : s->fetch_rc));
	if (!ls->segments)
		return;
	row = json_object_new_object();
	add_u64(row, "segment", s->number);
	add_text(row, "error", e->msg);
	json_object_array_add(ls->segments, row);
}

static int ls_segment(void *arg, const struct segment_seen *s)
{
	struct ls *ls = arg;

	if (s->number != ls->expect && ls->done)
		ls_missing(ls, ls->expect, s->number - 1);
	ls->expect = s->number + 1;
	ls->done++;
	if (s->fetch_rc || s->bytes > RJ_LOG_FENCE_BYTES)
		ls->data_seen = true;
	if (s->fetch_rc || s->open_rc)
		ls_bad(ls, s);
	else if (ls->segments)
		ls_json(ls, s);
	else if (!ls->o->quiet)
		ls_text(s);
	if (ls->segments || ls->o->quiet)
		progress_step(&ls->progress, ls->done, ls->total);
	/* a store that went away will not come back for each of the rest */
	return s->fetch_rc && status_of(s->fetch_rc) == STATUS_FAILED ? 1 : 0;
}

static enum status ls_segments(const struct options *o, struct target *t)
{
	struct json_object *top = json_object_new_object();
	struct ls ls = {.o = o, .t = t};
	struct rj_listing l = {0};
	struct rj_error err;
	int rc;

	progress_init(&ls.progress, o, t->text);
	add_text(top, "url", t->text);
	if (o->json) {
		ls.segments = json_object_new_array();
		json_object_object_add(top, "segments", ls.segments);
	}
	rc = rj_listing_log(t->store, &t->id, 0, 0, &l, &err);
	if (rc) {
		complain(err.msg);
		ls.status = status_of(rc);
		goto out;
	}
	total_bytes(&l, &ls.total, NULL);
	ls.oldest = oldest_needed(t, &l);
	if (!o->json && !o->quiet)
		printf("%10s %6s  %-9s %10s  %-25s %7s  %s\n", "segment",
			"epoch", "kind", "bytes", "time", "blocks", "tids");
	walk_segments(t, &l, ls_segment, &ls);
	progress_clear(&ls.progress);
out:
	if (o->json)
		json_show(top, JSON_C_TO_STRING_PRETTY);
	else
		json_object_put(top);
	rj_listing_free(&l);
	return ls.status;
}

enum status run_ls(const struct options *o, struct target *t)
{
	return t->named ? ls_segments(o, t) : ls_store(o, t);
}
