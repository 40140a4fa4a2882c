// SPDX-License-Identifier: GPL-2.0-or-later
/* Encode and decode records. */
#include "record.h"

#include <string.h>

#include "util/bytes.h"
#include "util/crc32c.h"

#define MAGIC_HEADER  0x48524a52u /* "RJRH" */
#define MAGIC_TRAILER 0x54524a52u /* "RJRT" */
#define MAGIC_FILE    "RJDATA\n\1"

/* Offsets of the fields; all integers little-endian. */
enum {
	R_MAGIC = 0,
	R_TYPE = 4,
	R_FLAGS = 6,
	R_LENGTH = 8,
	R_BODY_CRC = 12,
	R_POS = 16,
	R_PREV = 24,
	R_DURABLE = 32,
	R_STORE_ID = 40,
	R_TIME = 48,
	R_NUMBER = 56,
	R_UUID = 64,
	R_NAME = 80,
	R_KIND = 144,
	R_LEAST = 148,
	R_ZERO = 152, /* reserved, to R_CRC */
	R_CRC = 188,
};

enum {
	F_MAGIC = 0,
	F_NUMBER = 8,
	F_BYTES = 16,
	F_STORE_ID = 24,
	F_TIME = 32,
	F_CRC = 60,
};

_Static_assert(R_NAME + NAME_BYTES == R_KIND, "name field");
_Static_assert(R_UUID + RJ_UUID_BYTES == R_NAME, "uuid field");
_Static_assert(R_CRC + 4 == REC_HEAD_BYTES, "crc ends the header");
_Static_assert(F_CRC + 4 == FILE_HEAD_USED, "crc ends the file header");
_Static_assert(REC_HEAD_BYTES % REC_ALIGN == 0, "bodies start aligned");

void rec_encode(const struct rec *r, bool trailer, uint8_t raw[REC_HEAD_BYTES])
{
	memset(raw, 0, REC_HEAD_BYTES);
	rj_put_le32(raw + R_MAGIC, trailer ? MAGIC_TRAILER : MAGIC_HEADER);
	rj_put_le16(raw + R_TYPE, (uint16_t)r->type);
	rj_put_le16(raw + R_FLAGS, (uint16_t)r->flags);
	rj_put_le32(raw + R_LENGTH, r->length);
	rj_put_le32(raw + R_BODY_CRC, r->body_crc);
	rj_put_le64(raw + R_POS, r->pos);
	rj_put_le64(raw + R_PREV, r->prev);
	rj_put_le64(raw + R_DURABLE, r->durable);
	rj_put_le64(raw + R_STORE_ID, r->store_id);
	rj_put_le64(raw + R_TIME, r->time_ns);
	rj_put_le64(raw + R_NUMBER, r->okey.key.number);
	memcpy(raw + R_UUID, r->okey.key.journal_uuid, RJ_UUID_BYTES);
	memcpy(raw + R_NAME, r->okey.name, strnlen(r->okey.name, NAME_BYTES));
	rj_put_le32(raw + R_KIND, r->okey.key.kind);
	rj_put_le32(raw + R_LEAST, r->least);
	rj_put_le32(raw + R_CRC, rj_crc32c(~0u, raw, R_CRC));
}

bool rec_decode(const uint8_t raw[REC_HEAD_BYTES], bool trailer,
	uint64_t store_id, struct rec *out)
{
	struct rec r = {0};

	if (rj_get_le32(raw + R_MAGIC) != (trailer ? MAGIC_TRAILER : MAGIC_HEADER) ||
		rj_get_le32(raw + R_CRC) != rj_crc32c(~0u, raw, R_CRC))
		return false;
	r.store_id = rj_get_le64(raw + R_STORE_ID);
	if (r.store_id != store_id)
		return false;
	r.type = (enum rec_type)rj_get_le16(raw + R_TYPE);
	r.flags = rj_get_le16(raw + R_FLAGS);
	r.length = rj_get_le32(raw + R_LENGTH);
	r.body_crc = rj_get_le32(raw + R_BODY_CRC);
	r.pos = rj_get_le64(raw + R_POS);
	r.prev = rj_get_le64(raw + R_PREV);
	r.durable = rj_get_le64(raw + R_DURABLE);
	r.time_ns = rj_get_le64(raw + R_TIME);
	r.least = rj_get_le32(raw + R_LEAST);
	r.okey.key.number = rj_get_le64(raw + R_NUMBER);
	memcpy(r.okey.key.journal_uuid, raw + R_UUID, RJ_UUID_BYTES);
	memcpy(r.okey.name, raw + R_NAME, NAME_BYTES);
	r.okey.name[NAME_BYTES - 1] = 0;
	if (rj_get_le32(raw + R_KIND) >= RJ_KEY_KINDS)
		return false;
	r.okey.key.kind = (enum rj_key_kind)rj_get_le32(raw + R_KIND);
	if (r.type < REC_OBJECT || r.type > REC_DAMAGED)
		return false;
	*out = r;
	return true;
}

void file_head_encode(const struct file_head *h, uint8_t raw[FILE_HEAD_BYTES])
{
	memset(raw, 0, FILE_HEAD_BYTES);
	memcpy(raw + F_MAGIC, MAGIC_FILE, 8);
	rj_put_le32(raw + F_NUMBER, h->number);
	rj_put_le64(raw + F_BYTES, h->bytes);
	rj_put_le64(raw + F_STORE_ID, h->store_id);
	rj_put_le64(raw + F_TIME, h->time_ns);
	rj_put_le32(raw + F_CRC, rj_crc32c(~0u, raw, F_CRC));
	memcpy(raw + FILE_HEAD_COPY, raw, FILE_HEAD_USED);
}

bool file_head_decode(const uint8_t raw[FILE_HEAD_BYTES], struct file_head *out,
	bool *copy_bad)
{
	const uint8_t *copy[2] = {raw, raw + FILE_HEAD_COPY}, *p;
	bool found = false;
	int i;

	*copy_bad = false;
	for (i = 0; i < 2; i++) {
		p = copy[i];
		if (memcmp(p + F_MAGIC, MAGIC_FILE, 8) ||
			rj_get_le32(p + F_CRC) != rj_crc32c(~0u, p, F_CRC)) {
			*copy_bad = true;
			continue;
		}
		if (found)
			continue;
		found = true;
		out->number = rj_get_le32(p + F_NUMBER);
		out->bytes = rj_get_le64(p + F_BYTES);
		out->store_id = rj_get_le64(p + F_STORE_ID);
		out->time_ns = rj_get_le64(p + F_TIME);
	}
	return found;
}
