// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * As with other programs that rotate backups: "7d" keeps the newest base of each of the last 7
 * days that have any.
 */
#include "tools/json.h"
#include "tools/keep-rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
	char unit;
	const char *name;
} periods[KEEP_PERIODS] = {
	{'h', "hourly"}, {'d', "daily"}, {'w', "weekly"}, {'m', "monthly"}, {'y', "yearly"},
};

bool keep_parse(const char *text, struct keep_rules *out)
{
	unsigned long n;
	char *end;
	size_t i;

	memset(out, 0, sizeof(*out));
	for (;; text = end + 1) {
		if (*text < '1' || *text > '9')
			return false;
		errno = 0;
		n = strtoul(text, &end, 10);
		for (i = 0; i < KEEP_PERIODS && periods[i].unit != *end; i++)
			;
		if (errno || i == KEEP_PERIODS || out->count[i])
			return false;
		out->count[i] = n;
		end++;
		if (!*end)
			return true;
		if (*end != ',')
			return false;
	}
}

static void add_why(struct keep_item *b, const char *why)
{
	size_t len = strlen(b->why);

	snprintf(b->why + len, sizeof(b->why) - len, "%s%s", len ? " " : "", why);
}

/* Two times of one period have the same text. */
static size_t period_text(char unit, const struct tm *tm, char out[32])
{
	switch (unit) {
	case 'h':
		return strftime(out, 32, "%Y-%j-%H", tm);
	case 'd':
		return strftime(out, 32, "%Y-%j", tm);
	case 'w':
		return strftime(out, 32, "%G-%V", tm);
	case 'm':
		return strftime(out, 32, "%Y-%m", tm);
	default:
		return strftime(out, 32, "%Y", tm);
	}
}

/* The newest base of each of the last COUNT periods I. */
static void keep_period(struct keep_item *const *b, size_t n, size_t i, unsigned long count)
{
	char last[32] = "", now[32];
	struct tm tm;
	time_t t;
	size_t k;

	for (k = 0; k < n && count; k++) {
		t = (time_t)b[k]->time;
		if (!localtime_r(&t, &tm) || !period_text(periods[i].unit, &tm, now))
			now[0] = 0;
		if (now[0] && !strcmp(last, now))
			continue;
		memcpy(last, now, sizeof(last));
		add_why(b[k], periods[i].name);
		count--;
	}
}

void keep_choose(const struct keep_rules *rules, struct keep_item *const *items, size_t n)
{
	size_t i;

	if (n)
		add_why(items[0], "newest");
	for (i = 0; i < KEEP_PERIODS; i++)
		keep_period(items, n, i, rules->count[i]);
}

const char *keep_text(const struct keep_item *item, bool dry_run, char out[KEEP_WHY_BYTES + 20])
{
	snprintf(out, KEEP_WHY_BYTES + 20, "%s%s",
		item->why[0] ? "kept: "
		: dry_run    ? "would be removed"
			     : "removed",
		item->why);
	return out;
}

void keep_json(const struct keep_item *item, struct json_object *json)
{
	add_bool(json, "kept", item->why[0]);
	add_text(json, "why", item->why);
}
