/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The named marks of a log: how they are told, and which have become useless. */
#ifndef RJBACKUP_MARKS_H
#define RJBACKUP_MARKS_H

#include <json-c/json.h>
#include <stdbool.h>

#include "log/past/point.h"

/* A line on stdout for the mark P, two spaces before it; or add it to ALL, unless that is
 * NULL. GONE: rj_point_gone(). */
void mark_show(const struct rj_point *p, bool gone, struct json_object *all);
/*
 * Do that for each mark of the log ID at STORE, whose segments are L; JSON gets them as "marks",
 * NULL: text. The store's errors.
 */
int marks_show(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_listing *l, struct json_object *log, struct rj_error *err);

#endif
