/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What serving with a fallback file needs around it: find the file, bring what
 * it holds to the store, two handles with short time limits. */
#ifndef RJ_JOURNALD_LOAD_FALLBACK_H
#define RJ_JOURNALD_LOAD_FALLBACK_H

#include "load.h"
#include "util/error.h"

/*
 * Before the log is read: if the volume L has a fallback, open it, and put into
 * the store what only the file has. RJ_E_REFUSED: the file is not there, is
 * not the one that was there last, or what it holds was given up. RJ_E_FENCED:
 * the store's log went on without it.
 * RJ_E_UNREACHABLE and others of rj_fallback_ship().
 */
int rj_load_fallback_open(struct rj_loaded *l, struct rj_error *err);
/* Only open it, or make it where it may be missing: l->facts says so. */
int rj_load_fallback_file(struct rj_loaded *l, struct rj_error *err);
/* After the claim, before the volume is marked with the new epoch: the file says
 * that it is the one. Nothing without a fallback. */
int rj_load_fallback_serve(struct rj_loaded *l, struct rj_error *err);
/* L has its writer, by a claim or again, and is where it stays: the handles that
 * put from now on, and the fallback sink. Nothing without a fallback. */
int rj_load_fallback_start(struct rj_loaded *l, struct rj_error *err);
/* End the fallback sink: what the file holds is written down, durably. */
int rj_load_fallback_stop(struct rj_loaded *l, struct rj_error *err);
/* Does the file hold nothing that is needed? */
bool rj_load_fallback_idle(const struct rj_loaded *l);
/* Close all of it. */
void rj_load_fallback_close(struct rj_loaded *l);

#endif
