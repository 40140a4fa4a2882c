// SPDX-License-Identifier: GPL-2.0-or-later
/* What the volumes do now, from two answers of their daemons. */
#include "top.h"

#include <inttypes.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "dead-daemon.h"
#include "os/mountinfo.h"
#include "os/rundir.h"
#include "terminal.h"
#include "text/quantity.h"
#include "text/when.h"
#include "tools/ask-daemon.h"
#include "tools/stop-signal.h"
#include "util/environ.h"
#include "volume.h"

#define ASK_MS	    2000
#define SHOWN	    20 /* waits in the row of small columns */
#define NAME_WIDTH  24
#define NS_PER_S    1000000000LL
#define WAIT_LOOK_NS 50000000LL

/* What is known of a volume since the last round. */
struct row {
	uint8_t uuid[RJ_UUID_BYTES];
	uint64_t segments, bytes, waited_ns; /* of the last answer */
	int64_t asked_ns;		     /* monotonic; 0: there is none */
	double waits[SHOWN];		     /* of a commit, in ms; the oldest first */
};

struct table {
	const struct rj_ctl_options *o;
	struct row *rows;
	size_t count;
	bool utf8;
};

static struct row *row_of(struct table *t, const uint8_t uuid[RJ_UUID_BYTES])
{
	struct row *more;
	size_t i;

	for (i = 0; i < t->count; i++)
		if (rj_uuid_equal(t->rows[i].uuid, uuid))
			return &t->rows[i];
	more = realloc(t->rows, (t->count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	t->rows = more;
	more = &t->rows[t->count++];
	*more = (struct row){0};
	memcpy(more->uuid, uuid, RJ_UUID_BYTES);
	return more;
}

static uint64_t number_of(struct json_object *o, const char *key)
{
	return (uint64_t)json_object_get_int64(json_object_object_get(o, key));
}

/* The waits as columns of eight heights, the highest that of the longest wait. */
static void put_columns(const struct table *t, const struct row *r)
{
	static const char *const columns[] = {" ", "\u2581", "\u2582", "\u2583", "\u2584",
		"\u2585", "\u2586", "\u2587", "\u2588"};
	static const char *const plain[] = {" ", "_", ".", ",", "-", "=", "+", "*", "#"};
	double longest = 0;
	int i, height;

	for (i = 0; i < SHOWN; i++)
		longest = r->waits[i] > longest ? r->waits[i] : longest;
	for (i = 0; i < SHOWN; i++) {
		height = longest > 0 ? (int)(r->waits[i] / longest * 7.999) + (r->waits[i] > 0) : 0;
		fputs((t->utf8 ? columns : plain)[height], stdout);
	}
}

/* Its mount point, if it has one. */
static void put_name(const char *device)
{
	char name[PATH_MAX];
	size_t len;
	dev_t dev;

	if (!rj_mountinfo_of_volume(device, name, sizeof(name), &dev))
		snprintf(name, sizeof(name), "%s", device);
	len = strlen(name); /* of a long name the end tells more */
	printf("%-*s ", NAME_WIDTH, len > NAME_WIDTH ? name + len - NAME_WIDTH : name);
}

static void put_mode(const char *mode, enum mood mood)
{
	printf("%s%-9s%s ", terminal_begin(mood), mode, terminal_end());
}

/* What was done since the last answer; without one, nothing is known. */
static void put_rates(const struct table *t, struct row *r, struct json_object *o)
{
	uint64_t segments = number_of(o, "segments_shipped"), bytes = number_of(o, "put_bytes"),
		 waited = number_of(o, "ship_ns");
	int64_t now = rj_monotonic_ns();
	double span = (double)(now - r->asked_ns) / NS_PER_S, commits, ms = 0;
	char rate[RJ_SIZE_TEXT], lag[RJ_SIZE_TEXT];
	const bool known = r->asked_ns && segments >= r->segments && bytes >= r->bytes &&
		     waited >= r->waited_ns; /* not another daemon's */

	if (known) {
		commits = (double)(segments - r->segments);
		if (segments > r->segments)
			ms = (double)(waited - r->waited_ns) / 1e6 / commits;
		memmove(r->waits, r->waits + 1, sizeof(r->waits) - sizeof(r->waits[0]));
		r->waits[SHOWN - 1] = ms;
		printf("%9.1f %10s %8.2f ", commits / span,
			rj_size_text((double)(bytes - r->bytes) / span, rate), ms);
	} else {
		printf("%9s %10s %8s ", "-", "-", "-");
	}
	printf("%7.1f %7.1f  %-10s ", (double)number_of(o, "put_p50_us") / 1e3,
		(double)number_of(o, "put_p99_us") / 1e3,
		number_of(o, "lag_bytes") ? rj_size_text((double)number_of(o, "lag_bytes"), lag)
					  : "none");
	put_columns(t, r);
	r->segments = segments;
	r->bytes = bytes;
	r->waited_ns = waited;
	r->asked_ns = now;
}

static void show(void *arg, const uint8_t uuid[RJ_UUID_BYTES])
{
	struct table *t = arg;
	struct row *r = row_of(t, uuid);
	char device[PATH_MAX] = "?";
	struct json_object *o = dead_status(uuid);
	const char *mode;
	long pid;

	if (!r || (!o && !rj_rundir_served(uuid)))
		return;
	rj_rundir_left(uuid, &pid, device, sizeof(device));
	put_name(device);
	if (o) {
		put_mode("dead", MOOD_BAD);
	} else if (daemon_status(uuid, ASK_MS, &o, NULL)) {
		put_mode("silent", MOOD_BAD);
	} else {
		mode = json_object_get_string(json_object_object_get(o, "mode"));
		put_mode(mode ? mode : "?", mode ? mode_mood(mode) : MOOD_BAD);
		put_rates(t, r, o);
	}
	putchar('\n');
	json_object_put(o);
}

static int show_all(struct table *t, const uint8_t *uuid)
{
	char when[RJ_WHEN_TEXT];

	if (!t->o->batch && isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout); /* ECMA-48: to the first place, and erase */
	printf("%s\n%-*s %-9s %9s %10s %8s %7s %7s  %-10s %s\n",
		rj_when_seconds(rj_realtime_ns() / NS_PER_S, when), NAME_WIDTH, "VOLUME", "MODE",
		"COMMITS/S", "BYTES/S", "WAIT ms", "P50 ms", "P99 ms", "LAG", "WAITS");
	if (uuid)
		show(t, uuid);
	else
		volumes_here(show, t);
	return fflush(stdout);
}

static void sleep_until(int64_t end_ns)
{
	while (!stop_signal() && rj_monotonic_ns() < end_ns)
		rj_sleep_ns(WAIT_LOOK_NS);
}

int top(const struct rj_ctl_options *o)
{
	struct table t = {.o = o};
	uint8_t uuid[RJ_UUID_BYTES];
	struct rj_error err;
	uint64_t round;
	int failed = 0;

	if (o->volume && volume_uuid(o->volume, uuid, &err)) {
		fprintf(stderr, "rjctl: %s\n", err.msg);
		return 1;
	}
	setlocale(LC_CTYPE, "");
	t.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	stop_signal_catch();
	for (round = 0; !failed && !stop_signal() && (!o->rounds || round < o->rounds); round++) {
		if (round)
			sleep_until(rj_monotonic_ns() + (int64_t)o->delay_s * NS_PER_S);
		if (!stop_signal())
			failed = show_all(&t, o->volume ? uuid : NULL);
		if (!t.count && !failed) {
			failed = volumes_none(&err);
			fprintf(stderr, "rjctl: %s\n", err.msg);
		}
	}
	free(t.rows);
	return failed ? 1 : 0;
}
