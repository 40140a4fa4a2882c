// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers of every shape, in pieces of every size. */
#include <string.h>

#include "store/http/http1-response.h"
#include "store/store.h"
#include "support/rjtest.h"

struct want {
	const char *bytes;
	int status;
	const char *text;
	bool complete, keep;
	enum rj_code code;
};

#define PIECES "HTTP/1.1 503 x\r\nTransfer-Encoding: chunked\r\n\r\n"

static const struct want wants[] = {
	{"HTTP/1.1 201 Created\r\nContent-Length: 8\r\n\r\ncreated\n", 201,
		"created", true, true, 0},
	{"HTTP/1.1 100 Continue\r\n\r\n"
	 "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
		201, "", true, true, 0},
	{"HTTP/1.1 413 L\nContent-Length: 3\n\nabc", 413, "abc", true, true,
		0},
	{"HTTP/1.1 204 No\r\n\r\n", 204, "", true, true, 0},
	{"HTTP/1.0 201 Created\r\nContent-Length: 0\r\n\r\n", 201, "", true,
		false, 0},
	{"HTTP/1.1 201 C\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab",
		201, "ab", true, false, 0},
	{"HTTP/1.1 201 Created\r\n\r\n", 201, "", true, false, RJ_E_PROTOCOL},
	{"HTTP/1.1 201 C\r\nContent-Length: 4\r\n\r\nabc", 201, "", false,
		false, 0},
	{"HTTP/1.1 201 C\r\nContent-Length: 4x\r\n\r\n", 201, "", false, false,
		RJ_E_PROTOCOL},
	{"HTTP/1.1 201 C\r\nContent-Length: -1\r\n\r\n", 201, "", false, false,
		RJ_E_PROTOCOL},
	{"HTTP/1.1 2010 C\r\n\r\n", -1, "", false, false, RJ_E_PROTOCOL},
	{"SSH-2.0-OpenSSH\r\n", 0, "", false, false, RJ_E_PROTOCOL},
	{PIECES "5\r\nhello\r\nA;x=y\r\n worlds 12\r\n0\r\n\r\n", 503,
		"hello worlds 12", true, true, 0},
	{PIECES "5\r\nhello\r\n0\r\nTrailer: a\r\n\r\n", 503, "hello", true,
		true, 0},
	{PIECES "5\r\nhel", 503, "", false, false, 0},
	{PIECES "5\r\nhello\r\n0\r\n", 503, "", false, false, 0},
	{PIECES "banana\r\n", 503, "", false, false, RJ_E_PROTOCOL},
	{PIECES "fffffffff0\r\n", 503, "", false, false, RJ_E_PROTOCOL},
};

static void check(const struct want *w, size_t step)
{
	static struct rj_http1_response a;
	struct rj_http_call call = {0};
	struct rj_error err = {0};
	size_t len = strlen(w->bytes), at = 0, n, room;
	bool good = true, keep = false;
	char *p;

	rj_http1_response_begin(&a, &call);
	while (good && at < len && !a.complete) {
		p = rj_http1_response_space(&a, &room);
		n = step < len - at ? step : len - at;
		memcpy(p, w->bytes + at, n);
		at += n;
		good = rj_http1_response_take(&a, n);
	}
	CU_ASSERT_EQUAL(a.complete, w->complete);
	CU_ASSERT_EQUAL(call.status, w->status);
	CU_ASSERT_EQUAL(good, w->complete || !w->code);
	if (good && !a.complete)
		return;
	CU_ASSERT_EQUAL(rj_http1_response_end(&a, "name", "peer", &keep, &err),
		-(int)w->code);
	CU_ASSERT_EQUAL(keep, w->keep);
	if (good)
		CU_ASSERT_STRING_EQUAL(call.text, w->text);
}

static void answers_in_pieces_of_every_size(void)
{
	size_t i, step;

	for (i = 0; i < sizeof(wants) / sizeof(wants[0]); i++)
		for (step = 1; step < 60; step++)
			check(&wants[i], step);
}

/* What is no answer's: the connection is not used again. */
static void more_than_an_answer(void)
{
	static const struct want more[] = {
		{"HTTP/1.1 201 C\r\nContent-Length: 1\r\n\r\nab", 201, "a",
			true, false, 0},
		{PIECES "1\r\na\r\n0\r\n\r\nHTTP/1.1", 503, "a", true, false,
			0},
		{"HTTP/1.1 204 No\r\n\r\nx", 204, "", true, false, 0},
	};
	size_t i;

	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		check(&more[i], 1000);
}

static void too_long_a_head(void)
{
	static struct rj_http1_response a;
	struct rj_http_call call = {0};
	bool good = true;
	size_t room;
	char *p;
	int i;

	rj_http1_response_begin(&a, &call);
	p = rj_http1_response_space(&a, &room);
	memcpy(p, "HTTP/1.1 200 OK\r\n", 17);
	good = rj_http1_response_take(&a, 17);
	for (i = 0; good && i < RJ_HTTP1_HEAD_BYTES; i++) {
		p = rj_http1_response_space(&a, &room);
		CU_ASSERT_TRUE(room > 0);
		*p = 'x';
		good = rj_http1_response_take(&a, 1);
	}
	CU_ASSERT_FALSE(good);
	CU_ASSERT_EQUAL(i, RJ_HTTP1_HEAD_BYTES - 17);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(answers_in_pieces_of_every_size),
		RJTEST(more_than_an_answer),
		RJTEST(too_long_a_head),
	};

	return RJTEST_RUN("store-answer", tests);
}
