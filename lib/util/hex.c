// SPDX-License-Identifier: LGPL-2.1-or-later
#include "util/hex.h"

/* 0 to 15; -1: not a digit. */
static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

char *rj_hex_text(const uint8_t *bytes, size_t len, char *out)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < len; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * len] = '\0';
	return out;
}

bool rj_hex_parse(const char *text, size_t len, uint8_t *out)
{
	int high, low;
	size_t i;

	for (i = 0; i < len; i++) {
		high = digit(text[2 * i]);
		if (high < 0)
			return false;
		low = digit(text[2 * i + 1]);
		if (low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}
