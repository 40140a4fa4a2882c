/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Named marks of a log: put, find, list and remove them (doc/holds.md). */
#ifndef RJ_LOG_PAST_POINT_H
#define RJ_LOG_PAST_POINT_H

#include "format/point.h"
#include "log/listing.h"

/*
 * Name the moment after SEGMENT. NAME: rj_key_name_valid(), else RJ_E_INVAL. PROGRAM is
 * visible ASCII. OUT is what was put. RJ_E_EXISTS: the log has a mark of that name, and the
 * message says where; of two at the same time one fails so, but for a store in mode B, where
 * both may succeed and the later one counts. The store's errors; then the mark may be there.
 */
int rj_point_put(struct rj_store *store, const struct rj_log_id *id,
	const char *name, uint64_t segment, const char *program,
	struct rj_point *out, struct rj_error *err);
/* Can a mark NAME be put? RJ_E_INVAL, RJ_E_EXISTS, the store's errors. */
int rj_point_check(struct rj_store *store, const struct rj_log_id *id,
	const char *name, struct rj_error *err);
/* Find the mark NAME. RJ_E_NOTFOUND: there is none; RJ_E_CORRUPT: it cannot be read. */
int rj_point_find(struct rj_store *store, const struct rj_log_id *id,
	const char *name, int retry_ms, struct rj_point *out,
	struct rj_error *err);
/* Remove it. RJ_E_NOTFOUND. */
int rj_point_remove(struct rj_store *store, const struct rj_log_id *id,
	const char *name, struct rj_error *err);
/* Append all marks of the log to OUT, as struct rj_point, by segment. What cannot be read is
 * left out, and counted in *BAD. */
int rj_point_list(struct rj_store *store, const struct rj_log_id *id,
	int retry_ms, struct rj_buf *out, unsigned *bad, struct rj_error *err);
/* Does L, a list of all of the log, go on after the segment of P, and lack that one? If another
 * is missing, an older base may still reach P. */
bool rj_point_gone(const struct rj_point *p, const struct rj_listing *l);

#endif
