/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the tools tell the holds of a log, as text and as JSON. */
#ifndef TOOLS_HOLDS_H
#define TOOLS_HOLDS_H

#include <json-c/json.h>
#include <stdbool.h>

#include "log/hold.h"

/*
 * Print a line on stdout for each of HOLDS, as rj_hold_list() found them, two spaces before
 * it, if TEXT; and add them to LOG as "holds", unless that is NULL. The bytes are those of
 * the segments L that a hold keeps and no replay needs: it needs them from NEEDED on.
 */
void holds_show(const struct rj_buf *holds, const struct rj_listing *l, uint64_t needed,
	bool text, struct json_object *log);
/* "hold N of PROGRAM at HOST, until TIME", or that it cannot be read. Returns OUT. */
char *hold_text(const struct rj_hold_seen *s, char out[256]);

#endif
