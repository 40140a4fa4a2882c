// SPDX-License-Identifier: GPL-2.0-or-later
/* Collect the daemon's state, and print it as JSON and as metrics. */
#include "config.h"

#include "status.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon.h"
#include "tools/prometheus.h"
#include "util/environ.h"

#define NS_PER_S 1000000000LL

static const char *phase_name(const struct rj_daemon *d)
{
	switch (d->phase) {
	case RJ_PHASE_ATTACHED:
	case RJ_PHASE_LEAVING:
		return (d->opts.raw ? rj_front_exclusive(d->front)
				    : rj_front_mounted(d->front))
			       ? "mounted"
		       : d->phase == RJ_PHASE_ATTACHED ? "ready"
						      : "stopping";
	default:
		return "stopping";
	}
}

static void collect_pipeline(const struct rj_daemon *d, struct rj_status *s)
{
	struct rj_pipeline_stat st;
	int64_t lag = 0;

	rj_pipeline_stat(d->pipeline, &st);
	s->mode = st.state;
	s->mode_since = (uint64_t)(st.since_ns / NS_PER_S);
	s->error = rj_pipeline_failure(d->pipeline);
	rj_live_why(&d->loaded.live, s->why);
	s->cause = rj_live_cause(&d->loaded.live);
	s->acknowledged = st.acked;
	s->oldest = st.oldest;
	s->remote_tid = st.remote_tid;
	s->remote_time = (uint64_t)(st.remote_ns / NS_PER_S);
	s->pending_blocks = st.pending;
	s->segments = st.segments;
	s->bytes = st.bytes;
	s->flushes = st.flushes;
	s->flushes_ordered = st.flushes_ordered;
	s->ship_ns = st.ship_ns;
	s->lag_bytes = st.pending * s->block_size;
	if (st.put_since_ns)
		lag = rj_monotonic_ns() - st.put_since_ns;
	else if (st.state != RJ_STATE_ONLINE)
		lag = rj_realtime_ns() - st.since_ns;
	if (lag > 0)
		s->lag_seconds = (uint64_t)(lag / NS_PER_S);
}

static void collect_meter(const struct rj_latency_hist *m, struct rj_status *s)
{
	s->puts = m->puts;
	s->put_failures = m->failures;
	s->put_bytes = m->bytes;
	s->put_ns = m->ns;
	s->put_p50_us = rj_latency_hist_quantile_us(m, 500);
	s->put_p99_us = rj_latency_hist_quantile_us(m, 990);
}

static void collect_fallback(
	struct rj_fallback_sink *fallback_sink, struct rj_status *s)
{
	struct rj_fallback_sink_stat st;

	rj_fallback_sink_stat(fallback_sink, &st);
	s->fallback_capacity = st.fallback.capacity;
	if (st.fallback.state != RJ_FALLBACK_IDLE)
		s->fallback_used = st.fallback.used;
	s->fallback_backlog = st.fallback.backlog;
	s->losses = st.losses;
	if (rj_state_local(s->mode) && !s->why[0]) {
		snprintf(s->why, sizeof(s->why), "%s", st.why);
		s->cause = st.cause;
	}
	s->lag_bytes += st.fallback.backlog;
}

void rj_status_collect(const struct rj_daemon *d, struct rj_status *out)
{
	static const char *const losses[] = {
		[RJ_LOSS_BLOCK] = "block",
		[RJ_LOSS_ERROR] = "error",
		[RJ_LOSS_LOCAL] = "local",
	};
	const struct rj_loaded *l = &d->loaded;
	struct rj_status s = {
		.phase = phase_name(d),
		.on_loss = losses[l->facts.sbx.on_loss],
		.store = rj_daemon_writing(d) ? l->store->url
					      : l->facts.sbx.url,
		.device = l->device,
		.journal_device = rj_front_path(d->front),
		.metrics = d->metrics_fd == -1 ? NULL : d->metrics_at,
		.epoch = l->memory.shm->epoch,
		.block_size = l->ring->block_size,
		.journal_blocks = l->ring->blocks,
		.pid = (uint64_t)getppid(), /* the supervisor's: it stays */
		.worker_pid = (uint64_t)getpid(),
		.restarts = l->memory.shm->restarts,
		.started = (uint64_t)((rj_realtime_ns() - rj_monotonic_ns() +
					      l->memory.shm->started_ns) /
				      NS_PER_S),
	};

	rj_uuid_text(l->facts.uuid, s.volume_uuid);
	rj_uuid_text(l->facts.sbx.journal_uuid, s.journal_uuid);
	collect_pipeline(d, &s);
	collect_meter(&l->latency, &s);
	if (rj_daemon_writing(d) && l->fallback_sink)
		collect_fallback(l->fallback_sink, &s);
	if (l->facts.has_sbx)
		s.no_mark = rj_volume_no_mark(&l->facts);
	s.zeroout_off = rj_zeroout_off(d->zeroout);
	rj_floor_recorder_stat(d->floor, &s.floor);
	rj_trimmer_stat(d->trimmer, &s.upkeep);
	s.upkeep_failing_s = s.upkeep.failing_s;
	s.store_lost = s.upkeep.lost;
	s.cert_until = s.upkeep.cert_until_s;
	s.store_seen = s.upkeep.seen_s > s.remote_time ? s.upkeep.seen_s : s.remote_time;
	if (rj_daemon_writing(d))
		s.nearly_full = l->store->nearly_full;
	*out = s;
}

/* Each number: its key in JSON (NULL: it is elsewhere), and its metric
 * after "rjournald_" (NULL: in JSON only), which counts in UNIT of what the number does. */
static const struct number {
	const char *key, *metric, *type;
	double unit;
	size_t at;
	const char *help;
} numbers[] = {
#define N(field) offsetof(struct rj_status, field)
	{"mode_since", "mode_since_timestamp_seconds", "gauge", 1, N(mode_since),
		"When the mode began, since 1970."},
	{"started", "start_timestamp_seconds", "gauge", 1, N(started),
		"When the journal's device was ready, since 1970."},
	{"acknowledged", "acknowledged_segment", "gauge", 1, N(acknowledged),
		"Last segment that was acknowledged."},
	{"oldest", "oldest_segment", "gauge", 1, N(oldest),
		"First segment that a replay needs."},
	{"remote_tid", "remote_tid", "gauge", 1, N(remote_tid),
		"Last transaction that the store has acknowledged."},
	{"remote_time", "remote_timestamp_seconds", "gauge", 1, N(remote_time),
		"When that was, since 1970."},
	{"epoch", "epoch", "gauge", 1, N(epoch), "This writer's epoch."},
	{"pending_blocks", NULL, NULL, 0, N(pending_blocks), NULL},
	{"lag_bytes", "lag_bytes", "gauge", 1, N(lag_bytes),
		"Written, and not acknowledged by the store."},
	{"lag_seconds", "lag_seconds", "gauge", 1, N(lag_seconds),
		"Since when the store lacks something that waits for it."},
	{"segments_shipped", "segments_total", "counter", 1, N(segments),
		"Segments acknowledged since the start."},
	{"bytes_shipped", "journal_bytes_total", "counter", 1, N(bytes),
		"Journal bytes in them."},
	{"flushes", "flushes_total", "counter", 1, N(flushes),
		"Flushes that the kernel asked for."},
	{"flushes_ordered", "unshipped_flushes_total", "counter", 1,
		N(flushes_ordered),
		"Requests answered at once, by the commit rule."},
	{"ship_ns", "ship_seconds_total", "counter", 1e-9, N(ship_ns),
		"Time that commits waited for segments."},
	{"puts", NULL, NULL, 0, N(puts), NULL},
	{"put_failures", "put_failures_total", "counter", 1, N(put_failures),
		"Puts of segments that failed."},
	{"put_bytes", "put_bytes_total", "counter", 1, N(put_bytes),
		"Bytes of the segments that the store has acknowledged."},
	{"put_p50_us", NULL, NULL, 0, N(put_p50_us), NULL},
	{"put_p99_us", NULL, NULL, 0, N(put_p99_us), NULL},
	{NULL, "fallback_capacity_bytes", "gauge", 1, N(fallback_capacity),
		"Space in the fallback file; 0: there is none."},
	{NULL, "fallback_used_bytes", "gauge", 1, N(fallback_used),
		"Of that not free."},
	{NULL, "fallback_backlog_bytes", "gauge", 1, N(fallback_backlog),
		"Segments in it that the store lacks."},
	{NULL, "store_losses_total", "counter", 1, N(losses),
		"How often the fallback file took over."},
	{NULL, "store_nearly_full", "gauge", 1, N(nearly_full),
		"The store says what is nearly used up: 1 its disk, 2 the "
		"volume's limit, 4 the account's."},
	{"store_seen", "store_seen_timestamp_seconds", "gauge", 1, N(store_seen),
		"When the store took a segment last, or had all when it was asked, since 1970."},
	{"store_lost", "store_lost", "gauge", 1, N(store_lost),
		"It was asked: 1: a write would not be acknowledged, 2: another host has the log."},
	{"store_certificate_end", "store_certificate_end_timestamp_seconds", "gauge", 1,
		N(cert_until), "When the certificate of the store ends, since 1970; 0: not known."},
	{"upkeep_failing_seconds", "upkeep_failing_seconds", "gauge", 1, N(upkeep_failing_s),
		"Since when the log at the store cannot be listed or trimmed; 0: it can."},
	{"block_size", NULL, NULL, 0, N(block_size), NULL},
	{"journal_blocks", NULL, NULL, 0, N(journal_blocks), NULL},
	{"pid", NULL, NULL, 0, N(pid), NULL},
	{"worker_pid", NULL, NULL, 0, N(worker_pid), NULL},
	{"restarts", "worker_restarts_total", "counter", 1, N(restarts),
		"How often the worker was started again."},
#undef N
};

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static uint64_t value(const struct rj_status *s, size_t at)
{
	return *(const uint64_t *)((const char *)s + at);
}

static void put_number(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

static void put_text(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

static void put_flag(struct json_object *o, const char *key, bool value)
{
	json_object_object_add(o, key, json_object_new_boolean(value));
}

/* The floor store of rj.conf. */
static void add_floor(const struct rj_floor_stat *f, struct json_object *o)
{
	struct json_object *floor = json_object_new_object();

	put_text(floor, "url", f->url);
	put_number(floor, "segment", f->sequence);
	if (f->ever)
		put_number(floor, "age_seconds", f->age_s);
	if (f->why[0])
		put_text(floor, "why", f->why);
	json_object_object_add(o, "floor", floor);
}

static void add_hold(const struct rj_status *s, struct json_object *o)
{
	struct json_object *hold = json_object_new_object();
	const struct rj_hold *h = &s->upkeep.hold;

	put_number(hold, "number", h->number);
	put_number(hold, "first", h->first);
	put_number(hold, "segments", s->oldest > h->first ? s->oldest - h->first : 0);
	put_number(hold, "until", (uint64_t)h->until);
	put_text(hold, "program", h->program);
	put_text(hold, "host", h->host);
	json_object_object_add(o, "hold", hold);
}

struct json_object *rj_status_json(const struct rj_status *s)
{
	struct json_object *o = json_object_new_object();
	size_t i;

	if (!o)
		return NULL;
	put_text(o, "state", s->phase);
	put_text(o, "mode", rj_state_name(s->mode));
	if (s->error)
		put_text(o, "error", s->error);
	if (s->why[0])
		put_text(o, "why", s->why);
	if (s->cause[0])
		put_text(o, "cause", s->cause);
	if (s->nearly_full)
		put_text(o, "nearly_full",
			rj_nearly_full_text((unsigned)s->nearly_full));
	if (s->upkeep.why[0])
		put_text(o, s->store_lost ? "store_why" : "upkeep", s->upkeep.why);
	for (i = 0; i < NUMBERS; i++)
		if (numbers[i].key)
			put_number(o, numbers[i].key, value(s, numbers[i].at));
	put_text(o, "on_loss", s->on_loss);
	put_flag(o, "zeroout_off", s->zeroout_off);
	if (s->no_mark)
		put_text(o, "no_mark", s->no_mark);
	put_text(o, "store", s->store);
	if (s->floor.url)
		add_floor(&s->floor, o);
	if (s->upkeep.hold.number)
		add_hold(s, o);
	put_text(o, "device", s->device);
	put_text(o, "journal_device", s->journal_device);
	put_text(o, "volume_uuid", s->volume_uuid);
	put_text(o, "journal_uuid", s->journal_uuid);
	if (s->metrics)
		put_text(o, "metrics", s->metrics);
	put_text(o, "version", PACKAGE_VERSION);
	return o;
}

static int head(struct rj_buf *out, const char *metric, const char *type,
	const char *help)
{
	char name[64];

	snprintf(name, sizeof(name), "rjournald_%s", metric);
	return prometheus_head(out, name, type, help);
}

static int put_info(const struct rj_status *s, struct rj_buf *out)
{
	return head(out, "info", "gauge", "What is served; always 1.") ||
	       rj_buf_printf(out, "rjournald_info{volume=\"%s\",",
		       s->volume_uuid) ||
	       prometheus_label(out, "device", s->device) ||
	       rj_buf_append(out, ",", 1) ||
	       prometheus_label(out, "store", s->store) ||
	       rj_buf_printf(out, ",journal=\"%s\",version=\"%s\"} 1\n",
		       s->journal_uuid, PACKAGE_VERSION);
}

static int put_modes(const struct rj_status *s, struct rj_buf *out)
{
	int rc = head(out, "mode", "gauge", "1 for the mode that it is in."), i;

	for (i = 0; !rc && i < RJ_STATES; i++)
		rc = rj_buf_printf(out,
			"rjournald_mode{volume=\"%s\",mode=\"%s\"} %d\n",
			s->volume_uuid, rj_state_name((enum rj_state)i),
			(int)s->mode == i);
	return rc;
}

static int put_cause(const struct rj_status *s, struct rj_buf *out)
{
	return head(out, "waits_for_store", "gauge",
		       "1 while the store does not take segments, and why.") ||
	       rj_buf_printf(out,
		       "rjournald_waits_for_store{volume=\"%s\",cause=\"%s\"} "
		       "%d\n",
		       s->volume_uuid, s->cause, s->cause[0] != '\0');
}

/* Only where there is one: 0 would be the best of ages. */
static int put_floor(const struct rj_status *s, struct rj_buf *out)
{
	if (!s->floor.url)
		return 0;
	return head(out, "floor_age_seconds", "gauge",
		       "Since when the floor store lacks what was "
		       "acknowledged.") ||
	       rj_buf_printf(out,
		       "rjournald_floor_age_seconds{volume=\"%s\"} %" PRIu64
		       "\n",
		       s->volume_uuid, s->floor.age_s);
}

static int put_round_trips(const struct rj_status *s, struct rj_buf *out)
{
	const char *v = s->volume_uuid;

	return head(out, "put_seconds", "summary",
		       "What the store took to acknowledge a segment.") ||
	       rj_buf_printf(out,
		       "rjournald_put_seconds{volume=\"%s\",quantile=\"0.5\"} "
		       "%.6f\n"
		       "rjournald_put_seconds{volume=\"%s\",quantile=\"0.99\"} "
		       "%.6f\n"
		       "rjournald_put_seconds_sum{volume=\"%s\"} %.9f\n"
		       "rjournald_put_seconds_count{volume=\"%s\"} %" PRIu64
		       "\n",
		       v, (double)s->put_p50_us * 1e-6, v,
		       (double)s->put_p99_us * 1e-6, v,
		       (double)s->put_ns * 1e-9, v, s->puts);
}

int rj_status_metrics(const struct rj_status *s, struct rj_buf *out)
{
	const struct number *n;
	uint64_t v;
	int rc;

	rc = put_info(s, out) || put_modes(s, out) || put_cause(s, out) ||
	     put_floor(s, out) || put_round_trips(s, out);
	for (n = numbers; !rc && n < numbers + NUMBERS; n++) {
		if (!n->metric)
			continue;
		v = value(s, n->at);
		rc = head(out, n->metric, n->type, n->help) ||
		     rj_buf_printf(out, "rjournald_%s{volume=\"%s\"} ",
			     n->metric, s->volume_uuid) ||
		     (n->unit == 1.0
				     ? rj_buf_printf(out, "%" PRIu64 "\n", v)
				     : rj_buf_printf(out, "%.9f\n",
					       (double)v * n->unit));
	}
	return rc ? -RJ_E_NOMEM : 0;
}

/* Which way commits shall go, and why; nothing without a policy. */
static void add_choice(struct rj_arbiter_thread *c, struct json_object *f)
{
	struct rj_arbiter a;
	enum rj_prefer p = rj_arbiter_thread_look(c, &a);

	if (p == RJ_PREFER_UNSET)
		return;
	put_text(f, "prefer", rj_prefer_name(p));
	put_text(f, "choice", a.local ? "local" : "remote");
	put_text(f, "reason", rj_arbiter_reason(a.reason));
	if (p == RJ_PREFER_POWER && a.file_j + a.store_j > 0) {
		json_object_object_add(f, "file_joules", json_object_new_double(a.file_j));
		json_object_object_add(f, "store_joules", json_object_new_double(a.store_j));
	}
}

/* What the fallback file holds, and what it is worth. */
void rj_status_add_fallback(const struct rj_loaded *l, struct json_object *o)
{
	struct json_object *f = json_object_new_object();
	const struct rj_fallback_facts *s;
	struct rj_fallback_sink_stat st;

	rj_fallback_sink_stat(l->fallback_sink, &st);
	s = &st.fallback;
	put_text(f, "path", l->fallback.path);
	put_number(f, "capacity", s->capacity);
	put_number(f, "used", s->state == RJ_FALLBACK_IDLE ? 0 : s->used);
	put_number(f, "backlog_segments",
		s->last >= s->next ? s->last - s->next + 1 : 0);
	put_number(f, "backlog_bytes", s->backlog);
	if (s->state == RJ_FALLBACK_LOCAL) {
		put_number(f, "from", s->from);
		put_number(f, "since", (uint64_t)(s->since_ns / NS_PER_S));
		json_object_object_add(f, "self_sufficient",
			json_object_new_boolean(s->self_sufficient));
	}
	put_number(f, "remote", st.remote);
	put_number(f, "losses", st.losses);
	put_number(f, "kept_segments", st.kept_segments);
	put_number(f, "kept_bytes", st.kept_bytes);
	if (st.why[0])
		put_text(f, "why", st.why);
	add_choice(l->arbiter_thread, f);
	json_object_object_add(o, "fallback", f);
}
