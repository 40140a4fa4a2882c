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

#define ZEROS  "000000000000000000000"

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
	{PIECES "5\r\nhello5\r\n", 503, "", false, false, RJ_E_PROTOCOL},
	{PIECES "5\r\nhello5\n", 503, "", false, false, RJ_E_PROTOCOL},
	{PIECES "5\r\nhello\r\r\n0\r\n\r\n", 503, "", false, false,
		RJ_E_PROTOCOL},
	{PIECES "5\nhello\n0\n\n", 503, "", false, false, RJ_E_PROTOCOL},
	{PIECES ";x\r\n\r\n", 503, "", false, false, RJ_E_PROTOCOL},
	{PIECES "\r\n5\r\nhello\r\n", 503, "", false, false, RJ_E_PROTOCOL},
	{PIECES "1\r0\r\n", 503, "", false, false, RJ_E_PROTOCOL},
	{PIECES "5\r\nhello\r\n0\r\nTrailer\n\r\n", 503, "", false, false,
		RJ_E_PROTOCOL},
	/* what says two things of its length, or another thing than it seems to */
	{"HTTP/1.1 201 C\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		201, "", false, false, RJ_E_PROTOCOL},
	{"HTTP/1.1 201 C\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
		201, "a", true, true, 0},
	{"HTTP/1.1 503 C\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n"
	 "\r\n1\r\na\r\n0\r\n\r\n",
		503, "a", true, false, 0},
	{"HTTP/1.1 201 C\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 201,
		"", false, false, RJ_E_PROTOCOL},
	{"HTTP/1.1 201 C\r\nContent-Length : 1\r\n\r\n", 201, "", false, false,
		RJ_E_PROTOCOL},
	{"HTTP/1.1 201 C\r\nX: y\r\n Content-Length: 1\r\n\r\n", 201, "",
		false, false, RJ_E_PROTOCOL},
	{"HTTP/1.1 201 C\r\nContent-Length: " ZEROS ZEROS ZEROS "1\r\n\r\na",
		201, "", false, false, RJ_E_PROTOCOL},
	{"HTTP/1.1 201 C\r\nContent-Length: 2 \r\n"
	 "Connection: keep-alive, Close\r\n\r\nab",
		201, "ab", true, false, 0},
	{PIECES "fffffffff0\r\n", 503, "", false, false, RJ_E_PROTOCOL},
};

static const struct rj_http_peer peer = {
	.setup = {.peer = "peer"}, .name = "name"};

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
	CU_ASSERT_EQUAL(rj_http1_response_end(&a, &peer, &keep, &err),
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

/* Feed BYTES in pieces of STEP to an answer to CALL, and end it. */
static int answer_to(struct rj_http_call *call, const char *bytes, size_t step)
{
	static struct rj_http1_response a;
	struct rj_error err = {0};
	size_t len = strlen(bytes), at = 0, n, room;
	bool good = true, keep;

	rj_http1_response_begin(&a, call);
	for (; good && !a.complete && at < len; at += n) {
		n = step < len - at ? step : len - at;
		memcpy(rj_http1_response_space(&a, &room), bytes + at, n);
		good = rj_http1_response_take(&a, n);
	}
	return good && !a.complete
		       ? -RJ_E_UNREACHABLE
		       : rj_http1_response_end(&a, &peer, &keep, &err);
}

#define SIZED "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world"
#define CHUNKED                                                                \
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"                \
	"6\r\nhello \r\n5\r\nworld\r\n0\r\n\r\n"

static int until_o(void *arg, const void *data, size_t len)
{
	struct rj_buf *b = arg;

	CU_ASSERT_EQUAL(rj_buf_append(b, data, len), 0);
	return memchr(b->data, 'o', b->len) ? 7 : 0;
}

static void bodies(void)
{
	static const char *const answers[] = {SIZED, CHUNKED};
	struct rj_buf out = {0};
	struct rj_http_call call;
	size_t i, step;

	for (i = 0; i < 2; i++)
		for (step = 1; step < 100; step++) {
			out.len = 0;
			call = (struct rj_http_call){.out = &out, .max = 11};
			CU_ASSERT_EQUAL(answer_to(&call, answers[i], step), 0);
			CU_ASSERT_TRUE(out.len == 11 &&
				       !memcmp(out.data, "hello world", 11));
			call.max = 10; /* of what comes, not of what is there */
			CU_ASSERT_EQUAL(answer_to(&call, answers[i], step),
				-RJ_E_CORRUPT);
			out.len = 0;
			call = (struct rj_http_call){
				.sink = until_o, .sink_arg = &out};
			CU_ASSERT_EQUAL(answer_to(&call, answers[i], step), 7);
			CU_ASSERT_TRUE(out.len >= 5);
		}
	rj_buf_free(&out);
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
		RJTEST(bodies),
		RJTEST(more_than_an_answer),
		RJTEST(too_long_a_head),
	};

	return RJTEST_RUN("store-http1-response", tests);
}
