/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Set extent_max_zeroout_kb of the mounted volume to 0 while it has data=journal. Else
 * the kernel zeroes around a partial write into an unwritten extent: on the device
 * itself, without a revoke, and a replay puts older copies over the zeros
 * (doc/jbd2-replay.md, implied revokes). With 0 it does so on a full volume only.
 */
#ifndef RJ_JOURNALD_ZEROOUT_H
#define RJ_JOURNALD_ZEROOUT_H

#include <stdbool.h>

#include "util/error.h"

struct rj_zeroout;

/* Start a thread that sets it within a second of each mount of VOLUME (a block device
 * or an image) with data=journal. RJ_E_NOMEM, RJ_E_IO. */
int rj_zeroout_start(
	const char *volume, struct rj_zeroout **out, struct rj_error *err);
/* Set it now if the volume is mounted so. NULL-safe. */
void rj_zeroout_look(struct rj_zeroout *z);
/* Is the volume mounted with data=journal, and is it set? NULL-safe. */
bool rj_zeroout_off(struct rj_zeroout *z);
/* End the thread. NULL-safe. */
void rj_zeroout_stop(struct rj_zeroout *z);

#endif
