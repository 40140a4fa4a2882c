// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rjserver/http_head.h"
#include "rjserver/room.h"
#include "support/rjtest.h"

#define MOST 1000000
#define PATH "/a/0fedcba9-8765-4321-0123-456789abcdef/log/00000000000000000001"
#define LINE "PUT " PATH " HTTP/1.1\r\n"

static struct head head;

static enum head_kind parse(const char *text)
{
	return head_parse(&head, text, strlen(text), MOST);
}

/* What lib/store/straight.c sends, and curl -T. */
static void ours_is_plain(void)
{
	CU_ASSERT_EQUAL(parse(LINE "Host: a:1\r\nAuthorization: Bearer a.b\r\n"
				   "If-None-Match: *\r\nContent-Length: 33000\r\n"
				   "\r\nbody"),
		HEAD_PLAIN);
	CU_ASSERT_STRING_EQUAL(head.path, PATH);
	CU_ASSERT_EQUAL(head.length, 33000);
	CU_ASSERT_STRING_EQUAL(head_find(&head, "authorization"), "Bearer a.b");
	CU_ASSERT_STRING_EQUAL(head_find(&head, "Host"), "a:1");
	CU_ASSERT_PTR_NULL(head_find(&head, "Accept"));
	CU_ASSERT_PTR_NULL(head_find(&head, "Range"));
	CU_ASSERT_EQUAL(parse(LINE "Host: a\r\nUser-Agent: curl/7.88.1\r\n"
				   "Accept: */*\r\nContent-Length: 0\r\n\r\n"),
		HEAD_PLAIN);
	CU_ASSERT_EQUAL(head.length, 0);
	CU_ASSERT_PTR_NULL(head_find(&head, "Authorization"));
	CU_ASSERT_EQUAL(
		parse(LINE "content-length:1000000\r\n\r\n"), HEAD_PLAIN);
}

static void all_else_is_not(void)
{
	static const char *const others[] = {
		"GET / HTTP/1.1\r\n\r\n",
		"put " PATH " HTTP/1.1\r\nContent-Length: 1\r\n\r\n",
		"PUT  " PATH " HTTP/1.1\r\nContent-Length: 1\r\n\r\n",
		"PUT " PATH " HTTP/1.0\r\nContent-Length: 1\r\n\r\n",
		"PUT " PATH " HTTP/1.1 \r\nContent-Length: 1\r\n\r\n",
		"PUT " PATH "\r\nContent-Length: 1\r\n\r\n",
		"PUT //a HTTP/1.1\r\nContent-Length: 1\r\n\r\n",
		"PUT /a%20b HTTP/1.1\r\nContent-Length: 1\r\n\r\n",
		"PUT /a?b=c HTTP/1.1\r\nContent-Length: 1\r\n\r\n",
		"PUT /a#b HTTP/1.1\r\nContent-Length: 1\r\n\r\n",
		"PUT http://a/b HTTP/1.1\r\nContent-Length: 1\r\n\r\n",
		"PUT /a\xc3\xa4 HTTP/1.1\r\nContent-Length: 1\r\n\r\n",
		LINE "\r\n",
		LINE "Host: a\r\n\r\n",
		LINE "Content-Length:\r\n\r\n",
		LINE "Content-Length: -1\r\n\r\n",
		LINE "Content-Length: +1\r\n\r\n",
		LINE "Content-Length: 1 \r\n\r\n",
		LINE "Content-Length:  1\r\n\r\n",
		LINE "Content-Length:\t1\r\n\r\n",
		LINE "Content-Length : 1\r\n\r\n",
		LINE " Content-Length: 1\r\n\r\n",
		LINE "Content-Length: 0x1\r\n\r\n",
		LINE "Content-Length: 1, 1\r\n\r\n",
		LINE "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
		LINE "Content-Length: 1000001\r\n\r\n",
		LINE "Content-Length: 18446744073709551617\r\n\r\n",
		LINE "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		LINE "Content-Length: 1\r\nConnection: close\r\n\r\n",
		LINE "Content-Length: 1\r\nExpect: 100-continue\r\n\r\n",
		LINE "Content-Length: 1\r\nUpgrade: h2c\r\n\r\n",
		LINE "Content-Length: 1\r\nHost: a\r\nHost: b\r\n\r\n",
		LINE "Content-Length: 1\r\nHost: a\r\n b\r\n\r\n",
		LINE "Content-Length: 1\r\nHost: a\rb\r\n\r\n",
		LINE "Content-Length: 1\r\nHost: a\nb: c\r\n\r\n",
		LINE "Content-Length: 1\r\nHost: a\tb\r\n\r\n",
		LINE "Content-Length: 1\r\nHost: a\x7f\r\n\r\n",
		LINE "Content-Length: 1\r\nnonsense\r\n\r\n",
		LINE "Content-Length: 1\r\n: x\r\n\r\n",
	};
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (parse(others[i]) != HEAD_OTHER)
			printf("# taken: %s\n", others[i]);
		CU_ASSERT_EQUAL(parse(others[i]), HEAD_OTHER);
	}
	CU_ASSERT_EQUAL(head_parse(&head, LINE "Host: a\0b\r\n\r\n",
				sizeof(LINE "Host: a\0b\r\n\r\n") - 1, MOST),
		HEAD_OTHER);
}

static void a_part_waits_for_more(void)
{
	static const char text[] = LINE "Host: a\r\nContent-Length: 1\r\n\r\n";
	static char longest[HEAD_MOST + 1];
	size_t i;

	for (i = 1; i < sizeof(text) - 1; i++)
		CU_ASSERT_EQUAL(
			head_parse(&head, text, i, MOST), HEAD_MORE);
	CU_ASSERT_EQUAL(head_parse(&head, text, i, MOST), HEAD_PLAIN);
	CU_ASSERT_EQUAL(head.bytes, sizeof(text) - 1);
	/* a head without an end is not waited for */
	snprintf(longest, sizeof(longest), "%s", LINE "Host: ");
	memset(longest + strlen(longest), 'x',
		sizeof(longest) - strlen(longest) - 1);
	CU_ASSERT_EQUAL(head_parse(&head, longest, HEAD_MOST - 1, MOST),
		HEAD_MORE);
	CU_ASSERT_EQUAL(
		head_parse(&head, longest, HEAD_MOST, MOST), HEAD_OTHER);
}

/* One byte changed: other, or still of one meaning with all that is in it. */
static void one_byte_changed(void)
{
	static const char text[] = LINE
		"Host: a\r\nContent-Length: 12\r\nAuthorization: B c\r\n\r\n";
	char changed[sizeof(text)];
	unsigned wrong = 0;
	size_t i;
	int c;

	for (i = 0; i + 5 < sizeof(text); i++)
		for (c = 0; c < 256; c++) {
			memcpy(changed, text, sizeof(text));
			changed[i] = (char)c;
			if (head_parse(&head, changed, sizeof(text) - 1,
				    MOST) != HEAD_PLAIN)
				continue;
			wrong += head.bytes != sizeof(text) - 1;
			wrong += strlen(head.path) != strlen(PATH);
			wrong += head.length < 2 || head.length > 912;
			wrong += !head_find(&head, "Host");
			wrong += !head_find(&head, "Authorization");
		}
	CU_ASSERT_EQUAL(wrong, 0);
}

static void rooms_are_used_again(void)
{
	struct room_pool pool = {0};
	struct room *a = room_take(&pool, 1000), *b, *all[40];
	size_t i;

	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	CU_ASSERT_EQUAL((uintptr_t)a->mem % BATCH_ALIGN, 0);
	CU_ASSERT_TRUE(a->most >= 1000);
	memset(a->mem, 1, a->bytes);
	/* a record with the largest body, filled up to a block */
	CU_ASSERT_TRUE(ROOM_RECORD + align_up(rec_total((uint32_t)a->most),
				BATCH_ALIGN) <= a->bytes);
	room_give(&pool, a);
	b = room_take(&pool, 900);
	CU_ASSERT_PTR_EQUAL(a, b);
	room_give(&pool, b);
	b = room_take(&pool, 3000000);
	CU_ASSERT_TRUE(b != a && b->most >= 3000000);
	room_give(&pool, b);
	b = room_take(&pool, 16u << 20);
	CU_ASSERT_TRUE(b->most >= 16u << 20);
	room_give(&pool, b);
	CU_ASSERT_TRUE(pool.bytes <= 20u << 20);
	for (i = 0; i < 40; i++)
		all[i] = room_take(&pool, 1u << 20);
	for (i = 0; i < 40; i++)
		room_give(&pool, all[i]);
	CU_ASSERT_TRUE(pool.bytes <= 20u << 20);
	room_free_all(&pool);
	CU_ASSERT_EQUAL(pool.bytes, 0);
	CU_ASSERT_PTR_NULL(pool.first);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(ours_is_plain),
		RJTEST(all_else_is_not),
		RJTEST(a_part_waits_for_more),
		RJTEST(one_byte_changed),
		RJTEST(rooms_are_used_again),
	};

	return RJTEST_RUN("rjserver-head", tests);
}
