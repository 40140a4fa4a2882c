// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <time.h>

static void print_time(const char *label, int64_t ns)
{
	time_t t = (time_t)(ns / 1000000000);
	struct tm tm;
	char text[64];

	if (!ns || !gmtime_r(&t, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm);
	printf("%s%s\n", label, text);
}

static void print_plan(const struct rj_recover_report *r, bool verbose)
{
	const struct rj_jbd2_info *p = &r->plan;
	const char *verb = r->outcome == RJ_OUTCOME_WOULD_REPLAY ? "to replay"
								 : "replayed";

	printf("  transactions %s: %" PRIu64 " (tid %u to %u)\n", verb,
		p->transactions, p->first_tid, p->last_tid);
	printf("  blocks %s: %" PRIu64 " (%" PRIu64 " bytes)\n", verb,
		p->blocks, p->blocks * r->block_size);
	if (!verbose)
		return;
	print_time("  first commit: ", p->first_commit_ns);
	print_time("  last commit: ", p->last_commit_ns);
	printf("  copies in the log: %" PRIu64 ", %" PRIu64
	       " superseded, %" PRIu64 " revoked, %" PRIu64 " escaped\n",
		p->tags, p->duplicates, p->suppressed, p->escapes);
	printf("  revoke records: %" PRIu64 "\n", p->revokes);
	printf("  next transaction: %u\n", p->next_tid);
}

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

/* -f: a clean volume was looked at all the same. */
static bool checked_clean(
	const struct options *o, const struct rj_recover_report *r)
{
	return r->outcome == RJ_OUTCOME_CLEAN && o->force && !o->dry_run &&
	       o->verify != RJ_VERIFY_NONE && !r->fsck_status;
}

static void print_text(
	const struct options *o, const struct rj_recover_report *r)
{
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
	if (r->have_plan && !r->plan.empty &&
		(r->outcome == RJ_OUTCOME_REPLAYED ||
			r->outcome == RJ_OUTCOME_WOULD_REPLAY))
		print_plan(r, o->verbose || o->dry_run);
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

static struct json_object *json_plan(const struct rj_recover_report *r)
{
	const struct rj_jbd2_info *p = &r->plan;
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "empty", json_object_new_boolean(p->empty));
	add_u64(o, "transactions", p->transactions);
	add_u64(o, "first_tid", p->first_tid);
	add_u64(o, "last_tid", p->last_tid);
	add_u64(o, "next_tid", p->next_tid);
	add_u64(o, "tags", p->tags);
	add_u64(o, "blocks", p->blocks);
	add_u64(o, "bytes", p->blocks * r->block_size);
	add_u64(o, "duplicates", p->duplicates);
	add_u64(o, "revokes", p->revokes);
	add_u64(o, "revoked", p->suppressed);
	add_u64(o, "escapes", p->escapes);
	json_object_object_add(
		o, "wrapped", json_object_new_boolean(p->wrapped));
	json_object_object_add(o, "first_commit_ns",
		json_object_new_int64(p->first_commit_ns));
	json_object_object_add(
		o, "last_commit_ns", json_object_new_int64(p->last_commit_ns));
	if (p->damage != RJ_JBD2_SOUND)
		json_object_object_add(
			o, "damage", json_object_new_string(p->damage_text));
	return o;
}

static void print_json(const struct options *o,
	const struct rj_recover_report *r, const char *message)
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
	if (r->placement)
		json_object_object_add(top, "placement",
			json_object_new_string(
				rj_placement_name(r->placement)));
	if (r->placement == RJ_PLACE_REMOTE && r->url[0])
		json_object_object_add(top, "log", json_log(r));
	if (r->have_plan)
		json_object_object_add(top, "plan", json_plan(r));
	if (message)
		json_object_object_add(
			top, "error", json_object_new_string(message));
	puts(json_object_to_json_string_ext(
		top, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}

int report_print(const struct options *o, const struct rj_recover_report *r,
	const char *message)
{
	if (o->json)
		print_json(o, r, message);
	else if (!message || r->outcome == RJ_OUTCOME_WOULD_REFUSE)
		print_text(o, r);
	return fflush(stdout) || ferror(stdout) ? -1 : 0;
}
