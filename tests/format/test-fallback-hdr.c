// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/fallback-hdr.h"
#include "format/table.h"
#include "support/rjtest.h"
#include "util/bytes.h"
#include "util/crc32c.h"

#define HEADER_CRC_AT (RJ_FALLBACK_HEADER_BYTES - 4)
#define RECORD_CRC_AT (RJ_FALLBACK_RECORD_HEAD - 4)

static struct rj_fallback_header sample(void)
{
	struct rj_fallback_header h = {
		.generation = 0x1122334455667788,
		.state = RJ_FALLBACK_LOCAL,
		.area_bytes = 40u << 20,
		.session = 0x0102030405060708,
		.epoch = 0x21,
		.fence = 0x3000,
		.from = 0x3010,
		.next = 0x3020,
		.position = 0x7000,
		.last = 0x3022,
		.since_ns = 0x1718191a1b1c1d1e,
		.floor_epoch = 0x23,
		.floor_sequence = 0x3031,
	};

	memset(h.volume_uuid, 0x71, sizeof(h.volume_uuid));
	memset(h.journal_uuid, 0x72, sizeof(h.journal_uuid));
	memset(h.chain, 0x74, sizeof(h.chain));
	memset(h.floor_chain, 0x75, sizeof(h.floor_chain));
	return h;
}

static struct rj_fallback_record sample_record(void)
{
	return (struct rj_fallback_record){
		.session = 0x0102030405060708,
		.sequence = 0x1122334455667788,
		.epoch = 0x21,
		.position = 0x7000,
		.bytes = 4321,
		.payload = 0xA1A2A3A4,
	};
}

static int try(
	const struct rj_fallback_header *h, struct rj_fallback_header *out)
{
	uint8_t raw[RJ_FALLBACK_HEADER_BYTES];
	struct rj_error err = {0};
	int rc;

	rj_fallback_header_encode(h, raw);
	rc = rj_fallback_header_decode(raw, out, &err);
	CU_ASSERT_EQUAL(rc, -(int)err.code);
	return rc;
}

static int try_record(
	const struct rj_fallback_record *r, struct rj_fallback_record *out)
{
	uint8_t raw[RJ_FALLBACK_RECORD_HEAD];
	struct rj_error err = {0};
	int rc;

	rj_fallback_record_encode(r, raw);
	rc = rj_fallback_record_decode(raw, out, &err);
	CU_ASSERT_EQUAL(rc, -(int)err.code);
	return rc;
}

static void there_and_back(void)
{
	uint8_t there[RJ_FALLBACK_HEADER_BYTES], back[RJ_FALLBACK_HEADER_BYTES];
	struct rj_fallback_record r = sample_record(), rec;
	struct rj_fallback_header h = sample(), out;

	CU_ASSERT_EQUAL(try(&h, &out), 0);
	/* the bytes of the structures differ between their fields */
	rj_fallback_header_encode(&h, there);
	rj_fallback_header_encode(&out, back);
	CU_ASSERT_EQUAL(memcmp(there, back, sizeof(there)), 0);
	h.state = RJ_FALLBACK_GIVEN_UP;
	CU_ASSERT_EQUAL(try(&h, &out), 0);
	CU_ASSERT_EQUAL(out.state, RJ_FALLBACK_GIVEN_UP);
	h = (struct rj_fallback_header){.area_bytes = RJ_FALLBACK_ALIGN};
	CU_ASSERT_EQUAL(try(&h, &out), 0);
	CU_ASSERT_EQUAL(try_record(&r, &rec), 0);
	CU_ASSERT_EQUAL(memcmp(&r, &rec, sizeof(r)), 0);
	r.bytes = RJ_SEG_MAX_BYTES;
	CU_ASSERT_EQUAL(try_record(&r, &rec), 0);
}

/* One field of a good header changed: refused, and OUT is left alone. */
#define REFUSED(change)                                                        \
	do {                                                                   \
		struct rj_fallback_header h = sample(), out, before;           \
		memset(&out, 0x5A, sizeof(out));                               \
		before = out;                                                  \
		change;                                                        \
		CU_ASSERT_EQUAL(try(&h, &out), -RJ_E_CORRUPT);                 \
		CU_ASSERT_EQUAL(memcmp(&out, &before, sizeof(out)), 0);        \
	} while (0)
#define REFUSED_RECORD(change)                                                 \
	do {                                                                   \
		struct rj_fallback_record r = sample_record(), out, before;    \
		memset(&out, 0x5A, sizeof(out));                               \
		before = out;                                                  \
		change;                                                        \
		CU_ASSERT_EQUAL(try_record(&r, &out), -RJ_E_CORRUPT);          \
		CU_ASSERT_EQUAL(memcmp(&out, &before, sizeof(out)), 0);        \
	} while (0)

static void out_of_range(void)
{
	REFUSED(h.state = (enum rj_fallback_state)3);
	REFUSED(h.state = (enum rj_fallback_state)0x80000000u);
	REFUSED(h.area_bytes = 0);
	REFUSED(h.area_bytes++);
	REFUSED(h.area_bytes =
			UINT64_MAX / RJ_FALLBACK_ALIGN * RJ_FALLBACK_ALIGN);
	REFUSED(h.position++);
	REFUSED(h.from = 0);
	REFUSED(h.epoch = 0);
	REFUSED(h.fence = 0);
	REFUSED(h.fence = h.from);
	REFUSED(h.next = h.from - 1);
	REFUSED_RECORD(r.sequence = 0);
	REFUSED_RECORD(r.epoch = 0);
	REFUSED_RECORD(r.bytes = RJ_SEG_HEADER_BYTES - 1);
	REFUSED_RECORD(r.bytes = RJ_SEG_MAX_BYTES + 1);
	REFUSED_RECORD(r.bytes = UINT32_MAX);
	REFUSED_RECORD(r.position--);
}

static void damaged(void)
{
	uint8_t raw[RJ_FALLBACK_HEADER_BYTES], rec[RJ_FALLBACK_RECORD_HEAD];
	struct rj_fallback_record r = sample_record(), seen;
	struct rj_fallback_header h = sample(), out;
	struct rj_error err;
	unsigned i;

	rj_fallback_header_encode(&h, raw);
	for (i = 0; i < sizeof(raw); i++) {
		raw[i] ^= 0x20;
		CU_ASSERT_EQUAL(rj_fallback_header_decode(raw, &out, &err),
			i < 8 ? -RJ_E_NOTRJ : -RJ_E_CORRUPT);
		raw[i] ^= 0x20;
	}
	rj_fallback_record_encode(&r, rec);
	for (i = 0; i < sizeof(rec); i++) {
		rec[i] ^= 0x20;
		CU_ASSERT_EQUAL(rj_fallback_record_decode(rec, &seen, &err),
			i < 8 ? -RJ_E_NOTRJ : -RJ_E_CORRUPT);
		rec[i] ^= 0x20;
	}
	rj_put_le32(raw + 8, RJ_FALLBACK_VERSION + 1);
	rj_put_le32(raw + HEADER_CRC_AT, rj_crc32c(~0u, raw, HEADER_CRC_AT));
	CU_ASSERT_EQUAL(
		rj_fallback_header_decode(raw, &out, &err), -RJ_E_UNSUPPORTED);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "version 2"));
	CU_ASSERT_EQUAL(
		rj_fallback_header_decode(raw, &out, NULL), -RJ_E_UNSUPPORTED);
}

static void room_of_a_record(void)
{
	CU_ASSERT_EQUAL(rj_fallback_record_bytes(1), 4096);
	CU_ASSERT_EQUAL(rj_fallback_record_bytes(4096 - 64), 4096);
	CU_ASSERT_EQUAL(rj_fallback_record_bytes(4096 - 63), 8192);
	CU_ASSERT_EQUAL(rj_fallback_record_bytes(8192), 12288);
}

/* ---- doc/fallback.md against the code ---- */

/* FIELD alone has another value, different in every byte. */
#define CHANGE(name)                                                           \
	if (!strcmp(field, #name)) {                                           \
		for (i = 0; i < sizeof(h->name); i++)                          \
			((uint8_t *)&h->name)[i] ^= 0xC3;                      \
		return true;                                                   \
	}

static bool change_header(struct rj_fallback_header *h, const char *field)
{
	size_t i;

	CHANGE(state)
	CHANGE(generation)
	CHANGE(volume_uuid)
	CHANGE(journal_uuid)
	CHANGE(area_bytes)
	CHANGE(session)
	CHANGE(epoch)
	CHANGE(fence)
	CHANGE(from)
	CHANGE(next)
	CHANGE(position)
	CHANGE(last)
	CHANGE(since_ns)
	CHANGE(chain)
	CHANGE(floor_epoch)
	CHANGE(floor_sequence)
	CHANGE(floor_chain)
	CHANGE(made)
	return false;
}

static bool change_record(struct rj_fallback_record *h, const char *field)
{
	size_t i;

	CHANGE(session)
	CHANGE(sequence)
	CHANGE(epoch)
	CHANGE(position)
	CHANGE(bytes)
	CHANGE(payload)
	return false;
}

/* What is the same in each: RAW is one, its CRC at CRC_AT. */
static void check_constant(const struct row *row, const uint8_t *raw,
	const char *magic, unsigned crc_at)
{
	unsigned i;

	if (!strcmp(row->field, "magic")) {
		CU_ASSERT_EQUAL(row->bytes, 8);
		CU_ASSERT_EQUAL(memcmp(raw + row->offset, magic, 8), 0);
	} else if (!strcmp(row->field, "version")) {
		CU_ASSERT_EQUAL(row->bytes, 4);
		CU_ASSERT_EQUAL(rj_get_le32(raw + row->offset), 1);
	} else if (!strcmp(row->field, "crc")) {
		CU_ASSERT_EQUAL(row->offset, crc_at);
		CU_ASSERT_EQUAL(rj_get_le32(raw + crc_at),
			rj_crc32c(~0u, raw, crc_at));
	} else {
		CU_ASSERT_STRING_EQUAL(row->field, "reserved");
		for (i = 0; i < row->bytes; i++)
			CU_ASSERT_EQUAL(raw[row->offset + i], 0);
	}
}

static void document_says_the_same_of_the_header(void)
{
	uint8_t a[RJ_FALLBACK_HEADER_BYTES], b[RJ_FALLBACK_HEADER_BYTES];
	struct rj_fallback_header h = sample(), changed;
	struct row rows[32];
	unsigned n = read_table("fallback.md", "### Header", rows, 32), i;

	CU_ASSERT_EQUAL(n, 22);
	check_cover(rows, n, sizeof(a));
	rj_fallback_header_encode(&h, a);
	for (i = 0; i < n; i++) {
		changed = h;
		if (!change_header(&changed, rows[i].field)) {
			check_constant(&rows[i], a, "RJFALLBK", HEADER_CRC_AT);
			continue;
		}
		rj_fallback_header_encode(&changed, b);
		CU_ASSERT_TRUE(differ_in(&rows[i], a, b, HEADER_CRC_AT));
	}
}

static void document_says_the_same_of_a_record(void)
{
	uint8_t a[RJ_FALLBACK_RECORD_HEAD], b[RJ_FALLBACK_RECORD_HEAD];
	struct rj_fallback_record r = sample_record(), changed;
	struct row rows[32];
	unsigned n = read_table("fallback.md", "### Record", rows, 32), i;

	CU_ASSERT_EQUAL(n, 9);
	check_cover(rows, n, sizeof(a));
	rj_fallback_record_encode(&r, a);
	for (i = 0; i < n; i++) {
		changed = r;
		if (!change_record(&changed, rows[i].field)) {
			check_constant(&rows[i], a, "RJFBREC1", RECORD_CRC_AT);
			continue;
		}
		rj_fallback_record_encode(&changed, b);
		CU_ASSERT_TRUE(differ_in(&rows[i], a, b, RECORD_CRC_AT));
	}
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(there_and_back),
		RJTEST(out_of_range),
		RJTEST(damaged),
		RJTEST(room_of_a_record),
		RJTEST(document_says_the_same_of_the_header),
		RJTEST(document_says_the_same_of_a_record),
	};

	return RJTEST_RUN("fallback-hdr", tests);
}
