// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/sbx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/sbx-raw.h"
#include "support/rjtest.h"
#include "util/bytes.h"
#include "util/crc32c.h"

static struct rj_sbx sample(void)
{
	struct rj_sbx s = {
		.incompat = RJ_SBX_INCOMPAT_LOG_VOID,
		.placement = RJ_PLACE_REMOTE,
		.on_loss = RJ_LOSS_ERROR,
		.ack_received = true,
		.generation = 0xA1B2C3D4,
		.epoch = 0x1122334455667788,
		.floor = 0x99AABBCCDDEEFF00,
		.journal_blocks = 8192,
		.intent_op = 7,
		.intent_state = 8,
		.intent_placement = RJ_PLACE_DEVICE,
		.intent_blocks = 4096,
		.redo_block = 0x0102030405060708,
		.moved_from = RJ_PLACE_INTERNAL,
		.moved_to = RJ_PLACE_REMOTE,
		.probed = RJ_SBX_PROBED_A | RJ_SBX_PROBED_RACED,
		.probed_day = 20779,
		.moved_at = 1795300000,
		.url = "rj://journal.example.org:7400/vol-1",
	};
	int i;

	for (i = 0; i < RJ_UUID_BYTES; i++) {
		s.journal_uuid[i] = (uint8_t)(0x10 + i);
		s.intent_uuid[i] = (uint8_t)(0x40 + i);
		s.key_fingerprint[i] = (uint8_t)(0x80 + i);
	}
	return s;
}

/* Put the right CRC on a raw extension that a test has changed. */
static void seal(uint8_t raw[RJ_SBX_BYTES])
{
	rj_put_le32(raw + 0xFC, rj_crc32c(~0u, raw, 0xFC));
}

static void round_trip(void)
{
	struct rj_sbx in = sample(), out;
	uint8_t raw[RJ_SBX_BYTES], again[RJ_SBX_BYTES];
	struct rj_error err;

	memset(&out, 0xEE, sizeof(out));
	CU_ASSERT_EQUAL(rj_sbx_encode(&in, raw, &err), 0);
	CU_ASSERT_EQUAL(rj_sbx_decode(raw, &out, &err), 0);
	CU_ASSERT_EQUAL(out.incompat, in.incompat);
	CU_ASSERT_EQUAL(out.placement, in.placement);
	CU_ASSERT_EQUAL(out.on_loss, in.on_loss);
	CU_ASSERT_EQUAL(out.ack_received, in.ack_received);
	CU_ASSERT_EQUAL(out.generation, in.generation);
	CU_ASSERT_EQUAL(out.epoch, in.epoch);
	CU_ASSERT_EQUAL(out.floor, in.floor);
	CU_ASSERT_EQUAL(out.journal_blocks, in.journal_blocks);
	CU_ASSERT_EQUAL(out.intent_op, in.intent_op);
	CU_ASSERT_EQUAL(out.intent_state, in.intent_state);
	CU_ASSERT_EQUAL(out.intent_placement, in.intent_placement);
	CU_ASSERT_EQUAL(out.intent_blocks, in.intent_blocks);
	CU_ASSERT_EQUAL(out.redo_block, in.redo_block);
	CU_ASSERT_EQUAL(out.moved_from, in.moved_from);
	CU_ASSERT_EQUAL(out.moved_to, in.moved_to);
	CU_ASSERT_EQUAL(out.probed, in.probed);
	CU_ASSERT_EQUAL(out.probed_day, in.probed_day);
	CU_ASSERT_EQUAL(out.moved_at, in.moved_at);
	CU_ASSERT(rj_uuid_equal(out.journal_uuid, in.journal_uuid));
	CU_ASSERT(rj_uuid_equal(out.intent_uuid, in.intent_uuid));
	CU_ASSERT(!memcmp(out.key_fingerprint, in.key_fingerprint, 16));
	CU_ASSERT_STRING_EQUAL(out.url, in.url);
	CU_ASSERT_EQUAL(rj_sbx_encode(&out, again, &err), 0);
	CU_ASSERT(!memcmp(raw, again, sizeof(raw)));
}

/* The bytes themselves, written out: a change of the format must be seen. */
/* The fallback's path stands after the URL, and its feature bit follows. */
static void fallback(void)
{
	uint8_t raw[RJ_SBX_BYTES];
	struct rj_sbx in = sample(), out;
	char longer[RJ_SBX_URL_BYTES];
	size_t room = RJ_SBX_URL_BYTES - 2 - strlen(in.url);

	strcpy(in.fallback, "/var/lib/rj");
	in.fallback_empty = true;
	CU_ASSERT_EQUAL(rj_sbx_encode(&in, raw, NULL), 0);
	CU_ASSERT_EQUAL(raw[8] & 4, 4);
	CU_ASSERT_EQUAL(rj_sbx_decode(raw, &out, NULL), 0);
	CU_ASSERT_STRING_EQUAL(out.fallback, "/var/lib/rj");
	CU_ASSERT_STRING_EQUAL(out.url, in.url);
	CU_ASSERT_TRUE(out.fallback_empty);
	/* and goes with it */
	out.fallback[0] = 0;
	CU_ASSERT_EQUAL(rj_sbx_encode(&out, raw, NULL), 0);
	CU_ASSERT_EQUAL(raw[8] & 4, 0);
	CU_ASSERT_EQUAL(rj_sbx_decode(raw, &out, NULL), 0);
	CU_ASSERT_STRING_EQUAL(out.fallback, "");
	CU_ASSERT_FALSE(out.fallback_empty);
	/* as long as there is room, and no longer */
	memset(longer, 'x', sizeof(longer));
	longer[0] = '/';
	longer[room] = 0;
	strcpy(in.fallback, longer);
	CU_ASSERT_EQUAL(rj_sbx_encode(&in, raw, NULL), 0);
	CU_ASSERT_EQUAL(rj_sbx_decode(raw, &out, NULL), 0);
	CU_ASSERT_STRING_EQUAL(out.fallback, longer);
	strcat(in.fallback, "y");
	CU_ASSERT_EQUAL(rj_sbx_encode(&in, raw, NULL), -RJ_E_INVAL);
	strcpy(in.fallback, "relative");
	CU_ASSERT_EQUAL(rj_sbx_encode(&in, raw, NULL), -RJ_E_INVAL);
	/* the bit without a path, and a path without the bit */
	strcpy(in.fallback, "/f");
	CU_ASSERT_EQUAL(rj_sbx_encode(&in, raw, NULL), 0);
	raw[8] &= (uint8_t)~4;
	seal(raw);
	CU_ASSERT_EQUAL(rj_sbx_decode(raw, &out, NULL), -RJ_E_CORRUPT);
	in.fallback[0] = 0;
	CU_ASSERT_EQUAL(rj_sbx_encode(&in, raw, NULL), 0);
	raw[8] |= 4;
	seal(raw);
	CU_ASSERT_EQUAL(rj_sbx_decode(raw, &out, NULL), -RJ_E_CORRUPT);
}

/* The bit stays reserved: no other feature may have it. */
static void two_stores_are_refused(void)
{
	struct rj_sbx in = sample(), out;
	uint8_t raw[RJ_SBX_BYTES];
	struct rj_error err;

	CU_ASSERT_EQUAL(rj_sbx_encode(&in, raw, NULL), 0);
	raw[8] |= 8;
	seal(raw);
	CU_ASSERT_EQUAL(rj_sbx_decode(raw, &out, &err), -RJ_E_UNSUPPORTED);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "two stores for one log"));
	in.incompat = 8;
	CU_ASSERT_EQUAL(rj_sbx_encode(&in, raw, NULL), -RJ_E_UNSUPPORTED);
}

static void known_bytes(void)
{
	struct rj_sbx in = sample();
	uint8_t raw[RJ_SBX_BYTES];

	CU_ASSERT_EQUAL(rj_sbx_encode(&in, raw, NULL), 0);
	CU_ASSERT(!memcmp(raw,
		"RJSB\1\0\0\1\1\0\0\0\0\0\0\0\0\0\0\0"
		"\xD4\xC3\xB2\xA1\3\1\1\7\10\2\x2B\x51",
		32));
	CU_ASSERT_EQUAL(raw[0x20], 0x10);
	CU_ASSERT(!memcmp(raw + 0x30, "\x88\x77\x66\x55\x44\x33\x22\x11", 8));
	CU_ASSERT_EQUAL(rj_get_le32(raw + 0x40), 8192);
	CU_ASSERT(!memcmp(raw + 0xE8,
		"\x08\x07\x06\x05\x04\x03\x02\x01"
		"\xA0\x1A\x02\x6B\0\0\0\0\1\3\5\0",
		20));
	CU_ASSERT_EQUAL(rj_get_le32(raw + 0xFC), 0x6df5b9ea);
}

static void every_flipped_byte_is_seen(void)
{
	struct rj_sbx in = sample(), out, kept;
	uint8_t raw[RJ_SBX_BYTES];
	struct rj_error err;
	int i, bit, rc;

	CU_ASSERT_EQUAL(rj_sbx_encode(&in, raw, &err), 0);
	memset(&kept, 0xEE, sizeof(kept));
	memcpy(&out, &kept, sizeof(out));
	for (i = 0; i < RJ_SBX_BYTES; i++) {
		for (bit = 0; bit < 8; bit++) {
			raw[i] ^= (uint8_t)(1 << bit);
			rc = rj_sbx_decode(raw, &out, &err);
			CU_ASSERT_EQUAL(
				rc, i < 4 ? -RJ_E_NOTRJ : -RJ_E_CORRUPT);
			CU_ASSERT_EQUAL(rc, -(int)err.code);
			raw[i] ^= (uint8_t)(1 << bit);
		}
	}
	CU_ASSERT(!memcmp(&out, &kept, sizeof(out)));
}

static void newer_is_refused(void)
{
	static const struct {
		int at, value;
	} changes[] = {
		{0x04, 2}, {0x05, 1}, {0x06, 1}, {0x08, 0x41}, {0x0B, 0x80}};
	struct rj_sbx in = sample(), out;
	uint8_t raw[RJ_SBX_BYTES];
	struct rj_error err;
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		CU_ASSERT_EQUAL(rj_sbx_encode(&in, raw, &err), 0);
		raw[changes[i].at] = (uint8_t)changes[i].value;
		seal(raw);
		CU_ASSERT_EQUAL(
			rj_sbx_decode(raw, &out, &err), -RJ_E_UNSUPPORTED);
	}
}

static void other_feature_words(void)
{
	struct rj_sbx in = sample(), out;
	uint8_t raw[RJ_SBX_BYTES];
	struct rj_error err;

	CU_ASSERT_EQUAL(rj_sbx_encode(&in, raw, &err), 0);
	raw[0x0C] = 4;
	raw[0x10] = 9;
	raw[0xFB] = 1; /* reserved: ignored */
	raw[0xFA] = 0xF5; /* and so are unknown bits of probed */
	seal(raw);
	CU_ASSERT_EQUAL(rj_sbx_decode(raw, &out, &err), 0);
	CU_ASSERT_EQUAL(out.ro_compat, 4);
	CU_ASSERT_EQUAL(out.compat, 9);
	CU_ASSERT_EQUAL(rj_sbx_encode(&out, raw, &err), -RJ_E_UNSUPPORTED);
	out.ro_compat = 0;
	CU_ASSERT_EQUAL(rj_sbx_encode(&out, raw, &err), 0);
	CU_ASSERT_EQUAL(raw[0x10], 0);
	CU_ASSERT_EQUAL(raw[0xFB], 0);
	CU_ASSERT_EQUAL(raw[0xFA], 5);
}

static void ranges(void)
{
	static const struct {
		int at, value;
	} changes[] = {
		{0x18, 4},
		{0x19, 3},
		{0x1A, 4},
		{0x1D, 4},         /* enums, flags */
		{0x68, 0},         /* no URL; then bytes after its end */
		{0x68 + 5, 0},     /* bytes after the URL's end */
		{0x68 + 127, 'x'}, /* and at the very end */
		{0x68, ' '},
		{0x68, 0x7F},
		{0x68, 0x80},
		{0x68, '\n'},
	};
	struct rj_sbx in = sample(), out;
	uint8_t raw[RJ_SBX_BYTES];
	struct rj_error err;
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		CU_ASSERT_EQUAL(rj_sbx_encode(&in, raw, &err), 0);
		raw[changes[i].at] = (uint8_t)changes[i].value;
		seal(raw);
		CU_ASSERT_EQUAL(rj_sbx_decode(raw, &out, &err), -RJ_E_CORRUPT);
		CU_ASSERT_EQUAL(err.code, RJ_E_CORRUPT);
	}
	memset(raw + 0x68, 'u', RJ_SBX_URL_BYTES); /* no NUL at all */
	seal(raw);
	CU_ASSERT_EQUAL(rj_sbx_decode(raw, &out, &err), -RJ_E_CORRUPT);
	memset(raw + 0x68, 0, RJ_SBX_URL_BYTES); /* remote without a URL */
	seal(raw);
	CU_ASSERT_EQUAL(rj_sbx_decode(raw, &out, &err), -RJ_E_CORRUPT);
}

static void encode_refuses(void)
{
	uint8_t raw[RJ_SBX_BYTES];
	struct rj_error err;
	struct rj_sbx s;

	s = sample();
	memset(s.url, 'x', RJ_SBX_URL_BYTES - 1); /* 127 fit */
	CU_ASSERT_EQUAL(rj_sbx_encode(&s, raw, &err), 0);
	s.url[RJ_SBX_URL_BYTES - 1] = 'x';
	CU_ASSERT_EQUAL(rj_sbx_encode(&s, raw, &err), -RJ_E_INVAL);
	s = sample();
	s.journal_blocks = 0;
	CU_ASSERT_EQUAL(rj_sbx_encode(&s, raw, &err), -RJ_E_INVAL);
	s = sample();
	memset(s.journal_uuid, 0, 16);
	CU_ASSERT_EQUAL(rj_sbx_encode(&s, raw, &err), -RJ_E_INVAL);
	s = sample();
	s.placement = RJ_PLACE_NONE; /* a move is under way: may keep its URL */
	CU_ASSERT_EQUAL(rj_sbx_encode(&s, raw, &err), 0);
	s.intent_op = 0;
	CU_ASSERT_EQUAL(rj_sbx_encode(&s, raw, &err), -RJ_E_INVAL);
	s.url[0] = 0;
	CU_ASSERT_EQUAL(rj_sbx_encode(&s, raw, &err), 0);
	s = sample();
	s.placement = 4;
	CU_ASSERT_EQUAL(rj_sbx_encode(&s, raw, &err), -RJ_E_INVAL);
	s = sample();
	s.incompat |= 0x100;
	CU_ASSERT_EQUAL(rj_sbx_encode(&s, raw, &err), -RJ_E_UNSUPPORTED);
}

static void urls(void)
{
	char longest[RJ_SBX_URL_BYTES + 1];
	struct rj_error err;

	CU_ASSERT(rj_sbx_url_valid("file:///var/lib/rj", &err));
	CU_ASSERT(rj_sbx_url_valid("sftp://me@host:22/dir", &err));
	CU_ASSERT(rj_sbx_url_valid("rj://[::1]:7400/a:b@c", &err));
	CU_ASSERT_FALSE(rj_sbx_url_valid("ftp://me:secret@host/dir", &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "password"));
	CU_ASSERT_PTR_NULL(strstr(err.msg, "secret"));
	CU_ASSERT_FALSE(rj_sbx_url_valid("ftp://me:p@ss@host/dir", &err));
	CU_ASSERT_FALSE(rj_sbx_url_valid("rj://host/a b", &err));
	CU_ASSERT_FALSE(rj_sbx_url_valid("rj://host/\xC3\xA4", &err));
	memset(longest, 'x', sizeof(longest));
	longest[RJ_SBX_URL_BYTES - 1] = 0;
	CU_ASSERT(rj_sbx_url_valid(longest, &err));
	longest[RJ_SBX_URL_BYTES - 1] = 'x';
	longest[RJ_SBX_URL_BYTES] = 0;
	CU_ASSERT_FALSE(rj_sbx_url_valid(longest, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "127"));
}

/* ---- doc/superblock-extension.md against the struct ---- */

#define FIELD(name)                                                            \
	{                                                                      \
#name, offsetof(struct rj_sbx_raw, name),                      \
			sizeof(((struct rj_sbx_raw *)0)->name),                \
	}

static const struct {
	const char *name;
	size_t offset, bytes;
} fields[] = {
	FIELD(magic),
	FIELD(version),
	FIELD(size),
	FIELD(incompat),
	FIELD(ro_compat),
	FIELD(compat),
	FIELD(generation),
	FIELD(placement),
	FIELD(on_loss),
	FIELD(flags),
	FIELD(intent_op),
	FIELD(intent_state),
	FIELD(intent_placement),
	FIELD(probed_day),
	FIELD(journal_uuid),
	FIELD(epoch),
	FIELD(floor),
	FIELD(journal_blocks),
	FIELD(intent_blocks),
	FIELD(intent_uuid),
	FIELD(key_fingerprint),
	FIELD(url),
	FIELD(redo_block),
	FIELD(moved_at),
	FIELD(moved_from),
	FIELD(moved_to),
	FIELD(probed),
	FIELD(reserved1),
	FIELD(crc),
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static void document_matches_struct(void)
{
	const char *src = getenv("RJ_SRC");
	size_t offset, bytes, row = 0, end = 0;
	char path[4096], line[1024], name[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/doc/superblock-extension.md",
		src ? src : ".");
	f = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "| 0x%zx | %zu | %63s |", &offset, &bytes,
			    name) != 3)
			continue;
		CU_ASSERT_FATAL(row < FIELDS);
		CU_ASSERT_STRING_EQUAL(name, fields[row].name);
		CU_ASSERT_EQUAL(offset, fields[row].offset);
		CU_ASSERT_EQUAL(bytes, fields[row].bytes);
		CU_ASSERT_EQUAL(offset, end); /* no gap */
		end = offset + bytes;
		row++;
	}
	fclose(f);
	CU_ASSERT_EQUAL(row, FIELDS);
	CU_ASSERT_EQUAL(end, RJ_SBX_BYTES);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(round_trip),
		RJTEST(fallback),
		RJTEST(two_stores_are_refused),
		RJTEST(known_bytes),
		RJTEST(every_flipped_byte_is_seen),
		RJTEST(newer_is_refused),
		RJTEST(other_feature_words),
		RJTEST(ranges),
		RJTEST(encode_refuses),
		RJTEST(urls),
		RJTEST(document_matches_struct),
	};

	return RJTEST_RUN("sbx", tests);
}
