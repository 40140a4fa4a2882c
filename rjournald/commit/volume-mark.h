/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The volume's mark (format/mark.h), raised while it is mounted: before the log's
 * oldest segment moves, so that an older copy of the volume, whose mark is lower,
 * can be told from one that crashed.
 */
#ifndef RJ_JOURNALD_VOLUME_MARK_H
#define RJ_JOURNALD_VOLUME_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "ext4/volume.h"

struct rj_mark_writer;

/* Of the volume DEVICE with FACTS, both the caller's. NULL: no memory, or this
 * volume can have no mark. */
struct rj_mark_writer *rj_mark_writer_new(
	const char *device, const struct rj_volume_facts *facts);
/* The mark is OLDEST, durably. False: it is what it was before, or lost; why is
 * said in the log, once. LAST: perhaps for long, so the volume does not stay
 * open; an unmount may take its device away. One thread at a time. */
bool rj_mark_writer_raise(struct rj_mark_writer *m, uint64_t oldest, bool last);
/* NULL-safe. */
void rj_mark_writer_free(struct rj_mark_writer *m);

#endif
