/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encode and decode the mark: 32 bytes in the first backup superblock only, which tell up
 * to which segment the volume's blocks have what its log held. The bytes are in
 * doc/superblock-extension.md.
 */
#ifndef RJ_FORMAT_MARK_H
#define RJ_FORMAT_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "util/uuid.h"

#define RJ_MARK_OFFSET 0x2DC /* in the 1024-byte superblock */
#define RJ_MARK_BYTES  32
/* In the block of that superblock, after its 1024 bytes, where no other program writes: an
 * extension (format/sbx.h) that names the place of a log which was moved while the volume was
 * mounted. */
#define RJ_PLACE_OFFSET 1024

struct rj_mark {
	uint8_t journal_uuid[RJ_UUID_BYTES];
	/* All that the log held below this segment is in the volume's blocks. */
	uint64_t oldest;
};

void rj_mark_encode(const struct rj_mark *m, uint8_t raw[RJ_MARK_BYTES]);
/* Decode a mark. False: there is none, or it is damaged. OUT is written only on success. */
bool rj_mark_decode(const uint8_t raw[RJ_MARK_BYTES], struct rj_mark *out);

#endif
