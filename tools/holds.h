/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the tools tell the holds of a log, as text and as JSON. */
#ifndef TOOLS_HOLDS_H
#define TOOLS_HOLDS_H

#include <json-c/json.h>
#include <stdbool.h>

#include "log/hold.h"

/* The log whose holds are to be told, and its segments. */
struct holds_of {
	struct rj_store *store;
	const struct rj_log_id *id;
	const struct rj_listing *segments;
};

/*
 * Print a line on stdout for each hold of the log, two spaces before it, if TEXT; and
 * add them to LOG as "holds", unless that is NULL. The bytes are those of the
 * segments that a hold keeps and no replay needs. Those of the store's errors.
 */
int holds_show(const struct holds_of *of, bool text, struct json_object *log,
	struct rj_error *err);
/* "hold N of PROGRAM at HOST, until TIME", or that it cannot be read. Returns OUT. */
char *hold_text(const struct rj_hold_seen *s, char out[256]);

#endif
