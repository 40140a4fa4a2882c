/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What outlives a worker while a log is moved, as files of the runtime directory:
 *   move    what rjctl asked for
 *   place   where the log is since it was moved, until the daemon ends
 *   moved   how that ended: "ok", or an error's line
 *   broken  the log is broken off where it is, and must be begun again, there or elsewhere
 *   closing the old log may have been closed: by the worker before
 * Each is put by rename(2), so that a worker that is killed leaves a whole one or none.
 */
#ifndef RJ_JOURNALD_PLACE_H
#define RJ_JOURNALD_PLACE_H

#include <stdbool.h>

#include "format/sbx.h"
#include "rundir.h"

struct rj_place {
	char url[RJ_SBX_URL_BYTES];
	uint8_t key_fingerprint[16]; /* all zero: no key */
	uint64_t epoch;		     /* the newest one there that is ours */
	uint64_t base, last; /* the segments that have the ring; 0: the log was not moved there */
};

struct rj_move_request {
	bool lost; /* reseed: the store that has the log is not asked */
	bool save; /* a copy for rjrecover, with the key of the log; the log stays where it is */
	char url[RJ_SBX_URL_BYTES];
	struct rj_place from;
};

/* Ask the next worker for R. RJ_E_IO. */
int rj_move_request_put(
	const struct rj_claimed_dir *d, const struct rj_move_request *r, struct rj_error *err);
/* False: nothing is asked for. */
bool rj_move_request_get(const struct rj_claimed_dir *d, struct rj_move_request *out);
/* Tell rjctl how it ended (WHY NULL: well), and forget the request. */
void rj_move_request_end(const struct rj_claimed_dir *d, const char *why);

/* Note NAME ("broken", "closing") until the request has ended. RJ_E_IO. */
int rj_move_note(const struct rj_claimed_dir *d, const char *name, struct rj_error *err);
bool rj_move_noted(const struct rj_claimed_dir *d, const char *name);

/* RJ_E_IO. */
int rj_place_put(const struct rj_claimed_dir *d, const struct rj_place *p, struct rj_error *err);
/* False: the log is where the volume was loaded from. */
bool rj_place_get(const struct rj_claimed_dir *d, struct rj_place *out);
/* Remove all of these files. */
void rj_place_clear(const struct rj_claimed_dir *d);

#endif
