// SPDX-License-Identifier: GPL-2.0-or-later
/* Which answers to a put an S3 acknowledges by, and which only delay it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/write/writer.h"
#include "support/badserver.h"
#include "store/common.h"
#include "support/rjtest.h"

#define EMPTY	     "Content-Length: 0\r\n\r\n"
#define EXISTS	     "HTTP/1.1 412 Precondition Failed\r\n" EMPTY
#define STORED(more) "HTTP/1.1 200 OK\r\n" more EMPTY
#define TAG	     "ETag: \"d41d8cd98f00b204e9800998ecf8427e\"\r\n"
/* What S3 says of CODE, which has LEN letters. */
#define ERROR_XML(status, code, len)                                           \
	"HTTP/1.1 " status "\r\nContent-Type: application/xml\r\n"             \
	"Content-Length: " len "\r\n\r\n<Error><Code>" code "</Code></Error>"

static struct rj_error err;

static struct rj_store *open_s3(const struct bad_server *b)
{
	char url[64];

	setenv("RJ_CREDENTIALS", "[s3+http://127.0.0.1]\nuser=u\npassword=p\n", 1);
	snprintf(url, sizeof(url), "s3+http://127.0.0.1:%d/bucket", bad_port(b));
	return t_open(url);
}

static int put(struct rj_store *s)
{
	struct rj_key dir = t_new_log(RJ_KEY_LOG), key = t_key(&dir, 1);

	return rj_store_put_new(s, &key, "data", 4, &err);
}

/* A proxy's page has status 200, too: it has stored nothing. Somebody may mend
 * the proxy, so it is waited for. */
static void only_an_etag_acknowledges(void)
{
	static const char *const pages[] = {
		STORED(""),
		STORED("Content-Type: text/html\r\n"),
		STORED("ETag:\r\n"),
		STORED("X-ETag: \"1\"\r\n"),
		"HTTP/1.1 201 Created\r\n" EMPTY,
		"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n<html></html>",
		/* of the answer itself, not of what came before it */
		"HTTP/1.1 103 Early Hints\r\n" TAG "\r\n" STORED(""),
	};
	static const char *const with_etag[] = {
		"HTTP/1.1 200 OK\r\n" TAG "Content-Length: 13\r\n\r\n<html></html>",
		"HTTP/1.1 201 Created\r\n" TAG
		"Content-Length: 13\r\n\r\n<html></html>",
		/* what libcurl takes for status 200 */
		"http/1.1 503 Unavailable\r\n" TAG EMPTY,
	};
	static const char *const good[] = {
		STORED(TAG),
		STORED("etag: abc\r\n"),
		"HTTP/1.1 100 Continue\r\n\r\n" STORED(TAG),
	};
	struct bad_act act = {NULL, BAD_KEEP, 0, 0};
	struct bad_server *b;
	struct rj_store *s;
	size_t i;

	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		act.answer = pages[i];
		b = bad_start(&act, 1);
		s = open_s3(b);
		T_FAILS(put(s), RJ_E_PROTOCOL, "without an ETag");
		CU_ASSERT_FALSE(rj_error_final(&err));
		CU_ASSERT_STRING_EQUAL(rj_error_cause(&err), "not understood");
		rj_store_close(s);
		bad_stop(b);
	}
	for (i = 0; i < sizeof(with_etag) / sizeof(with_etag[0]); i++) {
		act.answer = with_etag[i];
		b = bad_start(&act, 1);
		s = open_s3(b);
		T_FAILS(put(s), RJ_E_PROTOCOL, "");
		rj_store_close(s);
		bad_stop(b);
	}
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		act.answer = good[i];
		b = bad_start(&act, 1);
		s = open_s3(b);
		T_WORKS(put(s));
		rj_store_close(s);
		bad_stop(b);
	}
}

/* A proxy takes every ETag away: a second put says whether the object is there, and
 * its bytes say whose it is. */
static void a_missing_etag_is_an_answer_that_was_lost(void)
{
	static const struct bad_act acts[] = {
		/* ours */
		{STORED(""), BAD_KEEP, 0, 1},
		{EXISTS, BAD_KEEP, 0, 1},
		{"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndata", BAD_KEEP,
			0, 1},
		/* another's */
		{STORED(""), BAD_KEEP, 0, 1},
		{EXISTS, BAD_KEEP, 0, 1},
		{"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nelse", BAD_KEEP,
			0, 1},
		/* the first one was answered by a proxy that went then */
		{STORED(""), BAD_KEEP, 0, 1},
		{STORED(TAG), BAD_KEEP, 0, 1},
		{STORED(""), BAD_KEEP, 0, 1},
		{"HTTP/1.1 503 Unavailable\r\n" EMPTY, BAD_KEEP, 0, 0},
	};
	struct bad_server *b = bad_start(acts, sizeof(acts) / sizeof(acts[0]));
	struct rj_key dir = t_new_log(RJ_KEY_LOG);
	struct rj_store *s = open_s3(b);
	struct rj_buf back = {0};
	struct iovec data = {(void *)"data", 4};
	struct rj_log_id id = {0};

	memcpy(id.journal_uuid, dir.journal_uuid, RJ_UUID_BYTES);
	T_WORKS(rj_log_put_parts(s, &id, 1, &data, 1, &back, &err));
	T_FAILS(rj_log_put_parts(s, &id, 2, &data, 1, &back, &err), RJ_E_EXISTS,
		"another segment");
	T_WORKS(put(s));
	T_FAILS(put(s), RJ_E_UNREACHABLE, "status 503");
	CU_ASSERT_EQUAL(bad_requests(b), 10);
	rj_buf_free(&back);
	rj_store_close(s);
	bad_stop(b);
}

/* A put with a condition that meets a deletion of the same name is answered 404 or
 * 409 (Amazon's documentation of PutObject): nothing is stored, the next attempt is. */
static void a_deletion_at_the_same_time(void)
{
	static const struct bad_act acts[] = {
		{ERROR_XML("409 Conflict", "ConditionalRequestConflict", "54"),
			BAD_KEEP, 0, 1},
		{ERROR_XML("404 Not Found", "NoSuchKey", "37"), BAD_KEEP, 0, 1},
		{ERROR_XML("409 Conflict", "OperationAborted", "44"), BAD_KEEP,
			0, 1},
		{STORED(TAG), BAD_KEEP, 0, 1},
		{EXISTS, BAD_KEEP, 0, 0},
	};
	struct bad_server *b = bad_start(acts, sizeof(acts) / sizeof(acts[0]));
	struct rj_store *s = open_s3(b);

	T_FAILS(put(s), RJ_E_UNREACHABLE, "status 409: ConditionalRequestConflict");
	T_FAILS(put(s), RJ_E_UNREACHABLE, "status 404: NoSuchKey");
	T_FAILS(put(s), RJ_E_UNREACHABLE, "status 409: OperationAborted");
	T_WORKS(put(s));
	T_FAILS(put(s), RJ_E_EXISTS, "is there already");
	CU_ASSERT_EQUAL(bad_requests(b), 5);
	rj_store_close(s);
	bad_stop(b);
}

static int count(void *arg, uint64_t number, uint64_t bytes)
{
	++*(int *)arg;
	return 0;
}

static int count_journal(void *arg, const uint8_t uuid[RJ_UUID_BYTES])
{
	++*(int *)arg;
	return 0;
}

/* A proxy's page has status 200 and may be XML: it does not say that a log is empty. */
static void only_a_listing_says_what_is_there(void)
{
	static const char *const pages[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n<html></html>",
		"HTTP/1.1 200 OK\r\nContent-Length: 41\r\n\r\n"
		"<Error><Code>InternalError</Code></Error>",
	};
	struct bad_act act = {NULL, BAD_KEEP, 0, 0};
	struct rj_key dir = t_new_log(RJ_KEY_LOG);
	struct bad_server *b;
	struct rj_store *s;
	int counted = 0;
	size_t i;

	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		act.answer = pages[i];
		b = bad_start(&act, 1);
		s = open_s3(b);
		T_FAILS(rj_store_list(s, &dir, 0, count, &counted, &err),
			RJ_E_PROTOCOL, "not one of S3");
		T_FAILS(rj_store_list_journals(s, count_journal, &counted, &err),
			RJ_E_PROTOCOL, "not one of S3");
		T_FAILS(rj_store_remove_below(s, &dir, 9, 0, NULL, &err),
			RJ_E_PROTOCOL, "not one of S3");
		rj_store_close(s);
		bad_stop(b);
	}
	CU_ASSERT_EQUAL(counted, 0);
}

/* Of a private server nothing is known, until rj.conf says it. */
static void durable_is_not_assumed(void)
{
	static const struct {
		const char *place;
		enum rj_durability want;
	} t[] = {
		{"s3.eu-west-1.amazonaws.com/bucket", RJ_DURABLE},
		{"STORAGE.googleapis.com/bucket", RJ_DURABLE},
		{"x.r2.cloudflarestorage.com/bucket", RJ_DURABLE},
		{"amazonaws.com.example.org/bucket", RJ_RECEIVED},
		{"notamazonaws.com/bucket", RJ_RECEIVED},
		{"minio.example.org/bucket", RJ_RECEIVED},
		{"minio.example.org/known", RJ_DURABLE},
	};
	char url[128], conf[256];
	struct rj_store *s;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		snprintf(url, sizeof(url), "s3+https://%s", t[i].place);
		snprintf(conf, sizeof(conf), "[%s]\nuser=u\npassword=p\n%s", url,
			strstr(url, "known") ? "durable=yes\n" : "");
		setenv("RJ_CREDENTIALS", conf, 1);
		s = t_open(url);
		CU_ASSERT_EQUAL(s->caps.durability, t[i].want);
		rj_store_close(s);
	}
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(only_an_etag_acknowledges),
		RJTEST(a_missing_etag_is_an_answer_that_was_lost),
		RJTEST(a_deletion_at_the_same_time),
		RJTEST(only_a_listing_says_what_is_there),
		RJTEST(durable_is_not_assumed),
	};

	unsetenv("http_proxy");
	unsetenv("ALL_PROXY");
	unsetenv("all_proxy");
	return RJTEST_RUN("store-s3", tests);
}
