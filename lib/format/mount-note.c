// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encode and strictly decode a mount's note. */
#include "format/mount-note.h"

#include <string.h>

#include "util/bytes.h"
#include "util/crc32c.h"

#define MAGIC	 "RJMOUNTS"
#define KIND_AT	 8
#define COUNT_AT 12
#define ZERO_AT	 14
#define EPOCH_AT 16
#define SUPER_AT 24
#define CHECK_AT 56
#define CRC_AT	 60

static uint32_t crc_of(const uint8_t raw[RJ_MOUNT_NOTE_BYTES])
{
	return rj_crc32c(~0u, raw, CRC_AT);
}

void rj_mount_note_encode(
	const struct rj_mount_note *n, uint8_t raw[RJ_MOUNT_NOTE_BYTES])
{
	memset(raw, 0, RJ_MOUNT_NOTE_BYTES);
	memcpy(raw, MAGIC, KIND_AT);
	rj_put_le32(raw + KIND_AT, n->kind);
	rj_put_le16(raw + COUNT_AT, n->mounts);
	rj_put_le64(raw + EPOCH_AT, n->epoch);
	memcpy(raw + SUPER_AT, n->super, sizeof(n->super));
	rj_put_le32(raw + CHECK_AT, n->checked);
	rj_put_le32(raw + CRC_AT, crc_of(raw));
}

bool rj_mount_note_decode(
	const uint8_t raw[RJ_MOUNT_NOTE_BYTES], struct rj_mount_note *out)
{
	uint32_t kind = rj_get_le32(raw + KIND_AT);

	if (memcmp(raw, MAGIC, KIND_AT) != 0 ||
		rj_get_le32(raw + CRC_AT) != crc_of(raw) ||
		kind < RJ_NOTE_MOUNTED || kind > RJ_NOTE_RECOVERED ||
		!rj_get_le64(raw + EPOCH_AT) || rj_get_le16(raw + ZERO_AT))
		return false;
	out->kind = (enum rj_mount_note_kind)kind;
	out->mounts = rj_get_le16(raw + COUNT_AT);
	out->checked = rj_get_le32(raw + CHECK_AT);
	out->epoch = rj_get_le64(raw + EPOCH_AT);
	memcpy(out->super, raw + SUPER_AT, sizeof(out->super));
	return true;
}
