// SPDX-License-Identifier: GPL-2.0-or-later
/* A WebDAV server's listing is read as it comes, however it is cut. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "store/common.h"
#include "store/tree/tree.h"
#include "support/badserver.h"
#include "support/rjtest.h"

#define BEGIN                                                                  \
	"<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>/logs/f/"         \
	"</D:href></D:response>"
#define THING(name, bytes)                                                     \
	"<D:response><D:href>/logs/f/" name "</D:href><D:propstat><D:prop>"    \
	"<D:resourcetype/><D:getcontentlength>" bytes                          \
	"</D:getcontentlength></D:prop></D:propstat></D:response>"
#define END "</D:multistatus>"

static struct rj_error err;

struct seen {
	char names[64]; /* one after the other, each with its length */
	int count, stop_at;
};

static int note(void *arg, const char *name, uint64_t bytes, bool folder)
{
	struct seen *s = arg;
	size_t len = strlen(s->names);

	CU_ASSERT_FALSE(folder);
	snprintf(s->names + len, sizeof(s->names) - len, "%s:%llu ", name,
		(unsigned long long)bytes);
	return ++s->count == s->stop_at ? -RJ_E_NOMEM : 0;
}

/* Ask a server that gives ANSWER, and then does END, for the list of "f". */
static int list(const char *answer, enum bad_end end, struct seen *s)
{
	const struct bad_act act = {answer, end, 0, 0};
	struct rj_store_opts o = {.request_timeout_ms = 5000};
	struct bad_server *b = bad_start(&act, 1);
	struct rj_store *store = NULL;
	struct rj_tree *t;
	char url[64];
	int rc;

	snprintf(url, sizeof(url), "dav://127.0.0.1:%d/logs", bad_port(b));
	if (rj_store_open(url, &o, &store, &err))
		exit(99);
	t = rj_mkdir_epoch_tree(store);
	rc = t->ops->list(t, "f", note, s, &err);
	rj_store_close(store);
	bad_stop(b);
	return rc;
}

/* TEXT as the body, in chunks of SIZE bytes. */
static void chunked(const char *text, size_t size, struct rj_buf *out)
{
	size_t len;

	out->len = 0;
	rj_buf_printf(out, "HTTP/1.1 207 Multi-Status\r\nTransfer-Encoding: chunked\r\n\r\n");
	for (; *text; text += len) {
		len = strnlen(text, size);
		rj_buf_printf(out, "%zx\r\n%.*s\r\n", len, (int)len, text);
	}
	rj_buf_printf(out, "0\r\n\r\n");
}

static void a_list_is_cut_anywhere(void)
{
	static const char text[] = BEGIN THING("a", "17") THING("%62c", "4096") END;
	struct rj_buf answer = {0};
	size_t size;

	for (size = 1; size < 100; size += size < 10 ? 1 : 13) {
		struct seen s = {0};

		chunked(text, size, &answer);
		T_WORKS(list((const char *)answer.data, BAD_KEEP, &s));
		CU_ASSERT_STRING_EQUAL(s.names, "a:17 bc:4096 ");
	}
	rj_buf_free(&answer);
}

static void a_list_without_its_end_is_none(void)
{
	static const char *const texts[] = {BEGIN THING("a", "17"), "<D:multistatus", "<html>"};
	struct rj_buf answer = {0};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct seen s = {0};

		chunked(texts[i], 1000, &answer);
		T_FAILS(list((const char *)answer.data, BAD_KEEP, &s),
			RJ_E_PROTOCOL, "XML is malformed");
	}
	chunked("<html></html>", 1000, &answer);
	T_FAILS(list((const char *)answer.data, BAD_KEEP, &(struct seen){0}),
		RJ_E_PROTOCOL, "not one of WebDAV");
	rj_buf_free(&answer);
}

/* The names that have come are handed on before the listing ends; a listing that is cut off is
 * still an error. */
static void a_list_is_handed_on_before_its_end(void)
{
	static const char answer[] =
		"HTTP/1.1 207 Multi-Status\r\nContent-Length: 1000000\r\n\r\n" BEGIN
			THING("a", "17");
	struct seen s = {0};

	T_FAILS(list(answer, BAD_HANG, &s), RJ_E_UNREACHABLE, "");
	CU_ASSERT_STRING_EQUAL(s.names, "a:17 ");
	s = (struct seen){0};
	T_FAILS(list(answer, BAD_CLOSE, &s), RJ_E_UNREACHABLE, "");
	CU_ASSERT_EQUAL(s.count, 1);
}

static void a_list_ends_where_its_reader_says(void)
{
	struct rj_buf answer = {0};
	struct seen s = {.stop_at = 1};

	chunked(BEGIN THING("a", "17") THING("b", "18") END, 1000, &answer);
	CU_ASSERT_EQUAL(list((const char *)answer.data, BAD_KEEP, &s), -RJ_E_NOMEM);
	CU_ASSERT_EQUAL(s.count, 1);
	rj_buf_free(&answer);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(a_list_is_cut_anywhere),
		RJTEST(a_list_without_its_end_is_none),
		RJTEST(a_list_is_handed_on_before_its_end),
		RJTEST(a_list_ends_where_its_reader_says),
	};

#ifndef RJ_TREE_STORES
	return rjtest_none("built without such stores");
#endif
	return RJTEST_RUN("dav", tests);
}
