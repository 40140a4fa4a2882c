// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All that is there, not only what a replay needs. Where a segment is bad or
 * missing, go on after it as at the beginning of a log: the answer names every
 * place, and says whether a replay needs it.
 */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>

#include "log/floor/floor-all.h"
#include "log/trim.h"

/* Segments FIRST to LAST, or the journal (0): MSG. */
static void problem(
	struct check *c, uint64_t first, uint64_t last, int rc, const char *msg)
{
	struct json_object *row = json_object_new_object();

	progress_clear(c->progress);
	complain(msg);
	c->count++;
	if (status_of(rc) > c->status)
		c->status = status_of(rc);
	if (!first || !c->oldest || last >= c->oldest)
		c->live_bad = true;
	if (first)
		add_u64(row, "segment", first);
	if (last > first)
		add_u64(row, "to", last);
	add_text(row, "kind", rj_code_name((enum rj_code) - rc));
	add_text(row, "error", msg);
	json_object_array_add(c->problems, row);
}

static void missing(struct check *c, uint64_t first, uint64_t last)
{
	struct rj_range hole = {first, last};
	struct rj_error err;

	/* trimming deletes from the lowest on, and leaves fences */
	if (c->removed || (c->oldest && last < c->oldest && !c->data_seen)) {
		c->trimmed += last - first + 1;
		c->verify.need_base = false; /* it was among them */
		return;
	}
	rj_listing_fail_hole(&c->listing, c->t->store->url, &hole, &err);
	problem(c, first, last, -RJ_E_GAP, err.msg);
}

/* Nothing is known of what comes before segment N, but whether a break still
 * waits for its base. */
static void begin_at(struct check *c, uint64_t n)
{
	bool need_base = c->verify.need_base;

	rj_verify_start(&c->verify, c->t->store->url, &c->t->id, n);
	c->verify.need_base = need_base;
}

/* Without the key of an encrypted log its headers still show how they follow from
 * each other, and so whether one is missing or was exchanged. */
int check_seen(struct rj_verify *v, const struct segment_seen *s, uint64_t *headers,
	struct rj_error *err)
{
	int rc;

	if (s->fetch_rc) {
		*err = *s->fetch_err;
		return s->fetch_rc;
	}
	if (s->open_rc == -RJ_E_KEY && !v->id->key) {
		rc = rj_verify_header(v, s->raw->data, s->raw->len, s->seg, err);
		if (headers)
			*headers += !rc;
		return rc;
	}
	return rj_verify_opened(v, s->open_rc, s->open_err, s->seg, err);
}

static int check_segment(void *arg, const struct segment_seen *s)
{
	struct check *c = arg;
	struct rj_error err;
	int rc;

	if (s->number != c->verify.next) {
		missing(c, c->verify.next, s->number - 1);
		begin_at(c, s->number);
	}
	if (s->fetch_rc || s->bytes > RJ_LOG_FENCE_BYTES)
		c->data_seen = true;
	progress_step(c->progress, ++c->done, c->total);
	if (!s->fetch_rc)
		c->bytes += s->bytes;
	rc = check_seen(&c->verify, s, &c->headers, &err);
	if (!rc) {
		if (c->verify.tail.epoch != c->last_epoch)
			c->epochs++;
		c->last_epoch = c->verify.tail.epoch;
		if (!c->headers && c->oldest && s->number >= c->oldest)
			rc = journal_take(&c->journal, s->seg, &err);
	}
	if (!rc && c->each)
		rc = c->each(c->arg, s, &err);
	if (!rc)
		return 0;
	problem(c, s->number, s->number, rc, err.msg);
	begin_at(c, s->number + 1);
	/* a store that went away will not come back for each of the rest */
	return status_of(rc) == STATUS_FAILED ? 1 : 0;
}

/* Where a replay begins is what the last segment says, if it is sound. */
static int find_oldest(struct check *c, struct rj_error *err)
{
	struct rj_segment seg = {0};
	struct rj_buf bytes = {0};
	int rc = rj_log_fetch(
		c->t->store, &c->t->id, c->listing.last, 0, &bytes, err);
	int opened = 0;

	if (!rc)
		opened = rj_segment_open_with(
			bytes.data, bytes.len, c->t->id.key, &seg, NULL);
	if (!rc && opened == -RJ_E_KEY && !c->t->id.key)
		opened = rj_seghdr_decode(bytes.data, &seg.header, NULL);
	if (!rc && !opened)
		c->oldest = seg.header.oldest;
	rj_segment_release(&seg);
	rj_buf_free(&bytes);
	/* damage and a gap are met again, and told, in their turn */
	return status_of(rc) == STATUS_DAMAGED ? 0 : rc;
}

static void check_journal(struct check *c)
{
	const struct rj_jbd2_info *p;
	struct rj_error err;
	int rc;

	rc = journal_scan(&c->journal, c->t, &err);
	if (rc) {
		problem(c, 0, 0, rc, err.msg);
		return;
	}
	c->have_plan = true;
	p = rj_jbd2_plan_info(c->journal.plan);
	if (!p->damage)
		return;
	rj_fail(&err, RJ_E_CORRUPT, "%s: the journal is damaged: %s",
		c->t->text, p->damage_text);
	problem(c, 0, 0, -RJ_E_CORRUPT, err.msg);
}

/* A log whose end is gone looks sound. Only the floor store of rj.conf is asked: a copy of the
 * log, which ends before the log does, has none. */
static void check_end(struct check *c, const struct rj_floors *floors)
{
	struct rj_error err;
	int rc = rj_floors_check(floors, c->t->store, &c->t->id, 0, "", &err);

	if (rc)
		problem(c, c->listing.last + 1, floors->seen.sequence,
			rc == -RJ_E_REFUSED ? -RJ_E_GAP : rc, err.msg);
}

static int read_log(struct check *c, struct rj_error *err)
{
	struct rj_listing *l = &c->listing;
	struct target *t = c->t;
	struct rj_floor_answer floor = {0};
	struct rj_floors floors = {0};
	struct rj_range hole;
	uint64_t expect;
	int rc;

	rj_floor_url_load(t->store->url, &t->id, 0, 0, &floor);
	snprintf(floors.by, sizeof(floors.by), "the floor at %s", floor.url);
	floors.seen = floor.saw;
	rc = rj_listing_log(t->store, &t->id, 0, 0, l, err);
	if (!rc && !l->last)
		rc = rj_fail(err, RJ_E_GAP,
			"%s: epochs were claimed, but there is no segment",
			t->text);
	if (!rc) /* list again if there are holes: a writer may be at work */
		rc = rj_listing_check(t->store, &t->id, 0, 0, l, l->first,
			l->last, &hole, err);
	if (rc && !(rc == -RJ_E_GAP && l->last))
		return rc;
	rc = find_oldest(c, err);
	if (rc)
		return rc;
	c->total = l->bytes.len / sizeof(uint32_t);
	c->removed = rj_listing_only_fences(l);
	if (c->removed) {
		rj_fail(err, RJ_E_GAP,
			"%s: only fences are there: the log was removed (rjlog rm), or what it held is lost",
			t->text);
		problem(c, 0, 0, -RJ_E_GAP, err->msg);
	}
	expect = c->oldest && c->oldest < l->first ? c->oldest : l->first;
	rj_verify_start(&c->verify, t->store->url, &t->id, expect);
	if (!walk_segments(t, l, check_segment, c)) {
		if (c->verify.next <= l->last) /* gone since the first list */
			missing(c, c->verify.next, l->last);
		rc = rj_verify_end(&c->verify, err);
		if (rc)
			problem(c, l->last, l->last, rc, err->msg);
		if (!c->live_bad && !c->headers && !journal_is_raw(t))
			check_journal(c);
	}
	check_end(c, &floors);
	return 0;
}

enum status check_log(struct check *c, struct rj_error *err)
{
	int rc;

	c->problems = json_object_new_array();
	rc = read_log(c, err);
	progress_clear(c->progress);
	if (rc) {
		complain(err->msg);
		if (status_of(rc) > c->status)
			c->status = status_of(rc);
		c->live_bad = c->failed = true;
	}
	if (c->status == STATUS_GOOD && c->headers)
		c->status = STATUS_KEY;
	return c->status;
}

void check_free(struct check *c)
{
	json_object_put(c->problems);
	journal_free(&c->journal);
	rj_listing_free(&c->listing);
}
