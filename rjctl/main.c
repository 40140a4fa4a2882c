// SPDX-License-Identifier: GPL-2.0-or-later
/* rjctl: ask or tell a running rjournald. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "dead-daemon.h"
#include "rjctl/journal-data/journal-data.h"
#include "mark.h"
#include "move.h"
#include "options.h"
#include "os/rundir.h"
#include "status.h"
#include "top.h"
#include "tools/ask-daemon.h"
#include "tools/drill-state.h"
#include "tools/json.h"
#include "util/environ.h"
#include "volume.h"

#define STATUS_MS 5000
#define FLUSH_MS  60000
#define SAVE_MS	  600000
#define GONE_NS   10000000000LL
#define TICK_NS   5000000LL

static int fail(const struct rj_ctl_options *o, const struct rj_error *err)
{
	fprintf(stderr, "rjctl: %s\n", err->msg);
	if (o->json)
		json_show_error(o->volume ? "device" : NULL, o->volume, err->msg);
	return 1;
}

static void print_json(struct json_object *json)
{
	printf("%s\n", json_object_to_json_string_ext(json,
				JSON_C_TO_STRING_PLAIN |
					JSON_C_TO_STRING_NOSLASHESCAPE));
}

/* False: the volume UUID is not one whose daemon died. */
static bool show_dead(
	const struct rj_ctl_options *o, const uint8_t uuid[RJ_UUID_BYTES])
{
	struct json_object *json = dead_status(uuid);

	if (!json)
		return false;
	if (o->json)
		print_json(json);
	else
		dead_print(json);
	json_object_put(json);
	return true;
}

static int show_status(const struct rj_ctl_options *o,
	const uint8_t uuid[RJ_UUID_BYTES], const char *answer)
{
	struct json_object *json = json_tokener_parse(answer), *part;
	char held[RJ_HOLDER_TEXT];
	struct rj_holder h;

	if (!json) {
		fprintf(stderr, "rjctl: rjournald's answer is malformed\n");
		return 1;
	}
	if (volume_held(uuid, &h))
		add_text(json, "held", rj_holder_text(&h, held));
	part = base_state(uuid, json_object_get_string(json_object_object_get(json, "store")));
	if (part)
		json_object_object_add(json, "base", part);
	part = drill_state(uuid);
	if (part)
		json_object_object_add(json, "drill", part);
	if (o->json)
		print_json(json);
	else
		status_print(json);
	json_object_put(json);
	return 0;
}

static int wait_gone(const uint8_t uuid[RJ_UUID_BYTES])
{
	int64_t end = rj_monotonic_ns() + GONE_NS;

	while (rj_rundir_served(uuid)) {
		if (rj_monotonic_ns() > end) {
			fprintf(stderr,
				"rjctl: rjournald is still stopping; it ends "
				"when its store has everything\n");
			return 1;
		}
		rj_sleep_ns(TICK_NS);
	}
	return 0;
}

/* NULL: no answer. */
static struct json_object *ask_status(const uint8_t uuid[RJ_UUID_BYTES])
{
	struct json_object *json;

	daemon_status(uuid, STATUS_MS, &json, NULL);
	return json;
}

/* How many workers were started after the first; -1: no answer. */
static int64_t count_restarts(const uint8_t uuid[RJ_UUID_BYTES])
{
	struct json_object *json = ask_status(uuid), *value;
	int64_t n = -1;

	if (json && json_object_object_get_ex(json, "restarts", &value))
		n = json_object_get_int64(value);
	json_object_put(json);
	return n;
}

static void show_metrics(const uint8_t uuid[RJ_UUID_BYTES], const char *answer, bool heads)
{
	struct json_object *status, *base = base_state(uuid, NULL);

	metrics_print(answer, heads);
	if (!base)
		return;
	json_object_put(base);
	status = ask_status(uuid);
	base = base_state(uuid, json_object_get_string(json_object_object_get(status, "store")));
	base_metrics_print(base, uuid);
	json_object_put(base);
	json_object_put(status);
}

static int wait_restarted(const uint8_t uuid[RJ_UUID_BYTES], int64_t before)
{
	int64_t end = rj_monotonic_ns() + GONE_NS;

	while (count_restarts(uuid) <= before) {
		if (rj_monotonic_ns() > end) {
			fprintf(stderr,
				"rjctl: no new rjournald is there yet; see the system's log\n");
			return 1;
		}
		rj_sleep_ns(TICK_NS);
	}
	return 0;
}

static bool is_move(const struct rj_ctl_options *o)
{
	return !strcmp(o->command, "move") || !strcmp(o->command, "reseed");
}

static int wait_moved(const struct rj_ctl_options *o, const uint8_t uuid[RJ_UUID_BYTES])
{
	struct rj_error err;

	if (!move_wait(uuid, &err))
		return 0;
	if (o->volume)
		rj_fail_prefix(&err, "%s", o->volume);
	return fail(o, &err);
}

/* What is sent for the command. */
static int request(const struct rj_ctl_options *o, const uint8_t uuid[RJ_UUID_BYTES],
	struct rj_buf *out, struct rj_error *err)
{
	if (is_move(o))
		return move_request(o, uuid, out, err);
	return rj_buf_printf(out, "%s%s%s%s%s%s", o->command, o->force ? " --force" : "",
		       o->save ? " --save=" : "", o->save ? o->save : "",
		       o->accept_loss ? " --accept-loss" : "", o->prefer ? " " : "") ||
			       (o->prefer && rj_buf_printf(out, "%s", o->prefer))
		       ? rj_fail(err, RJ_E_NOMEM, "out of memory")
		       : 0;
}

/* "busy: WHY" or "error: WHY"; without a volume named, several may run. */
static int refused(const struct rj_ctl_options *o,
	const uint8_t uuid[RJ_UUID_BYTES], const char *answer)
{
	static const char *const kinds[] = {"busy: ", "error: "};
	char text[RJ_UUID_TEXT], held[RJ_HOLDER_TEXT];
	struct rj_holder h;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(answer, kinds[i], strlen(kinds[i]))) {
			answer += strlen(kinds[i]);
			break;
		}
	if (!strcmp(o->command, "stop") && volume_held(uuid, &h))
		answer = rj_holder_text(&h, held);
	fprintf(stderr, "rjctl: %s: %s\n",
		o->volume ? o->volume : rj_uuid_text(uuid, text), answer);
	return 1;
}

static void print_done(const struct rj_ctl_options *o, const char *device)
{
	const char *what = !strcmp(o->command, "flush")	    ? "flushed"
			   : !strcmp(o->command, "move")    ? "moved"
			   : !strcmp(o->command, "reseed")  ? "reseeded"
			   : !strcmp(o->command, "restart") ? "restarted"
			   : o->prefer			    ? o->prefer
							    : "stopped";

	if (o->json) {
		struct json_object *json = json_object_new_object();

		add_text(json, "device", device);
		add_text(json, "done", what);
		print_json(json);
		json_object_put(json);
		return;
	}
	/* scripts that name the volume look for the word alone */
	if (o->volume)
		printf("%s\n", what);
	else
		printf("%s: %s\n", device, what);
}

/* SAVED: "saved DIR". */
static void say_saved(const char *device, const char *saved)
{
	fprintf(stderr,
		"rjctl: the journal of %s is saved in %s: unmount the volume, then rjrecover --from=%s %s\n",
		device, saved + strlen("saved "), saved + strlen("saved "), device);
}

/* HEADS: metrics come with their types and helps, which are said once. */
static int ask_one(const struct rj_ctl_options *o,
	const uint8_t uuid[RJ_UUID_BYTES], bool heads)
{
	bool status = !strcmp(o->command, "status");
	bool metrics = !strcmp(o->command, "metrics");
	bool flush = !strcmp(o->command, "flush");
	bool restart = !strcmp(o->command, "restart");
	int64_t before = restart ? count_restarts(uuid) : 0;
	char device[PATH_MAX] = "";
	struct rj_buf line = {0}, answer = {0};
	struct rj_error err;
	long pid;
	int rc;

	rj_rundir_left(uuid, &pid, device, sizeof(device));
	if (status && show_dead(o, uuid))
		return 1;
	if (request(o, uuid, &line, &err) ||
		rj_rundir_ask(uuid, (char *)line.data,
			flush	   ? FLUSH_MS
			: o->force ? SAVE_MS
				   : STATUS_MS,
			&answer, &err)) {
		if (o->volume)
			rj_fail_prefix(&err, "%s", o->volume);
		rc = fail(o, &err);
	} else if (status) {
		rc = show_status(o, uuid, (char *)answer.data);
	} else if (metrics && answer.data[0] == '#') {
		show_metrics(uuid, (char *)answer.data, heads);
		rc = 0;
	} else if (strncmp((char *)answer.data, "ok", 2) != 0) {
		rc = refused(o, uuid, (char *)answer.data);
	} else {
		rc = flush || o->prefer ? 0
		     : restart		? wait_restarted(uuid, before)
		     : is_move(o)	? wait_moved(o, uuid)
					: wait_gone(uuid);
		if (strlen((char *)answer.data) > 2)
			say_saved(device, (char *)answer.data + 3);
		if (!rc && !o->quiet)
			print_done(o, device);
	}
	rj_buf_free(&line);
	rj_buf_free(&answer);
	return rc;
}

struct asking {
	const struct rj_ctl_options *o;
	int count, rc;
};

static void ask_served(void *arg, const uint8_t uuid[RJ_UUID_BYTES])
{
	struct asking *a = arg;

	if (!rj_rundir_served(uuid)) {
		if (!strcmp(a->o->command, "status") && show_dead(a->o, uuid)) {
			a->rc = 1;
			a->count++;
		}
		return;
	}
	if (ask_one(a->o, uuid, !a->count))
		a->rc = 1;
	a->count++;
}

static int ask_all(const struct rj_ctl_options *o)
{
	struct asking a = {.o = o};
	struct rj_error err;

	volumes_here(ask_served, &a);
	if (a.count)
		return a.rc;
	volumes_none(&err);
	return fail(o, &err);
}

int main(int argc, char **argv)
{
	uint8_t uuid[RJ_UUID_BYTES];
	struct rj_ctl_options o;
	struct rj_error err;
	int status = 0;

	switch (rj_ctl_options_parse(argc, argv, &o)) {
	case OPTIONS_BAD:
		return 2;
	case OPTIONS_DONE:
		break;
	case OPTIONS_RUN:
		if (!strcmp(o.command, "mark"))
			status = mark(&o);
		else if (!strcmp(o.command, "check"))
			status = check_volumes(o.volumes, o.count);
		else if (!strcmp(o.command, "top"))
			status = top(&o);
		else if (o.verb)
			status = journal_data(o.verb, o.volume);
		else if (!o.volume)
			status = ask_all(&o);
		else if (volume_uuid(o.volume, uuid, &err))
			status = fail(&o, &err);
		else
			status = ask_one(&o, uuid, true);
	}
	if (fflush(stdout) && !status)
		status = 1;
	return status;
}
