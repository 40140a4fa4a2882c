// SPDX-License-Identifier: GPL-2.0-or-later
#include "status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "terminal.h"
#include "text/when.h"
#include "tools/prometheus.h"
#include "util/environ.h"

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(o, key, &value))
		return "?";
	return json_object_get_string(value);
}

static uint64_t number_of(struct json_object *o, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(o, key, &value))
		return 0;
	return (uint64_t)json_object_get_int64(value);
}

static void print_remote(struct json_object *o)
{
	struct json_object *f = NULL, *all;
	char when[RJ_WHEN_TEXT];

	if (number_of(o, "remote_tid"))
		printf("  at the store  transaction %s, %s\n",
			text_of(o, "remote_tid"),
			rj_when_seconds((int64_t)number_of(o, "remote_time"), when));
	if (number_of(o, "lag_bytes") || number_of(o, "lag_seconds"))
		printf("  lag           %s bytes, %s s\n",
			text_of(o, "lag_bytes"), text_of(o, "lag_seconds"));
	if (json_object_object_get_ex(o, "fallback", &f))
		printf("  fallback      %s: %s of %s bytes used, %s segments (%s "
		       "bytes) not at the store\n",
			text_of(f, "path"), text_of(f, "used"),
			text_of(f, "capacity"), text_of(f, "backlog_segments"),
			text_of(f, "backlog_bytes"));
	if (json_object_object_get_ex(f, "prefer", NULL))
		printf("  prefer        %s: now %s, %s\n", text_of(f, "prefer"),
			text_of(f, "choice"), text_of(f, "reason"));
	if (json_object_object_get_ex(f, "file_joules", &all))
		printf("                the latest segments: %.3g J in the file, ",
			json_object_get_double(all));
	if (json_object_object_get_ex(f, "store_joules", &all))
		printf("%.3g J at the store\n", json_object_get_double(all));
	if (json_object_object_get_ex(f, "self_sufficient", &all))
		printf("                %s\n",
			json_object_get_boolean(all)
				? "a recovery needs no segment that is not in it"
				: "a recovery needs segments of the store too");
	if (json_object_object_get_ex(o, "floor", &f)) {
		if (json_object_object_get_ex(f, "age_seconds", NULL))
			printf("  floor         %s: segment %s, whole %s s ago\n",
				text_of(f, "url"), text_of(f, "segment"),
				text_of(f, "age_seconds"));
		else
			printf("  floor         %s: never whole\n",
				text_of(f, "url"));
		if (json_object_object_get_ex(f, "why", NULL))
			printf("                %s\n", text_of(f, "why"));
	}
	if (json_object_object_get_ex(o, "hold", &f))
		printf("  hold          %s of %s at %s keeps %s segments that no replay needs, until %s\n",
			text_of(f, "number"), text_of(f, "program"), text_of(f, "host"),
			text_of(f, "segments"), rj_when_seconds((int64_t)number_of(f, "until"), when));
	if (number_of(o, "puts"))
		printf("  round trip    %.2f ms median, %.2f ms p99 (%s "
		       "segments, %s failures)\n",
			(double)number_of(o, "put_p50_us") / 1e3,
			(double)number_of(o, "put_p99_us") / 1e3,
			text_of(o, "puts"), text_of(o, "put_failures"));
}

/* Nothing will go on by itself: how to. */
static void print_next(struct json_object *o)
{
	const char *mode = text_of(o, "mode");
	/* after the unmount a daemon that was started by hand is still there */
	const char *end = strcmp(text_of(o, "state"), "mounted") ? "rjctl stop"
								 : "unmount it";

	if (!strcmp(mode, "fenced"))
		printf("  next          %s, and use the volume that took the log over: this one "
		       "is an older copy of it\n", end);
	else if (!strcmp(mode, "waiting") || !strcmp(mode, "full"))
		printf("  next          commits, and each sync(2) of this host, wait for the store, and go "
		       "on by themselves when it answers; if its log is lost for good, rjctl reseed "
		       "begins a new one at the same URL%s; rjctl stop --force saves the journal to a "
		       "directory, and shuts the volume down\n",
			json_object_object_get_ex(o, "no_mark", NULL)
				? "" : ", and rjctl reseed --to=URL at another store");
	else if (!strcmp(mode, "failed"))
		printf("  next          %s, then rjrecover -p, or mount "
		       "it again\n", end);
}

void status_print(struct json_object *o)
{
	struct json_object *part;
	char when[RJ_WHEN_TEXT];

	printf("%s: %s, journal %s\n", text_of(o, "device"),
		text_of(o, "state"), text_of(o, "journal_device"));
	if (json_object_object_get_ex(o, "held", NULL))
		printf("  held          %s\n", text_of(o, "held"));
	printf("  store         %s\n", text_of(o, "store"));
	if (number_of(o, "store_seen"))
		printf("  store seen    %s\n",
			rj_when_seconds((int64_t)number_of(o, "store_seen"), when));
	if (number_of(o, "store_certificate_end"))
		printf("  certificate   of the store, until %s\n",
			rj_when_seconds((int64_t)number_of(o, "store_certificate_end"), when));
	if (json_object_object_get_ex(o, "store_why", NULL))
		printf("  store lost    a write would not be acknowledged: %s\n",
			text_of(o, "store_why"));
	if (json_object_object_get_ex(o, "nearly_full", NULL))
		printf("  nearly full   %s\n", text_of(o, "nearly_full"));
	if (json_object_object_get_ex(o, "upkeep", NULL))
		printf("  upkeep        fails for %s s: %s\n",
			text_of(o, "upkeep_failing_seconds"), text_of(o, "upkeep"));
	if (json_object_object_get_ex(o, "no_mark", NULL))
		printf("  no mark       an older copy of the volume may be taken for it: %s\n",
			text_of(o, "no_mark"));
	printf("  mode          %s%s%s since %s (on_loss=%s)\n",
		terminal_begin(mode_mood(text_of(o, "mode"))), text_of(o, "mode"), terminal_end(),
		rj_when_seconds((int64_t)number_of(o, "mode_since"), when),
		text_of(o, "on_loss"));
	if (json_object_object_get_ex(o, "error", NULL))
		printf("  error         %s\n", text_of(o, "error"));
	if (json_object_object_get_ex(o, "why", NULL))
		printf("  because       %s\n", text_of(o, "why"));
	if (json_object_object_get_ex(o, "cause", NULL))
		printf("  cause         %s\n", text_of(o, "cause"));
	print_next(o);
	printf("  epoch         %s\n", text_of(o, "epoch"));
	printf("  acknowledged  segment %s\n", text_of(o, "acknowledged"));
	print_remote(o);
	printf("  pending       %s blocks\n", text_of(o, "pending_blocks"));
	if (json_object_object_get_ex(o, "base", &part))
		printf("  base          %s\n", text_of(part, "text"));
	if (json_object_object_get_ex(o, "drill", &part))
		printf("  drill         %s\n", text_of(part, "text"));
	printf("  volume uuid   %s\n", text_of(o, "volume_uuid"));
	if (json_object_object_get_ex(o, "metrics", NULL))
		printf("  metrics       %s\n", text_of(o, "metrics"));
	printf("  process id    %s, version %s, started %s\n",
		text_of(o, "pid"), text_of(o, "version"),
		rj_when_seconds((int64_t)number_of(o, "started"), when));
	if (number_of(o, "restarts"))
		printf("  restarts      %s, the worker is now %s\n",
			text_of(o, "restarts"), text_of(o, "worker_pid"));
}

void metrics_print(const char *text, bool heads)
{
	const char *end;

	for (; *text; text = end) {
		end = text + strcspn(text, "\n");
		if (heads || *text != '#')
			printf("%.*s\n", (int)(end - text), text);
		end += *end == '\n';
	}
}

static int put_base(struct json_object *o, const char *labels, struct rj_buf *out)
{
	struct json_object *until = json_object_object_get(o, "kept_until");
	int rc = prometheus_head(out, "rjbackup_base_well", "gauge",
		"Whether the base that was made here last has a history that goes on, and is kept.");

	if (!rc)
		rc = rj_buf_printf(out, "rjbackup_base_well{%s} %d\n", labels,
			json_object_get_boolean(json_object_object_get(o, "well")));
	if (!rc)
		rc = prometheus_head(out, "rjbackup_base_kept_until_timestamp_seconds", "gauge",
			"Until when a hold or retain keeps its log, since 1970.");
	if (!rc && until)
		rc = rj_buf_printf(out,
			"rjbackup_base_kept_until_timestamp_seconds{%s} %" PRId64 "\n", labels,
			json_object_get_int64(until));
	return rc;
}

void base_metrics_print(struct json_object *base, const uint8_t uuid[RJ_UUID_BYTES])
{
	static bool told; /* what they are: once for all volumes */
	struct rj_buf labels = {0}, text = {0};
	char volume[RJ_UUID_TEXT];

	if (!base)
		return;
	if (!rj_buf_printf(&labels, "volume=\"%s\",", rj_uuid_text(uuid, volume)) &&
		!prometheus_label(&labels, "base", text_of(base, "base")) &&
		!put_base(base, (char *)labels.data, &text))
		metrics_print((char *)text.data, !told);
	told = true;
	rj_buf_free(&labels);
	rj_buf_free(&text);
}
