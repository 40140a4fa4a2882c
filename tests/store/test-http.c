// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rj:// against a server that answers badly: what every fault of the network
 * and of the server turns into. $RJ_TEST_STORE names a real journal server on
 * 127.0.0.1, for the faults after which a real put must have happened.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/badserver.h"
#include "store/common.h"
#include "support/rjtest.h"
#include "util/environ.h"

static struct rj_error err;
static char url[64];

#define OK_200 "HTTP/1.1 200 OK\r\n"

/* A store at PORT; requests give up after MS. */
static struct rj_store *open_port(int port, int ms)
{
	struct rj_store_opts opts = {
		.connect_timeout_ms = ms,
		.request_timeout_ms = ms,
	};
	struct rj_store *s;

	snprintf(url, sizeof(url), "rj://127.0.0.1:%d/vol", port);
	if (rj_store_open(url, &opts, &s, &err))
		exit(99);
	return s;
}

/* For answers, which a busy machine may give late. */
static struct rj_store *open_bad(const struct bad_server *b)
{
	return open_port(bad_port(b), 60000);
}

/* For a server that gives none. */
static struct rj_store *open_hasty(const struct bad_server *b)
{
	return open_port(bad_port(b), 300);
}

/* Since FROM it took these 300 ms, and none of the longer limits. */
static bool took_300_ms(int64_t from)
{
	int64_t ns = rj_monotonic_ns() - from;

	return ns >= 290000000 && ns < 25000000000;
}

struct want {
	struct bad_act act;
	enum rj_code put, get, list, remove;
	const char *text; /* in each message that is not success */
};

static int ignore(void *arg, uint64_t number, uint64_t bytes)
{
	return 0;
}

static void check_one(int rc, enum rj_code want, const struct want *w)
{
	CU_ASSERT_EQUAL(rc, -(int)want);
	if (rc != -(int)want)
		printf("# wanted %s, got %s: %s\n", rj_code_name(want),
			rj_code_name((enum rj_code) - rc), rc ? err.msg : "");
	if (!want || !rc)
		return;
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, url));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, w->text));
	if (!strstr(err.msg, w->text))
		printf("# not '%s': %s\n", w->text, err.msg);
}

/* Each request against a server that always does ACT, on a fresh handle (an
 * old one would try a dead connection first). */
static void check_want(const struct want *w)
{
	struct bad_server *b = bad_start(&w->act, 1);
	struct rj_key dir = t_new_log(RJ_KEY_LOG), key = t_key(&dir, 1);
	struct rj_buf out = {0};
	struct rj_store *s;
	int i, rc;

	CU_ASSERT_EQUAL(rj_buf_append(&out, "keep", 4), 0);
	for (i = 0; i < 4; i++) {
		s = open_bad(b);
		if (i == 0) {
			rc = rj_store_put_new(s, &key, "data", 4, &err);
			check_one(rc, w->put, w);
		} else if (i == 1) {
			rc = rj_store_get(s, &key, 10000, &out, &err);
			check_one(rc, w->get, w);
			if (rc)
				CU_ASSERT_EQUAL(out.len, 4);
		} else if (i == 2) {
			rc = rj_store_list(s, &dir, 0, ignore, NULL, &err);
			check_one(rc, w->list, w);
		} else {
			rc = rj_store_remove(s, &key, &err);
			check_one(rc, w->remove, w);
		}
		rj_store_close(s);
	}
	bad_stop(b);
	rj_buf_free(&out);
}

#define ALL(code) code, code, code, code
#define CHECK_ALL(wants)                                                       \
	do {                                                                   \
		size_t w_i;                                                    \
		for (w_i = 0; w_i < sizeof(wants) / sizeof((wants)[0]); w_i++) \
			check_want(&(wants)[w_i]);                             \
	} while (0)

static void status_codes(void)
{
	static const struct want wants[] = {
		{{"HTTP/1.1 401 Unauthorized\r\nContent-Length: 9\r\n\r\nno "
		  "token\n",
			 BAD_KEEP, 0, 0},
			ALL(RJ_E_DENIED), "refuses us (status 401: no token)"},
		{{"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
			 BAD_KEEP, 0, 0},
			ALL(RJ_E_DENIED), "(status 403)"},
		{{"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n",
			 BAD_KEEP, 0, 0},
			ALL(RJ_E_INVAL), "does not take an object that large"},
		{{"HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n", BAD_KEEP, 0,
			 0},
			ALL(RJ_E_UNREACHABLE), "cannot do it now (status 429)"},
		{{"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\nbad\n",
			 BAD_KEEP, 0, 0},
			ALL(RJ_E_UNREACHABLE), "(status 500: bad)"},
		{{"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", BAD_KEEP, 0,
			 0},
			ALL(RJ_E_UNREACHABLE), "cannot do it now"},
		{{"HTTP/1.1 507 Full\r\nContent-Length: 5\r\n\r\nfull\n",
			 BAD_KEEP, 0, 0},
			ALL(RJ_E_NOSPACE), "is full (status 507: full)"},
		{{"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/x\r\n"
		  "Content-Length: 0\r\n\r\n",
			 BAD_KEEP, 0, 0},
			ALL(RJ_E_PROTOCOL), "invalid answer (status 302)"},
		{{"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n", BAD_KEEP, 0,
			 0},
			ALL(RJ_E_PROTOCOL), "invalid answer (status 405)"},
		/* 404 answers a get or a remove; a web server that knows
		 * nothing of us must not look like an empty log */
		{{"HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n", BAD_KEEP, 0,
			 0},
			RJ_E_PROTOCOL, RJ_E_NOTFOUND, RJ_E_PROTOCOL,
			RJ_E_NOTFOUND, ""},
		{{"HTTP/1.1 412 There\r\nContent-Length: 0\r\n\r\n", BAD_KEEP,
			 0, 0},
			RJ_E_EXISTS, RJ_E_PROTOCOL, RJ_E_PROTOCOL,
			RJ_E_PROTOCOL, ""},
		/* nor must any 2xx pass for the one that was asked for */
		{{OK_200 "Content-Length: 0\r\n\r\n", BAD_KEEP, 0, 0},
			RJ_E_PROTOCOL, RJ_OK, RJ_OK, RJ_E_PROTOCOL,
			"invalid answer"},
		{{"HTTP/1.1 204 None\r\n\r\n", BAD_KEEP, 0, 0}, RJ_E_PROTOCOL,
			RJ_E_PROTOCOL, RJ_E_PROTOCOL, RJ_OK, "status 204"},
		{{"HTTP/1.1 500 Bad\r\nRJ-Damaged: 1\r\n"
		  "Content-Length: 13\r\n\r\nbad checksum\n",
			 BAD_KEEP, 0, 0},
			ALL(RJ_E_CORRUPT),
			"is damaged (status 500: bad checksum)"},
		/* a load balancer's, which often has no end of its own, but
		 * never passes for an answer about an object */
		{{"HTTP/1.0 503 Busy\r\nConnection: close\r\n\r\nnobody\n",
			 BAD_CLOSE, 0, 0},
			ALL(RJ_E_UNREACHABLE), "cannot do it now (status 503"},
		{{"HTTP/1.0 408 Late\r\n\r\n", BAD_CLOSE, 0, 0},
			ALL(RJ_E_UNREACHABLE), "cannot do it now (status 408"},
		{{"HTTP/1.0 429 Slow\r\n\r\n", BAD_CLOSE, 0, 0},
			ALL(RJ_E_UNREACHABLE), "cannot do it now (status 429"},
		{{"HTTP/1.0 507 Full\r\n\r\n", BAD_CLOSE, 0, 0},
			ALL(RJ_E_NOSPACE), "is full (status 507"},
		{{"HTTP/1.0 401 Who\r\n\r\n", BAD_CLOSE, 0, 0},
			ALL(RJ_E_DENIED), "refuses us (status 401"},
		{{"HTTP/1.0 404 None\r\n\r\nno such page\n", BAD_CLOSE, 0,
			 0},
			ALL(RJ_E_PROTOCOL), "without a length (status 404)"},
		{{"HTTP/1.0 412 There\r\n\r\nno\n", BAD_CLOSE, 0, 0},
			ALL(RJ_E_PROTOCOL), "without a length (status 412)"},
		/* what a terminal would act on is not passed through */
		{{"HTTP/1.1 403 F\r\nContent-Length: 8\r\n\r\n\033[2Jab\r\n",
			 BAD_KEEP, 0, 0},
			ALL(RJ_E_DENIED), "(status 403: ?[2Jab?)"},
	};

	CHECK_ALL(wants);
}

static void broken_answers(void)
{
	static const struct want wants[] = {
		{{NULL, BAD_CLOSE, 0, 0}, ALL(RJ_E_UNREACHABLE),
			"closed the connection without an answer"},
		{{NULL, BAD_RESET, 0, 0}, ALL(RJ_E_UNREACHABLE),
			"connection reset"},
		{{OK_200 "Content-Length: 500\r\n\r\nonly this", BAD_CLOSE, 0,
			 0},
			ALL(RJ_E_UNREACHABLE), "cut short"},
		{{OK_200 "Content-Length: 500\r\n\r\nonly this", BAD_RESET, 0,
			 0},
			ALL(RJ_E_UNREACHABLE), "connection reset"},
		{{OK_200 "Transfer-Encoding: chunked\r\n\r\n20\r\nonly this",
			 BAD_CLOSE, 0, 0},
			ALL(RJ_E_UNREACHABLE), "cut short"},
		{{OK_200 "Content-Le", BAD_CLOSE, 0, 0}, ALL(RJ_E_UNREACHABLE),
			"cut short"},
		/* nor is this an empty list */
		{{OK_200 "Content-Length: 0\r\n", BAD_CLOSE, 0, 0},
			ALL(RJ_E_UNREACHABLE), "cut short"},
		{{OK_200 "\r\nthe end of this is anywhere", BAD_CLOSE, 0, 0},
			ALL(RJ_E_PROTOCOL), "without a length"},
		{{"SSH-2.0-OpenSSH_9.2\r\n", BAD_CLOSE, 0, 0},
			ALL(RJ_E_PROTOCOL), "not HTTP"},
		{{"HTTP/1.1 banana\r\n\r\n", BAD_CLOSE, 0, 0},
			ALL(RJ_E_PROTOCOL), "not HTTP"},
		/* none of these is a 200 */
		{{"HTTP/x.y 409 C\r\nContent-Length: 0\r\n\r\n", BAD_CLOSE, 0,
			 0},
			ALL(RJ_E_PROTOCOL), "not HTTP"},
		{{"HTTP/1.1 2010 C\r\nContent-Length: 0\r\n\r\n", BAD_CLOSE, 0,
			 0},
			ALL(RJ_E_PROTOCOL), "not HTTP"},
	};

	CHECK_ALL(wants);
}

static void a_server_that_never_answers_times_out(void)
{
	static const struct want wants[] = {
		{{NULL, BAD_HANG, 0, 0}, ALL(RJ_E_UNREACHABLE),
			"no answer from the journal server: timed out after "
			"300 ms"},
	};
	static const struct bad_act drip = {
		OK_200 "Content-Length: 100\r\n\r\nhalf", BAD_HANG, 0, 0};
	struct rj_key dir = t_new_log(RJ_KEY_LOG), key = t_key(&dir, 1);
	struct bad_server *b = bad_start(&drip, 1);
	struct rj_store *s = open_hasty(b);
	struct rj_buf out = {0};
	int64_t ns = rj_monotonic_ns();

	T_FAILS(rj_store_get(s, &key, 1000, &out, &err), RJ_E_UNREACHABLE,
		"timed out after 300 ms");
	CU_ASSERT_TRUE(took_300_ms(ns));
	CU_ASSERT_EQUAL(out.len, 0);
	rj_store_close(s);
	bad_stop(b);
	rj_buf_free(&out);
	/* hangs one connection: a server for each request */
	b = bad_start(&wants[0].act, 1);
	s = open_hasty(b);
	check_one(rj_store_put_new(s, &key, "data", 4, &err), RJ_E_UNREACHABLE,
		&wants[0]);
	rj_store_close(s);
	bad_stop(b);
}

static void nobody_listens(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct rj_key dir = t_new_log(RJ_KEY_LOG), key = t_key(&dir, 1);
	int taken = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(addr);
	struct rj_store *s;
	char want[128];

	/* bound, so that nobody else listens there */
	CU_ASSERT_EQUAL(
		bind(taken, (struct sockaddr *)&addr, sizeof(addr)), 0);
	CU_ASSERT_EQUAL(
		getsockname(taken, (struct sockaddr *)&addr, &len), 0);
	s = open_port(ntohs(addr.sin_port), 60000);
	snprintf(want, sizeof(want),
		"%s: cannot reach the journal server: connection refused", url);
	T_FAILS(rj_store_put_new(s, &key, "x", 1, &err), RJ_E_UNREACHABLE,
		want);
	CU_ASSERT_STRING_EQUAL(err.msg, want);
	rj_store_close(s);
	close(taken);
	if (!rj_store_open("rj://no-such-host.invalid/v", NULL, &s, &err)) {
		T_FAILS(rj_store_put_new(s, &key, "x", 1, &err),
			RJ_E_UNREACHABLE, "could not resolve");
		rj_store_close(s);
	}
}

/* A listener whose queue is full drops what comes: nothing connects. */
static void connecting_times_out(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct rj_store_opts opts = {
		.connect_timeout_ms = 200,
		.request_timeout_ms = 60000,
	};
	struct rj_key dir = t_new_log(RJ_KEY_LOG), key = t_key(&dir, 1);
	int l = socket(AF_INET, SOCK_STREAM, 0), fill[8], i;
	socklen_t len = sizeof(addr);
	struct rj_store *s;

	CU_ASSERT_EQUAL(bind(l, (struct sockaddr *)&addr, sizeof(addr)), 0);
	CU_ASSERT_EQUAL(listen(l, 0), 0);
	CU_ASSERT_EQUAL(getsockname(l, (struct sockaddr *)&addr, &len), 0);
	for (i = 0; i < 8; i++) {
		fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(fill[i], (struct sockaddr *)&addr, sizeof(addr)))
			usleep(1000);
	}
	snprintf(url, sizeof(url), "rj://127.0.0.1:%d/vol",
		ntohs(addr.sin_port));
	if (rj_store_open(url, &opts, &s, &err))
		exit(99);
	T_FAILS(rj_store_put_new(s, &key, "x", 1, &err), RJ_E_UNREACHABLE,
		"cannot reach the journal server: timed out after 200 ms");
	rj_store_close(s);
	for (i = 0; i < 8; i++)
		close(fill[i]);
	close(l);
}

static void too_long_an_answer_is_corrupt(void)
{
	static const struct bad_act sized = {OK_200
		"Content-Length: 12\r\n\r\n0123456789ab",
		BAD_KEEP, 0, 0};
	static const struct bad_act chunked = {OK_200
		"Transfer-Encoding: chunked\r\n\r\n"
		"8\r\n01234567\r\n4\r\n89ab\r\n0\r\n\r\n",
		BAD_KEEP, 0, 0};
	const struct bad_act *acts[] = {&sized, &chunked};
	struct rj_key dir = t_new_log(RJ_KEY_LOG), key = t_key(&dir, 1);
	struct rj_buf out = {0};
	struct bad_server *b;
	struct rj_store *s;
	int i;

	for (i = 0; i < 2; i++) {
		b = bad_start(acts[i], 1);
		s = open_bad(b);
		out.len = 0;
		T_FAILS(rj_store_get(s, &key, 11, &out, &err), RJ_E_CORRUPT,
			"longer than the 11 bytes");
		CU_ASSERT_EQUAL(out.len, 0);
		T_WORKS(rj_store_get(s, &key, 12, &out, &err));
		CU_ASSERT_EQUAL(out.len, 12);
		rj_store_close(s);
		bad_stop(b);
	}
	rj_buf_free(&out);
}

#define N20(n) "000000000000000000" n

static void list_goes_on_over_pages(void)
{
	static const struct bad_act acts[] = {
		{OK_200 "RJ-More: 1\r\nContent-Length: 46\r\n\r\n" N20(
			 "01") " 5\n" N20("02") " 6\n",
			BAD_KEEP, 0, 1},
		{OK_200 "rj-more: 1\r\nContent-Length: 24\r\n\r\n" N20(
			 "09") " 77\n",
			BAD_KEEP, 0, 1},
		{OK_200 "Content-Length: 0\r\n\r\n", BAD_KEEP, 0, 1},
	};
	struct bad_server *b = bad_start(acts, 3);
	struct rj_store *s = open_bad(b);
	struct rj_key dir = t_new_log(RJ_KEY_LOG);
	struct t_list l = {0};

	T_WORKS(rj_store_list(s, &dir, 0, t_list_add, &l, &err));
	CU_ASSERT_EQUAL(l.count, 3);
	CU_ASSERT_EQUAL(l.number[2], 9);
	CU_ASSERT_EQUAL(l.bytes[2], 77);
	CU_ASSERT_EQUAL(bad_requests(b), 3);
	CU_ASSERT_EQUAL(bad_connections(b), 1);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(bad_last_head(b), "/log/?after=9&limit=10000 HTTP/1.1"));
	rj_store_close(s);
	bad_stop(b);
}

static void list_lines_that_make_no_sense(void)
{
	static const char *const bodies[] = {
		"Content-Length: 22\r\n\r\n" N20("01") " 5",
		"Content-Length: 22\r\n\r\n" N20("1") " 5\n",
		"Content-Length: 23\r\n\r\n" N20("x1") " 5\n",
		"Content-Length: 23\r\n\r\n" N20("01") ":5\n",
		"Content-Length: 22\r\n\r\n" N20("01") " \n",
		"Content-Length: 23\r\n\r\n" N20("00") " 5\n",
		"Content-Length: 46\r\n\r\n" N20("02") " 5\n" N20("01") " 5\n",
		"Content-Length: 46\r\n\r\n" N20("01") " 5\n" N20("01") " 5\n",
		"Content-Length: 23\r\n\r\n99999999999999999999 5\n",
		"Content-Length: 14\r\n\r\n<html></html>\n",
		"RJ-More: 1\r\nContent-Length: 0\r\n\r\n",
	};
	struct rj_key dir = t_new_log(RJ_KEY_LOG);
	char answer[256];
	struct bad_act act = {answer, BAD_KEEP, 0, 0};
	struct bad_server *b;
	struct rj_store *s;
	size_t i;

	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		snprintf(answer, sizeof(answer), OK_200 "%s", bodies[i]);
		b = bad_start(&act, 1);
		s = open_bad(b);
		T_FAILS(rj_store_list(s, &dir, 0, ignore, NULL, &err),
			RJ_E_PROTOCOL, "/log/");
		rj_store_close(s);
		bad_stop(b);
	}
}

/* One connection for many requests, and on the wire what was agreed. */
static void requests_share_a_connection(void)
{
	static const struct bad_act act = {
		"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", BAD_KEEP,
		0, 0};
	struct rj_key dir = t_new_log(RJ_KEY_LOG), key;
	struct bad_server *b = bad_start(&act, 1);
	struct rj_store *s = open_bad(b);
	static uint8_t data[300000];
	unsigned i;

	for (i = 1; i <= 20; i++) {
		key = t_key(&dir, i);
		T_WORKS(rj_store_put_new(s, &key, data, i * 15000, &err));
	}
	CU_ASSERT_EQUAL(bad_connections(b), 1);
	CU_ASSERT_EQUAL(bad_requests(b), 20);
	CU_ASSERT_EQUAL(memcmp(bad_last_head(b), "PUT /vol/", 9), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(bad_last_head(b),
		"/log/00000000000000000020 HTTP/1.1\r\nHost: 127.0.0.1:"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(bad_last_head(b), "\r\nIf-None-Match: *\r\n"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(bad_last_head(b), "\r\nContent-Length: 300000\r\n"));
	CU_ASSERT_PTR_NULL(strstr(bad_last_head(b), "Expect"));
	rj_store_close(s);
	bad_stop(b);
}

/* What answered was not the store, perhaps: the next put goes over a new connection. */
static void a_wrong_server_is_left(void)
{
	static const struct bad_act none = {
		"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", BAD_KEEP, 0, 0};
	struct rj_key dir = t_new_log(RJ_KEY_LOG), key = t_key(&dir, 1);
	struct bad_server *b = bad_start(&none, 1);
	struct rj_store *s = open_bad(b);

	T_FAILS(rj_store_put_new(s, &key, "x", 1, &err), RJ_E_PROTOCOL, "404");
	T_FAILS(rj_store_put_new(s, &key, "x", 1, &err), RJ_E_PROTOCOL, "404");
	CU_ASSERT_EQUAL(bad_connections(b), 2);
	rj_store_close(s);
	bad_stop(b);
}

/* What came before a request is no answer to it: a proxy said it twice, or grew
 * tired of waiting. */
static void an_answer_of_before_is_none(void)
{
	static const char created[] =
		"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
	static const struct bad_act acts[] = {
		{created, BAD_KEEP, 0, 1},
		{"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", BAD_KEEP,
			0, 1},
		{created, BAD_KEEP, 0, 0},
	};
	/* (with segments a new connection would be asked for the one before) */
	struct rj_key dir = t_new_log(RJ_KEY_EPOCH), key = t_key(&dir, 1);
	struct bad_server *b = bad_start(acts, 3);
	struct rj_store *s = open_bad(b);

	T_WORKS(rj_store_put_new(s, &key, "one", 3, &err));
	bad_say(b, created);
	key.number = 2;
	T_FAILS(rj_store_put_new(s, &key, "two", 3, &err), RJ_E_UNREACHABLE,
		"status 503");
	T_WORKS(rj_store_put_new(s, &key, "two", 3, &err));
	bad_say(b, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
	key.number = 3;
	T_WORKS(rj_store_put_new(s, &key, "three", 5, &err));
	CU_ASSERT_EQUAL(bad_requests(b), 4);
	CU_ASSERT_EQUAL(bad_connections(b), 3);
	rj_store_close(s);
	bad_stop(b);
}

/* However fast it comes: nothing waits for its end. */
static void an_answer_without_an_end_times_out(void)
{
	static const struct bad_act act = {
		"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n",
		BAD_FLOOD, 0, 0};
	struct rj_key dir = t_new_log(RJ_KEY_LOG), key = t_key(&dir, 1);
	struct bad_server *b = bad_start(&act, 1);
	struct rj_store *s = open_hasty(b);
	int64_t ns = rj_monotonic_ns();

	alarm(300); /* or it never ends */
	T_FAILS(rj_store_put_new(s, &key, "data", 4, &err), RJ_E_UNREACHABLE,
		"timed out after 300 ms");
	alarm(0);
	CU_ASSERT_TRUE(took_300_ms(ns));
	rj_store_close(s);
	bad_stop(b);
}

/* The server closed the idle connection: not the caller's affair. */
static void a_closed_connection_is_made_again(void)
{
	static const struct bad_act act = {
		"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", BAD_CLOSE,
		0, 0};
	struct rj_key dir = t_new_log(RJ_KEY_EPOCH), key;
	struct bad_server *b = bad_start(&act, 1);
	struct rj_store *s = open_bad(b);
	unsigned i;

	for (i = 1; i <= 5; i++) {
		key = t_key(&dir, i);
		T_WORKS(rj_store_put_new(s, &key, "data", 4, &err));
	}
	CU_ASSERT_EQUAL(bad_connections(b), 5);
	rj_store_close(s);
	bad_stop(b);
}

/* A real server took the object, and its answer was lost: undecided for the
 * caller, who finds it at the next attempt. */
static void answer_lost_after_the_server_accepted(void)
{
	const char *real = getenv("RJ_TEST_STORE");
	struct bad_act act = {NULL, BAD_CLOSE, 0, 0};
	struct rj_key dir = t_new_log(RJ_KEY_LOG), key = t_key(&dir, 1);
	struct rj_store *s, *direct;
	struct rj_buf out = {0};
	struct bad_server *b;

	if (!real || sscanf(real, "rj://127.0.0.1:%d/", &act.upstream) != 1) {
		rjtest_skip("no journal server in RJ_TEST_STORE");
		return;
	}
	b = bad_start(&act, 1);
	snprintf(url, sizeof(url), "rj://127.0.0.1:%d%s", bad_port(b),
		strrchr(real, '/'));
	s = t_open(url);
	T_FAILS(rj_store_put_new(s, &key, "precious", 8, &err),
		RJ_E_UNREACHABLE, "without an answer");
	CU_ASSERT_EQUAL(bad_requests(b), 1);
	rj_store_close(s);
	bad_stop(b);
	direct = t_open(real);
	T_FAILS(rj_store_put_new(direct, &key, "precious", 8, &err),
		RJ_E_EXISTS, "there already");
	T_WORKS(rj_store_get(direct, &key, 100, &out, &err));
	CU_ASSERT_EQUAL(out.len, 8);
	if (out.len == 8)
		CU_ASSERT_EQUAL(memcmp(out.data, "precious", 8), 0);
	rj_store_close(direct);
	rj_buf_free(&out);
}

static int ignore_journal(void *arg, const uint8_t uuid[RJ_UUID_BYTES])
{
	return 0;
}

#define JOURNALS(len, body)                                                    \
	{                                                                      \
		OK_200 "Content-Length: " len "\r\n\r\n" body, BAD_KEEP, 0, 0  \
	}
#define UUID_A "00112233-4455-4677-8899-aabbccddeeff\n"
#define UUID_B "10112233-4455-4677-8899-aabbccddeeff\n"

static void lists_of_journals(void)
{
	static const struct bad_act acts[] = {
		JOURNALS("0", ""),
		JOURNALS("74", UUID_A UUID_B),
		JOURNALS("74", UUID_B UUID_A), /* from here on bad */
		JOURNALS("74", UUID_A UUID_A),
		JOURNALS("36", "00112233-4455-4677-8899-aabbccddeeff"),
		JOURNALS("38", UUID_A "1"),
		JOURNALS("37", "00112233-4455-4677-8899-aabbccddeefg\n"),
		JOURNALS("37", "00112233-4455-4677-8899-aabbccddeeff "),
		JOURNALS("3", "ok\n"),
	};
	struct rj_store *s;
	struct bad_server *b;
	size_t i;

	for (i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		b = bad_start(&acts[i], 1);
		s = open_bad(b);
		if (i < 2)
			T_WORKS(rj_store_list_journals(
				s, ignore_journal, NULL, &err));
		else
			T_FAILS(rj_store_list_journals(
					s, ignore_journal, NULL, &err),
				RJ_E_PROTOCOL, "list of journals");
		CU_ASSERT_PTR_NOT_NULL(strstr(bad_last_head(b), "/ HTTP/1.1"));
		rj_store_close(s);
		bad_stop(b);
	}
}

static void no_list_of_journals(void)
{
	static const struct bad_act damaged = {
		"HTTP/1.1 500 Bad\r\nRJ-Damaged: 1\r\nContent-Length: 0\r\n\r\n",
		BAD_KEEP, 0, 0};
	static const struct bad_act away = {NULL, BAD_CLOSE, 0, 0};
	struct bad_server *b = bad_start(&damaged, 1);
	struct rj_store *s = open_bad(b);

	T_FAILS(rj_store_list_journals(s, ignore_journal, NULL, &err),
		RJ_E_CORRUPT, "is damaged");
	rj_store_close(s);
	bad_stop(b);
	b = bad_start(&away, 1);
	s = open_bad(b);
	T_FAILS(rj_store_list_journals(s, ignore_journal, NULL, &err),
		RJ_E_UNREACHABLE, "closed the connection");
	rj_store_close(s);
	bad_stop(b);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(status_codes),
		RJTEST(broken_answers),
		RJTEST(a_server_that_never_answers_times_out),
		RJTEST(nobody_listens),
		RJTEST(connecting_times_out),
		RJTEST(too_long_an_answer_is_corrupt),
		RJTEST(list_goes_on_over_pages),
		RJTEST(list_lines_that_make_no_sense),
		RJTEST(lists_of_journals),
		RJTEST(no_list_of_journals),
		RJTEST(requests_share_a_connection),
		RJTEST(a_wrong_server_is_left),
		RJTEST(an_answer_of_before_is_none),
		RJTEST(a_closed_connection_is_made_again),
		RJTEST(an_answer_without_an_end_times_out),
		RJTEST(answer_lost_after_the_server_accepted),
	};

	/* what the administrator's shell says must not lead us elsewhere */
	unsetenv("http_proxy");
	unsetenv("ALL_PROXY");
	unsetenv("all_proxy");
	return RJTEST_RUN("store-http", tests);
}
