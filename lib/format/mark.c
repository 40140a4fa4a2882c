// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encode and decode the mark. */
#include "format/mark.h"

#include <string.h>

#include "util/bytes.h"
#include "util/crc32c.h"

#define MAGIC	  "RJMK"
#define CRC_AT	  4
#define OLDEST_AT 8
#define UUID_AT	  16

static uint32_t crc_of(const uint8_t raw[RJ_MARK_BYTES])
{
	return rj_crc32c(~0u, raw + OLDEST_AT, RJ_MARK_BYTES - OLDEST_AT);
}

void rj_mark_encode(const struct rj_mark *m, uint8_t raw[RJ_MARK_BYTES])
{
	memcpy(raw, MAGIC, CRC_AT);
	rj_put_le64(raw + OLDEST_AT, m->oldest);
	memcpy(raw + UUID_AT, m->journal_uuid, RJ_UUID_BYTES);
	rj_put_le32(raw + CRC_AT, crc_of(raw));
}

bool rj_mark_decode(const uint8_t raw[RJ_MARK_BYTES], struct rj_mark *out)
{
	if (memcmp(raw, MAGIC, CRC_AT) != 0 ||
		rj_get_le32(raw + CRC_AT) != crc_of(raw))
		return false;
	out->oldest = rj_get_le64(raw + OLDEST_AT);
	memcpy(out->journal_uuid, raw + UUID_AT, RJ_UUID_BYTES);
	return true;
}
