// SPDX-License-Identifier: GPL-2.0-or-later
/* How far a base is that follows its log: as a line of text or JSON, and for Prometheus; and what
 * came of one that was promoted. */
#include "follow.h"

#include <inttypes.h>
#include <stdio.h>

#include "os/fileio.h"
#include "print.h"
#include "text/when.h"
#include "tools/json.h"
#include "tools/prometheus.h"
#include "util/environ.h"

#define NS_PER_S 1e9
#define QUIET_NS 86400000000000LL /* a day */

/* How old the last commit in the base is, as long as the log has a later one: in nanoseconds; 0
 * if it has none, -1: not known. */
static int64_t lag_ns(const struct followed *p)
{
	const struct rj_follow_state *s = &p->state;

	if (!s->behind_segments)
		return 0;
	return s->at.time_ns ? rj_realtime_ns() - s->at.time_ns : -1;
}

static void print_text(const struct followed *p)
{
	const struct rj_follow_state *s = &p->state;
	char text[RJ_WHEN_TEXT];
	int64_t lag = lag_ns(p);

	if (!s->at.segment)
		return;
	printf("%s: %s as of %s, segment %" PRIu64 ", %" PRIu64 " transactions", p->o->base,
		p->o->dry_run ? "would be whole" : "whole", rj_place_text(&s->at, text),
		s->at.segment,
		s->transactions);
	if (s->behind_segments && lag >= 0)
		printf("; behind: %.1f s", (double)lag / NS_PER_S);
	if (s->behind_segments)
		printf(", %" PRIu64 " segments, %" PRIu64 " bytes", s->behind_segments,
			s->behind_bytes);
	printf("\n");
	if (s->break_why[0])
		printf("  no later: after segment %" PRIu64 ": %s\n", s->break_segment,
			s->break_why);
}

static void print_hold(const struct rj_hold *h)
{
	char until[RJ_WHEN_TEXT];

	printf("  hold %" PRIu64 " keeps the log from segment %" PRIu64 " on until %s\n", h->number,
		h->first, rj_when_seconds(h->until, until));
}

static void print_json(const struct followed *p)
{
	const struct rj_follow_state *s = &p->state;
	struct json_object *o = json_object_new_object();
	int64_t lag = lag_ns(p);

	add_text(o, "base", p->o->base);
	if (p->rc)
		add_text(o, "error", p->err.msg);
	if (s->at.segment) {
		add_u64(o, "segment", s->at.segment);
		add_u64(o, "tid", s->at.tid);
		add_u64(o, "commit_ns", (uint64_t)s->at.time_ns);
		add_u64(o, "transactions", s->transactions);
		add_u64(o, "segments", s->segments);
		add_u64(o, "bytes", s->bytes);
		add_u64(o, "behind_segments", s->behind_segments);
		add_u64(o, "behind_bytes", s->behind_bytes);
		if (lag >= 0)
			json_object_object_add(o, "lag_seconds",
				json_object_new_double((double)lag / NS_PER_S));
	}
	if (p->hold && p->hold->number) {
		add_u64(o, "hold", p->hold->number);
		add_u64(o, "hold_first", p->hold->first);
		add_u64(o, "hold_until", (uint64_t)p->hold->until);
	}
	if (s->break_why[0]) {
		add_u64(o, "break_segment", s->break_segment);
		add_text(o, "break", s->break_why);
	}
	json_show(o, JSON_C_TO_STRING_PLAIN);
}

/* With --quiet one step a day is printed, and each in which something happened. */
static bool is_told(struct followed *p)
{
	int64_t now = rj_monotonic_ns();

	bool happened = p->rc || p->state.break_why[0] ||
			(p->hold && p->hold->number != p->told_hold);

	if (p->o->quiet && !happened && p->told_ns && now - p->told_ns < QUIET_NS)
		return false;
	p->told_ns = p->rc ? 0 : now; /* the end of an error is told, too */
	return true;
}

void follow_print(struct followed *p)
{
	bool told = is_told(p);

	if (p->rc)
		complain(p->err.msg);
	if (told && p->o->json)
		print_json(p);
	else if (told)
		print_text(p);
	if (p->hold && p->hold->number != p->told_hold) {
		p->told_hold = p->hold->number;
		if (!p->o->json)
			print_hold(p->hold);
	}
	fflush(stdout);
}

void follow_print_wait(struct followed *p)
{
	if (!p->o->json && !p->told_wait)
		printf("%s: waiting for %s\n", p->o->base,
			p->state.later_ns ? "the next commit to be older than --delay"
					  : "the log to go on");
	p->told_wait = true;
	fflush(stdout);
}

/* 0 until a call fails. */
struct page {
	struct rj_buf labels, text;
	int rc;
};

static void metric(struct page *p, const char *name, const char *help, double value)
{
	char full[64];

	snprintf(full, sizeof(full), "rjbackup_follow_%s", name);
	p->rc = p->rc || prometheus_head(&p->text, full, "gauge", help) ||
		rj_buf_printf(&p->text, "%s{%s} %.15g\n", full, (char *)p->labels.data, value);
}

static void put_metrics(const struct followed *f, struct page *p)
{
	const struct rj_follow_state *s = &f->state;
	int64_t lag = lag_ns(f);

	metric(p, "success", "Whether the last pass succeeded.", !f->rc);
	metric(p, "last_success_timestamp_seconds", "When a pass succeeded last, since 1970.",
		(double)f->good_ns / NS_PER_S);
	if (!s->at.segment)
		return;
	if (lag >= 0)
		metric(p, "lag_seconds",
			"Age of the last commit in the base while the log has a later one.",
			(double)lag / NS_PER_S);
	metric(p, "behind_segments", "Segments of the log that are not in the base.",
		(double)s->behind_segments);
	metric(p, "behind_bytes", "Bytes of those segments.", (double)s->behind_bytes);
	metric(p, "position", "Segment up to which the base has the log.",
		(double)s->at.segment);
	metric(p, "commit_timestamp_seconds", "Time of the last commit in the base, since 1970.",
		(double)s->at.time_ns / NS_PER_S);
}

int follow_metrics(const struct followed *f, struct rj_error *err)
{
	struct page p = {0};
	int rc;

	p.rc = prometheus_label(&p.labels, "base", f->o->base);
	put_metrics(f, &p);
	rc = p.rc ? rj_fail(err, RJ_E_NOMEM, "out of memory")
		  /* another user's node_exporter reads it */
		  : rj_replace_file(f->o->metrics, 0644, p.text.data, p.text.len, err);
	rj_buf_free(&p.labels);
	rj_buf_free(&p.text);
	return rc;
}

static void promote_text(const struct options *o, const struct rj_promote_report *r)
{
	const struct rj_history_place *at = &r->state.at;
	char text[RJ_WHEN_TEXT];

	rj_place_text(at, text);
	if (o->dry_run)
		printf("%s: would be the volume as of %s, segment %" PRIu64 ", or later\n", o->base,
			text, at->segment);
	else
		printf("%s: is the volume now, as of %s, segment %" PRIu64 "; its log goes on in epoch %" PRIu64 "\n",
			o->base, text, at->segment, r->recovery.epoch);
}

static void promote_json(const struct options *o, const struct rj_promote_report *r, int rc,
	const struct rj_error *err)
{
	struct json_object *top = json_object_new_object();

	add_text(top, "base", o->base);
	add_bool(top, "promoted", !rc && !o->dry_run);
	add_bool(top, "needs_recovery", rc && r->volume);
	if (rc)
		add_text(top, "error", err->msg);
	if (r->state.at.segment) {
		add_u64(top, "segment", r->state.at.segment);
		add_u64(top, "tid", r->state.at.tid);
		add_u64(top, "commit_ns", (uint64_t)r->state.at.time_ns);
	}
	if (r->fence)
		add_u64(top, "fence", r->fence);
	if (r->recovery.epoch)
		add_u64(top, "epoch", r->recovery.epoch);
	json_show(top, JSON_C_TO_STRING_PRETTY);
}

void promote_print(const struct options *o, const struct rj_promote_report *r, int rc,
	const struct rj_error *err)
{
	if (rc)
		complain(err->msg);
	if (o->json)
		promote_json(o, r, rc, err);
	else if (!rc)
		promote_text(o, r);
}
