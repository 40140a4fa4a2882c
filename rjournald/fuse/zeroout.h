/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * With data=journal the kernel must not zero around a partial write into an
 * unwritten extent: it does that on the device itself, logs no revoke, and a replay
 * puts older copies over the zeros (doc/jbd2-replay.md, implied revokes). While
 * extent_max_zeroout_kb of the mounted volume is 0 it does not, but on a full volume.
 */
#ifndef RJ_JOURNALD_ZEROOUT_H
#define RJ_JOURNALD_ZEROOUT_H

#include <stdbool.h>

#include "util/error.h"

struct rj_zeroout;

/* From now on set it, within a second of each mount of VOLUME (a block device or
 * an image) with data=journal. RJ_E_NOMEM, RJ_E_IO. */
int rj_zeroout_start(
	const char *volume, struct rj_zeroout **out, struct rj_error *err);
/* Look, and set it, now. NULL-safe. */
void rj_zeroout_look(struct rj_zeroout *z);
/* The volume is mounted with data=journal, and it is set. NULL-safe. */
bool rj_zeroout_off(struct rj_zeroout *z);
/* NULL-safe. */
void rj_zeroout_stop(struct rj_zeroout *z);

#endif
