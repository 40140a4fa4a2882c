/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of lib/jbd2 share: where the fields stand on disk, and the
 * objects that a scan is made of. All on-disk integers are big-endian.
 */
#ifndef RJ_JBD2_PRIVATE_H
#define RJ_JBD2_PRIVATE_H

#include <stddef.h>

#include "jbd2/jbd2.h"
#include "util/bytes.h"

/* journal_superblock_t */
enum {
	SB_MAGIC = 0x00,
	SB_TYPE = 0x04,
	SB_BLOCK_SIZE = 0x0C,
	SB_MAXLEN = 0x10,
	SB_FIRST = 0x14,
	SB_SEQUENCE = 0x18,
	SB_START = 0x1C,
	SB_ERRNO = 0x20,
	SB_COMPAT = 0x24,
	SB_INCOMPAT = 0x28,
	SB_RO_COMPAT = 0x2C,
	SB_UUID = 0x30,
	SB_NR_USERS = 0x40,
	SB_CHECKSUM_TYPE = 0x50,
	SB_NUM_FC_BLOCKS = 0x54,
	SB_HEAD = 0x58,
	SB_CHECKSUM = 0xFC,
	SB_USERS = 0x100,
};

#define RJ_JBD2_USERS_MAX           48
#define RJ_JBD2_CHECKSUM_CRC32      1 /* v1's, in the commit block */
#define RJ_JBD2_CHECKSUM_CRC32C     4
#define RJ_JBD2_DEFAULT_FC_BLOCKS   256
#define RJ_JBD2_INCOMPAT_ALL        0x3Fu
#define RJ_JBD2_HEADER_BYTES        12
#define RJ_JBD2_REVOKE_HEADER_BYTES 16
#define RJ_JBD2_TAIL_BYTES          4 /* checksum, with v2 and v3 */

/* Checksum of a raw superblock with its checksum field as if 0. */
uint32_t rj_jbd2_sb_checksum(const uint8_t raw[RJ_JBD2_SB_BYTES]);

#endif
