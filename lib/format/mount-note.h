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
	RJ_NOTE_MOUNTED = 1,   /* with data=journal; SUPER is from before that */
	RJ_NOTE_UNMOUNTED = 2, /* SUPER is what the unmount left */
};

struct rj_mount_note {
	enum rj_mount_note_kind kind;
	uint64_t epoch; /* of its writer, which is another's in a block that is shipped again */
	uint8_t super[RJ_MOUNT_NOTE_HASH]; /* SHA-256 of the primary superblock's 1024 bytes */
};

void rj_mount_note_encode(
	const struct rj_mount_note *n, uint8_t raw[RJ_MOUNT_NOTE_BYTES]);
/* False: there is none, or it is damaged, or of a kind not known. OUT is written only on
 * success. */
bool rj_mount_note_decode(
	const uint8_t raw[RJ_MOUNT_NOTE_BYTES], struct rj_mount_note *out);

#endif
