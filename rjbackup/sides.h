/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands that compare moments of a history share. */
#ifndef RJBACKUP_SIDES_H
#define RJBACKUP_SIDES_H

#include "ext4/files/files.h"
#include "history/compare/compare.h"
#include "rjbackup/options.h"

/*
 * Run rj_history_compare() with C, which this prepares by O and releases; a signal ends it. REPORT
 * is filled, and FACTS before the first step. Where the history ends before the end of the log,
 * this says so on stderr.
 */
int compare_run(const struct options *o, struct rj_compare_opts *c, struct rj_base_facts *facts,
	struct rj_history_report *report, struct rj_error *err);
/* Say on stderr where the history of REPORT ends before the end of the log, if it does. */
void compare_say_break(const struct rj_history_report *report);
/* rj_files_diff() of two sides. */
int compare_files(const struct rj_compare_side *before, const struct rj_compare_side *after,
	const uint64_t *blocks, size_t count,
	int (*each)(void *arg, const struct rj_file_change *c), void *arg,
	struct rj_files_cost *cost, struct rj_error *err);

#endif
