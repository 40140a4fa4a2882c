// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/holds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text/when.h"
#include "tools/json.h"

char *hold_text(const struct rj_hold_seen *s, char out[256])
{
	const struct rj_hold *h = &s->hold;
	char until[RJ_WHEN_TEXT];

	if (s->bad)
		snprintf(out, 256,
			"hold %" PRIu64 ": cannot be read: nothing of the log is deleted as long as it is there",
			h->number);
	else
		snprintf(out, 256, "hold %" PRIu64 " of %s at %s, until %s%s",
			h->number, h->program, h->host,
			rj_when_seconds(h->until, until),
			rj_hold_expired(h) ? " (expired)" : "");
	return out;
}

static void add_json(struct json_object *all, const struct rj_hold_seen *s,
	uint64_t bytes)
{
	struct json_object *o = json_object_new_object();
	const struct rj_hold *h = &s->hold;

	add_u64(o, "hold", h->number);
	if (s->bad) {
		add_text(o, "error", "cannot be read");
	} else {
		add_u64(o, "first", h->first);
		add_u64(o, "bytes", bytes);
		add_u64(o, "made", (uint64_t)h->time);
		add_u64(o, "until", (uint64_t)h->until);
		add_bool(o, "expired", rj_hold_expired(h));
		add_text(o, "program", h->program);
		add_text(o, "host", h->host);
	}
	json_object_array_add(all, o);
}

static void tell(const struct rj_hold_seen *s, const struct rj_listing *l,
	uint64_t needed, bool text, struct json_object *all)
{
	uint64_t bytes = rj_hold_bytes(l, s->hold.first, needed);
	char line[256];

	if (text)
		printf("  %s", hold_text(s, line));
	if (text && !s->bad)
		printf(": from segment %" PRIu64 " on, %" PRIu64 " bytes",
			s->hold.first, bytes);
	if (text)
		printf("\n");
	if (all)
		add_json(all, s, bytes);
}

void holds_show(const struct rj_buf *holds, const struct rj_listing *l, uint64_t needed,
	bool text, struct json_object *log)
{
	struct json_object *all = log ? json_object_new_array() : NULL;
	struct rj_hold_seen s;
	size_t i;

	if (log)
		json_object_object_add(log, "holds", all);
	for (i = 0; i < holds->len; i += sizeof(s)) {
		memcpy(&s, holds->data + i, sizeof(s));
		tell(&s, l, needed, text, all);
	}
}
