// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of a hold: there and back, and nothing else is one. */
#include <string.h>

#include "format/hold.h"
#include "support/rjtest.h"

#define HEAD "rj-hold 1\nhold 17\n"
#define WHOSE "journal 00112233-4455-6677-8899-aabbccddeeff\n"
#define WHAT "first 42\nhost server.example\nprogram rjbackup\n"
#define WHEN "time 2026-01-31T23:59:59Z\nuntil 2026-03-02T23:59:59Z\n"

static void there_and_back(void)
{
	static const char text[] = HEAD WHOSE WHAT WHEN;
	struct rj_buf out = {0};
	struct rj_error err;
	struct rj_hold h;

	CU_ASSERT_EQUAL_FATAL(rj_hold_decode(text, strlen(text), &h, &err), 0);
	CU_ASSERT_EQUAL(h.number, 17);
	CU_ASSERT_EQUAL(h.first, 42);
	CU_ASSERT_EQUAL(h.journal_uuid[15], 0xff);
	CU_ASSERT_STRING_EQUAL(h.host, "server.example");
	CU_ASSERT_STRING_EQUAL(h.program, "rjbackup");
	CU_ASSERT_EQUAL(h.time, 1769903999);
	CU_ASSERT_EQUAL(h.until, 1769903999 + 30 * 86400);
	CU_ASSERT_EQUAL(rj_hold_encode(&h, &out), 0);
	CU_ASSERT_EQUAL(out.len, strlen(text));
	CU_ASSERT_EQUAL(memcmp(out.data, text, strlen(text)), 0);
	rj_buf_free(&out);
}

static void the_latest(void)
{
	struct rj_hold h = {.number = 1, .first = 1, .host = "-",
		.program = "p", .until = RJ_HOLD_LATEST}, back;
	struct rj_buf out = {0};
	struct rj_error err;

	CU_ASSERT_EQUAL(rj_hold_encode(&h, &out), 0);
	CU_ASSERT_EQUAL(rj_hold_decode(out.data, out.len, &back, &err), 0);
	CU_ASSERT_EQUAL(back.until, RJ_HOLD_LATEST);
	rj_buf_free(&out);
}

static void nothing_else_is_a_hold(void)
{
	static const char *const bad[] = {
		"",
		"rj-hold 1\n",
		"rj-hold 2\nhold 17\n" WHOSE WHAT WHEN,
		"rj-epoch 1\nhold 17\n" WHOSE WHAT WHEN,
		HEAD WHOSE WHEN,
		HEAD WHAT WHEN,
		HEAD WHOSE WHAT "time 2026-01-31T23:59:59Z\n",
		HEAD WHOSE WHAT WHEN "\n",
		HEAD WHOSE WHAT WHEN "x 1\n",
		HEAD WHOSE WHAT WHEN WHEN,
		WHOSE HEAD WHAT WHEN,
		"rj-hold 1\nhold 0\n" WHOSE WHAT WHEN,
		"rj-hold 1\nhold 17 \n" WHOSE WHAT WHEN,
		"rj-hold 1\nhold 017\n" WHOSE WHAT WHEN,
		HEAD WHOSE "first 0\nhost h\nprogram p\n" WHEN,
		HEAD WHOSE "first -1\nhost h\nprogram p\n" WHEN,
		HEAD WHOSE "first 99999999999999999999\nhost h\nprogram p\n" WHEN,
		HEAD WHOSE "first 42\nhost a b\nprogram p\n" WHEN,
		HEAD WHOSE "first 42\nhost h\nprogram\n" WHEN,
		HEAD WHOSE WHAT "time yesterday\nuntil 2026-03-02T23:59:59Z\n",
		HEAD WHOSE WHAT "time 2026-01-31T23:59:59Z\nuntil 2026-3-2T23:59:59Z\n",
		HEAD WHOSE WHAT "time 2026-01-31T23:59:59Z\nuntil 2026-03-02T23:59:59Z",
		HEAD "journal 00112233\n" WHAT WHEN,
	};
	static const char nul[] = HEAD WHOSE WHAT WHEN "\0";
	struct rj_error err;
	struct rj_hold h;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (rj_hold_decode(bad[i], strlen(bad[i]), &h, &err) !=
			-RJ_E_CORRUPT)
			CU_FAIL(bad[i]);
	CU_ASSERT_EQUAL(rj_hold_decode(nul, sizeof(nul), &h, &err), -RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(rj_hold_decode(nul, sizeof(nul) - 1, &h, &err),
		-RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(rj_hold_decode(nul, sizeof(nul) - 2, &h, &err), 0);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(there_and_back),
		RJTEST(the_latest),
		RJTEST(nothing_else_is_a_hold),
	};

	return RJTEST_RUN("format-hold", tests);
}
