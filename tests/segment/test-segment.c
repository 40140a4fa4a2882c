// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "draft.h"
#include "segment/segment.h"
#include "support/rjtest.h"
#include "util/bytes.h"

/*
 * The first 304 bytes (header, body head, runs) of the segment of
 * golden_draft() in format version 1, and its chain; made by a script that follows
 * doc/log-format.md and shares no code with the library.
 */
static const uint8_t golden_1[] = {
	0x52,
	0x4a,
	0x53,
	0x45,
	0x47,
	0x4d,
	0x4e,
	0x54,
	0x01,
	0x00,
	0x00,
	0x00,
	0x01,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x09,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x03,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x04,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x15,
	0xcd,
	0x85,
	0x3d,
	0xfe,
	0x9c,
	0x97,
	0x17,
	0x30,
	0x0c,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x30,
	0x0c,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x10,
	0x11,
	0x12,
	0x13,
	0x14,
	0x15,
	0x16,
	0x17,
	0x18,
	0x19,
	0x1a,
	0x1b,
	0x1c,
	0x1d,
	0x1e,
	0x1f,
	0x20,
	0x21,
	0x22,
	0x23,
	0x24,
	0x25,
	0x26,
	0x27,
	0x28,
	0x29,
	0x2a,
	0x2b,
	0x2c,
	0x2d,
	0x2e,
	0x2f,
	0x30,
	0x31,
	0x32,
	0x33,
	0x34,
	0x35,
	0x36,
	0x37,
	0x38,
	0x39,
	0x3a,
	0x3b,
	0x3c,
	0x3d,
	0x3e,
	0x3f,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x40,
	0x41,
	0x42,
	0x43,
	0x44,
	0x45,
	0x46,
	0x47,
	0x48,
	0x49,
	0x4a,
	0x4b,
	0x4c,
	0x4d,
	0x4e,
	0x4f,
	0x50,
	0x51,
	0x52,
	0x53,
	0x54,
	0x55,
	0x56,
	0x57,
	0x58,
	0x59,
	0x5a,
	0x5b,
	0x5c,
	0x5d,
	0x5e,
	0x5f,
	0x06,
	0xe9,
	0x91,
	0x9b,
	0xf4,
	0xd2,
	0xd5,
	0x76,
	0x54,
	0x5a,
	0xdd,
	0x31,
	0xb3,
	0x4e,
	0x6b,
	0x3d,
	0x56,
	0xe2,
	0xd2,
	0x5f,
	0x78,
	0x33,
	0x15,
	0xb1,
	0x18,
	0xfd,
	0x21,
	0xf9,
	0x6c,
	0x0d,
	0xbe,
	0xa8,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x04,
	0x00,
	0x00,
	0x10,
	0x00,
	0x00,
	0x00,
	0x02,
	0x00,
	0x00,
	0x00,
	0x01,
	0x00,
	0x00,
	0x00,
	0x63,
	0x00,
	0x00,
	0x00,
	0x63,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x02,
	0x00,
	0x00,
	0x00,
	0x01,
	0x00,
	0x00,
	0x00,
	0x05,
	0x00,
	0x00,
	0x00,
	0x02,
	0x00,
	0x00,
	0x00,
};

static const uint8_t golden_chain_1[] = {
	0xd4,
	0x6e,
	0x77,
	0xf1,
	0x64,
	0x56,
	0x96,
	0x10,
	0x69,
	0xb9,
	0x10,
	0xbd,
	0x9f,
	0xae,
	0xb6,
	0xd0,
	0x84,
	0xd8,
	0x11,
	0xa2,
	0xb2,
	0x08,
	0xe7,
	0xb8,
	0x45,
	0x8a,
	0xb2,
	0x05,
	0xff,
	0x51,
	0x24,
	0xbd,
};

/* What is other in version 2: the seal, of xxh128sum, and the chain. */
static const uint8_t golden_checksum[16] = {0x32, 0x4e, 0x41, 0x9d, 0x85, 0xec, 0x57, 0xee,
	0xea, 0x61, 0xa3, 0xcb, 0xb5, 0x8d, 0x48, 0x1f};
static const uint8_t golden_chain[RJ_SEG_HASH_BYTES] = {0xd8, 0x4e, 0x9d, 0xc2, 0x57, 0xb3,
	0xec, 0xf1, 0x41, 0x88, 0x1c, 0x1f, 0xf4, 0x3e, 0x38, 0x74, 0x2f, 0x26, 0x04, 0x16,
	0x52, 0x71, 0x1a, 0x7a, 0x5b, 0xde, 0xcf, 0xea, 0x9f, 0x0d, 0xad, 0x77};

#define BLOCK          1024
#define GOLDEN_LEN     (sizeof(golden_1) + 3 * BLOCK)
#define JOURNAL_BLOCKS 16

static uint8_t ring[JOURNAL_BLOCKS * BLOCK];
static const struct rj_seg_run golden_runs[] = {{2, 1}, {5, 2}};
static struct rj_buf buf;

static void fill(uint8_t *p, size_t len, unsigned from)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = (uint8_t)(from + i);
}

static struct rj_seg_draft golden_draft(void)
{
	struct rj_seg_draft d =
		seg_draft(golden_runs, 2, ring, JOURNAL_BLOCKS);
	unsigned b;

	fill(d.header.volume_uuid, 16, 0x10);
	fill(d.header.journal_uuid, 16, 0x20);
	fill(d.header.nonce, 16, 0x30);
	fill(d.header.prev_chain, 32, 0x40);
	for (b = 0; b < JOURNAL_BLOCKS; b++)
		fill(ring + (size_t)b * BLOCK, BLOCK, b * 7);
	return d;
}

/* Seal the golden draft into buf. */
static void seal_golden(void)
{
	struct rj_seg_draft d = golden_draft();
	uint8_t chain[RJ_SEG_HASH_BYTES];

	CU_ASSERT_EQUAL_FATAL(rj_segment_seal(&d, &buf, chain, NULL), 0);
}

static int open_code(const uint8_t *data, size_t len)
{
	/* exactly LEN bytes of heap, so that a sanitizer sees one too many */
	uint8_t *copy = malloc(len ? len : 1);
	struct rj_error err = {0};
	struct rj_segment seg;
	int rc;

	memcpy(copy, data, len);
	rc = rj_segment_open(copy, len, &seg, &err);
	CU_ASSERT_EQUAL(rc, -(int)err.code);
	CU_ASSERT_TRUE(!rc == !err.msg[0]);
	if (rc)
		CU_ASSERT_PTR_NULL(seg.runs);
	rj_segment_release(&seg);
	free(copy);
	return rc;
}

/* Put the right seal on what was changed on purpose. */
static void reseal(uint8_t *data, size_t len)
{
	seg_reseal(data, len, RJ_SEG_VERSION);
}

static void golden_bytes(void)
{
	struct rj_seg_draft d = golden_draft();
	uint8_t chain[RJ_SEG_HASH_BYTES], golden[sizeof(golden_1)];
	struct rj_error err;

	memcpy(golden, golden_1, sizeof(golden));
	rj_put_le32(golden + RJ_SEG_VERSION_OFFSET, 2);
	memset(golden + RJ_SEG_SEAL_OFFSET, 0, RJ_SEG_HASH_BYTES);
	memcpy(golden + RJ_SEG_SEAL_OFFSET, golden_checksum, sizeof(golden_checksum));
	CU_ASSERT_EQUAL_FATAL(rj_segment_seal(&d, &buf, chain, &err), 0);
	CU_ASSERT_EQUAL_FATAL(buf.len, GOLDEN_LEN);
	CU_ASSERT_EQUAL(memcmp(buf.data, golden, sizeof(golden)), 0);
	CU_ASSERT_EQUAL(memcmp(chain, golden_chain, sizeof(chain)), 0);
	CU_ASSERT_EQUAL(
		memcmp(buf.data + sizeof(golden), ring + 2 * BLOCK, BLOCK), 0);
	CU_ASSERT_EQUAL(memcmp(buf.data + sizeof(golden) + BLOCK,
				ring + 5 * BLOCK, 2 * BLOCK),
		0);
}

/* Logs that were begun before version 2 are read to their end. */
static void version_1_is_read(void)
{
	struct rj_segment seg;

	seal_golden();
	memcpy(buf.data, golden_1, sizeof(golden_1));
	CU_ASSERT_EQUAL_FATAL(
		rj_segment_open(buf.data, buf.len, &seg, NULL), 0);
	CU_ASSERT_EQUAL(seg.header.version, 1);
	CU_ASSERT_EQUAL(
		memcmp(seg.chain, golden_chain_1, sizeof(golden_chain_1)), 0);
	rj_segment_release(&seg);
	buf.data[buf.len - 1] ^= 1;
	CU_ASSERT_EQUAL(open_code(buf.data, buf.len), -RJ_E_CORRUPT);
}

static void opens_to_what_was_sealed(void)
{
	struct rj_seg_draft d = golden_draft();
	struct rj_segment seg;
	struct rj_error err;

	seal_golden();
	CU_ASSERT_EQUAL_FATAL(
		rj_segment_open(buf.data, buf.len, &seg, &err), 0);
	CU_ASSERT_EQUAL(seg.header.sequence, 9);
	CU_ASSERT_EQUAL(seg.header.epoch, 3);
	CU_ASSERT_EQUAL(seg.header.oldest, 4);
	CU_ASSERT_EQUAL(memcmp(seg.header.nonce, d.header.nonce, 16), 0);
	CU_ASSERT_EQUAL(seg.body.run_count, 2);
	CU_ASSERT_EQUAL(seg.body.last_tid, 99);
	CU_ASSERT_EQUAL(memcmp(seg.runs, golden_runs, sizeof(golden_runs)), 0);
	CU_ASSERT_EQUAL(seg.block_count, 3);
	CU_ASSERT_EQUAL(memcmp(seg.blocks, ring + 2 * BLOCK, BLOCK), 0);
	CU_ASSERT_EQUAL(
		memcmp(seg.chain, golden_chain, sizeof(golden_chain)), 0);
	rj_segment_release(&seg);
	rj_segment_release(&seg);
	rj_segment_release(NULL);
}

static void every_flipped_byte_is_corruption(void)
{
	static const uint8_t masks[] = {0x01, 0x80, 0xFF};
	size_t i, m, wrong = 0;

	seal_golden();
	for (i = 0; i < buf.len; i++) {
		for (m = 0; m < sizeof(masks); m++) {
			buf.data[i] ^= masks[m];
			if (open_code(buf.data, buf.len) != -RJ_E_CORRUPT)
				wrong++;
			buf.data[i] ^= masks[m];
		}
	}
	CU_ASSERT_EQUAL(wrong, 0);
	/* every bit of the header, where damage could look like a feature */
	for (i = 0; i < RJ_SEG_HEADER_BYTES * 8; i++) {
		buf.data[i / 8] ^= (uint8_t)(1 << i % 8);
		if (open_code(buf.data, buf.len) != -RJ_E_CORRUPT)
			wrong++;
		buf.data[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(open_code(buf.data, buf.len), 0);
}

static void every_other_length_is_corruption(void)
{
	size_t len, wrong = 0;

	seal_golden();
	for (len = 0; len < buf.len; len++)
		if (open_code(buf.data, len) != -RJ_E_CORRUPT)
			wrong++;
	CU_ASSERT_EQUAL(rj_buf_append(&buf, ring, 5000), 0);
	for (len = GOLDEN_LEN + 1; len <= buf.len; len += 7)
		if (open_code(buf.data, len) != -RJ_E_CORRUPT)
			wrong++;
	CU_ASSERT_EQUAL(wrong, 0);
}

/* Bodies that are sealed well and are wrong all the same: no seal() makes
 * them, so the run table is rewritten and sealed anew. */
static int open_with_runs(const struct rj_seg_run *runs, uint32_t count)
{
	uint8_t *table;
	uint32_t i;

	seal_golden();
	table = buf.data + RJ_SEG_HEADER_BYTES + RJ_SEG_BODY_HEAD;
	rj_put_le32(buf.data + RJ_SEG_HEADER_BYTES + 8, count);
	for (i = 0; i < 2; i++) {
		rj_put_le32(table + 8 * i, runs[i].block);
		rj_put_le32(table + 8 * i + 4, runs[i].count);
	}
	reseal(buf.data, buf.len);
	return open_code(buf.data, buf.len);
}

static void bad_runs_are_corruption(void)
{
	static const struct rj_seg_run bad[][2] = {
		{{5, 2}, {2, 1}},          /* not in order */
		{{2, 1}, {2, 2}},          /* overlap */
		{{2, 2}, {3, 1}},          /* overlap by one */
		{{2, 0}, {5, 3}},          /* an empty run */
		{{2, 1}, {15, 2}},         /* beyond the ring */
		{{2, 1}, {16, 2}},         /* past the ring */
		{{2, 1}, {UINT32_MAX, 2}}, /* wraps */
		{{2, 1}, {3, UINT32_MAX}}, /* wraps */
		{{2, 1}, {5, 1}},          /* fewer blocks than the body */
		{{2, 1}, {5, 3}},          /* more */
	};
	size_t i;

	CU_ASSERT_EQUAL(open_with_runs(golden_runs, 2), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(open_with_runs(bad[i], 2), -RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(open_with_runs(golden_runs, 1), -RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(open_with_runs(golden_runs, 3), -RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(open_with_runs(golden_runs, 1000000), -RJ_E_CORRUPT);
}

static void features_not_built_in_are_unsupported(void)
{
	seal_golden();
	rj_put_le32(buf.data + 16, RJ_SEG_F_KNOWN + 1);
	reseal(buf.data, buf.len);
	CU_ASSERT_EQUAL(open_code(buf.data, buf.len), -RJ_E_UNSUPPORTED);
	seal_golden();
	rj_put_le32(buf.data + 12, 4);
	reseal(buf.data, buf.len);
	CU_ASSERT_EQUAL(open_code(buf.data, buf.len), -RJ_E_UNSUPPORTED);
	seal_golden();
	rj_put_le32(buf.data + RJ_SEG_VERSION_OFFSET, RJ_SEG_VERSION + 1);
	reseal(buf.data, buf.len);
	CU_ASSERT_EQUAL(open_code(buf.data, buf.len), -RJ_E_UNSUPPORTED);
}

static void runs_in_any_order_are_stored_in_one(void)
{
	enum { COUNT = 1000 };
	static uint8_t big[COUNT * 2 * BLOCK];
	static struct rj_seg_run runs[COUNT];
	struct rj_seg_draft d = golden_draft();
	uint8_t chain[RJ_SEG_HASH_BYTES];
	struct rj_segment seg = {0};
	unsigned long seed = rjtest_seed();
	struct rj_seg_run swap;
	unsigned i, j;

	srandom((unsigned)seed);
	for (i = 0; i < COUNT; i++) {
		runs[i] = (struct rj_seg_run){2 * i, 1 + (random() & 1)};
		memset(big + (size_t)i * 2 * BLOCK, (int)i, 2 * BLOCK);
	}
	for (i = COUNT - 1; i > 0; i--) {
		j = (unsigned)random() % (i + 1);
		swap = runs[i];
		runs[i] = runs[j];
		runs[j] = swap;
	}
	d.runs = runs;
	d.run_count = COUNT;
	d.ring = big;
	d.body.journal_blocks = 2 * COUNT;
	CU_ASSERT_EQUAL_FATAL(rj_segment_seal(&d, &buf, chain, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(
		rj_segment_open(buf.data, buf.len, &seg, NULL), 0);
	for (i = j = 0; i < COUNT; j += seg.runs[i].count, i++) {
		if (seg.runs[i].block != 2 * i ||
			seg.blocks[(size_t)j * BLOCK] != (uint8_t)i)
			break;
	}
	CU_ASSERT_EQUAL(i, COUNT);
	CU_ASSERT_EQUAL(seg.block_count, j);
	rj_segment_release(&seg);
}

static int seal_code(const struct rj_seg_draft *d)
{
	uint8_t chain[RJ_SEG_HASH_BYTES];
	struct rj_error err = {0};
	int rc = rj_segment_seal(d, &buf, chain, &err);

	CU_ASSERT_EQUAL(rc, -(int)err.code);
	CU_ASSERT_TRUE(!rc == !!buf.len);
	CU_ASSERT_EQUAL(rj_segment_seal(d, &buf, chain, NULL), rc);
	return rc;
}

static void drafts_that_are_refused(void)
{
	static const struct rj_seg_run beyond[] = {{15, 2}};
	static const struct rj_seg_run empty[] = {{3, 0}};
	static const struct rj_seg_run twice[] = {{3, 2}, {4, 1}};
	static const struct rj_seg_run huge[] = {{0, UINT32_MAX}};
	struct rj_seg_draft d = golden_draft();

	d.run_count = 1;
	d.runs = beyond;
	CU_ASSERT_EQUAL(seal_code(&d), -RJ_E_INVAL);
	d.runs = empty;
	CU_ASSERT_EQUAL(seal_code(&d), -RJ_E_INVAL);
	d.runs = huge;
	CU_ASSERT_EQUAL(seal_code(&d), -RJ_E_INVAL);
	d.body.journal_blocks = UINT32_MAX;
	CU_ASSERT_EQUAL(seal_code(&d), -RJ_E_INVAL);
	d = golden_draft();
	d.runs = twice;
	CU_ASSERT_EQUAL(seal_code(&d), -RJ_E_INVAL);
	d = golden_draft();
	d.body.block_size = 1000;
	CU_ASSERT_EQUAL(seal_code(&d), -RJ_E_INVAL);
	d.body.block_size = 0;
	CU_ASSERT_EQUAL(seal_code(&d), -RJ_E_INVAL);
	d = golden_draft();
	d.header.oldest = 10;
	CU_ASSERT_EQUAL(seal_code(&d), -RJ_E_INVAL);
	d = golden_draft();
	d.header.kind = RJ_SEG_FENCE;
	CU_ASSERT_EQUAL(seal_code(&d), -RJ_E_INVAL);
	d = golden_draft();
	d.header.flags = RJ_SEG_F_ZSTD;
	CU_ASSERT_EQUAL(seal_code(&d), -RJ_E_INVAL);
}

static void the_largest_segment(void)
{
	enum { BLOCKS = (16 << 20) / 65536 };
	struct rj_seg_run run = {0, BLOCKS - 1};
	struct rj_seg_draft d = golden_draft();
	uint8_t *image = calloc(BLOCKS, 65536);

	d.ring = image;
	d.body.block_size = 65536;
	d.body.journal_blocks = BLOCKS;
	d.runs = &run;
	d.run_count = 1;
	CU_ASSERT_EQUAL(seal_code(&d), 0);
	CU_ASSERT_TRUE(buf.len <= RJ_SEG_MAX_BYTES);
	CU_ASSERT_EQUAL(open_code(buf.data, buf.len), 0);
	run.count = BLOCKS;
	CU_ASSERT_EQUAL(seal_code(&d), -RJ_E_INVAL);
	free(image);
}

static void a_fence_has_no_body(void)
{
	struct rj_seg_draft d = golden_draft();
	struct rj_segment seg;

	d.header.kind = RJ_SEG_FENCE;
	memset(&d.body, 0, sizeof(d.body));
	d.run_count = 0;
	CU_ASSERT_EQUAL(seal_code(&d), 0);
	CU_ASSERT_EQUAL(buf.len, RJ_SEG_HEADER_BYTES + RJ_SEG_BODY_HEAD);
	CU_ASSERT_EQUAL_FATAL(
		rj_segment_open(buf.data, buf.len, &seg, NULL), 0);
	CU_ASSERT_EQUAL(seg.block_count, 0);
	rj_segment_release(&seg);
	/* a geometry in a fence, and data without one */
	rj_put_le32(buf.data + RJ_SEG_HEADER_BYTES, 1024);
	rj_put_le32(buf.data + RJ_SEG_HEADER_BYTES + 4, 1024);
	reseal(buf.data, buf.len);
	CU_ASSERT_EQUAL(open_code(buf.data, buf.len), -RJ_E_CORRUPT);
	memset(buf.data + RJ_SEG_HEADER_BYTES, 0, RJ_SEG_BODY_HEAD);
	rj_put_le32(buf.data + 12, RJ_SEG_DATA);
	reseal(buf.data, buf.len);
	CU_ASSERT_EQUAL(open_code(buf.data, buf.len), -RJ_E_CORRUPT);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(golden_bytes),
		RJTEST(version_1_is_read),
		RJTEST(opens_to_what_was_sealed),
		RJTEST(every_flipped_byte_is_corruption),
		RJTEST(every_other_length_is_corruption),
		RJTEST(bad_runs_are_corruption),
		RJTEST(features_not_built_in_are_unsupported),
		RJTEST(runs_in_any_order_are_stored_in_one),
		RJTEST(drafts_that_are_refused),
		RJTEST(the_largest_segment),
		RJTEST(a_fence_has_no_body),
	};
	int status = RJTEST_RUN("segment", tests);

	rj_buf_free(&buf);
	return status;
}
