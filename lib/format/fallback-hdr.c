// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/fallback-hdr.h"

#include <stddef.h>
#include <string.h>

#include "util/bytes.h"
#include "util/crc32c.h"

/* Disk forms: little-endian, byte arrays only. */
struct raw_header {
	uint8_t magic[8];
	uint8_t version[4];
	uint8_t state[4];
	uint8_t generation[8];
	uint8_t volume_uuid[16];
	uint8_t journal_uuid[16];
	uint8_t area_bytes[8];
	uint8_t session[8];
	uint8_t epoch[8];
	uint8_t fence[8];
	uint8_t from[8];
	uint8_t next[8];
	uint8_t position[8];
	uint8_t last[8];
	uint8_t since_ns[8];
	uint8_t chain[32];
	uint8_t floor_epoch[8];
	uint8_t floor_sequence[8];
	uint8_t floor_chain[32];
	uint8_t made[8];
	uint8_t reserved[36];
	uint8_t crc[4];
};

struct raw_record {
	uint8_t magic[8];
	uint8_t session[8];
	uint8_t sequence[8];
	uint8_t epoch[8];
	uint8_t position[8];
	uint8_t bytes[4];
	uint8_t payload[4];
	uint8_t reserved[12];
	uint8_t crc[4];
};

#define AT(type, field, off) \
	_Static_assert(offsetof(struct type, field) == (off), #field)

AT(raw_header, version, 8);
AT(raw_header, state, 12);
AT(raw_header, generation, 16);
AT(raw_header, volume_uuid, 24);
AT(raw_header, journal_uuid, 40);
AT(raw_header, area_bytes, 56);
AT(raw_header, session, 64);
AT(raw_header, epoch, 72);
AT(raw_header, fence, 80);
AT(raw_header, from, 88);
AT(raw_header, next, 96);
AT(raw_header, position, 104);
AT(raw_header, last, 112);
AT(raw_header, since_ns, 120);
AT(raw_header, chain, 128);
AT(raw_header, floor_epoch, 160);
AT(raw_header, floor_sequence, 168);
AT(raw_header, floor_chain, 176);
AT(raw_header, made, 208);
AT(raw_header, crc, 252);
_Static_assert(sizeof(struct raw_header) == RJ_FALLBACK_HEADER_BYTES, "header");
AT(raw_record, sequence, 16);
AT(raw_record, epoch, 24);
AT(raw_record, position, 32);
AT(raw_record, bytes, 40);
AT(raw_record, payload, 44);
AT(raw_record, crc, 60);
_Static_assert(sizeof(struct raw_record) == RJ_FALLBACK_RECORD_HEAD, "record");

static int bad(struct rj_error *err, const char *what)
{
	return rj_fail(err, RJ_E_CORRUPT, "fallback file: %s", what);
}

static int check(const struct rj_fallback_header *h, struct rj_error *err)
{
	if ((unsigned)h->state > RJ_FALLBACK_GIVEN_UP)
		return bad(err, "unknown state");
	if (!h->area_bytes || h->area_bytes % RJ_FALLBACK_ALIGN ||
		h->area_bytes > (uint64_t)1 << 50)
		return bad(err, "an invalid size");
	if (h->position % RJ_FALLBACK_ALIGN)
		return bad(err, "an invalid position");
	if (h->state != RJ_FALLBACK_IDLE &&
		(!h->from || !h->epoch || !h->fence || h->fence >= h->from ||
			h->next < h->from))
		return bad(err, "invalid segment numbers");
	return 0;
}

int rj_fallback_header_decode(const uint8_t raw[RJ_FALLBACK_HEADER_BYTES],
	struct rj_fallback_header *out, struct rj_error *err)
{
	const struct raw_header *r = (const struct raw_header *)raw;
	struct rj_fallback_header h = {0};
	int rc;

	if (memcmp(r->magic, RJ_FALLBACK_MAGIC, sizeof(r->magic)))
		return rj_fail(err, RJ_E_NOTRJ, "not a fallback file");
	/* in every version the CRC is here and covers what is before it */
	if (rj_get_le32(r->crc) !=
		rj_crc32c(~0u, raw, offsetof(struct raw_header, crc)))
		return bad(err, "its header has a wrong checksum");
	if (rj_get_le32(r->version) != RJ_FALLBACK_VERSION)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"fallback file: version %u, this program knows %d: use a newer one",
			rj_get_le32(r->version), RJ_FALLBACK_VERSION);
	h.state = rj_get_le32(r->state);
	h.generation = rj_get_le64(r->generation);
	memcpy(h.volume_uuid, r->volume_uuid, RJ_UUID_BYTES);
	memcpy(h.journal_uuid, r->journal_uuid, RJ_UUID_BYTES);
	h.area_bytes = rj_get_le64(r->area_bytes);
	h.session = rj_get_le64(r->session);
	h.epoch = rj_get_le64(r->epoch);
	h.fence = rj_get_le64(r->fence);
	h.from = rj_get_le64(r->from);
	h.next = rj_get_le64(r->next);
	h.position = rj_get_le64(r->position);
	h.last = rj_get_le64(r->last);
	h.since_ns = (int64_t)rj_get_le64(r->since_ns);
	memcpy(h.chain, r->chain, sizeof(h.chain));
	h.floor_epoch = rj_get_le64(r->floor_epoch);
	h.floor_sequence = rj_get_le64(r->floor_sequence);
	memcpy(h.floor_chain, r->floor_chain, sizeof(h.floor_chain));
	h.made = rj_get_le64(r->made);
	rc = check(&h, err);
	if (!rc)
		*out = h;
	return rc;
}

bool rj_fallback_is_here(const uint8_t raw[RJ_FALLBACK_AREA])
{
	const size_t len = sizeof(RJ_FALLBACK_MAGIC) - 1;

	return !memcmp(raw, RJ_FALLBACK_MAGIC, len) ||
	       !memcmp(raw + RJ_FALLBACK_ALIGN, RJ_FALLBACK_MAGIC, len);
}

void rj_fallback_header_encode(const struct rj_fallback_header *h,
	uint8_t raw[RJ_FALLBACK_HEADER_BYTES])
{
	struct raw_header r = {0};

	memcpy(r.magic, RJ_FALLBACK_MAGIC, sizeof(r.magic));
	rj_put_le32(r.version, RJ_FALLBACK_VERSION);
	rj_put_le32(r.state, (uint32_t)h->state);
	rj_put_le64(r.generation, h->generation);
	memcpy(r.volume_uuid, h->volume_uuid, RJ_UUID_BYTES);
	memcpy(r.journal_uuid, h->journal_uuid, RJ_UUID_BYTES);
	rj_put_le64(r.area_bytes, h->area_bytes);
	rj_put_le64(r.session, h->session);
	rj_put_le64(r.epoch, h->epoch);
	rj_put_le64(r.fence, h->fence);
	rj_put_le64(r.from, h->from);
	rj_put_le64(r.next, h->next);
	rj_put_le64(r.position, h->position);
	rj_put_le64(r.last, h->last);
	rj_put_le64(r.since_ns, (uint64_t)h->since_ns);
	memcpy(r.chain, h->chain, sizeof(r.chain));
	rj_put_le64(r.floor_epoch, h->floor_epoch);
	rj_put_le64(r.floor_sequence, h->floor_sequence);
	memcpy(r.floor_chain, h->floor_chain, sizeof(r.floor_chain));
	rj_put_le64(r.made, h->made);
	rj_put_le32(
		r.crc, rj_crc32c(~0u, &r, offsetof(struct raw_header, crc)));
	memcpy(raw, &r, sizeof(r));
}

int rj_fallback_record_decode(const uint8_t raw[RJ_FALLBACK_RECORD_HEAD],
	struct rj_fallback_record *out, struct rj_error *err)
{
	const struct raw_record *r = (const struct raw_record *)raw;
	struct rj_fallback_record rec;

	if (memcmp(r->magic, RJ_FALLBACK_RECORD_MAGIC, sizeof(r->magic)))
		return rj_fail(err, RJ_E_NOTRJ, "no record");
	if (rj_get_le32(r->crc) !=
		rj_crc32c(~0u, raw, offsetof(struct raw_record, crc)))
		return rj_fail(err, RJ_E_CORRUPT, "a record's head is damaged");
	rec.session = rj_get_le64(r->session);
	rec.sequence = rj_get_le64(r->sequence);
	rec.epoch = rj_get_le64(r->epoch);
	rec.position = rj_get_le64(r->position);
	rec.bytes = rj_get_le32(r->bytes);
	rec.payload = rj_get_le32(r->payload);
	if (!rec.sequence || !rec.epoch || rec.bytes < RJ_SEG_HEADER_BYTES ||
		rec.bytes > RJ_SEG_MAX_BYTES ||
		rec.position % RJ_FALLBACK_ALIGN)
		return rj_fail(err, RJ_E_CORRUPT,
			"a record's head has invalid fields");
	*out = rec;
	return 0;
}

void rj_fallback_record_encode(const struct rj_fallback_record *rec,
	uint8_t raw[RJ_FALLBACK_RECORD_HEAD])
{
	struct raw_record r = {0};

	memcpy(r.magic, RJ_FALLBACK_RECORD_MAGIC, sizeof(r.magic));
	rj_put_le64(r.session, rec->session);
	rj_put_le64(r.sequence, rec->sequence);
	rj_put_le64(r.epoch, rec->epoch);
	rj_put_le64(r.position, rec->position);
	rj_put_le32(r.bytes, rec->bytes);
	rj_put_le32(r.payload, rec->payload);
	rj_put_le32(
		r.crc, rj_crc32c(~0u, &r, offsetof(struct raw_record, crc)));
	memcpy(raw, &r, sizeof(r));
}

uint64_t rj_fallback_record_bytes(uint64_t bytes)
{
	return (bytes + RJ_FALLBACK_RECORD_HEAD + RJ_FALLBACK_ALIGN - 1) /
	       RJ_FALLBACK_ALIGN * RJ_FALLBACK_ALIGN;
}
