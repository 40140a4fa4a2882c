/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which bases the rules of expire --keep keep. */
#ifndef TOOLS_KEEP_RULES_H
#define TOOLS_KEEP_RULES_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEEP_PERIODS   5
#define KEEP_WHY_BYTES 64

/* How many hours, days, weeks, months and years. */
struct keep_rules {
	unsigned long count[KEEP_PERIODS];
};

struct keep_item {
	int64_t time; /* seconds since 1970 */
	char why[KEEP_WHY_BYTES]; /* it is kept, as the words that are shown; "": it is not */
};

/* Parse a list of rules: a number and one of h, d, w, m, y, each once, as 7d,4w,12m. */
bool keep_parse(const char *text, struct keep_rules *out);
/* Say which of N ITEMS of one volume, the newest first, are kept, in local time. The newest is
 * always. */
void keep_choose(const struct keep_rules *rules, struct keep_item *const *items, size_t n);

/* What becomes of it: "kept: WHY", "removed" or, if DRY_RUN, "would be removed", into OUT; and the
 * members "kept" and "why" of JSON. */
const char *keep_text(const struct keep_item *item, bool dry_run, char out[KEEP_WHY_BYTES + 20]);
void keep_json(const struct keep_item *item, struct json_object *json);

#endif
