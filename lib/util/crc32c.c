// SPDX-License-Identifier: LGPL-2.1-or-later
/* Compute CRC-32C (JBD2, ext4, our formats) and the CRC-32 of JBD2 checksum v1. */
#include "util/crc32c.h"

#include <pthread.h>

#if defined(__x86_64__)
#include <wmmintrin.h>
#endif

#include "util/bytes.h"

static uint32_t table[8][256];
static uint32_t table_be[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
	uint32_t i, j, c;

	for (i = 0; i < 256; i++) {
		c = i;
		for (j = 0; j < 8; j++)
			c = (c >> 1) ^ (c & 1 ? 0x82F63B78u : 0);
		table[0][i] = c;
		c = i << 24;
		for (j = 0; j < 8; j++)
			c = (c << 1) ^ (c & 0x80000000u ? 0x04C11DB7u : 0);
		table_be[i] = c;
	}
	for (i = 0; i < 256; i++)
		for (j = 1; j < 8; j++)
			table[j][i] = (table[j - 1][i] >> 8) ^
				      table[0][table[j - 1][i] & 0xff];
}

static uint32_t crc_soft(uint32_t crc, const uint8_t *p, size_t len)
{
	uint32_t lo, hi;

	for (; len >= 8; p += 8, len -= 8) {
		lo = rj_get_le32(p) ^ crc;
		hi = rj_get_le32(p + 4);
		crc = table[7][lo & 0xff] ^ table[6][(lo >> 8) & 0xff] ^
		      table[5][(lo >> 16) & 0xff] ^ table[4][lo >> 24] ^
		      table[3][hi & 0xff] ^ table[2][(hi >> 8) & 0xff] ^
		      table[1][(hi >> 16) & 0xff] ^ table[0][hi >> 24];
	}
	while (len--)
		crc = (crc >> 8) ^ table[0][(crc ^ *p++) & 0xff];
	return crc;
}

#if defined(__x86_64__)
#define LONG  1024u /* bytes of each of three streams */
#define SHORT 128u

/* x^(8n - 33) modulo the polynomial, bits reflected, for n bytes. */
static uint32_t long_1, long_2, short_1, short_2;

static uint32_t power(unsigned n)
{
	uint32_t v = 0x80000000u;

	while (n--)
		v = (v >> 1) ^ (v & 1 ? 0x82F63B78u : 0);
	return v;
}

static void make_powers(void)
{
	long_1 = power(8 * LONG - 33);
	long_2 = power(16 * LONG - 33);
	short_1 = power(8 * SHORT - 33);
	short_2 = power(16 * SHORT - 33);
}

__attribute__((target("sse4.2"))) static uint32_t crc_hard(
	uint32_t crc, const uint8_t *p, size_t len)
{
	uint64_t c = crc;

	for (; len >= 8; p += 8, len -= 8)
		c = __builtin_ia32_crc32di(c, rj_get_le64(p));
	crc = (uint32_t)c;
	while (len--)
		crc = __builtin_ia32_crc32qi(crc, *p++);
	return crc;
}

/*
 * The crc32 instruction takes three cycles, but one can begin in each. So three
 * parts of N bytes go side by side, and the first two are then moved over
 * what follows them: times x^(8 * that many bytes). A product of two reflected
 * words of 32 bits has one bit too few, and the instruction that reduces it
 * moves it by 32: hence the 33.
 */
__attribute__((target("sse4.2,pclmul"))) static uint32_t crc_three(uint32_t crc,
	const uint8_t **data, size_t *len, size_t n, uint32_t by_1,
	uint32_t by_2)
{
	const uint8_t *p = *data, *end = p + *len / (3 * n) * (3 * n), *stop;
	const __m128i by = _mm_set_epi64x((int64_t)by_2, (int64_t)by_1);
	uint64_t a = crc, b, c;
	__m128i x, y;

	*len -= (size_t)(end - p);
	*data = end;
	for (; p < end; p += 2 * n) {
		for (b = c = 0, stop = p + n; p < stop; p += 8) {
			a = __builtin_ia32_crc32di(a, rj_get_le64(p));
			b = __builtin_ia32_crc32di(b, rj_get_le64(p + n));
			c = __builtin_ia32_crc32di(c, rj_get_le64(p + 2 * n));
		}
		x = _mm_clmulepi64_si128(
			_mm_cvtsi64_si128((int64_t)a), by, 0x10);
		y = _mm_clmulepi64_si128(
			_mm_cvtsi64_si128((int64_t)b), by, 0x00);
		x = _mm_xor_si128(x, y);
		a = c ^ __builtin_ia32_crc32di(
				0, (uint64_t)_mm_cvtsi128_si64(x));
	}
	return (uint32_t)a;
}

static uint32_t crc_hardest(uint32_t crc, const uint8_t *p, size_t len)
{
	static pthread_once_t once_powers = PTHREAD_ONCE_INIT;

	if (len >= 3 * SHORT) {
		pthread_once(&once_powers, make_powers);
		crc = crc_three(crc, &p, &len, LONG, long_1, long_2);
		crc = crc_three(crc, &p, &len, SHORT, short_1, short_2);
	}
	return crc_hard(crc, p, len);
}
#endif

uint32_t rj_crc32c(uint32_t crc, const void *data, size_t len)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		return __builtin_cpu_supports("pclmul")
			       ? crc_hardest(crc, data, len)
			       : crc_hard(crc, data, len);
#endif
	pthread_once(&once, make_tables);
	return crc_soft(crc, data, len);
}

uint32_t rj_crc32_be(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	pthread_once(&once, make_tables);
	while (len--)
		crc = (crc << 8) ^ table_be[(crc >> 24) ^ *p++];
	return crc;
}
