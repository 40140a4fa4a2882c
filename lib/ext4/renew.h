/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef RJ_EXT4_RENEW_H
#define RJ_EXT4_RENEW_H

#include <stdbool.h>
#include <stdint.h>

#include "format/sbx.h"
#include "util/uuid.h"

/* Does RAW, the 1024 bytes of a primary superblock, have the magic and a right
 * checksum? */
bool rj_super_whole(const uint8_t raw[1024]);
/* Does RAW say that the volume has encrypted directories? */
bool rj_super_encrypts(const uint8_t raw[1024]);
/* Get the volume's size from RAW, in blocks. */
uint64_t rj_super_blocks(const uint8_t raw[1024]);
/*
 * Make RAW, the primary superblock of a mounted volume, that of a base, with the extension
 * SBX. It then names a journal that does not exist: the kernel and e2fsck would find the
 * volume's own journal by its device or its UUID, and write to it.
 */
void rj_super_make_base(uint8_t raw[1024], const uint8_t sbx[RJ_SBX_BYTES]);
/*
 * Make RAW, of a base to which the log was applied, the primary superblock of the volume itself,
 * which needs recovery from its remote journal, with the UUID JOURNAL and the extension SBX.
 */
void rj_super_promote(uint8_t raw[1024], const uint8_t journal[RJ_UUID_BYTES],
	const uint8_t sbx[RJ_SBX_BYTES]);
/* Replace the extension in RAW by SBX, checksum recomputed. */
void rj_super_extend(uint8_t raw[1024], const uint8_t sbx[RJ_SBX_BYTES]);
/*
 * Make RAW, of a copy of a volume to which the log was applied, the primary superblock of
 * a volume of its own: no needs_recovery, the UUID VOLUME (checksums keep their seed, by
 * the feature metadata_csum_seed), a remote journal with the UUID JOURNAL, and the
 * extension SBX.
 */
void rj_super_renew(uint8_t raw[1024], const uint8_t volume[RJ_UUID_BYTES],
	const uint8_t journal[RJ_UUID_BYTES], const uint8_t sbx[RJ_SBX_BYTES]);

#endif
