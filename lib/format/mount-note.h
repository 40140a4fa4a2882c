/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mount's note: the first bytes of the journal device's block 0, which no file system
 * uses. It says what a history may go on over an unmount with. Byte-exact in
 * doc/log-format.md.
 */
#ifndef RJ_FORMAT_MOUNT_NOTE_H
#define RJ_FORMAT_MOUNT_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#define RJ_MOUNT_NOTE_BYTES 64
#define RJ_MOUNT_NOTE_HASH  32

enum rj_mount_note_kind {
	/* With data=journal. SUPER: the primary superblock as the service that the mount
	 * is in found it, before rjournald's own note of that. */
	RJ_NOTE_MOUNTED = 1,
	/* SUPER: as the unmount, and rjournald's note after it, left it. */
	RJ_NOTE_UNMOUNTED = 2,
};

struct rj_mount_note {
	enum rj_mount_note_kind kind;
	uint64_t epoch; /* the first of the service, whichever worker put it */
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
