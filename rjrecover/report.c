// SPDX-License-Identifier: GPL-2.0-or-later
/* Print rjrecover's result, as text or JSON. */
#include "report.h"
#include "tools/json.h"

#include <inttypes.h>
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

static struct json_object *json_log(const struct rj_recover_report *r)
{
	struct json_object *o = json_object_new_object();

	add_text(o, "url", r->url);
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

	add_text(o, "url", r->floor_url);
	add_bool(o, "asked", !r->floor_why[0]);
	if (r->floor_why[0])
		add_text(o, "error", r->floor_why);
	if (!r->floor_why[0])
		add_bool(o, "noted", r->floor_sequence != 0);
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

	add_text(top, "device", o->device);
	add_text(top, "outcome", rj_outcome_name(r->outcome));
	json_object_object_add(
		top, "status", json_object_new_int(r->fsck_status));
	add_bool(top, "needs_recovery", r->needs_recovery);
	add_bool(top, "log_void", r->log_void);
	if (r->epoch)
		add_u64(top, "epoch", r->epoch);
	if (r->orphans_left)
		add_bool(top, "orphans_left", true);
	if (r->placement)
		add_text(top, "placement", rj_placement_name(r->placement));
	if (r->placement == RJ_PLACE_REMOTE && r->url[0])
		json_object_object_add(top, "log", json_log(r));
	if (r->floor_url[0] || r->floor_why[0])
		json_object_object_add(top, "floor", json_floor(r));
	if (r->have_plan)
		json_object_object_add(top, "plan",
			plan_json(&r->plan,
				o->verbose || o->dry_run ? list : NULL));
	if (message)
		add_text(top, "error", message);
	json_show(top, JSON_C_TO_STRING_PRETTY);
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
