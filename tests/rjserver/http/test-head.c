// SPDX-License-Identifier: GPL-2.0-or-later
#include <event2/event.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rjserver/http/http-body.h"
#include "rjserver/http/http-head.h"
#include "rjserver/http/http.h"
#include "support/rjtest.h"

#define PATH "/a/0fedcba9-8765-4321-0123-456789abcdef/log/00000000000000000001"
#define LINE "PUT " PATH " HTTP/1.1\r\n"

static struct head head;
static char text[2 * HEAD_MOST];

static enum head_kind parse_bytes(const void *data, size_t len)
{
	memcpy(text, data, len);
	return head_parse(&head, text, len);
}

static enum head_kind parse(const char *data)
{
	return parse_bytes(data, strlen(data));
}

/* What our own clients send, and curl, and browsers. */
static void requests_are_taken(void)
{
	CU_ASSERT_EQUAL(parse(LINE "Host: a:1\r\nAuthorization: Bearer a.b\r\n"
				   "If-None-Match: *\r\nContent-Length: 33000\r\n"
				   "\r\nbody"),
		HEAD_WHOLE);
	CU_ASSERT_EQUAL(head.method, HTTP_METHOD_PUT);
	CU_ASSERT_STRING_EQUAL(head.path, PATH);
	CU_ASSERT_PTR_NULL(head.query);
	CU_ASSERT_TRUE(head.has_length);
	CU_ASSERT_EQUAL(head.length, 33000);
	CU_ASSERT_STRING_EQUAL(head_find(&head, "authorization"), "Bearer a.b");
	CU_ASSERT_STRING_EQUAL(head_find(&head, "Host"), "a:1");
	CU_ASSERT_PTR_NULL(head_find(&head, "Range"));
	CU_ASSERT_FALSE(head.close || head.coded || head.old || head.expects);
	CU_ASSERT_EQUAL(parse("GET /a/?b=c?d HTTP/1.1\r\nA:\t b c \t\r\n"
			      "Connection: x, Close\r\nC:\r\n\r\n"),
		HEAD_WHOLE);
	CU_ASSERT_EQUAL(head.method, HTTP_METHOD_GET);
	CU_ASSERT_STRING_EQUAL(head.path, "/a/");
	CU_ASSERT_STRING_EQUAL(head.query, "b=c?d");
	CU_ASSERT_STRING_EQUAL(head_find(&head, "A"), "b c");
	CU_ASSERT_STRING_EQUAL(head_find(&head, "C"), "");
	CU_ASSERT_TRUE(head.close && !head.has_length);
	CU_ASSERT_EQUAL(parse("HEAD / HTTP/1.0\r\n\r\n"), HEAD_WHOLE);
	CU_ASSERT_TRUE(head.old && head.close);
	CU_ASSERT_EQUAL(head.method, HTTP_METHOD_HEAD);
	CU_ASSERT_EQUAL(parse("DELETE //x HTTP/1.1\r\nExpect: 100-Continue\r\n"
			      "Transfer-Encoding: chunked\r\n\r\n"),
		HEAD_WHOLE);
	CU_ASSERT_STRING_EQUAL(head.path, "//x");
	CU_ASSERT_TRUE(head.coded && head.expects);
	CU_ASSERT_EQUAL(parse("put / HTTP/1.1\r\n\r\n"), HEAD_WHOLE);
	CU_ASSERT_EQUAL(head.method, HTTP_METHOD_OTHER);
	CU_ASSERT_EQUAL(parse(LINE "content-length:000\r\n\r\n"), HEAD_WHOLE);
	CU_ASSERT_TRUE(head.has_length && !head.length);
}

static void what_is_not_clear_is_refused(void)
{
	static const char *const bad[] = {
		"\r\n", " GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01",
		"hello there, server\r\n\r\n", "GET /\r\n\r\n",
		"GET  / HTTP/1.1\r\n\r\n", "GET / HTTP/1.2\r\n\r\n",
		"GET / HTTP/1.1 \r\n\r\n", "GET / HTTP/2.0\r\n\r\n",
		"GET * HTTP/1.1\r\n\r\n", "GET a HTTP/1.1\r\n\r\n",
		"GET http://a/b HTTP/1.1\r\n\r\n",
		"GET /a\tb HTTP/1.1\r\n\r\n", "GET /a\x7f HTTP/1.1\r\n\r\n",
		"GET /a\xc3\xa4 HTTP/1.1\r\n\r\n",
		"G3T / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\n\n",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ", LINE "\n", LINE "Host: a\n",
		LINE "Content-Length:\r\n\r\n",
		LINE "Content-Length: -1\r\n\r\n",
		LINE "Content-Length: +1\r\n\r\n",
		LINE "Content-Length: 0x1\r\n\r\n",
		LINE "Content-Length: 1, 1\r\n\r\n",
		LINE "Content-Length: 1 1\r\n\r\n",
		LINE "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
		LINE "Content-Length: 18446744073709551617\r\n\r\n",
		LINE "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		LINE "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
		"PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
		LINE "Content-Length : 1\r\n\r\n",
		LINE " Content-Length: 1\r\n\r\n",
		LINE "Host: a\r\nHost: a\r\n\r\n",
		LINE "Authorization: a\r\nauthorization: b\r\n\r\n",
		LINE "Host: a\r\n b\r\n\r\n", LINE "Host: a\rb\r\n\r\n",
		LINE "Host: a\r\r\n\r\n", LINE "Host: a\x01\r\n\r\n",
		LINE "Host: a\x7f\r\n\r\n", LINE "nonsense\r\n\r\n",
		LINE ": x\r\n\r\n", LINE "a b: x\r\n\r\n",
		LINE "a\x80: x\r\n\r\n",
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (parse(bad[i]) != HEAD_BAD)
			printf("# taken: %s\n", bad[i]);
		CU_ASSERT_EQUAL(parse(bad[i]), HEAD_BAD);
	}
	CU_ASSERT_EQUAL(parse_bytes(LINE "Host: a\0b\r\n\r\n",
				sizeof(LINE "Host: a\0b\r\n\r\n") - 1),
		HEAD_BAD);
	CU_ASSERT_EQUAL(parse_bytes("GET /\0 HTTP/1.1\r\n\r\n",
				sizeof("GET /\0 HTTP/1.1\r\n\r\n") - 1),
		HEAD_BAD);
}

static void a_part_waits_for_more(void)
{
	static const char one[] = LINE "Host: a\r\nContent-Length: 1\r\n\r\n";
	static char longest[HEAD_MOST + 1];
	char many[2000] = LINE;
	size_t i;

	for (i = 1; i < sizeof(one) - 1; i++) {
		CU_ASSERT_EQUAL(parse_bytes(one, i), HEAD_MORE);
		CU_ASSERT_EQUAL(memcmp(text, one, i), 0);
	}
	CU_ASSERT_EQUAL(parse_bytes(one, i), HEAD_WHOLE);
	CU_ASSERT_EQUAL(head.bytes, sizeof(one) - 1);
	/* a head without an end is not waited for */
	snprintf(longest, sizeof(longest), "%s", LINE "Host: ");
	memset(longest + strlen(longest), 'x',
		sizeof(longest) - strlen(longest) - 1);
	CU_ASSERT_EQUAL(parse_bytes(longest, HEAD_MOST - 1), HEAD_MORE);
	CU_ASSERT_EQUAL(parse_bytes(longest, HEAD_MOST), HEAD_LONG);
	for (i = 0; i < HEAD_FIELDS; i++)
		strcat(many, "a: b\r\n");
	i = strlen(many);
	strcpy(many + i, "\r\n");
	CU_ASSERT_EQUAL(parse(many), HEAD_WHOLE);
	CU_ASSERT_EQUAL(head.count, HEAD_FIELDS);
	strcpy(many + i, "a: b\r\n\r\n");
	CU_ASSERT_EQUAL(parse(many), HEAD_LONG);
}

/* One byte changed: refused, or still of one meaning with all that is in it. */
static void one_byte_changed(void)
{
	static const char one[] = LINE
		"Host: a\r\nContent-Length: 12\r\nAuthorization: B c\r\n\r\n";
	char changed[sizeof(one)];
	unsigned wrong = 0;
	size_t i;
	int c;

	for (i = 0; i + 5 < sizeof(one); i++)
		for (c = 0; c < 256; c++) {
			memcpy(changed, one, sizeof(one));
			changed[i] = (char)c;
			if (parse_bytes(changed, sizeof(one) - 1) != HEAD_WHOLE)
				continue;
			wrong += head.bytes != sizeof(one) - 1;
			wrong += head.count != 3;
			wrong += strlen(head.path) +
					 (head.query ? strlen(head.query) + 1 : 0) !=
				 strlen(PATH);
			wrong += head.has_length !=
				 !!head_find(&head, "Content-Length");
		}
	CU_ASSERT_EQUAL(wrong, 0);
}

static void rooms_are_used_again(void)
{
	struct record_buffer_pool pool = {0};
	struct record_buffer *a = record_buffer_take(&pool, 1000), *b, *all[40];
	size_t i;

	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	CU_ASSERT_EQUAL((uintptr_t)a->mem % BATCH_ALIGN, 0);
	CU_ASSERT_TRUE(a->most >= 1000);
	memset(a->mem, 1, a->bytes);
	/* a record with the largest body, filled up to a block */
	CU_ASSERT_TRUE(BUFFER_RECORD + align_up(rec_total((uint32_t)a->most),
				BATCH_ALIGN) <= a->bytes);
	record_buffer_give(&pool, a);
	b = record_buffer_take(&pool, 900);
	CU_ASSERT_PTR_EQUAL(a, b);
	record_buffer_give(&pool, b);
	b = record_buffer_take(&pool, 3000000);
	CU_ASSERT_TRUE(b != a && b->most >= 3000000);
	record_buffer_give(&pool, b);
	b = record_buffer_take(&pool, 16u << 20);
	CU_ASSERT_TRUE(b->most >= 16u << 20);
	record_buffer_give(&pool, b);
	CU_ASSERT_TRUE(pool.bytes <= 20u << 20);
	for (i = 0; i < 40; i++)
		all[i] = record_buffer_take(&pool, 1u << 20);
	for (i = 0; i < 40; i++)
		record_buffer_give(&pool, all[i]);
	CU_ASSERT_TRUE(pool.bytes <= 20u << 20);
	record_buffer_free_all(&pool);
	CU_ASSERT_EQUAL(pool.bytes, 0);
	CU_ASSERT_PTR_NULL(pool.first);
}

static void bodies_have_bounds(void)
{
	struct bodies b;
	struct purse *x, *y, *all;
	struct record_buffer *r[64];
	size_t i, n = 0;

	bodies_init(&b);
	x = purse_get(&b, "x");
	y = purse_get(&b, "y");
	all = purse_get(&b, "");
	CU_ASSERT_TRUE(x && y && all && x != y);
	CU_ASSERT_PTR_EQUAL(purse_get(&b, "x"), x);
	purse_drop(&b, x);
	while ((r[n] = body_take(&b, x, 16u << 20)))
		n++;
	CU_ASSERT_EQUAL(n, 7); /* each with its record around it */
	while ((r[n] = body_take(&b, y, 16u << 20)))
		n++;
	CU_ASSERT_EQUAL(n, 14);
	CU_ASSERT_PTR_NOT_NULL(r[n] = body_take(&b, all, 16u << 20));
	CU_ASSERT_PTR_NULL(body_take(&b, all, 16u << 20));
	CU_ASSERT_TRUE(b.bytes <= BODY_TOTAL);
	body_give(&b, all, r[n]);
	for (i = 0; i < n; i++)
		body_give(&b, i < 7 ? x : y, r[i]);
	body_give(&b, x, NULL);
	CU_ASSERT_EQUAL(b.bytes, 0);
	CU_ASSERT_EQUAL(x->bytes + y->bytes + all->bytes, 0);
	purse_drop(&b, x);
	purse_drop(&b, all);
	purse_drop(&b, y);
	purse_drop(&b, NULL);
	CU_ASSERT_PTR_NULL(b.purses);
	bodies_free(&b);
}

static struct http *http;
static unsigned shrunk;

static bool answer(void *arg, const struct http_request *req)
{
	struct http_reply reply = {.status = 404, .text = "none"};

	http_answer(req->exchange, &reply);
	return false;
}

/* What the server may do there: it writes a batch, for which it needs another file, and
 * may have fewer connections then. */
static void shrink(void *arg)
{
	const struct http_limits none = {.connections = 0};

	if (http_count(http)) {
		shrunk++;
		http_set_limits(http, &none);
	}
}

/* A limit that falls while a connection is read does not wait for that one to end. */
static void a_connection_that_is_read_stays(void)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct http_handlers handlers = {.request = answer, .work = shrink};
	struct http_limits limits = {.connections = 10};
	const struct timeval soon = {0, 10000};
	struct event_base *base = event_base_new();
	int fd = socket(AF_INET, SOCK_STREAM, 0), us;
	socklen_t len = sizeof(at);
	char got[13] = "";
	unsigned i;

	us = socket(AF_INET, SOCK_STREAM, 0);
	CU_ASSERT_FALSE_FATAL(bind(fd, (struct sockaddr *)&at, len) ||
			      getsockname(fd, (struct sockaddr *)&at, &len) ||
			      listen(fd, 5) ||
			      evutil_make_socket_nonblocking(fd));
	http = http_new(base, fd, &handlers, &limits);
	CU_ASSERT_PTR_NOT_NULL_FATAL(http);
	CU_ASSERT_EQUAL_FATAL(connect(us, (struct sockaddr *)&at, len), 0);
	CU_ASSERT_EQUAL(send(us, "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
	alarm(60); /* should it wait for ever */
	for (i = 0; i < 1000 && !*got; i++) {
		event_base_loopexit(base, &soon);
		event_base_dispatch(base);
		recv(us, got, 12, MSG_DONTWAIT);
	}
	alarm(0);
	CU_ASSERT_STRING_EQUAL(got, "HTTP/1.1 404");
	CU_ASSERT_TRUE(shrunk > 0);
	close(us);
	http_free(http);
	event_base_free(base);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(requests_are_taken),
		RJTEST(what_is_not_clear_is_refused),
		RJTEST(a_part_waits_for_more),
		RJTEST(one_byte_changed),
		RJTEST(rooms_are_used_again),
		RJTEST(bodies_have_bounds),
		RJTEST(a_connection_that_is_read_stays),
	};

	return RJTEST_RUN("rjserver-head", tests);
}
