// SPDX-License-Identifier: GPL-2.0-or-later
#include "rjbackup/changes/diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "rjbackup/sides.h"
#include "rjbackup/changes/show.h"
#include "rjbackup/print.h"
#include "text/when.h"
#include "tools/json.h"
#include "tools/stop-signal.h"

struct diffing {
	const struct options *o;
	char *path; /* from the root */
	struct change_sums sums;
	struct rj_files_cost cost;
	struct rj_history_place from, to;
};

static int one_change(void *arg, const struct rj_file_change *c)
{
	struct diffing *d = arg;

	if (!path_is_below(c->path, d->path) && !(c->from && path_is_below(c->from, d->path)))
		return 0;
	change_add(&d->sums, c);
	if (d->o->stat)
		return 0;
	if (d->o->json)
		json_show(change_json(c), JSON_C_TO_STRING_PLAIN);
	else
		change_print(c);
	return 0;
}

static int both(void *arg, const struct rj_compare_side *before,
	const struct rj_compare_side *after, const uint64_t *blocks, size_t count,
	struct rj_error *err)
{
	struct diffing *d = arg;

	d->from = before->place;
	d->to = after->place;
	return compare_files(before, after, blocks, count, one_change, d, &d->cost, err);
}

static void print_end(const struct diffing *d, const struct rj_error *err, int rc)
{
	struct json_object *top;
	char from[RJ_WHEN_TEXT], to[RJ_WHEN_TEXT];

	if (rc)
		complain(err->msg);
	if (!d->o->json) {
		if (!rc)
			fprintf(stderr, "from segment %" PRIu64 ", as of %s, to segment %" PRIu64 ", as of %s\n",
				d->from.segment, rj_place_text(&d->from, from), d->to.segment,
				rj_place_text(&d->to, to));
		if (!rc && d->o->stat)
			sums_print(&d->sums);
		return;
	}
	top = json_object_new_object();
	if (!rc) {
		json_object_object_add(top, "from", place_json(&d->from));
		json_object_object_add(top, "to", place_json(&d->to));
		sums_add_json(&d->sums, top);
		add_u64(top, "blocks", d->cost.blocks);
		add_u64(top, "inodes", d->cost.inodes);
		add_u64(top, "directories_read", d->cost.directories);
		add_u64(top, "groups_read", d->cost.groups);
	} else {
		add_text(top, "error", err->msg);
	}
	json_show(top, JSON_C_TO_STRING_PLAIN);
}

int diff_moments(const struct options *o)
{
	struct diffing d = {.o = o, .path = o->path ? path_of_user(o->path) : NULL};
	struct rj_compare_opts opts = {
		.from = o->from,
		.to = o->until,
		.step = both,
		.arg = &d,
	};
	struct rj_history_report report;
	struct rj_base_facts facts;
	struct rj_error err = {0};
	int rc;

	stop_signal_catch();
	rc = compare_run(o, &opts, &facts, &report, &err);
	print_end(&d, &err, rc);
	free(d.path);
	return rc;
}
