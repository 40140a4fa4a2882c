/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mark: 32 bytes in the first backup superblock alone, which say how far the
 * volume is without its journal. Byte-exact in doc/superblock-extension.md.
 */
#ifndef RJ_FORMAT_MARK_H
#define RJ_FORMAT_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "format/seghdr.h"
#include "util/uuid.h"

#define RJ_MARK_OFFSET 0x2DC /* in the 1024-byte superblock */
#define RJ_MARK_BYTES  32

struct rj_mark {
	uint8_t journal_uuid[RJ_UUID_BYTES];
	/* All that the log held below this segment is in the volume's blocks. */
	uint64_t oldest;
};

void rj_mark_encode(const struct rj_mark *m, uint8_t raw[RJ_MARK_BYTES]);
/*
 * H is of the last segment with blocks, MARK the volume's mark (0: none). Is the
 * volume an older copy: was what it lacks below H's oldest already in the volume
 * that H was sealed for? Only of one that needs recovery.
 */
bool rj_mark_behind(uint64_t mark, const struct rj_seghdr *h);
/* False: there is none, or it is damaged. OUT is written only on success. */
bool rj_mark_decode(const uint8_t raw[RJ_MARK_BYTES], struct rj_mark *out);

#endif
