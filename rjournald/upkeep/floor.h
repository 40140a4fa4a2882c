/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Note about once a second, in threads, which segment was acknowledged last: on this
 * host (lib/log/floor/floor.h), in the header of an idle fallback file, and at the floor
 * store of rj.conf (lib/log/floor/floor-url.h). No commit waits for that. */
#ifndef RJ_JOURNALD_FLOOR_H
#define RJ_JOURNALD_FLOOR_H

#include "rjournald/load/load.h"

struct rj_floor_recorder;

/* Of the floor store; from any thread. */
struct rj_floor_stat {
	const char *url; /* NULL: there is none; "": rj.conf does not say which */
	bool ever;	 /* it has had all that was acknowledged */
	uint64_t sequence; /* the last segment noted there; 0: none yet */
	uint64_t age_s; /* since it last had all, or since the start */
	/* Why it does not take notes, or keeps the old ones; "": all is well. */
	char why[RJ_ERROR_BYTES];
};

/* Start the threads. L stays where it is until the end. On failure *OUT is NULL, which is
 * logged: the journal works without notes. */
void rj_floor_recorder_start(
	struct rj_loaded *l, struct rj_floor_recorder **out);
/* End the threads, after a last note on this host. REMOVE: remove the host's note, as
 * the volume itself says that it has everything. NULL-safe. */
void rj_floor_recorder_stop(struct rj_floor_recorder *k, bool remove);
/* K may be NULL. */
void rj_floor_recorder_stat(
	struct rj_floor_recorder *k, struct rj_floor_stat *out);

#endif
