// SPDX-License-Identifier: GPL-2.0-or-later
/* rjlog show: what a replay of the log would bring back. */
#include <inttypes.h>
#include <stdio.h>

#include "journal.h"
#include "print.h"

static int step(void *arg, uint64_t done, uint64_t total)
{
	progress_step(arg, done, total);
	return 0;
}

static void transaction_text(void *arg, const struct rj_jbd2_transaction *t)
{
	char when[64];

	printf("  tid %u  %s  blocks %u  revokes %u  at block %u\n", t->tid,
		time_text(t->commit_ns, when), t->tags, t->revokes,
		t->first_block);
}

static void print_text(const struct options *o, const struct target *t,
	const struct rj_log_summary *sum, const struct rj_jbd2_plan *plan)
{
	const struct rj_jbd2_info *p = rj_jbd2_plan_info(plan);
	char when[64];

	printf("%s\n", t->text);
	printf("  segments %" PRIu64 " to %" PRIu64 ", %" PRIu64
	       " read from %" PRIu64 " on, %" PRIu64 " bytes, epoch %" PRIu64
	       "\n",
		sum->first, sum->last, sum->segments, sum->start, sum->bytes,
		sum->tail.epoch);
	if (p->empty) {
		printf("  nothing to replay; next transaction: %u\n",
			p->next_tid);
		return;
	}
	printf("  transactions to replay: %" PRIu64 " (tid %u to %u)\n",
		p->transactions, p->first_tid, p->last_tid);
	printf("  blocks to replay: %" PRIu64 " (%" PRIu64 " bytes)\n",
		p->blocks, p->blocks * p->sb.block_size);
	printf("  first commit: %s\n", time_text(p->first_commit_ns, when));
	printf("  last commit: %s\n", time_text(p->last_commit_ns, when));
	printf("  copies in the log: %" PRIu64 ", %" PRIu64
	       " superseded, %" PRIu64 " revoked, %" PRIu64 " escaped\n",
		p->tags, p->duplicates, p->suppressed, p->escapes);
	printf("  revoke records: %" PRIu64 "\n", p->revokes);
	printf("  next transaction: %u\n", p->next_tid);
	if (o->verbose)
		rj_jbd2_plan_each(plan, transaction_text, NULL);
}

static void transaction_json(void *arg, const struct rj_jbd2_transaction *t)
{
	struct json_object *o = json_object_new_object();

	add_u64(o, "tid", t->tid);
	json_object_object_add(
		o, "commit_ns", json_object_new_int64(t->commit_ns));
	add_u64(o, "tags", t->tags);
	add_u64(o, "revokes", t->revokes);
	add_u64(o, "first_block", t->first_block);
	json_object_array_add(arg, o);
}

/* The same names as in rjrecover --json. */
static struct json_object *plan_json(
	const struct options *opts, const struct rj_jbd2_plan *plan)
{
	const struct rj_jbd2_info *p = rj_jbd2_plan_info(plan);
	struct json_object *o = json_object_new_object(), *list;

	json_object_object_add(o, "empty", json_object_new_boolean(p->empty));
	add_u64(o, "transactions", p->transactions);
	add_u64(o, "first_tid", p->first_tid);
	add_u64(o, "last_tid", p->last_tid);
	add_u64(o, "next_tid", p->next_tid);
	add_u64(o, "tags", p->tags);
	add_u64(o, "blocks", p->blocks);
	add_u64(o, "bytes", p->blocks * p->sb.block_size);
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
	if (p->damage)
		add_text(o, "damage", p->damage_text);
	if (opts->verbose) {
		list = json_object_new_array();
		rj_jbd2_plan_each(plan, transaction_json, list);
		json_object_object_add(o, "list", list);
	}
	return o;
}

static void print_as_json(const struct options *o, const struct target *t,
	const struct rj_log_summary *sum, const struct rj_jbd2_plan *plan,
	const char *message)
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
		json_object_object_add(top, "plan", plan_json(o, plan));
	if (message)
		add_text(top, "error", message);
	print_json(top);
}

enum status run_show(const struct options *o, struct target *t)
{
	struct progress progress;
	struct rj_log_read_opts ro = {
		.progress = step, .progress_arg = &progress};
	struct rj_log_summary sum;
	struct journal j = {0};
	enum status status;
	struct rj_error err = {0};
	int rc;

	progress_init(&progress, o->quiet);
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
	if (o->json)
		print_as_json(o, t, &sum, j.plan, rc ? err.msg : NULL);
	else if (j.plan && !o->quiet)
		print_text(o, t, &sum, j.plan);
	journal_free(&j);
	return status;
}
