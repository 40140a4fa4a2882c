/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the log must reach by all the notes that are kept apart from it: of this
 * host, at the floor store of rj.conf, in the fallback file. doc/floor.md
 */
#ifndef RJ_LOG_FLOOR_FLOOR_ALL_H
#define RJ_LOG_FLOOR_FLOOR_ALL_H

#include "log/floor/floor-url.h"

struct rj_floors {
	struct rj_log_tail seen; /* the highest note; all zero: there is none */
	char by[768]; /* where that is, for messages; "": none */
};

/*
 * Ask this host and, if the volume on DEVICE NEEDS it to be asked (it needs
 * recovery, and its superblock does not tell how far its log goes), the floor store of the
 * log at LOG_URL, into F and A. That the store cannot be asked, or has no note that
 * counts, is logged. Else as rj_floor_url_load().
 */
void rj_floors_ask(struct rj_floors *f, const char *device, bool needs,
	const char *log_url, const struct rj_log_id *id, uint64_t epoch,
	int retry_ms, struct rj_floor_answer *a);
/* Take SAW, noted by BY, if it counts (it is of EPOCH or later) and is higher. */
void rj_floors_take(struct rj_floors *f, const struct rj_log_tail *saw,
	uint64_t epoch, const char *by);

/*
 * Refuse the log of ID at STORE if it ends before what F has, or has another segment in that
 * place: the store has lost its end, or hides it. What was noted of an older epoch than
 * that of the log's end does not count: others went on since. Ask F before what is read of the
 * log, as a writer at work notes what it has put. RJ_E_REFUSED, which ends with ADVICE; errors
 * of the store.
 */
int rj_floors_check(const struct rj_floors *f, struct rj_store *store, const struct rj_log_id *id,
	int retry_ms, const char *advice, struct rj_error *err);

#endif
