// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From segment to segment: the journal's image is rebuilt in a ring, as for a replay.
 * Before a segment that may move the journal's tail is applied, the transactions that
 * are complete in the ring by then are consumed (place.c): the kernel overwrites none of
 * them before it has moved the tail.
 */
#include <stdio.h>
#include <string.h>

#include "history/history-priv.h"
#include "log/listing.h"
#include "log/past/point.h"

/* Does the epoch of fence S continue the mount that the walk is in, or may the walk go over
 * to the next mount? */
static int check_epoch(
	struct rj_hist *h, const struct rj_segment *s, struct rj_error *err)
{
	uint64_t since, before = h->held ? h->held_segment : s->header.sequence - 1;
	int rc;

	if (s->header.flags & RJ_SEG_F_BREAK)
		return rj_hist_broken(h, before, err,
			"the log was given up there (rjrecover --accept-loss)");
	if (s->header.flags & RJ_SEG_F_CLEAN)
		return rj_hist_broken(h, before, err,
			"the volume's journal was moved away");
	rc = rj_log_served_since(h->store, h->id, s->header.epoch,
		h->opts->retry_ms, &since, err);
	if (!rc && since != h->since)
		rc = rj_hist_go_over(h, since, err);
	return rc;
}

/* May S change what the ring says about the transactions before it? */
static bool moves_tail(const struct rj_hist *h, const struct rj_segment *s)
{
	return s->header.flags & RJ_SEG_F_BASE ||
	       (s->body.run_count && s->runs[0].block <= h->sb_block);
}

/* The time of a commit in S that is later than the walk may go; 0: there is none. */
static int64_t later_commit(const struct rj_hist *h, const struct rj_segment *s)
{
	const uint8_t *block = NULL;
	uint32_t tid;

	while (h->opts->not_after_ns && (block = rj_hist_next_commit(s, block, &tid)))
		if (rj_jbd2_commit_ns(block) > h->opts->not_after_ns)
			return rj_jbd2_commit_ns(block);
	return 0;
}

static int check_size(const struct rj_hist *h, const struct rj_segment *s,
	struct rj_error *err)
{
	if (s->body.block_size == h->ring->block_size)
		return 0;
	return rj_fail(err, RJ_E_FOREIGN,
		"%s: segment %llu has blocks of %u bytes, not of %u",
		h->store->url, (unsigned long long)s->header.sequence,
		s->body.block_size, h->ring->block_size);
}

/* The part of the log that the base's first moment is rebuilt from. */
static int gather(void *arg, const struct rj_segment *s, struct rj_error *err)
{
	struct rj_hist *h = arg;
	int rc;

	h->sealed_ns = (int64_t)s->header.time_ns;
	if (!s->body.run_count)
		return 0;
	/* a base of a volume that was not mounted begins with the note of its unmount */
	rc = rj_hist_look_at_note(h, s, err);
	if (rc)
		return rc;
	if (!h->ring) {
		rc = rj_ring_new_bounded(s->body.block_size,
			s->body.journal_blocks, RJ_HIST_MEMORY, &h->ring, err);
		if (rc)
			return rc;
		h->sb_block = rj_jbd2_device_sb_block(s->body.block_size);
	}
	return rj_ring_apply(h->ring, s, err);
}

/* SEGMENT, with CHAIN, is in the log. If the base is whole there, is it the one of then? */
static int check_whole(const struct rj_hist *h, uint64_t segment, const uint8_t *chain,
	struct rj_error *err)
{
	const struct rj_base_record *base = &h->opts->base;

	if (segment != base->whole || !base->chain || rj_base_chain(chain) == base->chain)
		return 0;
	return rj_fail(err, RJ_E_GAP,
		"%s: segment %llu is not the one that was there when this base became whole: the store was put back to an earlier state, or the log was begun again; this base cannot be used with it: make a new one",
		h->store->url, (unsigned long long)segment);
}

/* Before anything is applied: numbers alone do not say that this is the log of the base. */
static int check_same_log(struct rj_hist *h, struct rj_error *err)
{
	struct rj_log_tail at;
	int rc;

	if (!h->opts->base.chain)
		return 0;
	rc = rj_log_fetch_place(
		h->store, h->id, h->opts->base.whole, h->opts->retry_ms, &at, err);
	if (rc == -RJ_E_GAP) /* a copy of the log that has not come to there: step() looks then */
		return 0;
	return rc ? rc : check_whole(h, at.sequence, at.chain, err);
}

static int step(void *arg, const struct rj_segment *s, struct rj_error *err)
{
	struct rj_hist *h = arg;
	int rc;

	h->later_ns = later_commit(h, s);
	if (h->later_ns)
		return rj_fail(err, RJ_E_CANCELLED, "%s: segment %llu is later", h->store->url,
			(unsigned long long)s->header.sequence);
	h->at = (struct rj_log_tail){.sequence = s->header.sequence,
		.epoch = s->header.epoch,
		.oldest = s->header.oldest};
	memcpy(h->at.chain, s->chain, sizeof(h->at.chain));
	rc = check_whole(h, s->header.sequence, s->chain, err);
	if (!rc)
		rc = rj_hist_look_at_note(h, s, err);
	if (!rc && (s->header.kind == RJ_SEG_FENCE || moves_tail(h, s)))
		rc = rj_hist_consume(h, err);
	if (!rc && s->header.kind == RJ_SEG_FENCE)
		rc = check_epoch(h, s, err);
	if (!rc && s->body.run_count)
		rc = rj_hist_look_at_recovery(h, s, err);
	if (!rc && s->body.run_count)
		rc = check_size(h, s, err);
	if (!rc)
		rc = rj_ring_apply(h->ring, s, err);
	if (!rc && (h->opts->at.kind == RJ_AT_TIME || h->opts->then))
		rc = rj_hist_note_commits(h, s, err);
	if (rc) /* after RJ_E_UNREACHABLE or RJ_E_BUSY this segment comes again */
		return rc;
	rj_hist_recovered(h, s);
	h->segment = s->header.sequence;
	h->chain = rj_base_chain(s->chain);
	h->sealed_ns = (int64_t)s->header.time_ns;
	return h->segment == h->opts->base.whole ? rj_hist_consume(h, err) : 0;
}

static int progress(void *arg, uint64_t done, uint64_t total)
{
	struct rj_hist *h = arg;

	if (!h->opts->progress)
		return 0;
	return h->opts->progress(h->opts->arg, done, total);
}

int rj_hist_open(struct rj_hist *h, struct rj_error *err)
{
	struct rj_log_tail *tail = &h->tail;
	struct rj_log_read_opts o = {
		.upto = h->opts->base.from, .retry_ms = h->opts->retry_ms};
	struct rj_log_summary sum;
	int rc;

	memset(h->report, 0, sizeof(*h->report));
	h->report->blocks = h->end = h->opts->fs_blocks;
	rc = rj_log_read(h->store, h->id, &o, gather, h, &sum, err);
	if (rc == -RJ_E_GAP && !sum.last)
		return rj_fail(err, RJ_E_NOTFOUND,
			"%s: there is no segment of this volume's log there: give the URL where the log is, or a copy of it",
			h->store->url);
	if (rc == -RJ_E_GAP)
		return rj_fail_suffix(err,
			"; this base cannot be used any more: make a new one with --hold=TIME, or let \"retain\" in rj.conf keep the log");
	if (!rc)
		rc = check_same_log(h, err);
	if (rc)
		return rc;
	h->report->segments = sum.segments;
	h->report->bytes = sum.bytes;
	*tail = h->at = sum.tail;
	h->claimed = sum.epochs_claimed;
	h->segment = tail->sequence;
	h->chain = rj_base_chain(tail->chain);
	if (!h->ring)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: the log holds no journal blocks", h->store->url);
	h->bio = rj_ring_bio(h->ring, h->store->url);
	if (!h->bio)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	rc = rj_log_served_since(h->store, h->id, tail->epoch,
		h->opts->retry_ms, &h->since, err);
	if (!rc)
		rc = rj_hist_consume(h, err);
	return h->stop ? 0 : rc;
}

/* What is missing or damaged in the log ends the history, and takes no moment before it. Not for
 * a follower: the store may have it again. */
static bool ends_before(const struct rj_hist *h, int rc, uint64_t bad)
{
	return (rc == -RJ_E_GAP || rc == -RJ_E_CORRUPT) && bad > h->tail.sequence &&
	       !h->opts->settled;
}

static int broken_at(struct rj_hist *h, uint64_t bad, int rc, struct rj_error *err)
{
	char why[96];

	snprintf(why, sizeof(why), "segment %llu is %s", (unsigned long long)bad,
		rc == -RJ_E_GAP ? "missing" : "damaged");
	h->bad = (enum rj_code)-rc;
	return rj_hist_broken(h, bad - 1, err, why);
}

int rj_hist_advance(struct rj_hist *h, uint64_t upto, struct rj_error *err)
{
	const struct rj_log_tail from = h->tail;
	struct rj_log_read_opts o = {
		.resume = &from,
		.upto = upto,
		.retry_ms = h->opts->retry_ms,
		.progress = progress,
		.progress_arg = h,
	};
	struct rj_log_summary sum;
	uint64_t bad = 0;
	int rc, rc2, end = 0;

	h->later_ns = 0;
	rc = rj_log_read(h->store, h->id, &o, step, h, &sum, err);
	if (ends_before(h, rc, sum.bad_sequence)) {
		end = rc;
		bad = sum.bad_sequence;
		rc = 0;
	}
	/* a hole is seen in the list, before anything is read, unless it came just now */
	if (end == -RJ_E_GAP && !sum.segments && bad > from.sequence + 1) {
		o.upto = bad - 1;
		rc = rj_log_read(h->store, h->id, &o, step, h, &sum, err);
	}
	h->report->segments += sum.segments;
	h->report->bytes += sum.bytes;
	if (sum.tail.sequence)
		h->tail = sum.tail;
	h->claimed = sum.epochs_claimed;
	if (h->later_ns)
		rc = 0;
	if (h->stop || (rc && rc != -RJ_E_CANCELLED))
		return rc;
	rc2 = rj_hist_consume(h, rc ? NULL : err);
	if (!rc && !rc2 && end && !h->stop && !h->later_ns)
		return broken_at(h, bad, end, err);
	return rc ? rc : rc2;
}

void rj_hist_close(struct rj_hist *h)
{
	rj_buf_free(&h->commits);
	rj_bio_free(h->bio);
	rj_ring_free(h->ring);
	h->bio = NULL;
	h->ring = NULL;
}

/* A commit that is later than opts->at came before the base was whole: when is it? */
static int too_early(struct rj_hist *h, struct rj_error *err)
{
	const struct rj_history_opts o = {
		.base = h->opts->base,
		.fs_blocks = h->opts->fs_blocks,
		.at = {.kind = RJ_AT_SEGMENT, .segment = h->opts->base.whole},
		.retry_ms = h->opts->retry_ms,
	};
	struct rj_history_report r;
	char text[RJ_WHEN_TEXT], asked[RJ_WHEN_TEXT];
	int rc = rj_history_walk(h->store, h->id, &o, &r, err);

	return rc ? rc
		  : rj_fail(err, RJ_E_REFUSED,
			    "%s: %s is too early: this base is whole at segment %llu, as of %s, and later: use an older base",
			    h->store->url, rj_when_text(h->opts->at.time_ns, asked),
			    (unsigned long long)o.at.segment, rj_place_text(&r.earliest, text));
}

/* The walk is over without damage: is it where it was to end? */
static int judge(struct rj_hist *h, struct rj_error *err)
{
	const struct rj_history_opts *opts = h->opts;
	const struct rj_history_report *r = h->report;
	enum rj_code refused = h->bad ? h->bad : RJ_E_REFUSED;
	char text[RJ_WHEN_TEXT], asked[RJ_WHEN_TEXT];

	if (!h->whole && !r->break_why[0] && opts->at.kind == RJ_AT_TIME)
		return too_early(h, err);
	/* a base of an unmounted volume: the log has no commit of before it was whole */
	if (h->whole && opts->at.kind == RJ_AT_TIME && !r->earliest.time_ns &&
		opts->at.time_ns < r->earliest.sealed_ns)
		return too_early(h, err);
	if (!h->whole)
		return rj_fail(err, refused,
			"%s: %s: the base is whole at segment %llu only",
			h->store->url, r->break_why,
			(unsigned long long)opts->base.whole);
	rj_place_text(&r->reached, text);
	if (r->break_why[0] && !opts->until_break)
		return rj_fail(err, refused,
			"%s: the history of this base ends with segment %llu, at %s: %s (--at=segment:%llu restores that)",
			h->store->url, (unsigned long long)r->break_segment,
			text, r->break_why,
			(unsigned long long)r->break_segment);
	if (opts->at.kind == RJ_AT_TIME && !h->found && !opts->until_break)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: the last commit in the log is of %s, and nothing says what came until %s, which was asked for (--at=latest restores that)",
			h->store->url, text, rj_when_text(opts->at.time_ns, asked));
	return 0;
}

int rj_history_resolve(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_base_record *base, int retry_ms, struct rj_moment *at, uint64_t *last,
	struct rj_error *err)
{
	bool mark = at->kind == RJ_AT_MARK;
	struct rj_listing l = {0};
	struct rj_point p;
	int rc = 0;

	*last = 0;
	if (mark) {
		rc = rj_point_find(store, id, at->mark, retry_ms, &p, err);
		if (rc)
			return rc;
		at->kind = RJ_AT_SEGMENT;
		at->segment = p.segment;
	}
	if (at->kind != RJ_AT_SEGMENT)
		return 0;
	if (at->segment < base->whole)
		return rj_fail(err, RJ_E_REFUSED,
			"%s%ssegment %llu is before segment %llu, with which this base is whole: use an older base",
			at->mark, mark ? ": " : "", (unsigned long long)at->segment,
			(unsigned long long)base->whole);
	rc = rj_listing_end(store, id, false, retry_ms, &l, err);
	*last = l.last;
	rj_listing_free(&l);
	/* where a mark was put there was a segment: the log has lost it */
	if (!rc && !mark && *last && at->segment > *last)
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: there is no segment %llu yet: the log ends with segment %llu",
			store->url, (unsigned long long)at->segment,
			(unsigned long long)*last);
	return rc;
}

/* The second of two moments is not the earlier one. */
static int check_order(const struct rj_hist *h, struct rj_error *err)
{
	const struct rj_history_place *first = &h->report->reached;
	const struct rj_moment *then = h->opts->then;
	char text[RJ_WHEN_TEXT];
	bool before = false;

	if (then->kind == RJ_AT_TIME)
		before = then->time_ns < first->time_ns;
	else if (then->kind == RJ_AT_SEGMENT)
		before = then->segment < first->segment;
	if (!before)
		return 0;
	return rj_fail(err, RJ_E_INVAL,
		"%s: the second moment is before the first one, segment %llu, as of %s: give the earlier one first",
		h->store->url, (unsigned long long)first->segment, rj_place_text(first, text));
}

/* Walk to opts->at. */
static int walk_to(struct rj_hist *h, struct rj_error *err)
{
	const struct rj_moment *at = &h->opts->at;
	uint64_t upto = at->kind == RJ_AT_SEGMENT ? at->segment : 0;
	int rc = 0;

	if (!h->stop)
		rc = rj_hist_advance(h, upto, err);
	if (h->stop)
		rc = 0;
	return rc ? rc : judge(h, err);
}

/* From opts->at, which was reached, to opts->then. OWN is what H has. */
static int walk_on(struct rj_hist *h, struct rj_history_opts *own, struct rj_error *err)
{
	int rc = check_order(h, err);

	if (!rc)
		rc = own->at_reached(own->arg, h->report, err);
	if (rc || h->report->break_why[0])
		return rc;
	own->at = *own->then;
	own->fs = own->then_fs;
	h->then = true;
	h->found = h->stop = false;
	return walk_to(h, err);
}

static void note_unmount(const struct rj_hist *h)
{
	uint32_t tid;

	h->report->claimed = h->claimed > h->tail.epoch;
	if (!h->report->emptied || !rj_hist_unmounted(h, &tid))
		return;
	h->report->unmounted = true;
	memcpy(h->report->left, h->note.super, sizeof(h->report->left));
}

int rj_history_walk(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_history_opts *opts, struct rj_history_report *report,
	struct rj_error *err)
{
	struct rj_history_opts own = *opts;
	struct rj_moment then;
	struct rj_hist h = {
		.store = store, .id = id, .opts = &own, .report = report};
	uint64_t last;
	int rc;

	memset(report, 0, sizeof(*report));
	rc = rj_history_resolve(store, id, &own.base, own.retry_ms, &own.at, &last, err);
	if (!rc && own.then) {
		then = *own.then;
		own.then = &then;
		rc = rj_history_resolve(store, id, &own.base, own.retry_ms, &then, &last, err);
	}
	if (!rc)
		rc = rj_hist_open(&h, err);
	if (!rc)
		rc = walk_to(&h, err);
	if (!rc && own.then)
		rc = walk_on(&h, &own, err);
	report->emptied = h.placed && !h.block;
	note_unmount(&h);
	report->later = h.found || report->break_why[0] || last > report->reached.segment;
	if (!rc && opts->fs)
		rc = opts->fs->flush(opts->fs, err);
	rj_hist_close(&h);
	return rc;
}
