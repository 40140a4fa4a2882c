// SPDX-License-Identifier: LGPL-2.1-or-later
/* Write and parse the names of a log's objects. */
#include "format/object-key.h"

#include <stdio.h>
#include <string.h>

#define DIGITS 20 /* of UINT64_MAX */

static const char *const dir_names[] = {
	[RJ_KEY_LOG] = "/log/",
	[RJ_KEY_EPOCH] = "/epoch/",
	[RJ_KEY_HOLD] = "/hold/",
	[RJ_KEY_POINT] = "/mark/",
	[RJ_KEY_BASE] = "/base/",
	[RJ_KEY_DRILL] = "/drill/",
};

bool rj_key_unclaimed(enum rj_key_kind kind)
{
	return kind == RJ_KEY_HOLD || kind == RJ_KEY_POINT || kind == RJ_KEY_BASE ||
	       kind == RJ_KEY_DRILL;
}

char *rj_key_text(const struct rj_key *key, char out[RJ_KEY_TEXT])
{
	char uuid[RJ_UUID_TEXT];
	int n;

	n = snprintf(out, RJ_KEY_TEXT, "%s%s",
		rj_uuid_text(key->journal_uuid, uuid), dir_names[key->kind]);
	if (key->number)
		snprintf(out + n, RJ_KEY_TEXT - (size_t)n, "%0*llu", DIGITS,
			(unsigned long long)key->number);
	return out;
}

/* Exactly 20 digits, 1 or more: there is one text for each number. */
static bool parse_number(const char *text, uint64_t *out)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < DIGITS; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		if (__builtin_mul_overflow(n, 10, &n) ||
			__builtin_add_overflow(
				n, (uint64_t)(text[i] - '0'), &n))
			return false;
	}
	*out = n;
	return n != 0;
}

bool rj_key_parse(const char *text, size_t len, struct rj_key *out)
{
	char uuid[RJ_UUID_TEXT], back[RJ_UUID_TEXT];
	struct rj_key key;
	size_t i, dir_len;

	if (len < RJ_UUID_TEXT - 1)
		return false;
	memcpy(uuid, text, RJ_UUID_TEXT - 1);
	uuid[RJ_UUID_TEXT - 1] = 0;
	/* rj_uuid_parse() takes either case; a key has only one spelling */
	if (!rj_uuid_parse(uuid, key.journal_uuid) ||
		strcmp(rj_uuid_text(key.journal_uuid, back), uuid))
		return false;
	text += RJ_UUID_TEXT - 1;
	len -= RJ_UUID_TEXT - 1;
	for (i = 0; i < RJ_KEY_KINDS; i++) {
		dir_len = strlen(dir_names[i]);
		if (len < dir_len || memcmp(text, dir_names[i], dir_len))
			continue;
		key.kind = (enum rj_key_kind)i;
		key.number = 0;
		if (len != dir_len &&
			(len != dir_len + DIGITS ||
				!parse_number(text + dir_len, &key.number)))
			return false;
		*out = key;
		return true;
	}
	return false;
}

static bool alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

bool rj_key_name_valid(const char *name, size_t len)
{
	size_t i;

	if (len < 1 || len > 63 || !alnum(name[0]))
		return false;
	for (i = 1; i < len; i++)
		if (!alnum(name[i]) && name[i] != '.' && name[i] != '_' &&
			name[i] != '-')
			return false;
	return true;
}
