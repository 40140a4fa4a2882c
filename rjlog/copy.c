// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rjlog copy. The source is read and checked as a whole before anything is
 * written, and the target compared with it; then what is missing is put, claims
 * before segments and those in order, so that what a cut leaves is a part of the
 * log and the next run goes on; at last all of the target is read back.
 */
#include "copy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "log/own.h"
#include "store/probe.h"
#include "store/url.h"

static int note(void *arg, const struct segment_seen *s, struct rj_error *err)
{
	struct copy *c = arg;
	struct copy_mark *marks, m = {.number = s->number, .bytes = s->bytes};
	size_t count = copy_marks(c, &marks);
	int rc;

	m.epoch = s->seg->header.epoch;
	m.fence = s->seg->header.kind == RJ_SEG_FENCE;
	m.before = count ? marks[count - 1].epoch : 0;
	rc = copy_hash(s, m.hash, err);
	if (!rc && rj_buf_append(&c->marks, &m, sizeof(m)))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory for a list");
	return rc;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The claims, and the epochs of segments whose claim was lost. */
static int note_claims(struct copy *c, struct rj_error *err)
{
	struct copy_mark *m;
	size_t count = copy_marks(c, &m), i, listed;
	uint64_t last = 0;
	int rc = rj_log_list_own(c->from->store, &c->from->id, RJ_KEY_EPOCH, 0, &c->claims, err);

	listed = c->claims.len / sizeof(last);
	for (i = 0; !rc && i < count; i++) {
		if (m[i].epoch == last)
			continue;
		last = m[i].epoch;
		if (listed && bsearch(&last, c->claims.data, listed,
				      sizeof(last), by_value))
			continue;
		if (rj_buf_append(&c->claims, &last, sizeof(last)))
			rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	if (!rc && c->claims.len)
		qsort(c->claims.data, c->claims.len / sizeof(last),
			sizeof(last), by_value);
	return rc;
}

/* Status GOOD: the source is sound, and known. */
static enum status read_source(struct copy *c, struct rj_error *err)
{
	struct check k = {.t = c->from,
		.progress = &c->progress,
		.each = note,
		.arg = c};
	enum status status = check_log(&k, err);

	c->oldest = k.oldest;
	if (status == STATUS_KEY && !k.count && !k.failed) {
		if (!c->o->quiet)
			complain("the log is encrypted and there is no key: "
				 "only its headers were checked");
		status = STATUS_GOOD;
	} else if (status != STATUS_GOOD && !k.failed) {
		rj_fail(err, RJ_E_CORRUPT, "%s: it is not sound: not copied",
			c->from->text);
		complain(err->msg);
	}
	check_free(&k);
	return status;
}

static int open_target(struct copy *c, struct rj_error *err)
{
	const struct target *from = c->from;
	struct target *to = &c->to;
	char uuid[RJ_UUID_TEXT];
	int rc = target_open(to, c->o, c->o->to, err);

	if (rc)
		return rc;
	rj_uuid_text(from->id.journal_uuid, uuid);
	if (to->named &&
		!rj_uuid_equal(to->id.journal_uuid, from->id.journal_uuid))
		return rj_fail(err, RJ_E_INVAL,
			"%s: a copy keeps its journal's UUID, %s", c->o->to,
			uuid);
	if (rj_url_same(to->store->url, from->store->url))
		return rj_fail(err, RJ_E_INVAL,
			"%s: a log cannot be copied to where it is", c->o->to);
	if (!to->store->caps.put_new && !to->store->caps.exclusive_container)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: this store cannot hold a log", to->store->url);
	to->id = from->id;
	snprintf(to->text, sizeof(to->text), "%s/%s", to->store->url, uuid);
	return 0;
}

/* A new log is begun: does the store keep what it promises? Where folders are
 * what is exclusive a probe would leave some behind, and nothing is promised. */
static int probe_target(const struct copy *c, struct rj_error *err)
{
	if (c->present || c->older || !c->to.store->caps.put_new)
		return 0;
	return rj_store_probe_brief(
		c->to.store, c->to.id.journal_uuid, 0, NULL, err);
}

struct put {
	struct copy *c;
	size_t at; /* mark */
	uint64_t done, total;
	struct rj_error *err;
};

static int put_one(void *arg, const struct segment_seen *s)
{
	struct put *p = arg;
	struct copy *c = p->c;
	uint8_t hash[RJ_SEG_HASH_BYTES];
	struct copy_mark *m;
	size_t count = copy_marks(c, &m);
	int rc;

	progress_step(&c->progress, ++p->done, p->total);
	if (copy_stopped(c))
		return rj_fail(p->err, RJ_E_CANCELLED, "stopped");
	while (p->at < count && m[p->at].number < s->number)
		p->at++;
	if (p->at == count || m[p->at].number != s->number || m[p->at].there)
		return 0; /* it came since, or is there */
	m += p->at;
	if (s->fetch_rc) {
		*p->err = *s->fetch_err;
		return s->fetch_rc;
	}
	rc = copy_hash(s, hash, p->err);
	if (!rc && memcmp(hash, m->hash, sizeof(hash)) != 0)
		rc = rj_fail(p->err, RJ_E_CORRUPT,
			"%s: segment %" PRIu64 " was read twice, with different "
			"bytes: the store cannot be believed",
			c->from->text, s->number);
	if (!rc)
		rc = copy_put_segment(c, m, s->raw, p->err);
	/* an answer was lost, or another copy runs: the bytes are compared when
	 * all is there */
	if (rc && rc != -RJ_E_EXISTS)
		return rc;
	c->copied++;
	c->bytes += m->bytes;
	return 0;
}

static int put_segments(struct copy *c, struct rj_error *err)
{
	struct put p = {.c = c, .err = err};
	struct rj_listing l = {0};
	struct copy_mark *m;
	size_t count = copy_marks(c, &m);
	int rc;

	progress_pass(&c->progress, "copying");
	rc = rj_listing_log(c->from->store, &c->from->id, 0, 0, &l, err);
	p.total = l.bytes.len / sizeof(uint32_t);
	if (!rc)
		rc = walk_segments(c->from, &l, put_one, &p);
	if (!rc && count && l.last > m[count - 1].number)
		c->later = l.last - m[count - 1].number;
	progress_clear(&c->progress);
	rj_listing_free(&l);
	return rc;
}

/* Whole and the same? */
static int read_back(struct copy *c, struct rj_error *err)
{
	struct copy_mark *m;
	size_t count = copy_marks(c, &m), i;
	uint64_t present = c->present;
	int rc;

	for (i = 0; i < count; i++)
		m[i].there = false;
	progress_pass(&c->progress, "checking the copy");
	rc = copy_compare(c, err);
	for (i = 0; !rc && i < count; i++)
		if (!m[i].there)
			rc = rj_fail(err, RJ_E_GAP,
				"%s: segment %" PRIu64 " is not there, though "
				"it was copied, or was trimmed since (run "
				"this again)",
				c->to.text, m[i].number);
	c->present = present;
	return rc;
}

static int copy(struct copy *c, struct rj_error *err)
{
	int rc = note_claims(c, err);

	if (!rc)
		rc = copy_compare(c, err);
	if (rc || c->o->dry_run)
		return rc;
	rc = probe_target(c, err);
	c->writing = true;
	if (!rc)
		rc = copy_put_claims(c, err);
	if (!rc)
		rc = put_segments(c, err);
	if (!rc)
		rc = copy_put_points(c, err);
	return rc ? rc : read_back(c, err);
}

static void print_text(const struct copy *c)
{
	struct copy_mark *m;
	size_t count = copy_marks(c, &m);

	printf("%s: segments %" PRIu64 " to %" PRIu64 ", ", c->to.text,
		count ? m[0].number : 0, count ? m[count - 1].number : 0);
	if (c->o->dry_run)
		printf("%" PRIu64 " would be copied, %" PRIu64 " are there\n",
			count - c->present, c->present);
	else
		printf("%" PRIu64 " copied, %" PRIu64 " bytes, %" PRIu64
		       " were there: the copy is whole\n",
			c->copied, c->bytes, c->present);
	if (c->later)
		printf("%s: %" PRIu64 " more arrived during the copy: run this again\n",
			c->from->text, c->later);
}

static void print_as_json(
	const struct copy *c, enum status status, const char *error)
{
	struct json_object *top = json_object_new_object();
	struct copy_mark *m;
	size_t count = copy_marks(c, &m);

	add_text(top, "url", c->from->text);
	add_text(top, "to", c->to.text);
	add_bool(top, "dry_run", c->o->dry_run);
	add_bool(top, "whole", status == STATUS_GOOD && !c->o->dry_run);
	json_object_object_add(
		top, "status", json_object_new_int((int)status));
	add_u64(top, "first", count ? m[0].number : 0);
	add_u64(top, "last", count ? m[count - 1].number : 0);
	add_u64(top, "segments", count);
	add_u64(top, "copied", c->copied);
	add_u64(top, "bytes", c->bytes);
	add_u64(top, "present", c->present);
	add_u64(top, "older", c->older);
	add_u64(top, "later", c->later);
	add_u64(top, "epochs", c->claims.len / sizeof(uint64_t));
	if (error)
		add_text(top, "error", error);
	json_show(top, JSON_C_TO_STRING_PRETTY);
}

/* Read and check the source, compare the target with it, put what is missing, and read it back;
 * what fails is told. */
static enum status copy_once(struct copy *c, struct rj_error *err)
{
	enum status status;
	int rc;

	c->marks.len = 0; /* of an earlier try */
	status = read_source(c, err);
	if (status != STATUS_GOOD)
		return status;
	rc = copy(c, err);
	progress_clear(&c->progress);
	if (rc && rc != -RJ_E_CANCELLED)
		complain(err->msg);
	return status_of(rc);
}

static void print_follow(const struct copy *c)
{
	printf("%s: %" PRIu64 " segments copied, %" PRIu64 " bytes; it ends with segment %" PRIu64 "\n",
		c->to.text, c->copied, c->bytes, c->last);
}

enum status run_copy(const struct options *o, struct target *t)
{
	struct copy c = {.o = o, .from = t};
	struct rj_error err = {0};
	enum status status;
	int rc;

	progress_init(&c.progress, o, t->text);
	rc = open_target(&c, &err);
	status = status_of(rc);
	if (rc)
		complain(err.msg);
	else
		status = o->follow ? copy_follow(&c, copy_once, &err) : copy_once(&c, &err);
	if (o->json)
		print_as_json(&c, status, status ? err.msg : NULL);
	else if (!status && !o->quiet && o->follow)
		print_follow(&c);
	else if (!status && !o->quiet)
		print_text(&c);
	rj_buf_free(&c.marks);
	rj_buf_free(&c.claims);
	rj_buf_free(&c.points);
	target_close(&c.to);
	return status;
}
