// SPDX-License-Identifier: LGPL-2.1-or-later
/* Choose the segments below the oldest needed one, and delete them. */
#include "log/trim.h"

#include <string.h>

#include "log/hold.h"
#include "util/environ.h"

/* The N numbers of the listing below LIMIT, by index. */
struct numbers {
	const struct rj_range *range;
	size_t ranges;
	uint64_t count; /* of all ranges, below the limit */
};

static void number_list(
	const struct rj_listing *l, uint64_t limit, struct numbers *n)
{
	const struct rj_range *r;
	size_t i;

	n->range = (const void *)l->ranges.data;
	n->ranges = l->ranges.len / sizeof(*n->range);
	n->count = 0;
	for (i = 0; i < n->ranges; i++) {
		r = &n->range[i];
		if (r->first >= limit)
			break;
		n->count += (r->last < limit ? r->last : limit - 1) -
			    r->first + 1;
	}
}

static uint64_t number_at(const struct numbers *n, uint64_t index)
{
	const struct rj_range *r = n->range;

	while (index > r->last - r->first) {
		index -= r->last - r->first + 1;
		r++;
	}
	return r->first + index;
}

/* Raise *INDEX to that of the first header, from there on, of a time from FROM_NS to UPTO_NS,
 * which *TIME_NS gets; n->count and time 0: there is none. */
static int find_time(struct rj_store *store, const struct rj_log_id *id,
	const struct numbers *n, int64_t from_ns, int64_t upto_ns, uint64_t *index,
	int64_t *time_ns, struct rj_error *err)
{
	uint64_t low = *index, high = n->count, at, step = 1;
	struct rj_seghdr h;
	bool found = false;
	int rc;

	*time_ns = 0;
	while (low < high) {
		at = low + (found ? (high - low) / 2 : step - 1);
		if (at >= high)
			at = high - 1;
		rc = rj_log_fetch_header(store, id, number_at(n, at), &h, err);
		if (rc)
			return rc;
		if ((int64_t)h.time_ns >= from_ns && (int64_t)h.time_ns <= upto_ns) {
			high = at;
			found = true;
			*time_ns = (int64_t)h.time_ns;
		} else {
			low = at + 1;
			step *= 2;
		}
	}
	*index = low;
	return 0;
}

int rj_log_since(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_listing *l, uint64_t limit, int64_t cut_ns,
	uint64_t *out, int64_t *time_ns, struct rj_error *err)
{
	uint64_t index = 0;
	struct numbers n;
	int rc;

	number_list(l, limit, &n);
	rc = find_time(store, id, &n, cut_ns, INT64_MAX, &index, time_ns, err);
	if (!rc)
		*out = index < n.count ? number_at(&n, index) : limit;
	return rc;
}

/* Time decides here only what is kept longer, by the rule of RJ_CLOCK_AHEAD_NS. */
static int retained_from(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_listing *l, uint64_t limit, const struct rj_log_trim_opts *opts,
	uint64_t *out, int64_t *next_ns, struct rj_error *err)
{
	uint64_t retain_s = opts->retain_s;
	int64_t now = rj_store_now(store, opts->until_ns), soon = now + RJ_CLOCK_AHEAD_NS;
	int64_t cut, at, next;
	uint64_t index = 0, after;
	struct numbers n;
	int rc;

	*out = limit;
	if (!retain_s)
		return 0;
	number_list(l, limit, &n);
	cut = retain_s >= (uint64_t)now / 1000000000 ? 0 : now - (int64_t)(retain_s * 1000000000);
	rc = find_time(store, id, &n, cut, INT64_MAX, &index, &at, err);
	while (!rc && at > soon) {
		after = index;
		rc = find_time(store, id, &n, INT64_MIN, soon, &after, &next, err);
		if (rc || after == n.count || next >= cut) {
			at = after < n.count ? next : cut + RJ_CLOCK_AHEAD_NS;
			break;
		}
		index = after;
		rc = find_time(store, id, &n, cut, INT64_MAX, &index, &at, err);
	}
	if (rc || index == n.count)
		return rc;
	*out = number_at(&n, index);
	*next_ns = at + (now - cut);
	return 0;
}

/* What the store itself knows to be the oldest needed. */
static int stored_oldest(struct rj_store *store, const struct rj_log_id *id,
	uint64_t last, uint64_t epoch, uint64_t *limit, struct rj_error *err)
{
	struct rj_seghdr h;
	int rc = rj_log_fetch_header(store, id, last, &h, err);

	if (!rc && h.epoch > epoch)
		*limit = 0;
	else if (!rc && h.oldest < *limit)
		*limit = h.oldest;
	return rc;
}

/* Lower *LIMIT to what the holds keep. */
static int held_from(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_trim_opts *opts, uint64_t *limit, struct rj_hold *hold,
	struct rj_error *err)
{
	struct rj_hold by;
	uint64_t first;
	int rc = rj_hold_lowest(
		store, id, opts->retry_ms, opts->until_ns, &first, &by, err);

	if (!rc && first < *limit) {
		*limit = first;
		*hold = by;
	}
	return rc;
}

/*
 * The order is what counts (doc/holds.md): who puts a hold looks for the log's end
 * after that. So the holds are listed after L, whose last segment gives the limit.
 */
static int find_limit(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_trim_opts *opts, const struct rj_listing *l,
	struct rj_log_trim_report *report, struct rj_error *err)
{
	uint64_t limit = opts->below;
	int rc = 0;

	/* the last one says where the log ends: it always stays */
	if (limit > l->last)
		limit = l->last;
	if (opts->epoch && limit > l->first)
		rc = stored_oldest(
			store, id, l->last, opts->epoch, &limit, err);
	if (!rc && limit > l->first)
		rc = held_from(store, id, opts, &limit, &report->hold, err);
	if (!rc)
		rc = retained_from(store, id, l, limit, opts, &limit,
			&report->next_ns, err);
	report->limit = rc ? 0 : limit;
	return rc;
}

static uint64_t count_data(const struct rj_listing *l, uint64_t limit)
{
	struct numbers n;
	uint64_t i, found = 0;

	number_list(l, limit, &n);
	for (i = 0; i < n.count; i++)
		found += rj_listing_bytes(l, number_at(&n, i)) >
			 RJ_LOG_FENCE_BYTES;
	return found;
}

int rj_log_trim(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_trim_opts *opts, struct rj_log_trim_report *report,
	struct rj_error *err)
{
	struct rj_key dir = rj_log_key(id, RJ_KEY_LOG, 0);
	struct rj_listing l = {0};
	uint64_t held = UINT64_MAX;
	int rc = 0;

	memset(report, 0, sizeof(*report));
	if (opts->below < 2)
		return 0;
	if (opts->held_from)
		rc = held_from(store, id, opts, &held, &report->hold, err);
	if (rc || held <= opts->held_from) {
		report->limit = rc ? 0 : opts->held_from;
		return rc;
	}
	report->hold.number = 0;
	rc = rj_listing_log(store, id, 0, opts->retry_ms, &l, err);
	if (!rc)
		rc = find_limit(store, id, opts, &l, report, err);
	if (!rc && opts->dry_run)
		report->segments = count_data(&l, report->limit);
	rj_listing_free(&l);
	if (rc || opts->dry_run || report->limit < 2)
		return rc;
	return rj_store_remove_below(store, &dir, report->limit,
		RJ_LOG_FENCE_BYTES + 1, &report->segments, err);
}

struct seen {
	bool data;      /* a segment with blocks, put by a daemon */
	bool recovered; /* the newest base is a recovery's */
};

static int look(void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	struct seen *s = arg;

	(void)err;
	if (seg->header.kind != RJ_SEG_DATA)
		return 0;
	s->recovered = (seg->header.flags & RJ_SEG_F_RECOVERED) != 0;
	s->data |= !s->recovered;
	return 0;
}

int rj_log_trim_limit(struct rj_store *store, const struct rj_log_id *id,
	uint64_t *limit, int64_t *until_ns, struct rj_error *err)
{
	struct rj_log_read_opts opts = {0};
	struct rj_log_summary sum = {0};
	struct seen s = {0};
	int rc;

	*limit = 0;
	rc = rj_log_read(store, id, &opts, look, &s, &sum, err);
	if (!rc && s.data && !s.recovered)
		*limit = sum.tail.oldest;
	*until_ns = (int64_t)sum.tail_ns + RJ_CLOCK_AHEAD_NS;
	return rc;
}
