/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raise the mark of the mounted volume (format/mark.h) before the log's oldest
 * segment moves: an older copy of the volume has a lower mark, and so is told from a
 * volume that crashed.
 */
#ifndef RJ_JOURNALD_VOLUME_MARK_H
#define RJ_JOURNALD_VOLUME_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "ext4/volume.h"

struct rj_mark_writer;

/* Prepare to write the mark of the volume DEVICE with FACTS, both the caller's.
 * NULL: no memory, or rj_volume_no_mark(). */
struct rj_mark_writer *rj_mark_writer_new(
	const char *device, const struct rj_volume_facts *facts);
/*
 * Have the volume DEVICE, which may be mounted, name the place of its log in FACTS, beside the
 * mark. RJ_E_BUSY: the kernel changes that superblock; or as rj_volume_mark_put().
 */
int rj_mark_place(const char *device, const struct rj_volume_facts *facts, struct rj_error *err);
/* Write OLDEST into the first mark of a volume that is not mounted. A failure is logged. */
void rj_mark_first(const char *device, const struct rj_volume_facts *facts, uint64_t oldest);
/* Write OLDEST into the mark, durably, of a volume that is mounted, or about to be. False: the mark
 * is what it was before, or lost; the reason is logged once. LAST: close the volume afterwards, as
 * the next call may be long in coming and an unmount may take the device away. One thread at a
 * time. */
bool rj_mark_writer_raise(struct rj_mark_writer *m, uint64_t oldest, bool last);
/* NULL-safe. */
void rj_mark_writer_free(struct rj_mark_writer *m);

#endif
