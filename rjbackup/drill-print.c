// SPDX-License-Identifier: GPL-2.0-or-later
/* Print what came of a drill, as text or JSON. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

#include "drill.h"
#include "print.h"

#define NS_PER_S 1e9

static void print_text(const struct drill *d)
{
	const struct looked *l = d->looked;
	char text[RJ_MOMENT_TEXT];

	printf("%s: %s: restored as of %s, segment %" PRIu64 ", %" PRIu64 " bytes\n",
		d->o->base, d->rc ? "FAILED" : "ok", rj_place_text(&d->report.reached, text),
		d->report.reached.segment, d->bytes);
	if (d->rpo_ns >= 0)
		printf("  RPO: %.2f s, %s\n", (double)d->rpo_ns / NS_PER_S,
			d->report.later ? "the age of that commit"
					: "as the log has nothing that is later");
	printf("  RTO: %.2f s, until it was checked and mounted\n",
		(double)d->rto_ns / NS_PER_S);
	if (d->o->compare)
		printf("  compared: %" PRIu64 " the same, %" PRIu64 " differ, %" PRIu64
		       " changed since\n",
			l->files.same, l->files.different, l->files.newer);
	if (d->o->exec)
		printf("  command: status %d\n", l->exec_status);
}

static void add_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

static void add_seconds(struct json_object *o, const char *key, int64_t ns)
{
	json_object_object_add(o, key, json_object_new_double((double)ns / NS_PER_S));
}

static void print_json(const struct drill *d)
{
	struct json_object *o = json_object_new_object();
	const struct looked *l = d->looked;

	json_object_object_add(o, "ok", json_object_new_boolean(!d->rc));
	if (d->rc)
		json_object_object_add(o, "error", json_object_new_string(d->err.msg));
	if (d->rto_ns) {
		add_u64(o, "segment", d->report.reached.segment);
		add_u64(o, "commit_ns", (uint64_t)d->report.reached.time_ns);
		if (d->rpo_ns >= 0)
			add_seconds(o, "rpo_seconds", d->rpo_ns);
		add_seconds(o, "rto_seconds", d->rto_ns);
		add_u64(o, "bytes", d->bytes);
		add_u64(o, "same", l->files.same);
		add_u64(o, "different", l->files.different);
		add_u64(o, "changed_since", l->files.newer);
		if (d->o->exec)
			json_object_object_add(o, "exec_status",
				json_object_new_int(l->exec_status));
	}
	puts(json_object_to_json_string_ext(
		o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

void drill_print(const struct drill *d)
{
	if (d->rc)
		complain(d->err.msg);
	if (d->o->json)
		print_json(d);
	else if (d->rto_ns)
		print_text(d);
}
