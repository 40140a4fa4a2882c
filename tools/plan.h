/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the tools tell the plan of a replay, as text and as JSON: one place, so
 * that rjrecover -n and rjlog show say the same in the same words.
 */
#ifndef TOOLS_PLAN_H
#define TOOLS_PLAN_H

#include <json-c/json.h>
#include <stdbool.h>

#include "jbd2/jbd2.h"
#include "text/when.h"

/* A plan's transactions, kept beyond the plan itself. Zero-initialise. */
struct plan_list {
	struct rj_jbd2_transaction *v;
	size_t n;
	bool short_of_memory; /* it is not complete */
};

/* Fill LIST from PLAN, in log order; what it held before is dropped. */
void plan_list_take(struct plan_list *list, const struct rj_jbd2_plan *plan);
void plan_list_free(struct plan_list *list);

/* NS since 1970 as rj_when_text() writes it, in whole seconds; "-" for 0. OUT may be unused. */
const char *plan_time_text(int64_t ns, char out[RJ_WHEN_TEXT]);

/* The journal's superblock, a line of geometry and one of features. */
void plan_print_super(const struct rj_jbd2_sb *sb);

/*
 * Print on stdout: one line per fact, two spaces before each. DONE: it was
 * replayed, not "to be". FULL: also times and counts of copies. LIST (may be
 * NULL): a line per transaction.
 */
void plan_print(const struct rj_jbd2_info *info, bool done, bool full,
	const struct plan_list *list);

/* The same as a JSON object, which the caller owns; "list" (of the transactions) is there if LIST
 * is not NULL. All sizes are in bytes, times in nanoseconds since 1970. */
struct json_object *plan_json(
	const struct rj_jbd2_info *info, const struct plan_list *list);

#endif
