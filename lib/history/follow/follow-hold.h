/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The hold of a base that follows its log: it moves with the base. */
#ifndef RJ_HISTORY_FOLLOW_HOLD_H
#define RJ_HISTORY_FOLLOW_HOLD_H

#include "history/base.h"

/*
 * Put a hold of SECONDS for the base at PATH, of which BASE says where the log is read from, which
 * an older hold or "retain" keeps, and remove its earlier ones; not if the last one is younger than
 * a minute, or will keep the same for half of SECONDS yet. HOLD gets the last one. Holds of other
 * programs, and that of rjbackup base, stay.
 * RJ_E_GAP: the log does not have what the base needs any more. The store's errors.
 */
int rj_follow_move_hold(const struct rj_base_log *log, const char *path,
	const struct rj_base_record *base, uint64_t seconds, struct rj_hold *hold,
	struct rj_error *err);

#endif
