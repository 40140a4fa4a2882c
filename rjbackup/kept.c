// SPDX-License-Identifier: GPL-2.0-or-later
#include "kept.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "log/hold.h"
#include "log/trim.h"
#include "store/conf.h"
#include "text/quantity.h"
#include "text/when.h"
#include "tools/holds.h"
#include "tools/json.h"
#include "util/environ.h"

#define NS_PER_S 1000000000LL
#define DAY_S	 86400.0
#define LEAST_S	 3600 /* of a log that a day is told from */
#define TRIES	 5

static int look_at_retain(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_listing *l, struct kept *k, struct rj_error *err)
{
	int64_t now = rj_realtime_ns() / NS_PER_S, at;
	struct rj_conf *conf = NULL;
	int rc = rj_conf_load(store->url, &conf, err);

	if (rc)
		return rc;
	k->retain_s = conf->retain_s;
	rj_conf_release(conf);
	k->retained = k->needed;
	if (!k->retain_s || !k->needed)
		return 0;
	now = k->retain_s >= (uint64_t)now ? 0 : now - (int64_t)k->retain_s;
	rc = rj_log_since(store, id, l, k->needed, now * NS_PER_S, &k->retained, &at, err);
	if (!rc)
		k->retained_bytes = rj_hold_bytes(l, k->retained, k->needed);
	return rc;
}

/* What the first replay for a base begins with. */
static int look_at_base(struct rj_store *store, const struct rj_log_id *id, uint64_t from,
	struct kept *k, struct rj_error *err)
{
	struct rj_seghdr h;
	int rc = rj_log_fetch_header(store, id, from, &h, err);

	if (rc)
		return rc;
	k->base = h.oldest;
	rc = rj_log_fetch_header(store, id, h.oldest, &h, err);
	if (!rc)
		k->base_ns = (int64_t)h.time_ns;
	return rc;
}

static int look_once(struct rj_store *store, const struct rj_log_id *id, uint64_t from,
	struct rj_listing *l, struct kept *k, struct rj_error *err)
{
	struct rj_seghdr last = {0};
	int rc = rj_listing_log(store, id, 0, 0, l, err);

	k->holds.len = 0;
	if (!rc)
		rc = rj_hold_list(store, id, 0, &k->holds, err);
	if (!rc && l->last)
		rc = rj_log_fetch_header(store, id, l->last, &last, err);
	k->needed = last.oldest;
	k->needed_bytes = rj_hold_bytes(l, k->needed, UINT64_MAX);
	if (!rc)
		rc = rj_log_rate(store, id, l, &k->rate, err);
	if (!rc)
		rc = look_at_retain(store, id, l, k, err);
	if (!rc && from)
		rc = look_at_base(store, id, from, k, err);
	return rc;
}

int kept_look(struct rj_store *store, const struct rj_log_id *id, uint64_t from,
	struct rj_listing *l, struct kept *k, struct rj_error *err)
{
	int rc, tries = 0;

	do
		rc = look_once(store, id, from, l, k, err);
	while (rc == -RJ_E_GAP && ++tries < TRIES);
	return rc;
}

void kept_free(struct kept *k)
{
	rj_buf_free(&k->holds);
}

static void add_keeper(struct json_object *json, const char *key, uint64_t first, uint64_t bytes)
{
	struct json_object *o = json_object_new_object();

	add_u64(o, "first", first);
	add_u64(o, "bytes", bytes);
	json_object_object_add(json, key, o);
}

/* "90 s", "3.5 hours", "12.0 days" */
static const char *span(double s, char out[32])
{
	if (s < 3600)
		snprintf(out, 32, "%.0f s", s);
	else if (s < DAY_S)
		snprintf(out, 32, "%.1f hours", s / 3600);
	else
		snprintf(out, 32, "%.1f days", s / DAY_S);
	return out;
}

void kept_show_log(const struct kept *k, struct json_object *json)
{
	char text[32];

	if (!k->needed)
		return;
	if (json) {
		add_keeper(json, "replay", k->needed, k->needed_bytes);
		if (k->retain_s)
			add_keeper(json, "retain", k->retained, k->retained_bytes);
		return;
	}
	printf("  a replay needs it from segment %" PRIu64 " on, %" PRIu64 " bytes\n", k->needed,
		k->needed_bytes);
	if (k->retain_s)
		printf("  retain of this host's rj.conf, %s, keeps it from segment %" PRIu64
		       " on, %" PRIu64 " bytes more\n",
			span((double)k->retain_s, text), k->retained, k->retained_bytes);
}

/* A day is not told from a few minutes. */
static bool forecasts(const struct kept *k)
{
	return k->rate.last_ns - k->rate.first_ns >= LEAST_S * NS_PER_S;
}

void kept_show_rate(const struct kept *k, struct json_object *json)
{
	const struct rj_log_rate *r = &k->rate;
	double all = (double)(r->last_ns - r->first_ns) / NS_PER_S;
	char text[32], last[RJ_SIZE_TEXT], average[RJ_SIZE_TEXT];
	struct json_object *o;

	if (!rj_log_rate_last(r))
		return;
	if (json) {
		o = json_object_new_object();
		if (forecasts(k)) {
			add_u64(o, "last", rj_log_rate_last(r));
			add_u64(o, "average", rj_log_rate_average(r));
		}
		add_u64(o, "seconds", (uint64_t)all);
		add_u64(o, "bytes", r->bytes);
		json_object_object_add(json, "a_day", o);
		return;
	}
	if (!forecasts(k)) {
		printf("  it grew by %s in %s\n", rj_size_text((double)r->bytes, last),
			span(all, text));
		return;
	}
	rj_size_text((double)rj_log_rate_last(r), last);
	rj_size_text((double)rj_log_rate_average(r), average);
	if (all < DAY_S)
		printf("  it grows by %s a day (by what came in %s)\n", last, span(all, text));
	else
		printf("  it grows by %s a day (the last day), %s on average (of %s)\n", last,
			average, span(all, text));
}

/* Each hold from the first segment or before on. */
static unsigned show_holds(const struct kept *k, struct json_object *all)
{
	struct rj_hold_seen s;
	unsigned found = 0;
	char text[256];
	size_t i;

	for (i = 0; i < k->holds.len; i += sizeof(s)) {
		memcpy(&s, k->holds.data + i, sizeof(s));
		if (s.bad || s.hold.first > k->base || rj_hold_expired(&s.hold))
			continue;
		found++;
		if (all)
			json_object_array_add(all, json_object_new_uint64(s.hold.number));
		else
			printf("  kept by %s\n", hold_text(&s, text));
	}
	return found;
}

void kept_show_base(const struct kept *k, struct json_object *json)
{
	struct json_object *all = json ? json_object_new_array() : NULL;
	bool retained = k->retain_s && k->retained <= k->base;
	unsigned held = show_holds(k, all);
	int64_t until = k->base_ns / NS_PER_S + (int64_t)k->retain_s;
	char text[RJ_WHEN_TEXT];

	if (json) {
		add_u64(json, "needs", k->base);
		json_object_object_add(json, "held_by", all);
		if (retained)
			add_i64(json, "retained_until", until);
		return;
	}
	if (retained)
		printf("  kept by retain of this host's rj.conf until %s\n",
			rj_when_seconds(until, text));
	if (!held && !retained)
		printf("  kept by no hold, nor by retain of this host's rj.conf: what it needs, from segment %" PRIu64
		       " on, may be deleted\n",
			k->base);
}

void kept_show_cost(const struct kept *k, uint64_t seconds, struct json_object *json)
{
	double bytes = (double)rj_log_rate_last(&k->rate) * ((double)seconds / DAY_S);
	char text[32], size[RJ_SIZE_TEXT];

	if (!rj_log_rate_last(&k->rate))
		return;
	if (!json && !forecasts(k))
		printf("  what it would cost to keep it for %s is not known before the log is an hour old\n",
			span((double)seconds, text));
	else if (!json)
		printf("  to keep it for %s would cost %s, if it goes on like that\n",
			span((double)seconds, text), rj_size_text(bytes, size));
	else if (forecasts(k))
		add_u64(json, "cost_bytes", (uint64_t)bytes);
}

void mark_show(const struct rj_point *p, bool gone, struct json_object *all)
{
	struct json_object *o;
	char time[RJ_WHEN_TEXT];

	if (!all) {
		printf("  mark %s: segment %" PRIu64 ", made %s%s\n", p->name, p->segment,
			rj_when_seconds(p->time, time),
			gone ? " (gone: the log has been deleted up to there)" : "");
		return;
	}
	o = json_object_new_object();
	add_text(o, "mark", p->name);
	add_u64(o, "segment", p->segment);
	add_i64(o, "made", p->time);
	add_text(o, "program", p->program);
	add_text(o, "host", p->host);
	add_bool(o, "gone", gone);
	json_object_array_add(all, o);
}

int marks_show(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_listing *l, struct json_object *log, struct rj_error *err)
{
	struct json_object *all = log ? json_object_new_array() : NULL;
	struct rj_buf found = {0};
	struct rj_point p;
	unsigned bad;
	size_t i;
	int rc = rj_point_list(store, id, 0, &found, &bad, err);

	if (log)
		json_object_object_add(log, "marks", all);
	for (i = 0; !rc && i < found.len; i += sizeof(p)) {
		memcpy(&p, found.data + i, sizeof(p));
		mark_show(&p, rj_point_gone(&p, l), all);
	}
	if (!rc && bad && !log)
		printf("  %u mark%s cannot be read\n", bad, bad == 1 ? "" : "s");
	if (!rc && bad && log)
		add_i64(log, "marks_bad", bad);
	rj_buf_free(&found);
	return rc;
}
