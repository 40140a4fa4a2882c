// SPDX-License-Identifier: LGPL-2.1-or-later
#include "util/crc32c.h"

#include <pthread.h>

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
#endif

uint32_t rj_crc32c(uint32_t crc, const void *data, size_t len)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		return crc_hard(crc, data, len);
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
