/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ask the judge (verdict/verdict.h) about a recovery. r->verdict gets the answer, and notes are
 * said to the user. A refusal is returned as an error, in words, with the ways on.
 */
#ifndef RJ_RECOVER_JUDGE_H
#define RJ_RECOVER_JUDGE_H

#include "recover/session.h"

/* Before any store is asked, which may be the wrong one: refuse what the volume alone decides. */
int rj_recovery_judge_volume(struct rj_recovery *r, struct rj_error *err);
/* When the log was read and planned, or is void; and again when more of it was read. Returns
 * errors of the store, too. */
int rj_recovery_judge_log(struct rj_recovery *r, struct rj_error *err);
/* Is ERR, with which a step failed, of the log, so that the judge can be asked what to do? */
bool rj_recovery_unreadable(const struct rj_recovery *r, const struct rj_error *err);
/* When the log cannot be used, as ERR says: 0 if it is to be given up; else ERR's code, and
 * ERR gets the ways on. */
int rj_recovery_judge_failure(struct rj_recovery *r, struct rj_error *err);

#endif
