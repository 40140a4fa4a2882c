// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "format/object-key.h"
#include "support/rjtest.h"

#define UUID "0fedcba9-8765-4321-0123-456789abcdef"

static const uint8_t uuid[RJ_UUID_BYTES] = {0x0f, 0xed, 0xcb, 0xa9, 0x87, 0x65,
	0x43, 0x21, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};

static const struct {
	const char *text;
	enum rj_key_kind kind;
	uint64_t number;
} good[] = {
	{UUID "/log/", RJ_KEY_LOG, 0},
	{UUID "/epoch/", RJ_KEY_EPOCH, 0},
	{UUID "/log/00000000000000000001", RJ_KEY_LOG, 1},
	{UUID "/epoch/00000000000000000042", RJ_KEY_EPOCH, 42},
	{UUID "/log/18446744073709551615", RJ_KEY_LOG, UINT64_MAX},
	{UUID "/hold/", RJ_KEY_HOLD, 0},
	{UUID "/base/", RJ_KEY_BASE, 0},
	{UUID "/base/09999999999999999999", RJ_KEY_BASE, 9999999999999999999ull},
	{UUID "/drill/", RJ_KEY_DRILL, 0},
	{UUID "/drill/00000000001764115200", RJ_KEY_DRILL, 1764115200},
	{UUID "/mark/", RJ_KEY_POINT, 0},
	{UUID "/mark/18446744073709551615", RJ_KEY_POINT, UINT64_MAX},
	{UUID "/hold/00000000000123456789", RJ_KEY_HOLD, 123456789},
};

static const char *const bad[] = {
	"",
	"/",
	UUID,
	UUID "/",
	UUID "/log",
	UUID "/epoch",
	UUID "/hold",
	UUID "/holds/",
	UUID "/hold/all/",
	UUID "//log/",
	UUID "/Log/",
	UUID "/logs/",
	UUID "/log/0",
	UUID "/log/1",
	UUID "/log/00000000000000000000",
	UUID "/log/0000000000000000001",
	UUID "/log/000000000000000000001",
	UUID "/log/0000000000000000000a",
	UUID "/log/+0000000000000000001",
	UUID "/log/ 0000000000000000001",
	UUID "/log/18446744073709551616",
	UUID "/log/99999999999999999999",
	UUID "/log/00000000000000000001/",
	UUID "/log/../log/",
	"/" UUID "/log/",
	"0FEDCBA9-8765-4321-0123-456789ABCDEF/log/",
	"0fedcba9-8765-4321-0123-456789abcdeg/log/",
	"0fedcba9-8765-4321-0123-456789abcde/log/",
	"0fedcba9876543210123456789abcdef/log/",
};

static void text_and_back(void)
{
	struct rj_key key, again;
	char text[RJ_KEY_TEXT];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CU_ASSERT_TRUE_FATAL(
			rj_key_parse(good[i].text, strlen(good[i].text), &key));
		CU_ASSERT_EQUAL(key.kind, good[i].kind);
		CU_ASSERT_EQUAL(key.number, good[i].number);
		CU_ASSERT_TRUE(rj_uuid_equal(key.journal_uuid, uuid));
		CU_ASSERT_PTR_EQUAL(rj_key_text(&key, text), text);
		CU_ASSERT_STRING_EQUAL(text, good[i].text);
		CU_ASSERT_TRUE(rj_key_parse(text, strlen(text), &again));
	}
}

static void refuses_other_forms(void)
{
	struct rj_key key = {.kind = RJ_KEY_EPOCH, .number = 77};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (rj_key_parse(bad[i], strlen(bad[i]), &key))
			CU_FAIL(bad[i]);
	/* and then leaves OUT alone */
	CU_ASSERT_EQUAL(key.kind, RJ_KEY_EPOCH);
	CU_ASSERT_EQUAL(key.number, 77);
}

/* LEN counts, not a NUL: every shorter prefix but the directory is refused */
static void length_is_exact(void)
{
	static const char text[] = UUID "/log/00000000000000000001xyz";
	const size_t whole = sizeof(text) - 4, dir = whole - 20;
	struct rj_key key;
	size_t len;

	for (len = 0; len < sizeof(text); len++)
		CU_ASSERT_EQUAL(rj_key_parse(text, len, &key),
			len == whole || len == dir);
	/* a NUL inside is a foreign byte */
	CU_ASSERT_FALSE(
		rj_key_parse(UUID "/log/0000000000000000000\0", whole, &key));
}

static void names(void)
{
	char longest[64];

	CU_ASSERT_TRUE(rj_key_name_valid("a", 1));
	CU_ASSERT_TRUE(rj_key_name_valid("Host-1.disk_2", 13));
	CU_ASSERT_TRUE(rj_key_name_valid("0", 1));
	CU_ASSERT_FALSE(rj_key_name_valid("", 0));
	CU_ASSERT_FALSE(rj_key_name_valid(".", 1));
	CU_ASSERT_FALSE(rj_key_name_valid("..", 2));
	CU_ASSERT_FALSE(rj_key_name_valid("-a", 2));
	CU_ASSERT_FALSE(rj_key_name_valid("_a", 2));
	CU_ASSERT_FALSE(rj_key_name_valid("a/b", 3));
	CU_ASSERT_FALSE(rj_key_name_valid("a%2f", 4));
	CU_ASSERT_FALSE(rj_key_name_valid("a b", 3));
	CU_ASSERT_FALSE(rj_key_name_valid("\xc3\xa9", 2));
	CU_ASSERT_FALSE(rj_key_name_valid("a\0b", 3));
	memset(longest, 'a', sizeof(longest));
	CU_ASSERT_TRUE(rj_key_name_valid(longest, 63));
	CU_ASSERT_FALSE(rj_key_name_valid(longest, 64));
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(text_and_back),
		RJTEST(refuses_other_forms),
		RJTEST(length_is_exact),
		RJTEST(names),
	};

	return RJTEST_RUN("key", tests);
}
