/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a history needs to go on over an unmount, or a crash (doc/remount.md): notes in block 0
 * of the journal of what the primary superblock was before the mount, of what it is on the
 * disk in it, and of what the unmount left. Best effort: nothing here fails the kernel's
 * requests, or delays them but for one read of the disk when the kernel moves its journal's
 * tail; and where a note is missing the history ends.
 */
#ifndef RJ_JOURNALD_MOUNT_NOTES_H
#define RJ_JOURNALD_MOUNT_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "ext4/volume.h"
#include "format/mount-note.h"
#include "log/ring.h"
#include "rjournald/commit/pipeline.h"
#include "util/error.h"

struct rj_mount_notes;
struct rj_loaded;

/* For the volume DEVICE. SINCE: the first epoch of this service. RESUMED: a worker that
 * takes over; what the worker before has noted is in RING, the rest is lost. RJ_E_NOMEM,
 * RJ_E_IO. */
int rj_mount_notes_new(const char *device, const struct rj_ring *ring,
	uint64_t since, bool resumed, struct rj_mount_notes **out,
	struct rj_error *err);
/* NULL-safe. */
void rj_mount_notes_free(struct rj_mount_notes *n);
/* What the pipeline calls. With N NULL: nothing. */
struct rj_journal_watch rj_mount_notes_watch(struct rj_mount_notes *n);

/* Before the service: V, open exclusively, is about to be patched. NULL-safe. */
void rj_mount_notes_before(struct rj_mount_notes *n, struct rj_volume *v);
/* ... and was patched. NULL-safe. */
void rj_mount_notes_served(struct rj_mount_notes *n, struct rj_volume *v);
/* mount.rj is about to mount the volume: is it still as it is served? NULL-safe. */
void rj_mount_notes_mounting(struct rj_mount_notes *n);
/* The volume is mounted, and nothing is zeroed past the log: look whether that is with
 * data=journal. NULL-safe. */
void rj_mount_notes_mounted(struct rj_mount_notes *n);

/*
 * Why a history of the volume does not go on over this mount, after rj_mount_notes_mounted();
 * NULL: it goes on. N may be NULL: nothing is noted.
 */
const char *rj_mount_notes_break(struct rj_mount_notes *n);

/* After the service: wait until the kernel has let go of the volume, if it was seen to
 * begin that. At most NOTE_WAIT seconds. NULL-safe. */
void rj_mount_notes_leave(struct rj_mount_notes *n);
/* V, open exclusively, is about to be patched: is it as the kernel left it? NULL-safe. */
void rj_mount_notes_leaving(struct rj_mount_notes *n, struct rj_volume *v);
/* ... and was patched. NULL-safe. */
void rj_mount_notes_left(struct rj_mount_notes *n, struct rj_volume *v);

/* ---- unmount-note.c ---- */

/* The note of a mount in which nothing was written, so that nothing has brought it into the
 * log. False: there is none to be put. NULL-safe. */
bool rj_mount_notes_idle(
	struct rj_mount_notes *n, uint8_t raw[RJ_MOUNT_NOTES_BYTES]);
/* The note of the unmount, of N. False: there is none to be put. NULL-safe. */
bool rj_mount_notes_unmounted(
	struct rj_mount_notes *n, uint8_t raw[RJ_MOUNT_NOTE_BYTES]);
/*
 * Append these notes to the log of L, with nothing else under way: one attempt, of a few
 * seconds at most. MARKED: the volume's mark. A failure is logged.
 */
void rj_unmount_note_put(struct rj_loaded *l, uint64_t marked);

#endif
