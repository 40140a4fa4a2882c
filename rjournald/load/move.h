/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Move the log of a volume that stays mounted: to another store, or, after its store was lost,
 * into a new log at the same place. What is moved is the journal in memory. The kernel's writes
 * have to wait for that, as they do while a worker takes over: so the worker that rjctl asked
 * ends, and its successor moves the log. Order of the writes, and what a power cut leaves after
 * each: doc/live-moves.md.
 */
#ifndef RJ_JOURNALD_MOVE_H
#define RJ_JOURNALD_MOVE_H

#include "load.h"
#include "place.h"

/* Fill in R->from, and check that the log of L can be moved as R says, before the worker that is
 * asked ends. RJ_E_INVAL, RJ_E_UNSUPPORTED. */
int rj_move_request_from(
	const struct rj_loaded *l, struct rj_move_request *r, struct rj_error *err);
/* Let L's log be where it was moved to, in a worker that takes over. */
void rj_move_resume(struct rj_loaded *l);
/*
 * Do what was asked for, if anything was. A move that fails before the volume names the new
 * place is given up: rjctl is told why, and the log stays where it was; that is 0, too. An error:
 * try again, or (rj_error_final()) fail the journal. L has no store and no writer
 * afterwards.
 */
int rj_move(struct rj_loaded *l, struct rj_error *err);
/* Tell rjctl, if it waits for a move, that the journal has failed because of WHY. */
void rj_move_over(const struct rj_loaded *l, const struct rj_error *why);
/*
 * Put the journal into a new log at URL, for rjrecover --from; the volume does not name it.
 * The last thing to be done with L's log. Errors as of rj_log_claim() and rj_seed_ring().
 */
int rj_move_save(struct rj_loaded *l, const char *url, struct rj_error *err);

#endif
