/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The superblock extension as it lies on the volume. Private to lib/format
 * and its test, which holds doc/superblock-extension.md against it.
 */
#ifndef RJ_FORMAT_SBX_RAW_H
#define RJ_FORMAT_SBX_RAW_H

#include <stddef.h>
#include <stdint.h>

#include "format/sbx.h"

#define RJ_SBX_FLAG_ACK_RECEIVED 0x1
#define RJ_SBX_FLAG_FALLBACK_EMPTY 0x2
#define RJ_SBX_FLAGS_KNOWN \
	(RJ_SBX_FLAG_ACK_RECEIVED | RJ_SBX_FLAG_FALLBACK_EMPTY)

/* Integers are little-endian; byte arrays keep the compiler from padding. */
struct rj_sbx_raw {
	uint8_t magic[4];
	uint8_t version[2];
	uint8_t size[2];
	uint8_t incompat[4];
	uint8_t ro_compat[4];
	uint8_t compat[4];
	uint8_t generation[4];
	uint8_t placement[1];
	uint8_t on_loss[1];
	uint8_t flags[1];
	uint8_t intent_op[1];
	uint8_t intent_state[1];
	uint8_t intent_placement[1];
	uint8_t probed_day[2];
	uint8_t journal_uuid[16];
	uint8_t epoch[8];
	uint8_t floor[8];
	uint8_t journal_blocks[4];
	uint8_t intent_blocks[4];
	uint8_t intent_uuid[16];
	uint8_t key_fingerprint[16];
	uint8_t url[RJ_SBX_URL_BYTES];
	uint8_t redo_block[8];
	uint8_t moved_at[8];
	uint8_t moved_from[1];
	uint8_t moved_to[1];
	uint8_t probed[1];
	uint8_t reserved1[1];
	uint8_t crc[4];
};

#define RJ_SBX_AT(field, offset)                                  \
	_Static_assert(offsetof(struct rj_sbx_raw, field) == (offset), \
		"superblock extension: " #field " moved")

RJ_SBX_AT(magic, 0x00);
RJ_SBX_AT(version, 0x04);
RJ_SBX_AT(size, 0x06);
RJ_SBX_AT(incompat, 0x08);
RJ_SBX_AT(ro_compat, 0x0C);
RJ_SBX_AT(compat, 0x10);
RJ_SBX_AT(generation, 0x14);
RJ_SBX_AT(placement, 0x18);
RJ_SBX_AT(on_loss, 0x19);
RJ_SBX_AT(flags, 0x1A);
RJ_SBX_AT(intent_op, 0x1B);
RJ_SBX_AT(intent_state, 0x1C);
RJ_SBX_AT(intent_placement, 0x1D);
RJ_SBX_AT(probed_day, 0x1E);
RJ_SBX_AT(journal_uuid, 0x20);
RJ_SBX_AT(epoch, 0x30);
RJ_SBX_AT(floor, 0x38);
RJ_SBX_AT(journal_blocks, 0x40);
RJ_SBX_AT(intent_blocks, 0x44);
RJ_SBX_AT(intent_uuid, 0x48);
RJ_SBX_AT(key_fingerprint, 0x58);
RJ_SBX_AT(url, 0x68);
RJ_SBX_AT(redo_block, 0xE8);
RJ_SBX_AT(moved_at, 0xF0);
RJ_SBX_AT(moved_from, 0xF8);
RJ_SBX_AT(moved_to, 0xF9);
RJ_SBX_AT(probed, 0xFA);
RJ_SBX_AT(reserved1, 0xFB);
RJ_SBX_AT(crc, 0xFC);
_Static_assert(sizeof(struct rj_sbx_raw) == RJ_SBX_BYTES,
	"superblock extension: wrong size");
_Static_assert(RJ_SBX_OFFSET + RJ_SBX_BYTES == 0x3FC,
	"superblock extension: must end where s_checksum begins");

#undef RJ_SBX_AT

#endif
