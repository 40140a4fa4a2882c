// SPDX-License-Identifier: GPL-2.0-or-later
#include "rjbackup/sides.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "rjbackup/mount.h"
#include "tools/stop-signal.h"

/* Fill what O says into C, and C->scratch with two files without a name. */
static int prepare(const struct options *o, struct rj_compare_opts *c, struct rj_error *err)
{
	int i;

	c->base = o->base;
	c->url = o->url;
	c->keyfile = o->keyfile;
	c->scratch[0] = c->scratch[1] = -1;
	for (i = 0; i < 2; i++) {
		c->scratch[i] = scratch_file(o, err);
		if (c->scratch[i] < 0)
			return c->scratch[i];
	}
	return 0;
}

static void release(struct rj_compare_opts *c)
{
	int i;

	for (i = 0; i < 2; i++)
		if (c->scratch[i] >= 0)
			close(c->scratch[i]); /* nothing of it is kept */
}

static int progress(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return stop_signal();
}

void compare_say_break(const struct rj_history_report *report)
{
	if (report->break_why[0])
		fprintf(stderr, "no later: after segment %" PRIu64 ": %s\n", report->break_segment,
			report->break_why);
}

int compare_run(const struct options *o, struct rj_compare_opts *c, struct rj_base_facts *facts,
	struct rj_history_report *report, struct rj_error *err)
{
	int rc = prepare(o, c, err);

	c->progress = progress;
	if (!rc)
		rc = rj_history_compare(c, facts, report, err);
	if (!rc)
		compare_say_break(report);
	release(c);
	return rc;
}

int compare_files(const struct rj_compare_side *before, const struct rj_compare_side *after,
	const uint64_t *blocks, size_t count,
	int (*each)(void *arg, const struct rj_file_change *c), void *arg,
	struct rj_files_cost *cost, struct rj_error *err)
{
	struct rj_files *a = NULL, *b = NULL;
	int rc = rj_files_open(before->fs, before->super, &a, err);

	if (!rc)
		rc = rj_files_open(after->fs, after->super, &b, err);
	if (!rc)
		rc = rj_files_diff(a, b, blocks, count, each, arg, cost, err);
	rj_files_close(a);
	rj_files_close(b);
	return rc;
}
