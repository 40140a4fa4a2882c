// SPDX-License-Identifier: GPL-2.0-or-later
#include "status.h"

#include <string.h>

#include "config.h"
#include "rjserver/access/admit.h"
#include "text/when.h"
#include "util/environ.h"

/* All that is printed here is made of characters that need no escaping: names
 * of volumes and accounts are checked, addresses are numeric. */

/* The worst that there is, of the server and of each volume that X sees. *OF (NULL: of the server)
 * and *LIMIT, "disk", "volume" or "account", say of which volume, and what is used up. */
static const char *health(const struct access_control *g, const struct account *x,
	const struct volume **of, const char **limit)
{
	enum rj_end end = rj_when_ends(g->cert_until_s);
	const struct volume *v;
	const char *why;
	size_t i;

	*of = NULL;
	*limit = "";
	if (g->store->failed)
		return "failed";
	if (end == RJ_END_OVER)
		return "expired";
	if (admit_disk_full(g)) {
		*limit = "disk";
		return "full";
	}
	if (g->store->lost)
		return "lossy";
	for (i = 0; i < g->usage.count; i++) {
		v = g->usage.list[i];
		if (!account_covers(x, v->name))
			continue;
		why = admit_full(v);
		if (why) {
			*of = v;
			*limit = why;
			return "full";
		}
		why = *of ? NULL : admit_warning(g, v);
		if (why) {
			*of = v;
			*limit = why;
		}
	}
	if (*of)
		return "low";
	if (admit_disk_low(g)) {
		*limit = "disk";
		return "low";
	}
	return end == RJ_END_SOON ? "expiring" : "ok";
}

/* Count the objects of KIND; *LAST (may be NULL) is the highest number, 0 without any. */
static unsigned count(const struct access_control *g, const struct volume *v,
	enum rj_key_kind kind, uint64_t *last)
{
	struct okey dir = {.key = {.kind = kind}};
	const struct idx_entry *e = NULL;
	unsigned n = 0;

	memcpy(dir.name, v->name, sizeof(dir.name));
	memcpy(dir.key.journal_uuid, v->uuid, RJ_UUID_BYTES);
	if (last)
		*last = 0;
	for (; (e = idx_next(g->store->index, &dir, e ? e->number : 0)); n++)
		if (last)
			*last = e->number;
	return n;
}

/* Its holds, also expired ones: only their texts, which are not in memory, say that. */
static unsigned holds(const struct access_control *g, const struct volume *v)
{
	return count(g, v, RJ_KEY_HOLD, NULL);
}

/* When a drill succeeded last (lib/log/past/drill.h), seconds since 1970; 0: never. */
static uint64_t verified(const struct access_control *g, const struct volume *v)
{
	uint64_t when;

	count(g, v, RJ_KEY_DRILL, &when);
	return when;
}

static int json_volume(const struct access_control *g, const struct volume *v,
	const char *comma, struct rj_buf *out)
{
	const char *nearly = admit_warning(g, v), *full = admit_full(v);
	char uuid[RJ_UUID_TEXT];
	unsigned i, last = USAGE_SAMPLES;
	int rc;

	rc = rj_buf_printf(out,
		"%s\n{\"name\":\"%s\",\"journal\":\"%s\",\"bytes\":%llu,"
		"\"segments\":%llu,\"commits\":%llu,\"commit_bytes\":%llu,"
		"\"last_commit_ms\":%llu,\"lag_us\":%llu,\"host\":\"%s\","
		"\"account\":\"%s\",\"stored_bytes\":%llu,"
		"\"nearly_full\":\"%s\",\"full\":\"%s\",\"holds\":%u,\"verified_s\":%llu,\"rate\":[",
		comma, v->name, rj_uuid_text(v->uuid, uuid),
		(unsigned long long)v->bytes, (unsigned long long)v->objects,
		(unsigned long long)v->puts, (unsigned long long)v->put_bytes,
		(unsigned long long)v->last_commit_ns / 1000000,
		(unsigned long long)v->wait_ns / 1000, v->last_peer,
		v->last_account, (unsigned long long)v->stored,
		nearly ? nearly : "", full ? full : "", holds(g, v),
		(unsigned long long)verified(g, v));
	/* oldest first; zeros at the front are left out, the last is now */
	for (i = 1; i < USAGE_SAMPLES &&
		    !v->rate[(g->usage.at + i) % USAGE_SAMPLES];
		i++)
		;
	for (; i <= last && !rc; i++)
		rc = rj_buf_printf(out, "%u%s",
			v->rate[(g->usage.at + i) % USAGE_SAMPLES],
			i < last ? "," : "");
	return rc ?: rj_buf_printf(out, "]}");
}

static int json_server(struct access_control *g, const struct account *x, struct rj_buf *out)
{
	const struct metrics *m = &g->metrics;
	const struct volume *of;
	const char *limit, *state = health(g, x, &of, &limit);

	return rj_buf_printf(out,
		"{\"version\":\"%s\",\"now_ms\":%lld,\"uptime_s\":%lld,"
		"\"health\":\"%s\",\"limit\":\"%s\",\"limit_of\":\"%s\","
		"\"certificate_end_s\":%lld,\"durability\":\"%s\",\"lost\":%u,"
		"\"free_bytes\":%llu,\"disk_bytes\":%llu,"
		"\"min_free_bytes\":%llu,\"commits\":%llu,"
		"\"commit_p50_us\":%llu,\"commit_p99_us\":%llu,"
		"\"refused\":%llu,\"sample_s\":%d,\"samples\":%d}",
		PACKAGE_VERSION, (long long)rj_realtime_ns() / 1000000,
		(long long)(rj_monotonic_ns() - g->started_ns) / 1000000000,
		state, limit, of ? of->name : "", (long long)g->cert_until_s,
		g->store->received ? "received" : "fsync",
		g->store->lost, (unsigned long long)g->free_bytes,
		(unsigned long long)g->disk_bytes,
		(unsigned long long)access_min_free(g),
		(unsigned long long)m->commits,
		(unsigned long long)metrics_quantile(m, 0.5) / 1000,
		(unsigned long long)metrics_quantile(m, 0.99) / 1000,
		(unsigned long long)metrics_refused(m), USAGE_SECONDS,
		USAGE_SAMPLES);
}

int status_json(
	struct access_control *g, const struct account *x, struct rj_buf *out)
{
	const char *comma = "";
	size_t i;
	int rc;

	access_look_at_disk(g);
	rc = rj_buf_printf(out, "{\"server\":");
	rc = rc ?: json_server(g, x, out);
	rc = rc ?: rj_buf_printf(out, ",\n\"volumes\":[");
	for (i = 0; i < g->usage.count && !rc; i++) {
		const struct volume *v = g->usage.list[i];

		if (!account_covers(x, v->name))
			continue;
		rc = json_volume(g, v, comma, out);
		comma = ",";
	}
	return rc ?: rj_buf_printf(out, "]}\n");
}

int status_names(
	struct access_control *g, const struct account *x, struct rj_buf *out)
{
	const char *before = "";
	int rc = 0;
	size_t i;

	for (i = 0; i < g->usage.count && !rc; i++) {
		const struct volume *v = g->usage.list[i];

		if (!account_covers(x, v->name) || !strcmp(v->name, before))
			continue;
		rc = rj_buf_printf(out, "%s\n", v->name);
		before = v->name;
	}
	return rc;
}

enum series {
	SERIES_BYTES,
	SERIES_SEGMENTS,
	SERIES_COMMITS,
	SERIES_LAST,
	SERIES_STORED,
	SERIES_NEARLY_FULL,
	SERIES_FULL,
	SERIES_HOLDS,
	SERIES_VERIFIED,
	SERIES,
};

static const struct {
	const char *name, *type, *help;
} volume_series[SERIES] = {
	[SERIES_BYTES] = {"rjserver_volume_bytes", "gauge",
		"Bytes of segments stored."},
	[SERIES_SEGMENTS] = {"rjserver_volume_segments", "gauge",
		"Segments stored."},
	[SERIES_COMMITS] = {"rjserver_volume_commits_total", "counter",
		"Segments taken since the start."},
	[SERIES_LAST] = {"rjserver_volume_last_commit_timestamp_seconds", "gauge",
		"Unix time of the last segment taken since the start; 0: "
		"none."},
	[SERIES_STORED] = {"rjserver_volume_stored_bytes", "gauge",
		"Bytes of them with what the store adds, which limits count."},
	[SERIES_NEARLY_FULL] = {"rjserver_volume_nearly_full", "gauge",
		"1: the disk, or a limit of the volume or its account, is "
		"nearly used up."},
	[SERIES_FULL] = {"rjserver_volume_full", "gauge",
		"1: its last commit was refused, as the disk is full, or a limit of the volume or "
		"its account is reached."},
	[SERIES_HOLDS] = {"rjserver_volume_holds", "gauge",
		"Holds of rjbackup, which may have expired."},
	[SERIES_VERIFIED] = {"rjserver_volume_verified_timestamp_seconds", "gauge",
		"Unix time of the last drill of rjbackup that succeeded; 0: never."},
};

static uint64_t series_value(const struct access_control *g,
	const struct volume *v, enum series which)
{
	switch (which) {
	case SERIES_BYTES:
		return v->bytes;
	case SERIES_SEGMENTS:
		return v->objects;
	case SERIES_COMMITS:
		return v->puts;
	case SERIES_STORED:
		return v->stored;
	case SERIES_HOLDS:
		return holds(g, v);
	case SERIES_VERIFIED:
		return verified(g, v);
	case SERIES_FULL:
		return admit_full(v) != NULL;
	case SERIES_NEARLY_FULL:
		return admit_warning(g, v) != NULL;
	default:
		return v->last_commit_ns / 1000000000;
	}
}

static int print_volumes(const struct access_control *g,
	const struct account *x, enum series which, struct rj_buf *out)
{
	const char *name = volume_series[which].name;
	int rc = metrics_head(out, name, volume_series[which].type,
		volume_series[which].help);
	char uuid[RJ_UUID_TEXT];
	size_t i;

	for (i = 0; i < g->usage.count && !rc; i++) {
		const struct volume *v = g->usage.list[i];

		if (account_covers(x, v->name))
			rc = rj_buf_printf(out,
				"%s{name=\"%s\",journal=\"%s\"} %llu\n", name,
				v->name, rj_uuid_text(v->uuid, uuid),
				(unsigned long long)series_value(g, v, which));
	}
	return rc;
}

int status_metrics(
	struct access_control *g, const struct account *x, struct rj_buf *out)
{
	int rc, i;

	access_look_at_disk(g);
	rc = metrics_head(out, "rjserver_info", "gauge", "Version of rjserver.");
	rc = rc ?: rj_buf_printf(out, "rjserver_info{version=\"%s\"} 1\n",
			PACKAGE_VERSION);
	rc = rc ?: metrics_value(out, "rjserver_uptime_seconds", "gauge",
			"Since the start.",
			(uint64_t)(rj_monotonic_ns() - g->started_ns) /
				1000000000);
	rc = rc ?: metrics_value(out, "rjserver_write_failed", "gauge",
			"1: a write or fsync failed, nothing is taken until a "
			"restart.",
			g->store->failed);
	rc = rc ?: metrics_value(out, "rjserver_lost_records", "gauge",
			"Damaged places whose records have no name.",
			g->store->lost);
	rc = rc ?: metrics_value(out, "rjserver_disk_free_bytes", "gauge",
			"Free on the disk of the store.", g->free_bytes);
	rc = rc ?: metrics_value(out, "rjserver_disk_bytes", "gauge",
			"Size of the disk of the store.", g->disk_bytes);
	rc = rc ?: metrics_value(out, "rjserver_disk_full", "gauge",
			"1: no space: writes are refused.", admit_disk_full(g));
	rc = rc ?: metrics_value(out, "rjserver_disk_nearly_full", "gauge",
			"1: less than twice the space with which writes are "
			"refused, or none.",
			admit_disk_low(g));
	rc = rc ?: metrics_value(out, "rjserver_certificate_end_timestamp_seconds", "gauge",
			"Unix time of the end of the server's certificate; 0: it has none.",
			(uint64_t)g->cert_until_s);
	rc = rc ?: metrics_value(out, "rjserver_stored_bytes", "gauge",
			"Bytes of all segments.", g->usage.bytes);
	rc = rc ?: metrics_value(out, "rjserver_stored_segments", "gauge",
			"All segments.", g->usage.objects);
	rc = rc ?: metrics_print(&g->metrics, out);
	for (i = 0; i < SERIES && !rc; i++)
		rc = print_volumes(g, x, (enum series)i, out);
	return rc;
}
