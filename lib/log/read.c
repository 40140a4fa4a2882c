// SPDX-License-Identifier: LGPL-2.1-or-later
/* List a log, find where a replay starts, then fetch and verify each segment in order. */
#include "log/log.h"

#include <string.h>

#include "log/listing.h"
#include "log/prefetch.h"
#include "log/verify.h"

/* Segments at the end of a log that are looked at for the fence that left it. */
#define FENCES 64

/*
 * Three steps: list (what is there), plan (where to begin), then fetch and
 * verify. Where the store has handles to spare, threads fetch ahead and check
 * the seals; numbers, chain and the sink keep to their order here.
 */
struct reader {
	struct rj_store *store;
	const struct rj_log_id *id;
	const struct rj_log_read_opts *opts;
	struct rj_log_summary *sum;
	struct rj_listing listing;
	uint64_t end;       /* read up to this one */
	struct rj_buf last; /* the last segment, fetched by plan_start() */
	struct rj_buf buf;
	struct rj_prefetch *ahead; /* fetches all but LAST; or NULL */
	struct rj_verify verify;
};

/* Fetch segment N, remembering N if it is missing or damaged. */
static int fetch(
	struct reader *r, uint64_t n, struct rj_buf *out, struct rj_error *err)
{
	int rc = rj_log_fetch(r->store, r->id, n, r->opts->retry_ms, out, err);

	if (rc == -RJ_E_GAP || rc == -RJ_E_CORRUPT)
		r->sum->bad_sequence = n;
	return rc;
}

static const char *cause(const struct reader *r)
{
	return r->opts->seen_cause ? r->opts->seen_cause
				   : "the store has lost the end of the log, or hides it, or the log went on at another place";
}

static const char *advice(const struct reader *r)
{
	return r->opts->seen_advice ? r->opts->seen_advice
				    : "rjrecover --accept-loss goes on without";
}

static const char *witness(const struct reader *r)
{
	return r->opts->seen_by ? r->opts->seen_by : "this host";
}

bool rj_log_was_left(struct rj_store *store, const struct rj_log_id *id, uint64_t last,
	uint64_t epoch, const struct rj_log_tail *seen)
{
	uint64_t number, least = last > FENCES ? last - FENCES : 0;
	struct rj_seghdr h;

	for (number = last; number > least; number--) {
		if (rj_log_fetch_header(store, id, number, &h, NULL) ||
			(h.kind != RJ_SEG_FENCE && !(h.flags & RJ_SEG_F_RECOVERED)))
			return false;
		if (h.flags & RJ_SEG_F_CLEAN)
			return h.epoch > epoch && seen->sequence > number && seen->epoch >= h.epoch;
	}
	return false;
}

/* Of an older copy the judge says more than a note of what the volume wrote elsewhere. */
static bool left_since(struct reader *r, uint64_t last)
{
	return r->opts->epoch &&
	       rj_log_was_left(r->store, r->id, last, r->opts->epoch, r->opts->seen);
}

/* More was seen acknowledged than the log has. No damage of the log: a note can be
 * forged, and must not be a reason to give the log up. */
static int check_seen(struct reader *r, uint64_t last, struct rj_error *err)
{
	const struct rj_log_tail *seen = r->opts->seen;

	if (!seen || last >= seen->sequence || left_since(r, last))
		return 0;
	r->sum->bad_sequence = last + 1;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: the log ends at segment %llu, but %s saw %llu acknowledged: %s; %s",
		r->store->url, (unsigned long long)last, witness(r),
		(unsigned long long)seen->sequence, cause(r), advice(r));
}

/* SEG is at the place of what this host saw. */
static int check_same(
	struct reader *r, const struct rj_segment *seg, struct rj_error *err)
{
	const struct rj_log_tail *seen = r->opts->seen;
	const struct rj_seghdr *h = &seg->header;

	if (!seen || h->sequence != seen->sequence ||
		(h->epoch == seen->epoch &&
			!memcmp(seg->chain, seen->chain, sizeof(seen->chain))))
		return 0;
	r->sum->bad_sequence = h->sequence;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: segment %llu is not the one that %s saw acknowledged: %s; %s",
		r->store->url, (unsigned long long)h->sequence, witness(r), cause(r), advice(r));
}

/* SEG is at the place of the last segment that the volume saw acknowledged, in its epoch (or that
 * of a worker that took over) or an earlier one: a later one was put there when the log had lost
 * its end. */
static int check_own(struct reader *r, const struct rj_segment *seg, struct rj_error *err)
{
	const struct rj_seghdr *h = &seg->header;
	uint64_t since;
	int rc;

	if (!r->opts->epoch || h->sequence != r->opts->floor || h->epoch <= r->opts->epoch)
		return 0;
	rc = rj_log_served_since(r->store, r->id, h->epoch, r->opts->retry_ms, &since, err);
	if (rc || since <= r->opts->epoch)
		return rc;
	r->sum->bad_sequence = h->sequence;
	return rj_fail(err, RJ_E_GAP,
		"%s: segment %llu is of epoch %llu, but the volume saw one of that number acknowledged in epoch %llu or before: another copy of it went on when the log had lost its end",
		r->store->url, (unsigned long long)h->sequence, (unsigned long long)h->epoch,
		(unsigned long long)r->opts->epoch);
}

static int check_floor(struct reader *r, uint64_t last, struct rj_error *err)
{
	uint64_t floor = r->opts->floor;

	if (last >= floor)
		return check_seen(r, last, err);
	r->sum->bad_sequence = last + 1;
	if (!last)
		return rj_fail(err, RJ_E_GAP,
			"%s: the log is empty, but the volume saw segments up to %llu acknowledged",
			r->store->url, (unsigned long long)floor);
	return rj_fail(err, RJ_E_GAP,
		"%s: the log ends at segment %llu, but the volume saw %llu acknowledged",
		r->store->url, (unsigned long long)last,
		(unsigned long long)floor);
}

/* Is every segment of FROM..r->end there? */
static int check_holes(struct reader *r, uint64_t from, struct rj_error *err)
{
	uint64_t after = r->opts->resume ? r->opts->resume->sequence : 0;
	struct rj_range hole;
	int rc;

	rc = rj_listing_check(r->store, r->id, after, r->opts->retry_ms,
		&r->listing, from, r->end, &hole, err);
	if (rc == -RJ_E_GAP)
		r->sum->bad_sequence = hole.first;
	return rc;
}

static int list(struct reader *r, struct rj_error *err)
{
	const struct rj_log_tail *resume = r->opts->resume;
	uint64_t after = resume ? resume->sequence : 0;
	struct rj_log_summary *sum = r->sum;
	struct rj_range hole;
	int rc;

	rc = rj_listing_log(
		r->store, r->id, after, r->opts->retry_ms, &r->listing, err);
	if (rc)
		return rc;
	sum->first = r->listing.first;
	sum->last = r->listing.last;
	rc = rj_listing_epoch(
		r->store, r->id, r->opts->retry_ms, &sum->epochs_claimed, err);
	if (rc)
		return rc;
	r->end = sum->last ? sum->last : after;
	if (r->opts->upto > r->end) {
		hole = (struct rj_range){r->end + 1, r->opts->upto};
		sum->bad_sequence = hole.first;
		return rj_listing_fail_hole(
			&r->listing, r->store->url, &hole, err);
	}
	if (r->opts->upto)
		r->end = r->opts->upto;
	rc = check_floor(r, r->end, err);
	if (rc)
		return rc;
	if (!sum->last && !after)
		return rj_fail(err, RJ_E_NOTFOUND, "%s: there is no log",
			r->store->url);
	return 0;
}

/* Ask the last segment where to begin; it must be there. */
static int plan_start(struct reader *r, struct rj_error *err)
{
	struct rj_log_summary *sum = r->sum;
	struct rj_segment seg = {0};
	int rc;

	rc = check_holes(r, r->end, err);
	if (rc)
		return rc;
	rc = fetch(r, r->end, &r->last, err);
	if (rc)
		return rc;
	rj_verify_start(&r->verify, r->store->url, r->id, r->end);
	rc = rj_verify_next(&r->verify, r->last.data, r->last.len, &seg, err);
	if (!rc)
		rc = rj_verify_end(&r->verify, err);
	if (rc)
		sum->bad_sequence = r->end;
	else
		sum->start = seg.header.oldest;
	rj_segment_release(&seg);
	rj_verify_start(&r->verify, r->store->url, r->id, sum->start);
	return rc;
}

/*
 * Nothing is to be read. Is that the end of the log that was read before? A store that was put back
 * to an earlier state ends earlier, or has another segment there by now. One that is not there was
 * trimmed if others follow, of which the next reading sees whether they follow from it.
 */
static int check_resumed(struct reader *r, struct rj_error *err)
{
	const struct rj_log_tail *tail = r->opts->resume;
	struct rj_log_tail now;
	int rc;

	if (!tail->sequence)
		return 0;
	rc = rj_log_fetch_place(
		r->store, r->id, tail->sequence, r->opts->retry_ms, &now, err);
	if (!rc && !memcmp(now.chain, tail->chain, sizeof(now.chain)))
		return 0;
	if (rc && rc != -RJ_E_GAP)
		return rc;
	if (rc) {
		rc = rj_listing_log(r->store, r->id, tail->sequence,
			r->opts->retry_ms, &r->listing, err);
		if (rc || r->listing.last)
			return rc;
	}
	r->sum->bad_sequence = tail->sequence;
	return rj_fail(err, RJ_E_GAP,
		"%s: segment %llu is not there any more as it was read: the store has lost the end of the log, or was put back to an earlier state: go on with the log as it was, or begin again with what is there",
		r->store->url, (unsigned long long)tail->sequence);
}

/* Segment N from the threads that fetch ahead: verified, into SEG, which stays theirs.
 */
static int take_fetched(struct reader *r, uint64_t n, struct rj_segment **seg,
	size_t *bytes, struct rj_error *err)
{
	struct rj_fetched *f = rj_prefetch_next(r->ahead);
	int rc = f->fetch_rc;

	if (rc) {
		*err = f->fetch_err;
		if (rc == -RJ_E_GAP || rc == -RJ_E_CORRUPT)
			r->sum->bad_sequence = n;
		return rc;
	}
	*seg = &f->seg;
	*bytes = f->bytes.len;
	rc = rj_verify_opened(
		&r->verify, f->open_rc, &f->open_err, &f->seg, err);
	if (rc)
		r->sum->bad_sequence = n;
	return rc;
}

/* Segment N, fetched here and now, into SEG. */
static int fetch_and_verify(struct reader *r, uint64_t n,
	struct rj_segment *seg, size_t *bytes, struct rj_error *err)
{
	struct rj_buf *buf = &r->buf;
	int rc;

	if (n == r->end && r->last.len) {
		buf = &r->last;
	} else {
		rc = fetch(r, n, buf, err);
		if (rc)
			return rc;
	}
	*bytes = buf->len;
	rc = rj_verify_next(&r->verify, buf->data, buf->len, seg, err);
	if (rc)
		r->sum->bad_sequence = n;
	return rc;
}

/* Segment N: fetched, verified, handed on, counted. */
static int read_segment(struct reader *r, uint64_t n, rj_log_sink sink,
	void *arg, struct rj_error *err)
{
	struct rj_segment own = {0}, *seg = &own;
	size_t bytes = 0;
	int rc;

	if (r->ahead && !(n == r->end && r->last.len))
		rc = take_fetched(r, n, &seg, &bytes, err);
	else
		rc = fetch_and_verify(r, n, seg, &bytes, err);
	if (!rc) {
		r->sum->tail_ns = seg->header.time_ns;
		rc = check_same(r, seg, err);
	}
	if (!rc)
		rc = check_own(r, seg, err);
	if (!rc && sink)
		rc = sink(arg, seg, err);
	rj_segment_release(&own);
	if (rc)
		return rc;
	r->sum->segments++;
	r->sum->bytes += bytes;
	r->sum->tail = r->verify.tail;
	return 0;
}

static int read_segments(
	struct reader *r, rj_log_sink sink, void *arg, struct rj_error *err)
{
	const struct rj_log_read_opts *o = r->opts;
	uint64_t total = r->end - r->sum->start + 1, done;
	int rc;

	for (done = 0; done < total; done++) {
		rc = read_segment(r, r->sum->start + done, sink, arg, err);
		if (rc)
			return rc;
		if (o->progress &&
			o->progress(o->progress_arg, done + 1, total))
			return rj_fail(err, RJ_E_CANCELLED,
				"%s: reading was stopped at segment %llu",
				r->store->url,
				(unsigned long long)r->sum->tail.sequence);
	}
	rc = rj_verify_end(&r->verify, err);
	if (rc)
		r->sum->bad_sequence = r->end;
	return rc;
}

int rj_log_read(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_read_opts *opts, rj_log_sink sink, void *arg,
	struct rj_log_summary *sum, struct rj_error *err)
{
	static const struct rj_log_read_opts none;
	struct rj_log_summary scratch;
	struct rj_error unseen;
	struct reader r = {.store = store, .id = id};
	int rc;

	r.opts = opts ? opts : &none;
	r.sum = sum ? sum : &scratch;
	if (!err)
		err = &unseen;
	memset(r.sum, 0, sizeof(*r.sum));
	if (r.opts->resume)
		r.sum->tail = *r.opts->resume;
	rc = list(&r, err);
	if (!rc && r.opts->resume && r.end <= r.opts->resume->sequence) {
		rc = check_resumed(&r, err);
		goto out;
	}
	if (rc)
		goto out;
	if (r.opts->resume) {
		r.sum->start = r.opts->resume->sequence + 1;
		rj_verify_resume(&r.verify, store->url, id, r.opts->resume);
	} else {
		rc = plan_start(&r, err);
		if (rc)
			goto out;
	}
	rc = check_holes(&r, r.sum->start, err);
	if (rc)
		goto out;
	r.ahead = rj_prefetch_start(store, id, &r.listing, r.sum->start,
		r.end - !!r.last.len, r.opts->retry_ms);
	rc = read_segments(&r, sink, arg, err);
out:
	rj_prefetch_stop(r.ahead);
	rj_listing_free(&r.listing);
	rj_buf_free(&r.last);
	rj_buf_free(&r.buf);
	return rc;
}
