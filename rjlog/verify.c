// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rjlog verify: all that is there, not only what a replay needs. Where a
 * segment is bad or missing, go on behind it as at the beginning of a log: the
 * answer names every place, and says whether a replay needs it.
 */
#include "log/verify.h"

#include <inttypes.h>
#include <stdio.h>

#include "journal.h"
#include "print.h"

struct check {
	const struct options *o;
	struct target *t;
	struct rj_verify verify;
	struct journal journal;
	struct progress progress;
	struct json_object *problems;
	struct rj_listing listing;
	uint64_t oldest; /* a replay begins here; 0: not known */
	uint64_t done, total, bytes, epochs, last_epoch;
	uint64_t count; /* problems */
	uint64_t trimmed; /* segments that are rightly gone */
	bool data_seen;	  /* more than fences came so far */
	bool live_bad;  /* a replay needs one of them */
	bool have_plan;
	enum status status;
};

/* Segments FIRST to LAST, or the journal (0): MSG. */
static void problem(
	struct check *c, uint64_t first, uint64_t last, int rc, const char *msg)
{
	struct json_object *row = json_object_new_object();

	progress_clear(&c->progress);
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
	if (c->oldest && last < c->oldest && !c->data_seen) {
		c->trimmed += last - first + 1;
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

static int check_segment(void *arg, const struct segment_seen *s)
{
	struct check *c = arg;
	struct rj_error err;
	int rc = s->fetch_rc;

	if (s->number != c->verify.next) {
		missing(c, c->verify.next, s->number - 1);
		begin_at(c, s->number);
	}
	if (s->fetch_rc || s->bytes > RJ_SEG_HEADER_BYTES + RJ_SEG_BODY_HEAD)
		c->data_seen = true;
	progress_step(&c->progress, ++c->done, c->total);
	if (rc) {
		err = *s->fetch_err;
	} else {
		c->bytes += s->bytes;
		rc = rj_verify_opened(
			&c->verify, s->open_rc, s->open_err, s->seg, &err);
	}
	if (!rc) {
		if (c->verify.tail.epoch != c->last_epoch)
			c->epochs++;
		c->last_epoch = c->verify.tail.epoch;
		if (c->oldest && s->number >= c->oldest)
			rc = journal_take(&c->journal, s->seg, &err);
	}
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

	if (!rc && !rj_segment_open_with(bytes.data, bytes.len,
			   c->t->id.key, &seg, NULL))
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

static int check_log(struct check *c, struct rj_error *err)
{
	struct rj_listing *l = &c->listing;
	struct target *t = c->t;
	struct rj_range hole;
	uint64_t expect;
	int rc;

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
	expect = c->oldest && c->oldest < l->first ? c->oldest : l->first;
	rj_verify_start(&c->verify, t->store->url, &t->id, expect);
	if (!walk_segments(t, l, check_segment, c)) {
		if (c->verify.next <= l->last) /* gone since the first list */
			missing(c, c->verify.next, l->last);
		rc = rj_verify_end(&c->verify, err);
		if (rc)
			problem(c, l->last, l->last, rc, err->msg);
		if (!c->live_bad)
			check_journal(c);
	}
	return 0;
}

static const char *verdict(const struct check *c)
{
	if (!c->count)
		return "good";
	return c->live_bad ? "not good, and a replay needs what is bad"
			   : "not good, but all that a replay needs is good";
}

static void print_text(const struct check *c)
{
	const struct rj_jbd2_info *p;

	printf("%s: segments %" PRIu64 " to %" PRIu64 ", %" PRIu64
	       " read, %" PRIu64 " bytes, %" PRIu64 " epochs",
		c->t->text, c->listing.first, c->listing.last, c->done,
		c->bytes, c->epochs);
	if (c->trimmed)
		printf(", %" PRIu64 " trimmed", c->trimmed);
	if (c->oldest)
		printf("; a replay begins at %" PRIu64, c->oldest);
	if (c->have_plan) {
		p = rj_jbd2_plan_info(c->journal.plan);
		printf(", %" PRIu64 " transactions", p->transactions);
	}
	printf(": %s\n", verdict(c));
}

static void print_as_json(struct check *c, const char *error)
{
	struct json_object *top = json_object_new_object();

	add_text(top, "url", c->t->text);
	json_object_object_add(
		top, "good", json_object_new_boolean(c->status == STATUS_GOOD));
	json_object_object_add(top, "replay_good",
		json_object_new_boolean(
			!c->live_bad && c->status != STATUS_FAILED));
	json_object_object_add(
		top, "status", json_object_new_int((int)c->status));
	add_u64(top, "first", c->listing.first);
	add_u64(top, "last", c->listing.last);
	add_u64(top, "oldest", c->oldest);
	add_u64(top, "segments", c->done);
	add_u64(top, "bytes", c->bytes);
	add_u64(top, "epochs", c->epochs);
	add_u64(top, "trimmed", c->trimmed);
	if (c->have_plan)
		add_u64(top, "transactions",
			rj_jbd2_plan_info(c->journal.plan)->transactions);
	json_object_object_add(top, "problems", json_object_get(c->problems));
	if (error)
		add_text(top, "error", error);
	print_json(top);
}

enum status run_verify(const struct options *o, struct target *t)
{
	struct check c = {.o = o, .t = t};
	struct rj_error err;
	int rc;

	progress_init(&c.progress, o->quiet);
	c.problems = json_object_new_array();
	rc = check_log(&c, &err);
	progress_clear(&c.progress);
	if (rc) {
		complain(err.msg);
		if (status_of(rc) > c.status)
			c.status = status_of(rc);
		c.live_bad = true;
	}
	if (o->json)
		print_as_json(&c, rc ? err.msg : NULL);
	else if (!rc && !o->quiet)
		print_text(&c);
	json_object_put(c.problems);
	journal_free(&c.journal);
	rj_listing_free(&c.listing);
	return c.status;
}
