/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a history needs to go on over an unmount (doc/history.md): notes in the log of the
 * primary superblock as the unmount left it and as the next mount found it, and of that
 * mount's mode. Best effort: where one is missing the history ends.
 */
#ifndef RJ_JOURNALD_HISTORY_H
#define RJ_JOURNALD_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "ext4/volume.h"
#include "format/mount-note.h"
#include "log/log.h"
#include "log/ring.h"

/* Of one worker: its successor knows nothing, and puts no note. */
struct rj_history_notes {
	bool found, left;       /* the hashes are known */
	bool mounted;           /* the note was put */
	uint16_t mounts;	/* s_mnt_count and s_lastcheck, as they were found */
	uint32_t checked;
	uint8_t before[RJ_MOUNT_NOTE_HASH], after[RJ_MOUNT_NOTE_HASH];
};

/* Note the superblock of V before it is written to. Nothing, unless the log at URL is kept
 * (retain in rj.conf). */
void rj_history_found(struct rj_history_notes *n, struct rj_volume *v,
	const struct rj_volume_facts *f);
/* Note the superblock of V as it stays. */
void rj_history_left(struct rj_history_notes *n, struct rj_volume *v);
/*
 * The volume DEVICE is mounted: make a note of that, if it is with data=journal and this is
 * the first mount since the superblock was noted. False: it is not.
 */
bool rj_history_mounted(const struct rj_history_notes *n, const char *device,
	uint64_t epoch, uint8_t note[RJ_MOUNT_NOTE_BYTES]);
/* Append the note of the unmount: one attempt, with nothing else under way. */
void rj_history_unmounted(struct rj_history_notes *n, struct rj_log_writer *w,
	struct rj_ring *ring, uint64_t marked);

#endif
