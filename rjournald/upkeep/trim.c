// SPDX-License-Identifier: GPL-2.0-or-later
/* The thread that trims the log, and looks whether it is whole. */
#include "trim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/hold.h"
#include "log/trim.h"
#include "os/thread.h"
#include "text/when.h"
#include "util/environ.h"
#include "util/log.h"

#define NS_PER_S 1000000000LL
#define LOOK_S	 60u /* the log is looked at so often, or with each trim */
#define RENEW_S	 3600

struct rj_trimmer {
	struct rj_trimmer_opts opts;
	struct rj_store *store; /* our own handle */
	struct rj_ticker ticker;
	uint64_t first; /* what we know to be put begins here */
	uint64_t done_below; /* trimmed up to here */
	int64_t next_ns;     /* realtime: what retention keeps until then */
	pthread_mutex_t lock; /* of what follows */
	struct rj_hold hold; /* the last one that kept something, and was said */
	uint64_t held_from;  /* and what it kept, 0: nothing */
	int64_t trimmed_ns;  /* monotonic: of the last trim */
	int64_t seen_s;	     /* since 1970: the log was seen to be whole; 0: not yet */
	enum rj_store_lost lost; /* of the last look */
	int64_t connected_ns; /* monotonic: when STORE was made */
	int64_t failing_ns;  /* monotonic: no look or trim went well since then; 0: the last did */
	char why[RJ_ERROR_BYTES]; /* of both */
	unsigned nearly_full; /* what was said of the store last */
};

static void say_nearly_full(struct rj_trimmer *t)
{
	unsigned now = t->opts.store->nearly_full;

	if (now && !t->nearly_full)
		rj_log(RJ_LOG_WARNING, "%s is nearly full: %s",
			t->opts.store->url, rj_nearly_full_text(now));
	t->nearly_full = now;
}

static void say_hold(struct rj_trimmer *t, const struct rj_hold *h)
{
	char until[RJ_WHEN_TEXT];

	if (h->number && h->number != t->hold.number)
		rj_log(RJ_LOG_INFO,
			"hold %llu of %s keeps the log from segment %llu on until %s",
			(unsigned long long)h->number, h->program,
			(unsigned long long)h->first,
			rj_when_seconds(h->until, until));
	pthread_mutex_lock(&t->lock);
	t->hold = *h;
	pthread_mutex_unlock(&t->lock);
}

/* Has another writer put segment LAST, which L ends with? */
static int check_ours(struct rj_trimmer *t, uint64_t last, struct rj_error *err)
{
	struct rj_seghdr h;

	/* a damaged segment is found by its readers */
	if (rj_log_fetch_header(t->store, &t->opts.id, last, &h, NULL) || h.epoch <= t->opts.epoch)
		return 0;
	return rj_fail(err, RJ_E_FENCED,
		"%s: another host has taken the log over, with segment %llu of epoch %llu: the next write here fails",
		t->store->url, (unsigned long long)last, (unsigned long long)h.epoch);
}

/* RJ_E_GAP: not all of FROM to TO is there. RJ_E_FENCED: another writer may have trimmed it, and
 * our next put finds its fence. */
static int find_missing(struct rj_trimmer *t, uint64_t from, uint64_t to,
	struct rj_range *hole, struct rj_error *err)
{
	struct rj_listing l = {0};
	int rc = rj_listing_log(t->store, &t->opts.id, from - 1, 1, &l, err), rc2 = 0;

	if (!rc)
		rc = rj_listing_check(t->store, &t->opts.id, from - 1, 1, &l,
			from, to, hole, err);
	if (l.last && (l.last > to || rc == -RJ_E_GAP))
		rc2 = check_ours(t, l.last, err);
	rj_listing_free(&l);
	return rc2 ? rc2 : rc;
}

static uint64_t needed_from(const struct rj_trimmer *t)
{
	struct rj_pipeline_stat st;

	rj_pipeline_stat(t->opts.pipeline, &st);
	return st.oldest > t->first ? st.oldest : t->first;
}

/*
 * Has the store all that it acknowledged and a replay needs? Asked also when nothing was put, with
 * what there was at the start: a store that is away, emptied or taken over is known before the
 * next write. RJ_E_GAP, RJ_E_FENCED as of find_missing(); errors of the store leave it open.
 */
static int look(struct rj_trimmer *t, struct rj_error *err)
{
	struct rj_put_throttle *g = t->opts.throttle;
	uint64_t to = g->acked, from = needed_from(t), was = g->missing;
	struct rj_range hole;
	int rc;

	if (to < t->first)
		to = t->first;
	hole = (struct rj_range){from, to};
	rc = from && from <= to ? find_missing(t, from, to, &hole, err) : 0;
	/* it may have been trimmed by hand since, as no longer needed */
	if (rc == -RJ_E_GAP && hole.first < needed_from(t))
		return 0;
	if (rc == -RJ_E_GAP) {
		g->missing = hole.first;
		if (!was)
			rj_log(RJ_LOG_ERROR, "%s; nothing is put there until they are back",
				err->msg);
	} else if (!rc || rc == -RJ_E_FENCED) {
		g->missing = 0;
		if (was && !rc)
			rj_log(RJ_LOG_NOTICE, "%s: what was missing is there again",
				t->store->url);
	}
	return rc;
}

/* struct rj_log_trim_opts: until_ns */
static int64_t confirmed(const struct rj_trimmer *t)
{
	return t->opts.confirmed_s ? t->opts.confirmed_s * NS_PER_S + rj_monotonic_ns() -
					     t->opts.started_ns + RJ_CLOCK_AHEAD_NS
				   : 0;
}

/* In every state in which the log is ours: while a full store is waited for,
 * this is what makes space in it. A tail that the kernel has moved, but whose
 * superblock the store has not got yet, does not count. */
static int trim(struct rj_trimmer *t, struct rj_error *err)
{
	struct rj_log_trim_opts o = {
		.epoch = t->opts.epoch,
		.retain_s = t->opts.retain_s,
		.until_ns = confirmed(t),
		.held_from = t->held_from,
		.retry_ms = 1};
	struct rj_log_trim_report report;
	struct rj_pipeline_stat st;
	int rc;

	rj_pipeline_stat(t->opts.pipeline, &st);
	o.below = st.oldest;
	if ((st.oldest == t->done_below && !t->next_ns) ||
		rj_store_now(t->store, o.until_ns) < t->next_ns)
		return 0;
	rc = rj_log_trim(t->store, &t->opts.id, &o, &report, err);
	if (report.segments)
		rj_log(RJ_LOG_INFO, "deleted %llu segments below %llu",
			(unsigned long long)report.segments,
			(unsigned long long)report.limit);
	if (!rc) {
		t->done_below = report.limit < st.oldest ? 0 : st.oldest;
		t->next_ns = report.next_ns;
		t->held_from = report.hold.number ? report.limit : 0;
		say_hold(t, &report.hold);
	}
	return rc;
}

/* For rjctl, and once for the log. A store that is away is said by those who put; what is missing
 * was said. LOOKED: of the look, ASKED of the store; RC: of it, or of the trim. */
static void note(struct rj_trimmer *t, bool asked, int looked, int rc, const struct rj_error *err)
{
	if (rc && rc != -RJ_E_UNREACHABLE && rc != -RJ_E_GAP && !t->failing_ns)
		rj_log(RJ_LOG_WARNING,
			"cannot look after the log, or delete old segments (tried again): %s",
			err->msg);
	pthread_mutex_lock(&t->lock);
	if (!rc)
		t->failing_ns = 0;
	else if (!t->failing_ns)
		t->failing_ns = rj_monotonic_ns();
	t->lost = looked == -RJ_E_FENCED ? RJ_STORE_TAKEN : looked ? RJ_STORE_LOST : RJ_STORE_THERE;
	if (asked && !looked)
		t->seen_s = rj_realtime_ns() / NS_PER_S;
	snprintf(t->why, sizeof(t->why), "%s", rc ? err->msg : "");
	pthread_mutex_unlock(&t->lock);
}

/* Connect again once an hour while the certificate of the store ends soon: the store may have
 * another certificate by then. The connections of the puts are left alone. */
static void look_at_certificate(struct rj_trimmer *t)
{
	struct rj_store *again;

	if (rj_when_ends(t->store->cert_until_s) == RJ_END_LATER ||
		rj_monotonic_ns() - t->connected_ns < RENEW_S * NS_PER_S ||
		rj_store_dup(t->store, &again, NULL))
		return;
	pthread_mutex_lock(&t->lock);
	again->cert_until_s = (int64_t)t->store->cert_until_s; /* until it is asked */
	rj_store_close(t->store);
	t->store = again;
	t->connected_ns = rj_monotonic_ns();
	pthread_mutex_unlock(&t->lock);
}

static void on_tick(void *arg)
{
	struct rj_trimmer *t = arg;
	struct rj_error err, unseen;
	struct rj_pipeline_stat st;
	int64_t now = rj_monotonic_ns();
	int looked, rc;
	bool asked;

	say_nearly_full(t);
	rj_pipeline_stat(t->opts.pipeline, &st);
	if (rj_state_over(st.state))
		return;
	look_at_certificate(t);
	/* while the fallback file takes the segments its sink says whether the store is there */
	asked = st.state == RJ_STATE_ONLINE || st.state == RJ_STATE_WAITING;
	rc = looked = asked ? look(t, &err) : 0;
	/* a full store is waited for: now, or else when it is time */
	if (!t->opts.throttle->missing && (st.state == RJ_STATE_WAITING ||
			now - t->trimmed_ns >= t->opts.interval_s * NS_PER_S - NS_PER_S / 2)) {
		t->trimmed_ns = now;
		if (rc)
			trim(t, &unseen);
		else
			rc = trim(t, &err);
	}
	note(t, asked, looked, rc, &err);
}

static void free_trimmer(struct rj_trimmer *t)
{
	rj_store_close(t->store);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

int rj_trimmer_start(const struct rj_trimmer_opts *opts,
	struct rj_trimmer **out, struct rj_error *err)
{
	struct rj_trimmer *t = calloc(1, sizeof(*t));
	struct rj_pipeline_stat st;
	int rc, e;

	*out = NULL;
	if (!t)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	t->opts = *opts;
	rj_pipeline_stat(opts->pipeline, &st);
	t->first = st.acked;
	t->connected_ns = rj_monotonic_ns();
	pthread_mutex_init(&t->lock, NULL);
	rc = rj_store_dup(opts->store, &t->store, err);
	if (!rc) {
		e = rj_ticker_start(&t->ticker,
			(opts->interval_s < LOOK_S ? opts->interval_s : LOOK_S) * NS_PER_S,
			on_tick, t);
		if (e)
			rc = rj_fail_errno(err, e, "cannot start a thread");
	}
	if (rc) {
		free_trimmer(t);
		return rc;
	}
	rj_live_set_trimmer(opts->live, &t->ticker);
	*out = t;
	return 0;
}

void rj_trimmer_stat(struct rj_trimmer *t, struct rj_trimmer_stat *out)
{
	*out = (struct rj_trimmer_stat){0};
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	if (t->hold.number && !rj_hold_expired(&t->hold))
		out->hold = t->hold;
	if (t->failing_ns) /* a second at least: 0 is well */
		out->failing_s = 1 + (uint64_t)((rj_monotonic_ns() - t->failing_ns) / NS_PER_S);
	out->seen_s = (uint64_t)t->seen_s;
	out->lost = t->lost;
	out->cert_until_s = (uint64_t)t->store->cert_until_s;
	memcpy(out->why, t->why, sizeof(out->why));
	pthread_mutex_unlock(&t->lock);
}

void rj_trimmer_stop(struct rj_trimmer *t)
{
	if (!t)
		return;
	rj_live_set_trimmer(t->opts.live, NULL);
	rj_ticker_stop(&t->ticker);
	free_trimmer(t);
}
