/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mount's notes: the first bytes of the journal device's block 0, which no file system
 * uses. They say what a history may go on over an unmount, or a crash, with. Byte-exact in
 * doc/log-format.md.
 */
#ifndef RJ_FORMAT_MOUNT_NOTE_H
#define RJ_FORMAT_MOUNT_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#define RJ_MOUNT_NOTE_BYTES 64
#define RJ_MOUNT_NOTE_HASH  32
/* Block 0 has two: where RJ_NOTE_RUNNING is, and before it the others. */
#define RJ_MOUNT_NOTES_BYTES  (2 * RJ_MOUNT_NOTE_BYTES)
#define RJ_MOUNT_NOTE_RUNNING RJ_MOUNT_NOTE_BYTES

enum rj_mount_note_kind {
	/* With data=journal. SUPER: the primary superblock as the service that the mount
	 * is in found it, before rjournald's own note of that. */
	RJ_NOTE_MOUNTED = 1,
	/* SUPER: as the unmount, and rjournald's note after it, left it. */
	RJ_NOTE_UNMOUNTED = 2,
	/* SUPER: as it was on the disk when the kernel moved the journal's tail to where the
	 * log says it is, or later. */
	RJ_NOTE_RUNNING = 3,
	/* By rjrecover, before it replays. SUPER: as it was found, and one that the mount itself
	 * had written. */
	RJ_NOTE_CRASHED = 4,
	/* By rjrecover, at its end: it has changed nothing but by the replay. SUPER: as it left
	 * it. */
	RJ_NOTE_RECOVERED = 5,
};

struct rj_mount_note {
	enum rj_mount_note_kind kind;
	uint64_t epoch; /* the first of the mount's service */
	uint8_t super[RJ_MOUNT_NOTE_HASH]; /* SHA-256 of all its 1024 bytes */
	uint16_t mounts; /* s_mnt_count, as that mount has it */
	uint32_t checked; /* s_lastcheck, likewise */
};

void rj_mount_note_encode(
	const struct rj_mount_note *n, uint8_t raw[RJ_MOUNT_NOTE_BYTES]);
/* False: there is none, or it is damaged, or of a kind not known. OUT is written only on
 * success. */
bool rj_mount_note_decode(
	const uint8_t raw[RJ_MOUNT_NOTE_BYTES], struct rj_mount_note *out);

#endif
