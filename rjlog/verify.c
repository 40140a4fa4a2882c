// SPDX-License-Identifier: GPL-2.0-or-later
/* rjlog verify: what check.c found. */
#include <inttypes.h>
#include <stdio.h>

#include "check.h"
#include "print.h"

static const char *verdict(const struct check *c)
{
	if (!c->count && c->headers)
		return "its headers are good; the rest is encrypted, and was "
		       "not checked: no key";
	if (!c->count)
		return "good";
	return c->live_bad ? "not good, and a replay needs what is bad"
			   : "not good, but all that a replay needs is good";
}

static void print_text(const struct check *c)
{
	const struct rj_jbd2_info *p;

	printf("%s: segments %" PRIu64 " to %" PRIu64 ", %" PRIu64
	       " read, %" PRIu64 " bytes, %" PRIu64 " epoch%s",
		c->t->text, c->listing.first, c->listing.last, c->done,
		c->bytes, c->epochs, plural(c->epochs));
	if (c->trimmed)
		printf(", %" PRIu64 " trimmed", c->trimmed);
	if (c->oldest)
		printf("; a replay begins at %" PRIu64, c->oldest);
	if (c->have_plan) {
		p = rj_jbd2_plan_info(c->journal.plan);
		printf(", %" PRIu64 " transaction%s", p->transactions,
			plural(p->transactions));
	}
	printf(": %s\n", verdict(c));
}

static void print_as_json(struct check *c, const char *error)
{
	struct json_object *top = json_object_new_object();

	add_text(top, "url", c->t->text);
	add_bool(top, "good", c->status == STATUS_GOOD);
	add_bool(top, "replay_good", !c->live_bad && !c->headers && c->status != STATUS_FAILED);
	json_object_object_add(
		top, "status", json_object_new_int((int)c->status));
	add_u64(top, "first", c->listing.first);
	add_u64(top, "last", c->listing.last);
	add_u64(top, "oldest", c->oldest);
	add_u64(top, "segments", c->done);
	add_u64(top, "bytes", c->bytes);
	add_u64(top, "epochs", c->epochs);
	add_u64(top, "trimmed", c->trimmed);
	add_bool(top, "headers_only", c->headers != 0);
	if (c->have_plan)
		add_u64(top, "transactions",
			rj_jbd2_plan_info(c->journal.plan)->transactions);
	json_object_object_add(top, "problems", json_object_get(c->problems));
	if (error)
		add_text(top, "error", error);
	json_show(top, JSON_C_TO_STRING_PRETTY);
}

enum status run_verify(const struct options *o, struct target *t)
{
	struct progress progress;
	struct check c = {.t = t, .progress = &progress};
	struct rj_error err;
	enum status status;

	progress_init(&progress, o, t->text);
	status = check_log(&c, &err);
	if (o->json)
		print_as_json(&c, c.failed ? err.msg : NULL);
	else if (!c.failed && !o->quiet)
		print_text(&c);
	check_free(&c);
	return status;
}
