// SPDX-License-Identifier: GPL-2.0-or-later
/* Streams of objects, divided in every way, and streams that are wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/http/object-stream.h"
#include "support/rjtest.h"

static struct rj_error err;
static char seen[400];

static int see(void *arg, uint64_t number, struct rj_buf *object)
{
	size_t at = strlen(seen);

	snprintf(seen + at, sizeof(seen) - at, "[%llu:%.*s]",
		(unsigned long long)number, (int)object->len,
		object->len ? (const char *)object->data : "");
	if (number == 2) /* who takes the buffer leaves one, as it may be */
		rj_buf_free(object);
	else if (number == 3)
		rj_buf_append(object, "left behind", 11);
	return number == 77 ? 1 : 0;
}

/* TEXT in pieces of at most PIECE bytes, each in memory of its own. */
static int feed(const char *text, size_t piece)
{
	struct rj_objects o = {
		.name = "x", .max = 20, .from = 2, .fn = see, .err = &err};
	size_t len = strlen(text), i, n;
	char *copy;
	int rc = 0;

	seen[0] = '\0';
	err = (struct rj_error){0};
	for (i = 0; i < len && !rc; i += n) {
		n = len - i < piece ? len - i : piece;
		copy = malloc(n);
		memcpy(copy, text + i, n);
		rc = rj_objects_feed(&o, copy, n);
		free(copy);
	}
	if (!rc)
		rc = rj_objects_end(&o);
	rj_buf_free(&o.object);
	return rc;
}

#define N2 "00000000000000000002 "
#define N3 "00000000000000000003 "

static void divided_in_every_way(void)
{
	size_t piece;

	for (piece = 1; piece < 90; piece++) {
		CU_ASSERT_EQUAL(feed(N2 "3\nabc" N3 "0\n"
					"00000000000000000009 6\nd\nend\nend\n",
					piece),
			0);
		CU_ASSERT_STRING_EQUAL(seen, "[2:abc][3:][9:d\nend\n]");
		CU_ASSERT_EQUAL(feed("end\n", piece), 0);
		CU_ASSERT_EQUAL(
			feed("00000000000000000077 1\nx" N3 "zzz", piece), 1);
	}
}

static void cut_short(void)
{
	static const char whole[] = N2 "3\nabc" N3 "2\nab"
					       "end\n";
	char part[sizeof(whole)];
	size_t n;

	for (n = 0; n < sizeof(whole) - 1; n++) {
		snprintf(part, sizeof(part), "%.*s", (int)n, whole);
		CU_ASSERT_EQUAL(feed(part, 7), -RJ_E_UNREACHABLE);
	}
}

static void what_makes_no_sense(void)
{
	static const struct {
		const char *text;
		int rc;
	} t[] = {
		{"\n", -RJ_E_PROTOCOL},
		{"END\n", -RJ_E_PROTOCOL},
		{"2 3\nabcend\n", -RJ_E_PROTOCOL},
		{"00000000000000000001 1\nxend\n", -RJ_E_PROTOCOL},
		{N2 "\nend\n", -RJ_E_PROTOCOL},
		{N2 "-1\nend\n", -RJ_E_PROTOCOL},
		{N2 "3x\nabcend\n", -RJ_E_PROTOCOL},
		{N2 "99999999999999999999\n", -RJ_E_PROTOCOL},
		{"99999999999999999999 1\n", -RJ_E_PROTOCOL},
		{"0000000000000000000000000000000000000000000000000000000",
			-RJ_E_PROTOCOL},
		{N3 "1\nx" N2 "1\nxend\n", -RJ_E_PROTOCOL},
		{N3 "1\nx" N3 "1\nxend\n", -RJ_E_PROTOCOL},
		{"end\nend\n", -RJ_E_PROTOCOL},
		{N2 "21\n", -RJ_E_CORRUPT},
		{N2 "18446744073709551615\n", -RJ_E_CORRUPT},
		{N2 "damaged\n", -RJ_E_CORRUPT},
		{N2 "1\nxlost\n", -RJ_E_CORRUPT},
	};
	size_t i, piece;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		for (piece = 1; piece < 60; piece += 13) {
			CU_ASSERT_EQUAL(feed(t[i].text, piece), t[i].rc);
			CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "x: "));
		}
	}
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(divided_in_every_way),
		RJTEST(cut_short),
		RJTEST(what_makes_no_sense),
	};

	return RJTEST_RUN("store-objects", tests);
}
