// SPDX-License-Identifier: GPL-2.0-or-later
/* The manifest of a base: there and back, and nothing else is one. */
#include <string.h>

#include "history/base/manifest.h"
#include "support/rjtest.h"

/* 9 chunks and a bit of a 10th */
#define BLOCKS (9 * 2048 + 1)

static uint8_t bits[2] = {0x81, 0x02};

static struct rj_base_manifest sample(void)
{
	struct rj_base_manifest m = {
		.record = {.from = 7, .whole = 9, .chain = 0x8807060504030201},
		.block_size = 4096,
		.blocks = BLOCKS,
		.hold = 12,
		.time = 1769903999,
		.chunks = {.data = bits, .len = sizeof(bits)},
	};

	memset(m.head, 0xA5, sizeof(m.head));
	return m;
}

static void there_and_back(void)
{
	struct rj_base_manifest m = sample(), back;
	struct rj_buf out = {0};
	struct rj_error err;
	uint64_t i;

	CU_ASSERT_EQUAL_FATAL(rj_base_manifest_encode(&m, &out, &err), 0);
	CU_ASSERT_EQUAL(out.len, 3 * RJ_BASE_PAGE);
	CU_ASSERT_EQUAL_FATAL(rj_base_manifest_decode(out.data, out.len, &back, &err), 0);
	CU_ASSERT(back.record.from == 7 && back.record.whole == 9 && back.block_size == 4096);
	CU_ASSERT_EQUAL(back.record.chain, m.record.chain);
	CU_ASSERT(back.blocks == BLOCKS && back.hold == 12 && back.time == m.time);
	CU_ASSERT(!memcmp(back.head, m.head, sizeof(m.head)));
	for (i = 0; i < 20; i++)
		CU_ASSERT_EQUAL(rj_base_has_chunk(&back, i), i == 0 || i == 7 || i == 9);
	rj_base_manifest_free(&back);
	rj_buf_free(&out);
}

static void as_the_document_has_it(void)
{
	static const uint8_t begin[72] = "RJBASEMF\1\0\0\0\0\x10\0\0"
					 "\1\x48\0\0\0\0\0\0\7\0\0\0\0\0\0\0"
					 "\x09\0\0\0\0\0\0\0\x0c\0\0\0\0\0\0\0\x7f\x97\x7e\x69\0\0\0\0"
					 "\0\0\x80\0\1\2\3\4\5\6\7\x88";
	struct rj_base_manifest m = sample();
	struct rj_buf out = {0};

	CU_ASSERT_EQUAL_FATAL(rj_base_manifest_encode(&m, &out, NULL), 0);
	CU_ASSERT(!memcmp(out.data, begin, sizeof(begin)));
	CU_ASSERT(out.data[4095] == 0 && out.data[4096] == 0xA5 && out.data[8191] == 0xA5);
	CU_ASSERT(out.data[8192] == 0x81 && out.data[8193] == 0x02 && !out.data[8194]);
	rj_buf_free(&out);
}

/* With byte AT changed into VALUE it is refused. */
static void refused(size_t at, uint8_t value, int code)
{
	struct rj_base_manifest m = sample(), back;
	struct rj_buf out = {0};
	struct rj_error err = {0};

	CU_ASSERT_EQUAL_FATAL(rj_base_manifest_encode(&m, &out, &err), 0);
	CU_ASSERT_NOT_EQUAL(out.data[at], value);
	out.data[at] = value;
	CU_ASSERT_EQUAL(rj_base_manifest_decode(out.data, out.len, &back, &err), -code);
	CU_ASSERT(err.msg[0]);
	rj_buf_free(&out);
}

static void nothing_else_is_a_manifest(void)
{
	struct rj_base_manifest m = sample(), back;
	struct rj_buf out = {0};
	size_t len;

	refused(0, 'X', RJ_E_CORRUPT);
	refused(8, 2, RJ_E_UNSUPPORTED);
	refused(12, 1, RJ_E_CORRUPT);	  /* block size */
	refused(23, 0x80, RJ_E_CORRUPT);  /* blocks */
	refused(20, 1, RJ_E_CORRUPT);	  /* more chunks than the length has */
	refused(24, 0, RJ_E_CORRUPT);	  /* from */
	refused(32, 6, RJ_E_CORRUPT);	  /* whole before from */
	refused(58, 0x40, RJ_E_CORRUPT);  /* chunk size */
	refused(68, 1, RJ_E_CORRUPT);	  /* reserved */
	refused(4095, 1, RJ_E_CORRUPT);
	refused(8193, 0x06, RJ_E_CORRUPT); /* chunk 10 is beyond the end */
	refused(8194, 1, RJ_E_CORRUPT);
	CU_ASSERT_EQUAL_FATAL(rj_base_manifest_encode(&m, &out, NULL), 0);
	for (len = 0; len < out.len; len += 512)
		CU_ASSERT_EQUAL(
			rj_base_manifest_decode(out.data, len, &back, NULL), -RJ_E_CORRUPT);
	rj_buf_free(&out);
}

static void what_is_too_large_is_refused(void)
{
	struct rj_base_manifest m = sample();
	struct rj_buf out = {0};

	m.blocks = (uint64_t)(RJ_BASE_PLACES - 2) * 2048 + 1;
	CU_ASSERT_EQUAL(rj_base_manifest_encode(&m, &out, NULL), -RJ_E_INVAL);
	m.blocks = UINT64_MAX;
	CU_ASSERT_EQUAL(rj_base_manifest_encode(&m, &out, NULL), -RJ_E_INVAL);
	rj_buf_free(&out);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(there_and_back),
		RJTEST(as_the_document_has_it),
		RJTEST(nothing_else_is_a_manifest),
		RJTEST(what_is_too_large_is_refused),
	};

	return RJTEST_RUN("base-manifest", tests);
}
