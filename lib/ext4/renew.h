/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef RJ_EXT4_RENEW_H
#define RJ_EXT4_RENEW_H

#include <stdbool.h>
#include <stdint.h>

#include "format/sbx.h"
#include "util/uuid.h"

/* Is RAW, the 1024 bytes of a primary superblock, whole: magic and checksum? */
bool rj_super_whole(const uint8_t raw[1024]);
/* Does it say that the volume has encrypted directories? */
bool rj_super_encrypts(const uint8_t raw[1024]);
/*
 * RAW is the primary superblock of a mounted volume: make it that of a base, with the
 * extension SBX. The journal that it names is none: the kernel and e2fsck would find the
 * volume's own by its device or its UUID, and write to it.
 */
void rj_super_make_base(uint8_t raw[1024], const uint8_t sbx[RJ_SBX_BYTES]);
/* Replace the extension in RAW by SBX, checksum recomputed. */
void rj_super_extend(uint8_t raw[1024], const uint8_t sbx[RJ_SBX_BYTES]);
/*
 * RAW is of a copy of a volume, whose log was applied: make it the primary superblock of
 * a volume of its own. It needs no recovery, has the UUID VOLUME (checksums keep their
 * seed, by the feature metadata_csum_seed), a remote journal with the UUID JOURNAL, and
 * the extension SBX.
 */
void rj_super_renew(uint8_t raw[1024], const uint8_t volume[RJ_UUID_BYTES],
	const uint8_t journal[RJ_UUID_BYTES], const uint8_t sbx[RJ_SBX_BYTES]);

#endif
