/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keeps a log from being deleted, for how long, and what that costs; its named marks. */
#ifndef RJBACKUP_KEPT_H
#define RJBACKUP_KEPT_H

#include <json-c/json.h>
#include <stdbool.h>

#include "log/listing.h"
#include "log/past/point.h"
#include "log/past/rate.h"

struct kept {
	struct rj_log_rate rate;
	struct rj_buf holds;	/* of struct rj_hold_seen */
	uint64_t needed;	/* a replay needs the log from this segment on; 0: not known */
	uint64_t base;		/* a base needs it from this one on; 0: not asked */
	int64_t base_ns;	/* when that was sealed, since 1970 */
	uint64_t retain_s;	/* of this host's rj.conf; 0: none */
	uint64_t retained;	/* it keeps the log from this segment on */
	uint64_t retained_bytes; /* of that below NEEDED */
	uint64_t needed_bytes;
};

/*
 * List the segments of the log ID at STORE into L, and find out what keeps them. FROM: the
 * record.from of a base, or 0. If a listed segment is missing, do it again: the daemon of the
 * volume may have trimmed the log after the listing. The caller calls kept_free() and
 * rj_listing_free() in any case. Errors: RJ_E_GAP, a segment is still missing; the store's.
 */
int kept_look(struct rj_store *store, const struct rj_log_id *id, uint64_t from,
	struct rj_listing *l, struct kept *k, struct rj_error *err);
void kept_free(struct kept *k);

/* Lines on stdout, two spaces before each: of the log, but for its holds (tools/holds.h);
 * of a base; how much the log grows in a day. JSON gets the same, as members. */
void kept_show_log(const struct kept *k, struct json_object *json);
void kept_show_base(const struct kept *k, struct json_object *json);
void kept_show_rate(const struct kept *k, struct json_object *json);
/* What to keep the log for SECONDS from now on would cost. */
void kept_show_cost(const struct kept *k, uint64_t seconds, struct json_object *json);

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
