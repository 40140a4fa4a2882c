// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/mark.h"
#include "format/seghdr.h"
#include "format/table.h"
#include "support/rjtest.h"
#include "util/bytes.h"

static struct rj_seghdr sample(void)
{
	struct rj_seghdr h = {
		.version = RJ_SEG_VERSION,
		.kind = RJ_SEG_DATA,
		.flags = 0,
		.sequence = 0x1122334455667788,
		.epoch = 0x0102030405060708,
		.oldest = 0x1122334455667700,
		.time_ns = 0xA1A2A3A4A5A6A7A8,
		.stored_bytes = 0xA0B0,
		.raw_bytes = 0xA0B0,
	};

	memset(h.volume_uuid, 0x71, sizeof(h.volume_uuid));
	memset(h.journal_uuid, 0x72, sizeof(h.journal_uuid));
	memset(h.nonce, 0x73, sizeof(h.nonce));
	memset(h.prev_chain, 0x74, sizeof(h.prev_chain));
	memset(h.seal, 0x75, sizeof(h.seal));
	return h;
}

/* Encode, decode, and say with what code the decoder answers. */
static int try(const struct rj_seghdr *h, struct rj_seghdr *out)
{
	uint8_t raw[RJ_SEG_HEADER_BYTES];
	struct rj_error err = {0};
	int rc;

	rj_seghdr_encode(h, raw);
	rc = rj_seghdr_decode(raw, out, &err);
	CU_ASSERT_EQUAL(rc, -(int)err.code);
	return rc;
}

static void header_there_and_back(void)
{
	uint8_t there[RJ_SEG_HEADER_BYTES], back[RJ_SEG_HEADER_BYTES];
	struct rj_seghdr h = sample(), out;

	CU_ASSERT_EQUAL(try(&h, &out), 0);
	/* the bytes of the structures differ between their fields */
	rj_seghdr_encode(&h, there);
	rj_seghdr_encode(&out, back);
	CU_ASSERT_EQUAL(memcmp(there, back, sizeof(there)), 0);
	h.flags = RJ_SEG_F_BASE | RJ_SEG_F_RECOVERED;
	h.oldest = h.sequence;
	CU_ASSERT_EQUAL(try(&h, &out), 0);
	h.flags = RJ_SEG_F_ZSTD;
	h.stored_bytes = 77;
	CU_ASSERT_EQUAL(try(&h, &out), 0);
	h = sample();
	h.flags = RJ_SEG_F_AESGCM;
	h.key_fingerprint[3] = 1;
	CU_ASSERT_EQUAL(try(&h, &out), 0);
	h = sample();
	h.kind = RJ_SEG_FENCE;
	h.flags = RJ_SEG_F_BREAK;
	memset(h.prev_chain, 0, sizeof(h.prev_chain));
	CU_ASSERT_EQUAL(try(&h, &out), 0);
	h = sample();
	h.kind = RJ_SEG_FENCE;
	h.flags = RJ_SEG_F_CLEAN;
	CU_ASSERT_EQUAL(try(&h, &out), 0);
	h = sample();
	h.flags = RJ_SEG_F_MARKED;
	CU_ASSERT_EQUAL(try(&h, &out), 0);
}

/* One field of a good header changed; the decoder must answer WANT, and leave
 * its output alone. */
#define REFUSED(change, want)                                                  \
	do {                                                                   \
		struct rj_seghdr h = sample(), out, before;                    \
		memset(&out, 0x5A, sizeof(out));                               \
		before = out;                                                  \
		change;                                                        \
		CU_ASSERT_EQUAL(try(&h, &out), -(want));                       \
		CU_ASSERT_EQUAL(memcmp(&out, &before, sizeof(out)), 0);        \
	} while (0)

static void header_out_of_range(void)
{
	const uint64_t most = RJ_SEG_MAX_BYTES - RJ_SEG_HEADER_BYTES;

	REFUSED(h.sequence = 0, RJ_E_CORRUPT);
	REFUSED(h.epoch = 0, RJ_E_CORRUPT);
	REFUSED(h.oldest = 0, RJ_E_CORRUPT);
	REFUSED(h.oldest = h.sequence + 1, RJ_E_CORRUPT);
	REFUSED(h.stored_bytes = h.raw_bytes = most + 1, RJ_E_CORRUPT);
	REFUSED(h.stored_bytes = h.raw_bytes = UINT64_MAX, RJ_E_CORRUPT);
	REFUSED(h.stored_bytes = h.raw_bytes = RJ_SEG_BODY_HEAD - 1,
		RJ_E_CORRUPT);
	REFUSED(h.stored_bytes--, RJ_E_CORRUPT);
	REFUSED((h.flags = RJ_SEG_F_ZSTD, h.stored_bytes = most + 1),
		RJ_E_CORRUPT);
	REFUSED((h.flags = RJ_SEG_F_ZSTD, h.raw_bytes = most + 1),
		RJ_E_CORRUPT);
	REFUSED(h.flags = RJ_SEG_F_BASE, RJ_E_CORRUPT);
	REFUSED((h.flags = RJ_SEG_F_BASE, h.oldest = h.sequence,
			h.kind = RJ_SEG_FENCE),
		RJ_E_CORRUPT);
	REFUSED(h.flags = RJ_SEG_F_RECOVERED, RJ_E_CORRUPT);
	REFUSED(h.flags = RJ_SEG_F_BREAK, RJ_E_CORRUPT);
	REFUSED(h.flags = RJ_SEG_F_CLEAN, RJ_E_CORRUPT);
	REFUSED((h.flags = RJ_SEG_F_BREAK, h.kind = RJ_SEG_FENCE),
		RJ_E_CORRUPT);
	REFUSED((h.flags = RJ_SEG_F_MARKED, h.kind = RJ_SEG_FENCE),
		RJ_E_CORRUPT);
	REFUSED(h.sequence = h.oldest = 1, RJ_E_CORRUPT);
	REFUSED(h.key_fingerprint[15] = 1, RJ_E_CORRUPT);
	REFUSED(h.flags = RJ_SEG_F_AESGCM, RJ_E_CORRUPT);
	/* of two stores for one log */
	REFUSED(h.kind = RJ_SEG_BRIDGE, RJ_E_UNSUPPORTED);
	REFUSED(h.flags = 0x20, RJ_E_UNSUPPORTED);
	REFUSED(h.flags = 0x40, RJ_E_UNSUPPORTED);
	REFUSED(h.kind = (enum rj_seg_kind)4, RJ_E_UNSUPPORTED);
	REFUSED(h.kind = (enum rj_seg_kind)0, RJ_E_UNSUPPORTED);
	REFUSED(h.flags = 0x200, RJ_E_UNSUPPORTED);
	REFUSED(h.flags = 0x80000000, RJ_E_UNSUPPORTED);
}

static void header_magic_and_version(void)
{
	struct rj_seghdr h = sample(), out;
	uint8_t raw[RJ_SEG_HEADER_BYTES];
	struct rj_error err;
	int i;

	for (i = 0; i < 8; i++) {
		rj_seghdr_encode(&h, raw);
		raw[i] ^= 0x20;
		CU_ASSERT_EQUAL(
			rj_seghdr_decode(raw, &out, &err), -RJ_E_CORRUPT);
	}
	rj_seghdr_encode(&h, raw);
	rj_put_le32(raw + RJ_SEG_VERSION_OFFSET, RJ_SEG_VERSION + 1);
	CU_ASSERT_EQUAL(rj_seghdr_decode(raw, &out, &err), -RJ_E_UNSUPPORTED);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "version 3"));
	rj_put_le32(raw + RJ_SEG_VERSION_OFFSET, 0);
	CU_ASSERT_EQUAL(rj_seghdr_decode(raw, &out, &err), -RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(rj_seghdr_decode(raw, &out, NULL), -RJ_E_CORRUPT);
}

static int try_body(const struct rj_segbody *b)
{
	uint8_t raw[RJ_SEG_BODY_HEAD];
	struct rj_segbody out;

	rj_segbody_encode(b, raw);
	return rj_segbody_decode(raw, &out, NULL);
}

static void body_ranges(void)
{
	const struct rj_segbody good = {4096, 1024, 3, 2, 7, 8};
	struct rj_segbody b = good, out;
	uint8_t raw[RJ_SEG_BODY_HEAD];

	rj_segbody_encode(&b, raw);
	CU_ASSERT_EQUAL(rj_segbody_decode(raw, &out, NULL), 0);
	CU_ASSERT_EQUAL(memcmp(&b, &out, sizeof(b)), 0);
	raw[31] = 1;
	CU_ASSERT_EQUAL(rj_segbody_decode(raw, &out, NULL), -RJ_E_CORRUPT);
	for (b.block_size = 1024; b.block_size <= 65536; b.block_size *= 2)
		CU_ASSERT_EQUAL(try_body(&b), 0);
	CU_ASSERT_EQUAL(try_body(&b), -RJ_E_CORRUPT);
	b.block_size = 512;
	CU_ASSERT_EQUAL(try_body(&b), -RJ_E_CORRUPT);
	b.block_size = 5000;
	CU_ASSERT_EQUAL(try_body(&b), -RJ_E_CORRUPT);
	b.block_size = 0;
	CU_ASSERT_EQUAL(try_body(&b), -RJ_E_CORRUPT);
	b = good;
	b.journal_blocks = 0;
	CU_ASSERT_EQUAL(try_body(&b), -RJ_E_CORRUPT);
	b = good;
	b.run_count = UINT32_MAX;
	CU_ASSERT_EQUAL(try_body(&b), -RJ_E_CORRUPT);
	b = good;
	b.tid_count = 0; /* the encoder writes no tids then */
	CU_ASSERT_EQUAL(try_body(&b), 0);
	rj_segbody_encode(&b, raw);
	raw[16] = 1;
	CU_ASSERT_EQUAL(rj_segbody_decode(raw, &out, NULL), -RJ_E_CORRUPT);
	b = (struct rj_segbody){0}; /* a fence */
	CU_ASSERT_EQUAL(try_body(&b), 0);
}

/* ---- doc/log-format.md against the code ---- */

/* FIELD alone has another value, different in every byte. */
static bool change_header(struct rj_seghdr *h, const char *field)
{
#define CHANGE(name)                                                           \
	if (!strcmp(field, #name)) {                                           \
		memset(&h->name, 0xC3, sizeof(h->name));                       \
		return true;                                                   \
	}
	CHANGE(kind)
	CHANGE(flags)
	CHANGE(sequence)
	CHANGE(epoch)
	CHANGE(oldest)
	CHANGE(time_ns)
	CHANGE(stored_bytes)
	CHANGE(raw_bytes)
	CHANGE(volume_uuid)
	CHANGE(journal_uuid)
	CHANGE(nonce)
	CHANGE(key_fingerprint)
	CHANGE(prev_chain)
	CHANGE(seal)
	return false;
}

static bool change_body(struct rj_segbody *h, const char *field)
{
	CHANGE(block_size)
	CHANGE(journal_blocks)
	CHANGE(run_count)
	CHANGE(tid_count)
	CHANGE(first_tid)
	CHANGE(last_tid)
	return false;
#undef CHANGE
}

static void check_header_row(const struct row *row)
{
	struct rj_seghdr h = sample(), changed = h, out;
	uint8_t a[RJ_SEG_HEADER_BYTES], b[RJ_SEG_HEADER_BYTES];
	unsigned i;

	rj_seghdr_encode(&h, a);
	if (change_header(&changed, row->field)) {
		rj_seghdr_encode(&changed, b);
		CU_ASSERT_TRUE(differ_in(row, a, b, sizeof(a)));
		return;
	}
	if (!strcmp(row->field, "magic")) {
		CU_ASSERT_EQUAL(row->bytes, 8);
		CU_ASSERT_EQUAL(memcmp(a + row->offset, "RJSEGMNT", 8), 0);
		return;
	}
	if (!strcmp(row->field, "version")) {
		CU_ASSERT_EQUAL(row->bytes, 4);
		CU_ASSERT_EQUAL(rj_get_le32(a + row->offset), RJ_SEG_VERSION);
		return;
	}
	CU_ASSERT_EQUAL(strncmp(row->field, "reserved", 8), 0);
	for (i = 0; i < row->bytes; i++) {
		CU_ASSERT_EQUAL(a[row->offset + i], 0);
		a[row->offset + i] = 1;
		CU_ASSERT_EQUAL(rj_seghdr_decode(a, &out, NULL), -RJ_E_CORRUPT);
		a[row->offset + i] = 0;
	}
}

static void document_says_the_same_of_the_header(void)
{
	struct row rows[32];
	unsigned n = read_table("log-format.md", "### Header", rows, 32), i;

	CU_ASSERT_EQUAL(n, 18);
	check_cover(rows, n, RJ_SEG_HEADER_BYTES);
	for (i = 0; i < n; i++)
		check_header_row(&rows[i]);
}

static void document_says_the_same_of_the_body(void)
{
	struct rj_segbody h = {4096, 1024, 3, 2, 7, 8}, changed;
	uint8_t a[RJ_SEG_BODY_HEAD], b[RJ_SEG_BODY_HEAD];
	struct row rows[32];
	unsigned n = read_table("log-format.md", "### Body", rows, 32), i;

	CU_ASSERT_EQUAL(n, 7);
	check_cover(rows, n, RJ_SEG_BODY_HEAD);
	rj_segbody_encode(&h, a);
	for (i = 0; i < n; i++) {
		changed = h;
		if (!change_body(&changed, rows[i].field)) {
			CU_ASSERT_STRING_EQUAL(rows[i].field, "reserved");
			continue;
		}
		rj_segbody_encode(&changed, b);
		CU_ASSERT_TRUE(differ_in(&rows[i], a, b, sizeof(a)));
	}
}

/* The bytes of the volume's mark. */
static void marks(void)
{
	struct rj_mark m = {.oldest = 0x1122334455667788}, out = {.oldest = 1};
	uint8_t raw[RJ_MARK_BYTES] = {0};
	size_t i;

	CU_ASSERT_FALSE(rj_mark_decode(raw, &out));
	memset(m.journal_uuid, 0xAB, sizeof(m.journal_uuid));
	rj_mark_encode(&m, raw);
	for (i = 0; i < sizeof(raw); i++) {
		raw[i] ^= 4;
		CU_ASSERT_FALSE(rj_mark_decode(raw, &out));
		raw[i] ^= 4;
	}
	CU_ASSERT_EQUAL(out.oldest, 1);
	CU_ASSERT_TRUE(rj_mark_decode(raw, &out));
	CU_ASSERT_EQUAL(memcmp(&m, &out, sizeof(m)), 0);
	CU_ASSERT_EQUAL(memcmp(raw, "RJMK", 4), 0);
	CU_ASSERT_EQUAL(raw[8], 0x88);
	CU_ASSERT_EQUAL(raw[16], 0xAB);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(header_there_and_back),
		RJTEST(marks),
		RJTEST(header_out_of_range),
		RJTEST(header_magic_and_version),
		RJTEST(body_ranges),
		RJTEST(document_says_the_same_of_the_header),
		RJTEST(document_says_the_same_of_the_body),
	};

	return RJTEST_RUN("seghdr", tests);
}
