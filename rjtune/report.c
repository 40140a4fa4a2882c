// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the result of a change. */
#include <stdio.h>
#include <string.h>

#include "rjtune.h"
#include "tools/json.h"

/* What an error's line ends with: how to go on. */
static const char *way_on(const struct options *o, const struct result *r)
{
	if (r->status == STATUS_PENDING && !r->move.pending)
		return "; rjtune --resume finishes the move, or takes it back";
	if (r->status == STATUS_LOST && o->uuid_given)
		return "; -U needs that journal: if it is lost for good, rjtune --accept-loss -J gives the volume another one";
	if (r->status == STATUS_LOST && o->journal_given && !o->accept_loss &&
		!r->advised)
		return "; if that journal is lost for good, the same command with --accept-loss gives it up, with what was fsynced and is in it alone";
	return "";
}

void report_text(const struct options *o, const struct result *r)
{
	char from[600], to[600], uuid[RJ_UUID_TEXT];

	if (r->failed)
		fprintf(stderr, "rjtune: %s%s\n", r->err.msg, way_on(o, r));
	if (r->moved && r->move.warning[0])
		fprintf(stderr, "rjtune: warning: %s\n", r->move.warning);
	if (r->failed || o->quiet || !r->moved)
		return;
	rj_move_end_text(&r->move.from, from, sizeof(from));
	rj_move_end_text(&r->move.to, to, sizeof(to));
	switch (r->move.outcome) {
	case RJ_MOVED_NOTHING:
		printf("%s: nothing to do (%s)\n", o->device, from);
		break;
	case RJ_MOVED_DONE:
		if (o->resume)
			printf("%s: the move is finished\n", o->device);
		else if (o->journal_given && strcmp(to, from))
			printf("%s: %s, was: %s\n", o->device, to, from);
		else if (o->journal_given)
			printf("%s: %s, where it was\n", o->device, to);
		else if (o->uuid_given)
			printf("%s: the UUID is %s\n", o->device,
				rj_uuid_text(o->uuid, uuid));
		break;
	case RJ_MOVED_ROLLED_BACK:
		printf("%s: the move was taken back (%s)\n", o->device, from);
		break;
	case RJ_MOVED_WOULD:
		printf("%s: nothing was changed (-n)\n", o->device);
		break;
	case RJ_MOVED_UNFINISHED:
		break;
	}
}

static struct json_object *json_end(const struct rj_move_end *e)
{
	struct json_object *o = json_object_new_object();
	char uuid[RJ_UUID_TEXT];

	add_text(o, "placement", rj_placement_name(e->placement));
	if (e->where[0])
		add_text(o, e->placement == RJ_PLACE_REMOTE ? "url" : "device", e->where);
	if (!rj_uuid_is_null(e->uuid))
		add_text(o, "uuid", rj_uuid_text(e->uuid, uuid));
	if (e->blocks)
		add_i64(o, "blocks", e->blocks);
	return o;
}

void report_json(FILE *f, const char *device, const struct result *r, bool one_line)
{
	struct json_object *top = json_object_new_object();

	add_text(top, "device", device);
	json_object_object_add(top, "status", json_object_new_int(r->status));
	add_text(top, "result", status_name(r->status));
	/* not looked at: its place is not known */
	if (r->moved && !(r->failed && r->move.from.placement == RJ_PLACE_NONE &&
			       r->move.to.placement == RJ_PLACE_NONE)) {
		add_text(top, "outcome", rj_move_outcome_name(r->move.outcome));
		json_object_object_add(top, "from", json_end(&r->move.from));
		json_object_object_add(top, "to", json_end(&r->move.to));
		if (r->move.warning[0])
			add_text(top, "warning", r->move.warning);
	}
	if (r->failed)
		add_text(top, "error", r->err.msg);
	fprintf(f, "%s\n", json_object_to_json_string_ext(top, JSON_C_TO_STRING_NOSLASHESCAPE |
		(one_line ? JSON_C_TO_STRING_PLAIN : JSON_C_TO_STRING_PRETTY)));
	json_object_put(top);
}

void report_log(void *arg, enum rj_log_level level, const char *text)
{
	const struct options *o = arg;

	if (level <= (o->quiet ? RJ_LOG_WARNING : RJ_LOG_NOTICE))
		fprintf(stderr, "rjtune: %s\n", text);
}
