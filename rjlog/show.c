// SPDX-License-Identifier: GPL-2.0-or-later
/* rjlog show: what a replay of the log would bring back. */
#include <inttypes.h>
#include <stdio.h>

#include "journal.h"
#include "print.h"
#include "tools/plan.h"

static int step(void *arg, uint64_t done, uint64_t total)
{
	progress_step(arg, done, total);
	return 0;
}

static void print_text(const struct options *o, const struct target *t,
	const struct rj_log_summary *sum,
	const struct rj_jbd2_plan *plan, const struct plan_list *list)
{
	printf("%s\n", t->text);
	printf("  segments %" PRIu64 " to %" PRIu64 ", %" PRIu64
	       " read from %" PRIu64 " on, %" PRIu64 " bytes, epoch %" PRIu64
	       "\n",
		sum->first, sum->last, sum->segments, sum->start, sum->bytes,
		sum->tail.epoch);
	if (o->verbose)
		plan_print_super(&rj_jbd2_plan_info(plan)->sb);
	plan_print(rj_jbd2_plan_info(plan), false, true, list);
}

static void print_as_json(const struct target *t,
	const struct rj_log_summary *sum, const struct rj_jbd2_plan *plan,
	const struct plan_list *list, const char *message)
{
	struct json_object *top = json_object_new_object();
	struct json_object *log = json_object_new_object();

	add_text(log, "url", t->text);
	add_u64(log, "first", sum->first);
	add_u64(log, "last", sum->last);
	add_u64(log, "start", sum->start);
	add_u64(log, "segments", sum->segments);
	add_u64(log, "bytes", sum->bytes);
	add_u64(log, "epoch", sum->tail.epoch);
	add_u64(log, "epochs_claimed", sum->epochs_claimed);
	if (sum->bad_sequence)
		add_u64(log, "bad_segment", sum->bad_sequence);
	json_object_object_add(top, "log", log);
	if (plan)
		json_object_object_add(top, "plan",
			plan_json(rj_jbd2_plan_info(plan), list));
	if (message)
		add_text(top, "error", message);
	json_show(top, JSON_C_TO_STRING_PRETTY);
}

enum status run_show(const struct options *o, struct target *t)
{
	struct progress progress;
	struct rj_log_read_opts ro = {
		.progress = step, .progress_arg = &progress};
	struct rj_log_summary sum;
	struct journal j = {0};
	struct plan_list list = {0};
	enum status status;
	struct rj_error err = {0};
	int rc;

	progress_init(&progress, o, t->text);
	rc = rj_log_read(t->store, &t->id, &ro, journal_take, &j, &sum, &err);
	progress_clear(&progress);
	if (!rc)
		rc = journal_scan(&j, t, &err);
	if (!rc && rj_jbd2_plan_info(j.plan)->damage)
		rc = rj_fail(&err, RJ_E_CORRUPT,
			"%s: the journal is damaged: %s (only what comes "
			"before is shown)",
			t->text, rj_jbd2_plan_info(j.plan)->damage_text);
	status = status_of(rc);
	if (rc)
		complain(err.msg);
	if (j.plan)
		plan_list_take(&list, j.plan);
	if (o->json)
		print_as_json(t, &sum, j.plan, &list, rc ? err.msg : NULL);
	else if (j.plan && !o->quiet)
		print_text(o, t, &sum, j.plan, &list);
	plan_list_free(&list);
	journal_free(&j);
	return status;
}
