// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "support/rjtest.h"
#include "util/bio.h"
#include "util/buf.h"
#include "util/bytes.h"
#include "util/crc32c.h"
#include "util/error.h"
#include "util/uuid.h"

static void crc32c_known_answer(void)
{
	/* RFC 3720 B.4: 32 bytes of zeros, with the usual inversions */
	uint8_t zeros[32] = {0};

	CU_ASSERT_EQUAL(~rj_crc32c(~0u, zeros, 32), 0x8A9136AAu);
	CU_ASSERT_EQUAL(~rj_crc32c(~0u, "123456789", 9), 0xE3069283u);
}

static void crc32c_continues(void)
{
	uint8_t data[100];
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	for (i = 0; i <= sizeof(data); i++)
		CU_ASSERT_EQUAL(rj_crc32c(rj_crc32c(~0u, data, i), data + i,
					sizeof(data) - i),
			rj_crc32c(~0u, data, sizeof(data)));
}

/* Bit by bit, as the polynomial says. */
static uint32_t crc32c_slow(uint32_t crc, uint8_t byte)
{
	int i;

	for (crc ^= byte, i = 0; i < 8; i++)
		crc = (crc >> 1) ^ (crc & 1 ? 0x82F63B78u : 0);
	return crc;
}

/* Each length up to where all ways of computing it have been taken several
 * times, each alignment, and one long one. */
static void crc32c_is_what_it_is(void)
{
	static uint8_t data[1 << 20];
	uint64_t x = rjtest_seed();
	uint32_t want, bad = 0;
	size_t i, at;

	for (i = 0; i < sizeof(data); i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		data[i] = (uint8_t)(x >> 56);
	}
	for (at = 0; at < 16; at++)
		for (want = (uint32_t)x, i = 0; i < 7000; i++) {
			bad += rj_crc32c((uint32_t)x, data + at, i) != want;
			want = crc32c_slow(want, data[at + i]);
		}
	for (want = ~0u, i = 0; i < sizeof(data); i++)
		want = crc32c_slow(want, data[i]);
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(rj_crc32c(~0u, data, sizeof(data)), want);
}

static void crc32_be_known_answer(void)
{
	/* CRC-32/MPEG-2 of the check string */
	CU_ASSERT_EQUAL(rj_crc32_be(~0u, "123456789", 9), 0x0376E6E7u);
}

static void byte_order(void)
{
	uint8_t b[8] = {1, 2, 3, 4, 5, 6, 7, 8};

	CU_ASSERT_EQUAL(rj_get_le32(b), 0x04030201u);
	CU_ASSERT_EQUAL(rj_get_be32(b), 0x01020304u);
	CU_ASSERT_EQUAL(rj_get_be64(b), 0x0102030405060708ull);
	rj_put_le16(b, 0xABCD);
	CU_ASSERT_EQUAL(b[0], 0xCD);
}

static void uuid_text_and_back(void)
{
	static const char text[] = "0fedcba9-8765-4321-0123-456789abcdef";
	uint8_t u[RJ_UUID_BYTES];
	char out[RJ_UUID_TEXT];

	CU_ASSERT_TRUE(rj_uuid_parse(text, u));
	CU_ASSERT_STRING_EQUAL(rj_uuid_text(u, out), text);
	CU_ASSERT_FALSE(rj_uuid_parse("0fedcba9-8765-4321-0123-456789abcde", u));
	CU_ASSERT_FALSE(
		rj_uuid_parse("0fedcba9-8765-4321-0123-456789abcdef0", u));
	CU_ASSERT_FALSE(rj_uuid_parse("0fedcba9087654321-0123-456789abcdef", u));
	CU_ASSERT_FALSE(rj_uuid_parse("", u));
}

static void uuid_random_is_version_4(void)
{
	uint8_t a[RJ_UUID_BYTES], b[RJ_UUID_BYTES];

	CU_ASSERT_EQUAL(rj_uuid_random(a), 0);
	CU_ASSERT_EQUAL(rj_uuid_random(b), 0);
	CU_ASSERT_EQUAL(a[6] >> 4, 4);
	CU_ASSERT_FALSE(rj_uuid_equal(a, b));
}

static void error_carries_context(void)
{
	struct rj_error err;
	int rc = rj_fail_errno(&err, ENOENT, "%s: cannot open", "vol.img");

	CU_ASSERT_EQUAL(rc, -RJ_E_NOTFOUND);
	CU_ASSERT_STRING_EQUAL(
		err.msg, "vol.img: cannot open: No such file or directory");
	rc = rj_fail_prefix(&err, "attach");
	CU_ASSERT_EQUAL(rc, -RJ_E_NOTFOUND);
	CU_ASSERT_EQUAL(strncmp(err.msg, "attach: vol.img:", 16), 0);
	CU_ASSERT_EQUAL(rj_fail(NULL, RJ_E_GAP, "no one listens"), -RJ_E_GAP);
}

static void buf_grows(void)
{
	struct rj_buf b = {0};
	int i;

	for (i = 0; i < 1000; i++)
		CU_ASSERT_EQUAL(rj_buf_printf(&b, "%d,", i % 10), 0);
	CU_ASSERT_EQUAL(b.len, 2000);
	CU_ASSERT_EQUAL(b.data[1999], ',');
	CU_ASSERT_EQUAL(rj_buf_reserve(&b, SIZE_MAX), -RJ_E_NOMEM);
	CU_ASSERT_EQUAL(b.len, 2000);
	rj_buf_free(&b);
	CU_ASSERT_PTR_NULL(b.data);
}

static void bio_refuses_past_its_end(void)
{
	uint8_t mem[64] = {0}, out[16];
	struct rj_bio *bio = rj_bio_new_mem(mem, sizeof(mem), "mem");
	struct rj_error err;

	CU_ASSERT_EQUAL(bio->write(bio, "0123456789abcdef", 16, 48, &err), 0);
	CU_ASSERT_EQUAL(bio->read(bio, out, 16, 48, &err), 0);
	CU_ASSERT_EQUAL(out[15], 'f');
	CU_ASSERT_EQUAL(bio->write(bio, "x", 1, 64, &err), -RJ_E_INVAL);
	CU_ASSERT_EQUAL(bio->read(bio, out, 16, 49, &err), -RJ_E_INVAL);
	CU_ASSERT_EQUAL(bio->read(bio, out, 1, UINT64_MAX, &err), -RJ_E_INVAL);
	rj_bio_free(bio);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(crc32c_known_answer),
		RJTEST(crc32c_continues),
		RJTEST(crc32c_is_what_it_is),
		RJTEST(crc32_be_known_answer),
		RJTEST(byte_order),
		RJTEST(uuid_text_and_back),
		RJTEST(uuid_random_is_version_4),
		RJTEST(error_carries_context),
		RJTEST(buf_grows),
		RJTEST(bio_refuses_past_its_end),
	};

	return RJTEST_RUN("util", tests);
}
