// SPDX-License-Identifier: GPL-2.0-or-later
/* Print rjrecover's result, as text or JSON. */
#include "report.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>


static const char *sentence(enum rj_outcome o)
{
	switch (o) {
	case RJ_OUTCOME_CLEAN:
		return "clean, nothing to recover";
	case RJ_OUTCOME_REPLAYED:
		return "recovered from its journal";
	case RJ_OUTCOME_RESET:
		return "nothing to replay, marked clean";
	case RJ_OUTCOME_FSCK:
		return "checked as a whole by e2fsck, and verified; the log was not replayed";
	case RJ_OUTCOME_WOULD_REPLAY:
		return "needs recovery; nothing was changed (-n)";
	case RJ_OUTCOME_WOULD_RESET:
		return "nothing to replay, would be marked clean; nothing was changed (-n)";
	case RJ_OUTCOME_WOULD_REFUSE:
		return "cannot be recovered from its log; nothing was changed (-n)";
	case RJ_OUTCOME_FAILED:
		break;
	}
	return "failed";
}

/* -f: a clean volume was looked at nevertheless. */
static bool checked_clean(
	const struct options *o, const struct rj_recover_report *r)
{
	return r->outcome == RJ_OUTCOME_CLEAN && o->force && !o->dry_run &&
	       o->verify != RJ_VERIFY_NONE && !r->fsck_status &&
	       !(o->verify == RJ_VERIFY_FULL && r->orphans_left);
}

/* Is the plan what was done, or what would be? */
static bool plan_counts(const struct rj_recover_report *r)
{
	return r->have_plan && (r->outcome == RJ_OUTCOME_REPLAYED ||
				       r->outcome == RJ_OUTCOME_WOULD_REPLAY ||
				       (r->outcome == RJ_OUTCOME_WOULD_REFUSE &&
					       r->plan.damage));
}

static void print_text(const struct options *o,
	const struct rj_recover_report *r, const struct plan_list *list)
{
	bool full = o->verbose || o->dry_run;

	if (o->quiet)
		return;
	printf("%s: %s%s\n", o->device, sentence(r->outcome),
		checked_clean(o, r) ? "; checked, no errors" : "");
	if (r->placement != RJ_PLACE_REMOTE &&
		r->outcome != RJ_OUTCOME_CLEAN && r->url[0])
		printf("  log: %s\n", r->url);
	else if (r->log.segments && r->outcome != RJ_OUTCOME_CLEAN)
		printf("  log: %s, segments %" PRIu64 " to %" PRIu64
		       ", %" PRIu64 " read, %" PRIu64 " bytes\n",
			r->url, r->log.first, r->log.last, r->log.segments,
			r->log.bytes);
	if (r->epoch && o->verbose)
		printf("  epoch claimed: %" PRIu64 "\n", r->epoch);
	if (plan_counts(r) && o->verbose)
		plan_print_super(&r->plan.sb);
	if (plan_counts(r) && !r->plan.empty)
		plan_print(&r->plan, r->outcome == RJ_OUTCOME_REPLAYED, full,
			full ? list : NULL);
}

static void add_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

static struct json_object *json_log(const struct rj_recover_report *r)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "url", json_object_new_string(r->url));
	add_u64(o, "first", r->log.first);
	add_u64(o, "last", r->log.last);
	add_u64(o, "start", r->log.start);
	add_u64(o, "segments", r->log.segments);
	add_u64(o, "bytes", r->log.bytes);
	add_u64(o, "epochs_claimed", r->log.epochs_claimed);
	if (r->log.bad_sequence)
		add_u64(o, "bad_segment", r->log.bad_sequence);
	return o;
}

static struct json_object *json_floor(const struct rj_recover_report *r)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(
		o, "url", json_object_new_string(r->floor_url));
	json_object_object_add(
		o, "asked", json_object_new_boolean(!r->floor_why[0]));
	if (r->floor_why[0])
		json_object_object_add(
			o, "error", json_object_new_string(r->floor_why));
	if (!r->floor_why[0])
		json_object_object_add(o, "noted",
			json_object_new_boolean(r->floor_sequence != 0));
	if (r->floor_sequence) {
		add_u64(o, "epoch", r->floor_epoch);
		add_u64(o, "segment", r->floor_sequence);
	}
	return o;
}

static void print_json(const struct options *o,
	const struct rj_recover_report *r, const struct plan_list *list,
	const char *message)
{
	struct json_object *top = json_object_new_object();

	json_object_object_add(
		top, "device", json_object_new_string(o->device));
	json_object_object_add(top, "outcome",
		json_object_new_string(rj_outcome_name(r->outcome)));
	json_object_object_add(
		top, "status", json_object_new_int(r->fsck_status));
	json_object_object_add(top, "needs_recovery",
		json_object_new_boolean(r->needs_recovery));
	json_object_object_add(
		top, "log_void", json_object_new_boolean(r->log_void));
	if (r->epoch)
		add_u64(top, "epoch", r->epoch);
	if (r->orphans_left)
		json_object_object_add(
			top, "orphans_left", json_object_new_boolean(true));
	if (r->placement)
		json_object_object_add(top, "placement",
			json_object_new_string(
				rj_placement_name(r->placement)));
	if (r->placement == RJ_PLACE_REMOTE && r->url[0])
		json_object_object_add(top, "log", json_log(r));
	if (r->floor_url[0] || r->floor_why[0])
		json_object_object_add(top, "floor", json_floor(r));
	if (r->have_plan)
		json_object_object_add(top, "plan",
			plan_json(&r->plan,
				o->verbose || o->dry_run ? list : NULL));
	if (message)
		json_object_object_add(
			top, "error", json_object_new_string(message));
	puts(json_object_to_json_string_ext(
		top, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}

int report_print(const struct options *o, const struct rj_recover_report *r,
	const struct plan_list *list, const char *message)
{
	if (o->json)
		print_json(o, r, list, message);
	else if (!message || r->outcome == RJ_OUTCOME_WOULD_REFUSE)
		print_text(o, r, list);
	return fflush(stdout) || ferror(stdout) ? -1 : 0;
}
