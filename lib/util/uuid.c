// SPDX-License-Identifier: LGPL-2.1-or-later
/* Print, parse, make and compare UUIDs. */
#include "util/uuid.h"

#include <stddef.h>
#include <string.h>

#include "util/environ.h"
#include "util/hex.h"

char *rj_uuid_text(const uint8_t uuid[RJ_UUID_BYTES], char out[RJ_UUID_TEXT])
{
	static const char hex[] = "0123456789abcdef";
	char *p = out;
	int i;

	for (i = 0; i < RJ_UUID_BYTES; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*p++ = '-';
		*p++ = hex[uuid[i] >> 4];
		*p++ = hex[uuid[i] & 15];
	}
	*p = 0;
	return out;
}

bool rj_uuid_parse(const char *text, uint8_t out[RJ_UUID_BYTES])
{
	uint8_t tmp[RJ_UUID_BYTES];
	int i;

	for (i = 0; i < RJ_UUID_BYTES; i++) {
		if ((i == 4 || i == 6 || i == 8 || i == 10) && *text++ != '-')
			return false;
		if (!rj_hex_parse(text, 1, &tmp[i]))
			return false;
		text += 2;
	}
	if (*text)
		return false;
	memcpy(out, tmp, sizeof(tmp));
	return true;
}

int rj_uuid_random(uint8_t out[RJ_UUID_BYTES])
{
	int rc = rj_random_bytes(out, RJ_UUID_BYTES);

	if (rc)
		return rc;
	out[6] = (uint8_t)((out[6] & 0x0f) | 0x40);
	out[8] = (uint8_t)((out[8] & 0x3f) | 0x80);
	return 0;
}

bool rj_uuid_equal(const uint8_t *a, const uint8_t *b)
{
	return !memcmp(a, b, RJ_UUID_BYTES);
}

bool rj_uuid_is_null(const uint8_t *a)
{
	static const uint8_t zero[RJ_UUID_BYTES];

	return !memcmp(a, zero, RJ_UUID_BYTES);
}
