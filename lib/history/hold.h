/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The hold of a base, which rj_base_make() puts before it looks for the log's end. */
#ifndef RJ_HISTORY_HOLD_H
#define RJ_HISTORY_HOLD_H

#include "history/base.h"
#include "history/base/upload.h"

/*
 * Does the hold of F, if it has one, keep all that the base needs? To be asked when
 * the log was read from record.from on: what the hold was put at had not been
 * verified. RJ_E_CORRUPT: no.
 */
int rj_base_hold_check(const struct rj_base_log *l,
	const struct rj_base_facts *f, struct rj_error *err);
/* Remove the hold of F, if it has one, as no base came of it. ERR says why, and
 * gets what is to be done if the hold stays. */
void rj_base_hold_drop(const struct rj_base_log *l, struct rj_base_facts *f,
	struct rj_error *err);

/*
 * Go on with U's unfinished base, if there is one and LOG still is what it needs (WITH_HOLD: it
 * must have a hold): F gets its record.from and hold. Else it is removed, with its hold, unless
 * it is finished by now, and F's record.from is 0.
 */
int rj_base_resume(struct rj_upload *u, const struct rj_base_log *log, bool with_hold,
	struct rj_base_facts *f, struct rj_error *err);

#endif
