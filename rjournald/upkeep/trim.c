// SPDX-License-Identifier: GPL-2.0-or-later
/* The thread that trims the log. */
#include "trim.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "log/hold.h"
#include "log/trim.h"
#include "os/thread.h"
#include "util/environ.h"
#include "util/log.h"

#define NS_PER_S 1000000000LL

struct rj_trimmer {
	struct rj_trimmer_opts opts;
	struct rj_store *store; /* our own handle */
	struct rj_ticker ticker;
	uint64_t done_below; /* trimmed up to here */
	int64_t next_ns;     /* realtime: what retention keeps until then */
	pthread_mutex_t lock; /* of what follows */
	struct rj_hold hold; /* the last one that kept something, and was said */
	uint64_t held_from;  /* and what it kept, 0: nothing */
	bool failing;	     /* the last try failed, and it was said */
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
	char until[RJ_CLAIM_VALUE];

	if (h->number && h->number != t->hold.number)
		rj_log(RJ_LOG_INFO,
			"hold %llu of %s keeps the log from segment %llu on until %s",
			(unsigned long long)h->number, h->program,
			(unsigned long long)h->first,
			rj_claim_time_text(h->until, until));
	pthread_mutex_lock(&t->lock);
	t->hold = *h;
	pthread_mutex_unlock(&t->lock);
}

/* In every state in which the log is ours: while a full store is waited for,
 * this is what makes space in it. A tail that the kernel has moved, but whose
 * superblock the store has not got yet, does not count. */
static void trim(void *arg)
{
	struct rj_trimmer *t = arg;
	struct rj_log_trim_opts o = {
		.epoch = t->opts.epoch,
		.retain_s = t->opts.retain_s,
		.held_from = t->held_from,
		.retry_ms = 1};
	struct rj_log_trim_report report;
	struct rj_pipeline_stat st;
	struct rj_error err;
	int rc;

	rj_pipeline_stat(t->opts.pipeline, &st);
	o.below = st.oldest;
	say_nearly_full(t);
	if (rj_state_over(st.state) ||
		(st.oldest == t->done_below && !t->next_ns) ||
		rj_realtime_ns() < t->next_ns)
		return;
	rc = rj_log_trim(t->store, &t->opts.id, &o, &report, &err);
	if (report.segments)
		rj_log(RJ_LOG_INFO, "deleted %llu segments below %llu",
			(unsigned long long)report.segments,
			(unsigned long long)report.limit);
	if (!rc) {
		t->done_below = report.limit < st.oldest ? 0 : st.oldest;
		t->next_ns = report.next_ns;
		t->held_from = report.hold.number ? report.limit : 0;
		say_hold(t, &report.hold);
	} else if (!t->failing) {
		rj_log(RJ_LOG_WARNING,
			"cannot delete old segments (tried again each %u s): %s",
			t->opts.interval_s, err.msg);
	}
	t->failing = rc != 0;
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
	int rc, e;

	*out = NULL;
	if (!t)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	t->opts = *opts;
	pthread_mutex_init(&t->lock, NULL);
	rc = rj_store_dup(opts->store, &t->store, err);
	if (!rc) {
		e = rj_ticker_start(&t->ticker, t->opts.interval_s * NS_PER_S,
			trim, t);
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

void rj_trimmer_hold(struct rj_trimmer *t, struct rj_hold *out)
{
	*out = (struct rj_hold){0};
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	if (t->hold.number && !rj_hold_expired(&t->hold))
		*out = t->hold;
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
