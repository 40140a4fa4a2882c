// SPDX-License-Identifier: LGPL-2.1-or-later
#include "repeat.h"

#include <stdio.h>

/* FNV-1a; never 0. */
static uint64_t hash_of(const char *text)
{
	uint64_t h = 14695981039346656037ull;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 1099511628211ull;
	return h ? h : 1;
}

bool rj_repeat_say(struct rj_repeat *r, const char *text, int64_t now_ns,
	unsigned *more)
{
	uint64_t hash = hash_of(text);
	size_t i, at = 0;

	*more = 0;
	for (i = 0; i < RJ_REPEAT_LINES; i++) {
		if (r->line[i].hash == hash) {
			at = i;
			break;
		}
		if (r->line[i].said_ns < r->line[at].said_ns)
			at = i;
	}
	if (r->line[at].hash == hash) {
		if (now_ns - r->line[at].said_ns < RJ_REPEAT_NS) {
			r->line[at].more++;
			r->line[at].last_ns = now_ns;
			return false;
		}
		*more = r->line[at].more;
	}
	r->line[at].hash = hash;
	r->line[at].said_ns = now_ns;
	r->line[at].more = 0;
	snprintf(r->line[at].text, sizeof(r->line[at].text), "%s", text);
	return true;
}

bool rj_repeat_late(struct rj_repeat *r, int64_t now_ns, bool all, char *text,
	size_t size, unsigned *more, int64_t *ago_ns)
{
	size_t i, first = RJ_REPEAT_LINES;
	bool due = all;

	for (i = 0; i < RJ_REPEAT_LINES; i++) {
		if (!r->line[i].more)
			continue;
		due |= now_ns - r->line[i].said_ns >= RJ_REPEAT_NS;
		if (first == RJ_REPEAT_LINES ||
			r->line[i].last_ns < r->line[first].last_ns)
			first = i;
	}
	if (!due || first == RJ_REPEAT_LINES)
		return false;
	snprintf(text, size, "%s", r->line[first].text);
	*more = r->line[first].more;
	*ago_ns = now_ns - r->line[first].last_ns;
	r->line[first].more = 0;
	r->line[first].said_ns = now_ns;
	return true;
}
