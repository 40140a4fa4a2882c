// SPDX-License-Identifier: GPL-2.0-or-later
#include "marks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/claim-text.h"

void mark_show(const struct rj_point *p, bool gone, struct json_object *all)
{
	struct json_object *o;
	char time[RJ_CLAIM_VALUE];

	if (!all) {
		printf("  mark %s: segment %" PRIu64 ", made %s%s\n", p->name, p->segment,
			rj_claim_time_text(p->time, time),
			gone ? " (gone: the log has been deleted up to there)" : "");
		return;
	}
	o = json_object_new_object();
	json_object_object_add(o, "mark", json_object_new_string(p->name));
	json_object_object_add(o, "segment", json_object_new_uint64(p->segment));
	json_object_object_add(o, "made", json_object_new_int64(p->time));
	json_object_object_add(o, "program", json_object_new_string(p->program));
	json_object_object_add(o, "host", json_object_new_string(p->host));
	json_object_object_add(o, "gone", json_object_new_boolean(gone));
	json_object_array_add(all, o);
}

int marks_show(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_listing *l, struct json_object *log, struct rj_error *err)
{
	struct json_object *all = log ? json_object_new_array() : NULL;
	struct rj_buf found = {0};
	struct rj_point p;
	unsigned bad;
	size_t i;
	int rc = rj_point_list(store, id, 0, &found, &bad, err);

	if (log)
		json_object_object_add(log, "marks", all);
	for (i = 0; !rc && i < found.len; i += sizeof(p)) {
		memcpy(&p, found.data + i, sizeof(p));
		mark_show(&p, rj_point_gone(&p, l), all);
	}
	if (!rc && bad && !log)
		printf("  %u mark%s cannot be read\n", bad, bad == 1 ? "" : "s");
	if (!rc && bad && log)
		json_object_object_add(log, "marks_bad", json_object_new_int64(bad));
	rj_buf_free(&found);
	return rc;
}
