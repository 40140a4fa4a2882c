// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "status.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon.h"
#include "util/environ.h"

#define NS_PER_S 1000000000LL

static const char *phase_name(const struct rj_daemon *d)
{
	switch (d->phase) {
	case RJ_PHASE_HOLDING:
	case RJ_PHASE_LEAVING:
		return rj_loop_mounted(&d->loop)      ? "mounted"
		       : d->phase == RJ_PHASE_HOLDING ? "ready"
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
	else if (st.state != RJ_STATE_ONLINE && st.state != RJ_STATE_ALONE &&
		 st.state != RJ_STATE_STOPPED)
		lag = rj_realtime_ns() - st.since_ns;
	if (lag > 0)
		s->lag_seconds = (uint64_t)(lag / NS_PER_S);
}

static void collect_meter(const struct rj_meter *m, struct rj_status *s)
{
	s->puts = m->puts;
	s->put_failures = m->failures;
	s->put_bytes = m->bytes;
	s->put_ns = m->ns;
	s->put_p50_us = rj_meter_quantile_us(m, 500);
	s->put_p99_us = rj_meter_quantile_us(m, 990);
}

static void collect_spool(struct rj_shipper *shipper, struct rj_status *s)
{
	struct rj_shipper_stat st;

	rj_shipper_stat(shipper, &st);
	s->spool_capacity = st.spool.capacity;
	if (st.spool.state != RJ_SPOOL_IDLE)
		s->spool_used = st.spool.used;
	s->spool_backlog = st.spool.backlog;
	s->losses = st.losses;
	if (rj_state_local(s->mode) && !s->why[0])
		snprintf(s->why, sizeof(s->why), "%s", st.why);
	s->lag_bytes += st.spool.backlog;
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
		.journal_device = d->loop.path,
		.epoch = l->memory.kept->epoch,
		.block_size = l->ring->block_size,
		.journal_blocks = l->ring->blocks,
		.pid = (uint64_t)getppid(), /* the keeper is who stays */
		.worker_pid = (uint64_t)getpid(),
		.restarts = l->memory.kept->restarts,
		.started = (uint64_t)((rj_realtime_ns() - rj_monotonic_ns() +
					      l->memory.kept->started_ns) /
				      NS_PER_S),
	};

	rj_uuid_text(l->facts.uuid, s.volume_uuid);
	rj_uuid_text(l->facts.sbx.journal_uuid, s.journal_uuid);
	collect_pipeline(d, &s);
	collect_meter(&l->meter, &s);
	if (rj_daemon_writing(d) && l->shipper)
		collect_spool(l->shipper, &s);
	s.two = rj_daemon_writing(d) && rj_store_twin(l->store, &s.twin);
	s.behind_segments = s.twin.segments;
	s.behind_bytes = s.twin.bytes;
	*out = s;
}

/* Each number: its key in JSON (NULL: it stands elsewhere), and its metric behind "rjournald_" (NULL: in
 * JSON only), which counts in UNIT of what the number does. */
static const struct number {
	const char *key, *metric, *type;
	double unit;
	size_t at;
	const char *help;
} numbers[] = {
#define N(field) offsetof(struct rj_status, field)
	{"mode_since", "mode_since_seconds", "gauge", 1, N(mode_since),
		"When the mode began, since 1970."},
	{"started", "start_time_seconds", "gauge", 1, N(started),
		"When the journal's device was ready, since 1970."},
	{"acknowledged", "acknowledged_segment", "gauge", 1, N(acknowledged),
		"Last segment that was acknowledged."},
	{"oldest", "oldest_segment", "gauge", 1, N(oldest),
		"First segment that a replay needs."},
	{"remote_tid", "remote_tid", "gauge", 1, N(remote_tid),
		"Last transaction that the store has acknowledged."},
	{"remote_time", "remote_time_seconds", "gauge", 1, N(remote_time),
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
	{NULL, "fallback_capacity_bytes", "gauge", 1, N(spool_capacity),
		"Room in the fallback file; 0: there is none."},
	{NULL, "fallback_used_bytes", "gauge", 1, N(spool_used),
		"Of that not free."},
	{NULL, "fallback_backlog_bytes", "gauge", 1, N(spool_backlog),
		"Segments in it that the store lacks."},
	{NULL, "store_losses_total", "counter", 1, N(losses),
		"How often the fallback file took over."},
	{NULL, "store_behind_segments", "gauge", 1, N(behind_segments),
		"Of two stores, segments that the one that is away lacks."},
	{NULL, "store_behind_bytes", "gauge", 1, N(behind_bytes),
		"The bytes of those."},
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

/* Which of two stores must have a segment before it is acknowledged, and what
 * the other one lacks; null: it was not seen since the start. */
static void add_stores(const struct rj_twin *t, struct json_object *o)
{
	struct json_object *all = json_object_new_array(), *one;
	bool needed, left;
	int i;

	for (i = 0; i < 2; i++) {
		needed = t->alone < 0 || t->alone == i;
		left = !needed && t->left;
		one = json_object_new_object();
		put_text(one, "url", t->url[i]);
		put_flag(one, "needed", needed);
		put_flag(one, "alone", t->alone == i);
		put_flag(one, "caught_up", needed || t->caught_up);
		put_flag(one, "left", left);
		if (needed || t->known) {
			put_number(one, "behind_segments",
				needed ? 0 : t->segments);
			put_number(one, "behind_bytes", needed ? 0 : t->bytes);
		} else {
			json_object_object_add(one, "behind_segments", NULL);
			json_object_object_add(one, "behind_bytes", NULL);
		}
		json_object_array_add(all, one);
	}
	json_object_object_add(o, "stores", all);
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
	for (i = 0; i < NUMBERS; i++)
		if (numbers[i].key)
			put_number(o, numbers[i].key, value(s, numbers[i].at));
	put_text(o, "on_loss", s->on_loss);
	put_text(o, "store", s->store);
	if (s->two)
		add_stores(&s->twin, o);
	put_text(o, "device", s->device);
	put_text(o, "journal_device", s->journal_device);
	put_text(o, "volume_uuid", s->volume_uuid);
	put_text(o, "journal_uuid", s->journal_uuid);
	put_text(o, "version", PACKAGE_VERSION);
	return o;
}

/* A label's value: what would end it is escaped. */
static int put_label(struct rj_buf *out, const char *name, const char *text)
{
	int rc = rj_buf_printf(out, "%s=\"", name);

	for (; !rc && *text; text++)
		rc = *text == '\n' ? rj_buf_append(out, "\\n", 2)
		     : *text == '"' || *text == '\\'
			     ? rj_buf_printf(out, "\\%c", *text)
			     : rj_buf_append(out, text, 1);
	return rc ? rc : rj_buf_append(out, "\"", 1);
}

static int head(struct rj_buf *out, const char *metric, const char *type,
	const char *help)
{
	return rj_buf_printf(out,
		"# HELP rjournald_%s %s\n# TYPE rjournald_%s %s\n", metric,
		help, metric, type);
}

static int put_info(const struct rj_status *s, struct rj_buf *out)
{
	return head(out, "info", "gauge", "What is served; always 1.") ||
	       rj_buf_printf(out, "rjournald_info{volume=\"%s\",",
		       s->volume_uuid) ||
	       put_label(out, "device", s->device) ||
	       rj_buf_append(out, ",", 1) ||
	       put_label(out, "store", s->store) ||
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

	rc = put_info(s, out) || put_modes(s, out) || put_round_trips(s, out);
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
static void add_choice(struct rj_chooser *c, struct json_object *f)
{
	struct rj_arbiter a;
	enum rj_prefer p = rj_chooser_look(c, &a);

	if (p == RJ_PREFER_UNSET)
		return;
	put_text(f, "prefer", rj_prefer_name(p));
	put_text(f, "choice", a.local ? "local" : "remote");
	put_text(f, "reason", rj_arbiter_reason(a.reason));
}

/* What the fallback file holds, and what it is worth. */
void rj_status_add_fallback(const struct rj_loaded *l, struct json_object *o)
{
	struct json_object *f = json_object_new_object();
	const struct rj_spool_facts *s;
	struct rj_shipper_stat st;

	rj_shipper_stat(l->shipper, &st);
	s = &st.spool;
	put_text(f, "path", l->spool.path);
	put_number(f, "capacity", s->capacity);
	put_number(f, "used", s->state == RJ_SPOOL_IDLE ? 0 : s->used);
	put_number(f, "backlog_segments",
		s->last >= s->next ? s->last - s->next + 1 : 0);
	put_number(f, "backlog_bytes", s->backlog);
	if (s->state == RJ_SPOOL_LOCAL) {
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
	add_choice(l->chooser, f);
	json_object_object_add(o, "fallback", f);
}
