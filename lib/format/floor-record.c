// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encode and decode the record of a floor. */
#include "format/floor-record.h"

#include <stddef.h>
#include <string.h>

#include "util/bytes.h"
#include "util/crc32c.h"

#define MAGIC "RJFLOOR1"

/* Little-endian. */
struct raw {
	uint8_t magic[8];
	uint8_t generation[8];
	uint8_t journal_uuid[16];
	uint8_t epoch[8];
	uint8_t sequence[8];
	uint8_t chain[32];
	uint8_t reserved[428];
	uint8_t crc[4];
};

#define AT(field, off) \
	_Static_assert(offsetof(struct raw, field) == (off), #field)

AT(generation, 8);
AT(journal_uuid, 16);
AT(epoch, 32);
AT(sequence, 40);
AT(chain, 48);
AT(crc, 508);
_Static_assert(sizeof(struct raw) == RJ_FLOOR_BYTES, "record");

void rj_floor_record_encode(
	const struct rj_floor_record *rec, uint8_t raw[RJ_FLOOR_BYTES])
{
	struct raw r = {0};

	memcpy(r.magic, MAGIC, sizeof(r.magic));
	rj_put_le64(r.generation, rec->generation);
	memcpy(r.journal_uuid, rec->journal_uuid, sizeof(r.journal_uuid));
	rj_put_le64(r.epoch, rec->epoch);
	rj_put_le64(r.sequence, rec->sequence);
	memcpy(r.chain, rec->chain, sizeof(r.chain));
	rj_put_le32(r.crc, rj_crc32c(~0u, &r, offsetof(struct raw, crc)));
	memcpy(raw, &r, sizeof(r));
}

static int bad(struct rj_error *err, const char *what)
{
	return rj_fail(err, RJ_E_CORRUPT, "local floor: %s", what);
}

int rj_floor_record_decode(const uint8_t raw[RJ_FLOOR_BYTES],
	struct rj_floor_record *out, struct rj_error *err)
{
	struct rj_floor_record rec;
	struct raw r;
	size_t i;

	memcpy(&r, raw, sizeof(r));
	if (memcmp(r.magic, MAGIC, sizeof(r.magic)))
		return rj_fail(err, RJ_E_NOTRJ, "local floor: no record");
	if (rj_get_le32(r.crc) != rj_crc32c(~0u, &r, offsetof(struct raw, crc)))
		return bad(err, "its checksum is wrong");
	rec.generation = rj_get_le64(r.generation);
	memcpy(rec.journal_uuid, r.journal_uuid, sizeof(rec.journal_uuid));
	rec.epoch = rj_get_le64(r.epoch);
	rec.sequence = rj_get_le64(r.sequence);
	memcpy(rec.chain, r.chain, sizeof(rec.chain));
	for (i = 0; i < sizeof(r.reserved); i++)
		if (r.reserved[i])
			return bad(err, "reserved bytes are not zero");
	if (!rec.epoch || !rec.sequence)
		return bad(err, "it names no segment");
	*out = rec;
	return 0;
}
