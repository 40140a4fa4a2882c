// SPDX-License-Identifier: GPL-2.0-or-later
/* Print rjbackup's results, as text or JSON, and its errors. */
#include "print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kept.h"
#include "text/when.h"
#include "tools/json.h"

void complain(const char *msg)
{
	fprintf(stderr, "rjbackup: %s\n", msg);
}

const char *ended_why(const struct rj_history_report *r, int rc, const struct rj_error *err)
{
	if (r->break_why[0])
		return r->break_why;
	return rc == -RJ_E_GAP ? err->msg : NULL; /* trimmed: no hold kept it */
}

static void print_place(const char *what, const struct rj_history_place *p)
{
	char text[RJ_WHEN_TEXT];

	printf("  %s %s, segment %" PRIu64, what, rj_place_text(p, text), p->segment);
	if (p->time_ns)
		printf(", transaction %" PRIu32, p->tid);
	printf("\n");
}

/* Those between the first moment and the last one. */
static void show_marks(const struct result *r, struct json_object *all)
{
	const struct rj_history_report *h = &r->report;
	struct rj_point p;
	size_t i;

	for (i = 0; i < r->marks.len; i += sizeof(p)) {
		memcpy(&p, r->marks.data + i, sizeof(p));
		if (p.segment >= h->earliest.segment && p.segment <= h->reached.segment)
			mark_show(&p, false, all);
	}
}

static void print_ls(const struct result *r)
{
	const struct rj_history_report *h = &r->report;
	char uuid[RJ_UUID_TEXT];

	printf("%s: base of volume %s, %" PRIu64 " blocks of %" PRIu32 " bytes, log at %s\n",
		r->o->base, rj_uuid_text(r->facts.uuid, uuid), r->facts.blocks,
		r->facts.block_size, r->o->url ? r->o->url : r->facts.sbx.url);
	print_place("earliest:", &h->earliest);
	print_place("latest:  ", &h->reached);
	printf("  %" PRIu64 " transactions, %" PRIu64 " segments, %" PRIu64 " bytes\n",
		h->transactions, h->segments, h->bytes);
	if (h->break_why[0])
		printf("  no later: after segment %" PRIu64 ": %s\n",
			h->break_segment, h->break_why);
	kept_show_base(&r->kept, NULL);
	kept_show_rate(&r->kept, NULL);
	show_marks(r, NULL);
}

static void print_hold(const struct rj_hold *h)
{
	char until[RJ_WHEN_TEXT];

	if (h->number)
		printf("hold %" PRIu64 " keeps the log from segment %" PRIu64 " on until %s\n",
			h->number, h->first,
			rj_when_seconds(h->until, until));
}

static void print_cost(const struct result *r)
{
	const struct kept *k = &r->kept;
	uint64_t seconds = r->o->hold ? r->o->hold : k->retain_s;

	printf("%s: a base can be made\n", r->o->dir);
	kept_show_rate(k, NULL);
	kept_show_cost(k, seconds, NULL);
}

/* "#N" of a base at a store */
static const char *number_text(const struct rj_base_facts *f, char out[32])
{
	snprintf(out, 32, "#%" PRIu64, f->number);
	return f->number ? out : "";
}

/* The time that --at was understood as. */
static void print_asked(const struct options *o)
{
	char text[RJ_WHEN_TEXT];

	if (o->at.kind == RJ_AT_TIME)
		printf("; asked for %s", rj_when_text(o->at.time_ns, text));
}

static void print_text(const struct result *r)
{
	const struct options *o = r->o;
	char text[RJ_WHEN_TEXT], number[32];

	switch (o->command) {
	case COMMAND_LS:
		print_ls(r);
		break;
	case COMMAND_BASE:
		if (o->dry_run)
			print_cost(r);
		else
			printf("%s%s: base of %s, whole at segment %" PRIu64 ", %s, %" PRIu64 " of %" PRIu64 " bytes read\n",
				o->out, number_text(&r->facts, number), o->dir,
				r->facts.record.whole, rj_place_text(&r->report.earliest, text),
				r->facts.copied.read,
				r->facts.blocks * r->facts.block_size);
		print_hold(&r->facts.hold);
		break;
	case COMMAND_EXPIRE: /* has no such result */
		break;
	case COMMAND_RESTORE:
		printf("%s: %s as of %s, segment %" PRIu64 ", %" PRIu64 " transactions after the base",
			o->out, o->dry_run ? "would be" : "restored",
			rj_place_text(&r->report.reached, text),
			r->report.reached.segment, r->report.transactions);
		print_asked(o);
		printf("\n");
		break;
	case COMMAND_MOUNT:
		printf("%s: %s as of %s, segment %" PRIu64
		       ", %" PRIu64 " transactions after the base",
			o->dir, o->writable ? "a writable clone" : "mounted",
			rj_place_text(&r->report.reached, text), r->report.reached.segment,
			r->report.transactions);
		print_asked(o);
		printf(" (umount %s ends it)\n", o->dir);
		break;
	case COMMAND_DRILL: /* drill.c */
	case COMMAND_FOLLOW: /* follow.c */
	case COMMAND_FOLD:
	case COMMAND_PROMOTE:
	case COMMAND_BISECT: /* bisect.c */
	case COMMAND_DIFF: /* changes/ */
	case COMMAND_UNDELETE:
	case COMMAND_LOG:
	case COMMAND_FIND:
		break;
	}
}

void place_print(const char *what, const struct rj_history_place *p)
{
	char when[RJ_WHEN_TEXT];

	printf("%s: segment %" PRIu64 ", transaction %u, as of %s\n", what, p->segment, p->tid,
		rj_place_text(p, when));
}

struct json_object *place_json(const struct rj_history_place *p)
{
	struct json_object *o = json_object_new_object();
	char text[RJ_WHEN_TEXT];

	add_u64(o, "segment", p->segment);
	if (p->time_ns) {
		add_u64(o, "tid", p->tid);
		add_u64(o, "commit_ns", (uint64_t)p->time_ns);
		add_text(o, "commit", rj_when_rfc3339(p->time_ns, text));
	}
	return o;
}

static void add_marks(const struct result *r, struct json_object *top)
{
	struct json_object *all = json_object_new_array();

	json_object_object_add(top, "marks", all);
	show_marks(r, all);
}

static void print_json(const struct result *r)
{
	struct json_object *top = json_object_new_object();
	const struct rj_history_report *h = &r->report;
	char uuid[RJ_UUID_TEXT], text[RJ_WHEN_TEXT];

	if (r->rc)
		add_text(top, "error", r->err.msg);
	if (r->facts.blocks) {
		add_text(top, "volume", rj_uuid_text(r->facts.uuid, uuid));
		add_text(top, "url",
			r->o->url ? r->o->url : r->facts.sbx.url);
	}
	if (r->o->at.kind == RJ_AT_TIME)
		add_text(top, "asked", rj_when_rfc3339(r->o->at.time_ns, text));
	if (h->earliest.segment) {
		json_object_object_add(top, "earliest", place_json(&h->earliest));
		json_object_object_add(top, "reached", place_json(&h->reached));
	}
	if (r->facts.number)
		add_u64(top, "base", r->facts.number);
	if (r->facts.hold.number) {
		add_u64(top, "hold", r->facts.hold.number);
		add_u64(top, "hold_first", r->facts.hold.first);
		add_u64(top, "hold_until", (uint64_t)r->facts.hold.until);
	}
	if (r->o->command == COMMAND_BASE) {
		add_u64(top, "volume_bytes", r->facts.blocks * r->facts.block_size);
		add_u64(top, "read_bytes", r->facts.copied.read);
		add_u64(top, "base_bytes", r->facts.copied.written);
	}
	add_u64(top, "transactions", h->transactions);
	add_u64(top, "segments", h->segments);
	add_u64(top, "bytes", h->bytes);
	if (h->break_why[0]) {
		add_u64(top, "break_segment", h->break_segment);
		add_text(top, "break", h->break_why);
	}
	if (r->o->command == COMMAND_LS && !r->rc) {
		kept_show_base(&r->kept, top);
		kept_show_rate(&r->kept, top);
		add_marks(r, top);
	}
	if (r->o->command == COMMAND_BASE && !r->rc && r->o->dry_run) {
		kept_show_rate(&r->kept, top);
		kept_show_cost(&r->kept, r->o->hold ? r->o->hold : r->kept.retain_s, top);
	}
	json_show(top, JSON_C_TO_STRING_PRETTY);
}

void print_result(const struct result *r)
{
	if (r->rc)
		complain(r->err.msg);
	if (r->o->json)
		print_json(r);
	else if (!r->rc)
		print_text(r);
}
