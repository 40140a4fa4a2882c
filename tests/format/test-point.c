// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of a named mark: there and back, and nothing else is one. */
#include <string.h>

#include "format/point.h"
#include "support/rjtest.h"

#define HEAD "rj-mark 1\nmark before-upgrade.2\n"
#define WHOSE "journal 00112233-4455-6677-8899-aabbccddeeff\n"
#define WHAT "segment 42\nhost server.example\nprogram rjctl\n"
#define WHEN "time 2026-01-31T23:59:59Z\n"

static void there_and_back(void)
{
	static const char text[] = HEAD WHOSE WHAT WHEN;
	struct rj_buf out = {0};
	struct rj_error err;
	struct rj_point p;

	CU_ASSERT_EQUAL_FATAL(rj_point_decode(text, strlen(text), &p, &err), 0);
	CU_ASSERT_STRING_EQUAL(p.name, "before-upgrade.2");
	CU_ASSERT_EQUAL(p.segment, 42);
	CU_ASSERT_EQUAL(p.journal_uuid[15], 0xff);
	CU_ASSERT_STRING_EQUAL(p.host, "server.example");
	CU_ASSERT_STRING_EQUAL(p.program, "rjctl");
	CU_ASSERT_EQUAL(p.time, 1769903999);
	CU_ASSERT_EQUAL(rj_point_encode(&p, &out), 0);
	CU_ASSERT_EQUAL(out.len, strlen(text));
	CU_ASSERT_EQUAL(memcmp(out.data, text, strlen(text)), 0);
	rj_buf_free(&out);
}

static void nothing_else_is_a_mark(void)
{
	static const char *const bad[] = {
		"",
		"rj-mark 1\n",
		"rj-mark 2\nmark a\n" WHOSE WHAT WHEN,
		"rj-hold 1\nmark a\n" WHOSE WHAT WHEN,
		"rj-mark 1\nmark .a\n" WHOSE WHAT WHEN,
		"rj-mark 1\nmark a/b\n" WHOSE WHAT WHEN,
		"rj-mark 1\nmark a b\n" WHOSE WHAT WHEN,
		HEAD WHOSE WHEN,
		HEAD WHAT WHEN,
		HEAD WHOSE WHAT,
		HEAD WHOSE WHAT WHEN "\n",
		HEAD WHOSE WHAT WHEN WHEN,
		WHOSE HEAD WHAT WHEN,
		HEAD WHOSE "segment 0\nhost h\nprogram p\n" WHEN,
		HEAD WHOSE "segment 042\nhost h\nprogram p\n" WHEN,
		HEAD WHOSE "segment 42\nhost a b\nprogram p\n" WHEN,
		HEAD WHOSE WHAT "time yesterday\n",
		HEAD WHOSE WHAT "time 2026-01-31T23:59:59Z",
	};
	static const char nul[] = HEAD WHOSE WHAT WHEN "\0";
	struct rj_error err;
	struct rj_point p;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (rj_point_decode(bad[i], strlen(bad[i]), &p, &err) != -RJ_E_CORRUPT)
			CU_FAIL(bad[i]);
	CU_ASSERT_EQUAL(rj_point_decode(nul, sizeof(nul) - 1, &p, &err), -RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(rj_point_decode(nul, sizeof(nul) - 2, &p, &err), 0);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(there_and_back),
		RJTEST(nothing_else_is_a_mark),
	};

	return RJTEST_RUN("format-point", tests);
}
