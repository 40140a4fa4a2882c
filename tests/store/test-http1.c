// SPDX-License-Identifier: GPL-2.0-or-later
/* rj:// and rjs:// over the own HTTP engine: credentials, proxies, TLS, limits of time,
 * and what is asked over a connection before a segment goes over it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "store/common.h"
#include "support/badserver.h"
#include "support/rjtest.h"
#include "util/environ.h"

#define N20(n)	 "000000000000000000" n
#define OK_200	 "HTTP/1.1 200 OK\r\n"
#define CREATED	 "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"
#define TUNNEL	 "HTTP/1.1 200 Connection established\r\n\r\n"
#define EMPTY	 OK_200 "Content-Length: 0\r\n\r\n"
#define HAS_4	 OK_200 "Content-Length: 23\r\n\r\n" N20("04") " 5\n"
#define UNTRUSTED "[rjs://127.0.0.1]\ninsecure = yes\n"

static struct rj_error err;

static void configure(const char *conf)
{
	setenv("RJ_CREDENTIALS", conf, 1);
}

/* A store of B's; requests give up after MS. */
static struct rj_store *open_at(
	const struct bad_server *b, const char *scheme, int ms)
{
	struct rj_store_opts opts = {
		.connect_timeout_ms = 60000,
		.request_timeout_ms = ms,
	};
	struct rj_store *s;
	char url[64];

	snprintf(url, sizeof(url), "%s://127.0.0.1:%d/vol", scheme, bad_port(b));
	if (rj_store_open(url, &opts, &s, &err))
		exit(99);
	return s;
}

static struct rj_store *open_bad(const struct bad_server *b)
{
	return open_at(b, "rj", 60000);
}

/* Put object NUMBER, of KIND, of some log. */
static int put(struct rj_store *s, enum rj_key_kind kind, uint64_t number)
{
	struct rj_key dir = t_new_log(kind), key = t_key(&dir, number);

	return rj_store_put_new(s, &key, "data", 4, &err);
}

static bool head_has(struct bad_server *b, const char *text)
{
	return strstr(bad_last_head(b), text) != NULL;
}

static void credentials(void)
{
	static const struct bad_act act = {CREATED, BAD_KEEP, 0, 0};
	static const struct {
		const char *conf, *line;
	} cases[] = {
		{"[rj://127.0.0.1]\nuser = u\npassword = p\n",
			"\r\nAuthorization: Basic dTpw\r\n"},
		{"[rj://127.0.0.1]\npassword = p\n",
			"\r\nAuthorization: Basic OnA=\r\n"},
		{"[rj://127.0.0.1]\nuser = u\npassword = p\ntoken = abc.def\n",
			"\r\nAuthorization: Bearer abc.def\r\n"},
	};
	struct bad_server *b = bad_start(&act, 1);
	struct rj_store *s;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		configure(cases[i].conf);
		s = open_bad(b);
		T_WORKS(put(s, RJ_KEY_EPOCH, 1));
		CU_ASSERT_TRUE(head_has(b, cases[i].line));
		rj_store_close(s);
	}
	configure("");
	s = open_bad(b);
	T_WORKS(put(s, RJ_KEY_EPOCH, 1));
	CU_ASSERT_FALSE(head_has(b, "Authorization"));
	rj_store_close(s);
	bad_stop(b);
}

/* A store at a host that is not there, through the proxy B, of rj.conf. */
static struct rj_store *open_through(const struct bad_server *b)
{
	struct rj_store *s;
	char conf[128];

	snprintf(conf, sizeof(conf),
		"[rj://journal.invalid]\nproxy = http://u:p@127.0.0.1:%d\n",
		bad_port(b));
	configure(conf);
	s = t_open("rj://journal.invalid:81/vol");
	configure("");
	return s;
}

static void a_proxy_makes_a_tunnel(void)
{
	static const struct bad_act acts[] = {
		{TUNNEL, BAD_KEEP, 0, 1}, {CREATED, BAD_KEEP, 0, 0}};
	struct bad_server *b = bad_start(acts, 2);
	struct rj_store *s = open_through(b);

	T_WORKS(put(s, RJ_KEY_EPOCH, 1));
	CU_ASSERT_TRUE(head_has(b, "PUT /vol/"));
	CU_ASSERT_TRUE(head_has(b, "\r\nHost: journal.invalid:81\r\n"));
	CU_ASSERT_FALSE(head_has(b, "Proxy-Authorization"));
	T_WORKS(put(s, RJ_KEY_EPOCH, 2));
	CU_ASSERT_EQUAL(bad_connections(b), 1);
	CU_ASSERT_EQUAL(bad_requests(b), 3);
	rj_store_close(s);
	bad_stop(b);
}

static void a_proxy_that_makes_none(void)
{
	static const struct bad_act password = {
		"HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n", BAD_CLOSE, 0, 0};
	static const struct bad_act refused = {
		"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", BAD_CLOSE, 0, 0};
	struct bad_server *b = bad_start(&password, 1);
	struct rj_store *s = open_through(b);

	T_FAILS(put(s, RJ_KEY_EPOCH, 1), RJ_E_DENIED,
		"the proxy wants a password (status 407)");
	CU_ASSERT_TRUE(head_has(b, "CONNECT journal.invalid:81 HTTP/1.1\r\n"));
	CU_ASSERT_TRUE(head_has(b, "\r\nProxy-Authorization: Basic dTpw\r\n"));
	rj_store_close(s);
	bad_stop(b);
	b = bad_start(&refused, 1);
	s = open_through(b);
	T_FAILS(put(s, RJ_KEY_EPOCH, 1), RJ_E_UNREACHABLE,
		"the proxy does not connect us to it (status 403)");
	rj_store_close(s);
	bad_stop(b);
}

/* Nothing for the server is in clear on the way to a proxy that speaks TLS. */
static void a_proxy_with_tls(void)
{
	static const struct bad_act acts[] = {
		{TUNNEL, BAD_KEEP, 0, 1}, {CREATED, BAD_KEEP, 0, 0}};
	struct bad_server *b = bad_start_tls(acts, 2);
	struct rj_store *s;
	char conf[160];

	snprintf(conf, sizeof(conf),
		"[rj://journal.invalid]\ntoken = t\ninsecure = yes\nproxy = https://127.0.0.1:%d\n",
		bad_port(b));
	configure(conf);
	s = t_open("rj://journal.invalid:81/vol");
	configure("");
	T_WORKS(put(s, RJ_KEY_EPOCH, 1));
	T_WORKS(put(s, RJ_KEY_EPOCH, 2));
	CU_ASSERT_TRUE(head_has(b, "\r\nAuthorization: Bearer t\r\n"));
	CU_ASSERT_EQUAL(bad_connections(b), 1);
	CU_ASSERT_EQUAL(bad_requests(b), 3);
	rj_store_close(s);
	bad_stop(b);
}

static void a_proxy_of_the_environment(void)
{
	static const struct bad_act acts[] = {
		{TUNNEL, BAD_KEEP, 0, 1}, {CREATED, BAD_KEEP, 0, 0}};
	struct bad_server *b = bad_start(acts, 2);
	char proxy[64];
	struct rj_store *s;

	snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", bad_port(b));
	setenv("http_proxy", proxy, 1);
	s = t_open("rj://journal.invalid:81/vol");
	T_WORKS(put(s, RJ_KEY_EPOCH, 1));
	CU_ASSERT_EQUAL(bad_requests(b), 2);
	rj_store_close(s);
	/* and not the proxy, but the server itself */
	setenv("no_proxy", "journal.invalid", 1);
	s = t_open("rj://journal.invalid:81/vol");
	T_FAILS(put(s, RJ_KEY_EPOCH, 1), RJ_E_UNREACHABLE, "resolve the name");
	CU_ASSERT_EQUAL(bad_requests(b), 2);
	rj_store_close(s);
	unsetenv("http_proxy");
	unsetenv("no_proxy");
	bad_stop(b);
}

/* A secret for a server on this machine goes to it, and to no proxy in clear. */
static void this_machine_needs_no_proxy(void)
{
	static const struct bad_act act = {CREATED, BAD_KEEP, 0, 0};
	static const char *const schemes[] = {"rj", "dav"};
	struct bad_server *b = bad_start(&act, 1), *p = bad_start(&act, 1);
	char url[64], conf[128];
	struct rj_store *s;
	size_t i;

	snprintf(url, sizeof(url), "http://127.0.0.1:%d", bad_port(p));
	setenv("http_proxy", url, 1);
	for (i = 0; i < 2; i++) {
		snprintf(url, sizeof(url), "%s://127.0.0.1:%d/vol", schemes[i],
			bad_port(b));
		configure("[*]\ntoken = t\n[rj://127.0.0.1]\n[dav://127.0.0.1]\n");
		s = t_open(url);
		put(s, RJ_KEY_EPOCH, 1);
		CU_ASSERT_TRUE(head_has(b, "\r\nAuthorization: Bearer t\r\n"));
		rj_store_close(s);
		snprintf(conf, sizeof(conf),
			"[%s]\ntoken = t\nproxy = http://127.0.0.1:%d\n", url,
			bad_port(p));
		configure(conf);
		T_FAILS(rj_store_open(url, NULL, &s, &err), RJ_E_REFUSED,
			"would travel unencrypted");
	}
	CU_ASSERT_EQUAL(bad_connections(p), 0);
	configure("");
	unsetenv("http_proxy");
	bad_stop(b);
	bad_stop(p);
}

/* Over each connection the server is asked for the segment before, whoever made it. */
static void a_connection_is_checked_once(void)
{
	static const struct bad_act acts[] = {{EMPTY, BAD_KEEP, 0, 1},
		{HAS_4, BAD_KEEP, 0, 1}, {CREATED, BAD_KEEP, 0, 0}};
	struct rj_key dir = t_new_log(RJ_KEY_LOG);
	struct bad_server *b = bad_start(acts, 3);
	struct rj_store *s = open_bad(b);
	struct t_list l = {0};

	T_WORKS(rj_store_list(s, &dir, 0, t_list_add, &l, &err));
	T_WORKS(put(s, RJ_KEY_LOG, 5));
	CU_ASSERT_EQUAL(bad_requests(b), 3);
	T_WORKS(put(s, RJ_KEY_LOG, 6));
	CU_ASSERT_EQUAL(bad_requests(b), 4);
	CU_ASSERT_EQUAL(bad_connections(b), 1);
	rj_store_close(s);
	bad_stop(b);
}

static void a_server_without_the_log_gets_nothing(void)
{
	static const struct bad_act act = {EMPTY, BAD_KEEP, 0, 0};
	struct bad_server *b = bad_start(&act, 1);
	struct rj_store *s = open_bad(b);

	T_FAILS(put(s, RJ_KEY_LOG, 5), RJ_E_UNREACHABLE, "is not there");
	CU_ASSERT_EQUAL(bad_requests(b), 1);
	CU_ASSERT_TRUE(head_has(b, "/log/?after=3&limit=2 HTTP/1.1\r\n"));
	T_FAILS(put(s, RJ_KEY_LOG, 5), RJ_E_UNREACHABLE, "is not there");
	CU_ASSERT_EQUAL(bad_connections(b), 2);
	rj_store_close(s);
	bad_stop(b);
}

/* A server that lost what it cannot name does not know where a log ends. */
static void a_list_that_may_lack_the_end(void)
{
	static const struct bad_act act = {
		"HTTP/1.1 200 OK\r\nRJ-Damaged: 1\r\nContent-Length: 23\r\n\r\n"
		"00000000000000000001 9\n",
		BAD_KEEP, 0, 0};
	struct rj_key dir = t_new_log(RJ_KEY_LOG);
	struct bad_server *b = bad_start(&act, 1);
	struct rj_store *s = open_bad(b);
	struct t_list l = {0};

	T_FAILS(rj_store_list(s, &dir, 0, t_list_add, &l, &err), RJ_E_CORRUPT,
		"there may have been more");
	rj_store_close(s);
	bad_stop(b);
}

static void a_server_that_keeps_no_connection(void)
{
	static const struct bad_act acts[] = {
		{OK_200 "Connection: close\r\nContent-Length: 23\r\n\r\n" N20(
			 "04") " 5\n",
			BAD_CLOSE, 0, 1},
		{CREATED, BAD_CLOSE, 0, 0}};
	struct bad_server *b = bad_start(acts, 2);
	struct rj_store *s = open_bad(b);

	T_WORKS(put(s, RJ_KEY_LOG, 5));
	CU_ASSERT_EQUAL(bad_requests(b), 2);
	CU_ASSERT_EQUAL(bad_connections(b), 2);
	rj_store_close(s);
	bad_stop(b);
}

/* Nor does it say so: also where it has just closed the connection of an earlier put. */
static void a_server_that_closes_without_a_word(void)
{
	static const struct bad_act acts[] = {{CREATED, BAD_KEEP, 0, 1},
		{NULL, BAD_CLOSE, 0, 1}, {HAS_4, BAD_CLOSE, 0, 1},
		{CREATED, BAD_CLOSE, 0, 0}};
	unsigned skip;

	for (skip = 0; skip <= 2; skip += 2) {
		struct bad_server *b = bad_start(acts + skip, 4 - skip);
		struct rj_store *s = open_bad(b);

		if (!skip)
			T_WORKS(put(s, RJ_KEY_LOG, 1));
		T_WORKS(put(s, RJ_KEY_LOG, 5));
		CU_ASSERT_EQUAL(bad_requests(b), 4 - skip);
		CU_ASSERT_EQUAL(bad_connections(b), skip ? 2 : 3);
		CU_ASSERT_TRUE(head_has(b, "PUT /vol/"));
		rj_store_close(s);
		bad_stop(b);
	}
}

/* A body of three objects, in chunks, longer than is received at once. */
static char *three_objects(void)
{
	static char text[200000], object[50001];
	int n, i;

	memset(object, 'x', 50000);
	n = sprintf(text, OK_200 "Transfer-Encoding: chunked\r\n\r\n");
	for (i = 1; i <= 3; i++)
		n += sprintf(text + n, "%x\r\n%020d 50000\n%s\r\n", 50027, i,
			object);
	sprintf(text + n, "4\r\nend\n\r\n0\r\n\r\n");
	return text;
}

static int slow_reader(void *arg, uint64_t number, struct rj_buf *object)
{
	unsigned *count = arg;

	CU_ASSERT_EQUAL(object->len, 50000);
	if (++*count == 1)
		usleep(600000); /* longer than a request may take */
	return 0;
}

static int leave(void *arg, uint64_t number, struct rj_buf *object)
{
	return 77;
}

/* A stream takes as long as its reader does, and ends when the reader says so. */
static void streams(void)
{
	const struct bad_act act = {three_objects(), BAD_KEEP, 0, 0};
	struct rj_key dir = t_new_log(RJ_KEY_LOG);
	struct bad_server *b = bad_start(&act, 1);
	struct rj_store *s = open_at(b, "rj", 400);
	unsigned count = 0;

	T_WORKS(rj_store_stream(s, &dir, 1, 60000, slow_reader, &count, &err));
	CU_ASSERT_EQUAL(count, 3);
	rj_store_close(s);
	s = open_bad(b);
	CU_ASSERT_EQUAL(
		rj_store_stream(s, &dir, 1, 60000, leave, NULL, &err), 77);
	T_FAILS(rj_store_stream(s, &dir, 1, 40000, leave, NULL, &err),
		RJ_E_CORRUPT, "");
	rj_store_close(s);
	bad_stop(b);
}

/* One that goes silent ends. */
static void a_silent_stream_times_out(void)
{
	static const struct bad_act act = {
		OK_200 "Transfer-Encoding: chunked\r\n\r\n"
		       "40\r\n" N20("01") " 5\nhal",
		BAD_HANG, 0, 0};
	struct rj_key dir = t_new_log(RJ_KEY_LOG);
	struct bad_server *b = bad_start(&act, 1);
	struct rj_store *s = open_at(b, "rj", 300);

	T_FAILS(rj_store_stream(s, &dir, 1, 1000, leave, NULL, &err),
		RJ_E_UNREACHABLE, "timed out after 300 ms");
	rj_store_close(s);
	bad_stop(b);
}

/* So does one that says something all the time, and nothing of the body. */
static void a_stream_without_content_times_out(void)
{
	static const struct bad_act act = {OK_200 "X: ", BAD_DRIP, 0, 0};
	struct rj_key dir = t_new_log(RJ_KEY_LOG);
	struct bad_server *b = bad_start(&act, 1);
	struct rj_store *s = open_at(b, "rj", 300);

	T_FAILS(rj_store_stream(s, &dir, 1, 1000, leave, NULL, &err),
		RJ_E_UNREACHABLE, "timed out after 300 ms");
	rj_store_close(s);
	bad_stop(b);
}

static _Atomic bool enough;

static void *soon(void *arg)
{
	usleep(200000);
	enough = true;
	return NULL;
}

static void a_request_is_given_up(void)
{
	static const struct bad_act act = {NULL, BAD_HANG, 0, 0};
	struct bad_server *b = bad_start(&act, 1);
	struct rj_store_opts opts = {
		.request_timeout_ms = 600000, .give_up = &enough};
	struct rj_store *s;
	pthread_t t;
	char url[64];

	snprintf(url, sizeof(url), "rj://127.0.0.1:%d/vol", bad_port(b));
	T_WORKS(rj_store_open(url, &opts, &s, &err));
	pthread_create(&t, NULL, soon, NULL);
	T_FAILS(put(s, RJ_KEY_EPOCH, 1), RJ_E_UNREACHABLE, "was given up");
	pthread_join(t, NULL);
	rj_store_close(s);
	bad_stop(b);
}

static void the_same_over_tls(void)
{
	const struct bad_act acts[] = {{EMPTY, BAD_KEEP, 0, 1},
		{three_objects(), BAD_KEEP, 0, 1}, {HAS_4, BAD_KEEP, 0, 1},
		{CREATED, BAD_KEEP, 0, 0}};
	struct rj_key dir = t_new_log(RJ_KEY_LOG);
	struct bad_server *b = bad_start_tls(acts, 4);
	struct t_list l = {0};
	struct rj_store *s;
	unsigned count = 0;

	configure("");
	s = open_at(b, "rjs", 60000);
	T_FAILS(put(s, RJ_KEY_EPOCH, 1), RJ_E_DENIED, "not who it should be");
	rj_store_close(s);
	configure(UNTRUSTED);
	s = open_at(b, "rjs", 60000);
	T_WORKS(rj_store_list(s, &dir, 0, t_list_add, &l, &err));
	T_WORKS(rj_store_stream(s, &dir, 1, 60000, slow_reader, &count, &err));
	CU_ASSERT_EQUAL(count, 3);
	T_WORKS(put(s, RJ_KEY_LOG, 5));
	T_WORKS(put(s, RJ_KEY_LOG, 6));
	CU_ASSERT_EQUAL(bad_requests(b), 5);
	CU_ASSERT_EQUAL(bad_connections(b), 2);
	rj_store_close(s);
	bad_stop(b);
	configure("");
}

/* Why the server refuses us comes after the handshake, in place of an answer. */
static void why_our_certificate_is_refused(void)
{
	static const struct bad_act act = {CREATED, BAD_KEEP, 0, 0};
	struct bad_server *b = bad_start_strict(&act, 1);
	struct rj_store *s;

	configure(UNTRUSTED);
	s = open_at(b, "rjs", 60000);
	T_FAILS(put(s, RJ_KEY_EPOCH, 1), RJ_E_UNREACHABLE,
		"certificate required");
	CU_ASSERT_EQUAL(err.cause, RJ_CAUSE_CERTIFICATE);
	rj_store_close(s);
	bad_stop(b);
	configure("");
}

/* What TLS has taken from the wire, and what is still there: no answer to what comes. */
static void nothing_is_left_over_in_tls(void)
{
	static const struct bad_act acts[] = {
		{CREATED CREATED, BAD_KEEP, 0, 1}, {CREATED, BAD_KEEP, 0, 1},
		{"HTTP/1.1 507 Full\r\nContent-Length: 0\r\n\r\n", BAD_KEEP, 0,
			0}};
	struct bad_server *b = bad_start_tls(acts, 3);
	struct rj_store *s;

	configure(UNTRUSTED);
	s = open_at(b, "rjs", 60000);
	T_WORKS(put(s, RJ_KEY_EPOCH, 1));
	T_WORKS(put(s, RJ_KEY_EPOCH, 2));
	CU_ASSERT_EQUAL(bad_connections(b), 2);
	bad_say(b, CREATED);
	T_FAILS(put(s, RJ_KEY_EPOCH, 3), RJ_E_NOSPACE, "status 507");
	CU_ASSERT_EQUAL(bad_connections(b), 3);
	CU_ASSERT_EQUAL(bad_requests(b), 3);
	rj_store_close(s);
	bad_stop(b);
	configure("");
}

/* A refusal is heard though the body is never taken; over TLS, too. */
static void an_early_refusal(void)
{
	static const struct bad_act act = {
		"HTTP/1.1 507 Full\r\nContent-Length: 0\r\n\r\n", BAD_EARLY, 0,
		0};
	const size_t bytes = 64u << 20; /* more than any buffers take */
	struct rj_key dir = t_new_log(RJ_KEY_EPOCH), key = t_key(&dir, 1);
	uint8_t *body = t_bytes(bytes, 1);
	struct bad_server *b = bad_start_tls(&act, 1);
	struct rj_store *s;

	configure(UNTRUSTED);
	s = open_at(b, "rjs", 600000);
	alarm(300);
	T_FAILS(rj_store_put_new(s, &key, body, bytes, &err), RJ_E_NOSPACE,
		"status 507");
	alarm(0);
	rj_store_close(s);
	bad_stop(b);
	free(body);
	configure("");
}

/* The limit is for sending and the answer together. */
static void sending_counts(void)
{
	static const struct bad_act act = {NULL, BAD_LATE, 0, 0};
	const size_t bytes = 64u << 20; /* more than any buffers take */
	struct rj_key dir = t_new_log(RJ_KEY_EPOCH), key = t_key(&dir, 1);
	uint8_t *body = t_bytes(bytes, 1);
	struct bad_server *b = bad_start(&act, 1);
	struct rj_store *s = open_at(b, "rj", 2500);
	int64_t start = rj_monotonic_ns();

	T_FAILS(rj_store_put_new(s, &key, body, bytes, &err), RJ_E_UNREACHABLE,
		"timed out after 2500 ms");
	CU_ASSERT_TRUE(rj_monotonic_ns() - start < 3700000000);
	rj_store_close(s);
	bad_stop(b);
	free(body);
}

/* "localhost" is this machine, by IPv6 or IPv4: the server listens on 127.0.0.1 alone. */
static void names_of_hosts(void)
{
	static const struct bad_act act = {CREATED, BAD_KEEP, 0, 0};
	static const char *const hosts[] = {
		"localhost", "LOCALHOST", "a.localhost", "localhost.", "a.LocalHost."};
	struct bad_server *b = bad_start(&act, 1);
	struct rj_store *s;
	char url[64];
	size_t i;

	configure("");
	for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		snprintf(url, sizeof(url), "rj://%s:%d/vol", hosts[i], bad_port(b));
		s = t_open(url);
		CU_ASSERT_EQUAL(put(s, RJ_KEY_EPOCH, 1), 0);
		rj_store_close(s);
	}
	CU_ASSERT_EQUAL(bad_connections(b), 5);
	/* an empty label: no name server is asked */
	snprintf(url, sizeof(url), "rj://%s:7490/vol", "no..name");
	s = t_open(url);
	T_FAILS(put(s, RJ_KEY_EPOCH, 1), RJ_E_UNREACHABLE,
		"cannot reach the journal server: could not resolve the name of the host");
	rj_store_close(s);
	snprintf(url, sizeof(url), "rj://[::1]:%d/vol", bad_port(b));
	s = t_open(url);
	T_FAILS(put(s, RJ_KEY_EPOCH, 1), RJ_E_UNREACHABLE, "cannot reach the journal server: ");
	rj_store_close(s);
	bad_stop(b);
}

static void the_servers_clock(void)
{
	static const struct {
		struct bad_act act;
		int64_t seconds;
	} cases[] = {
		{{OK_200 "Date: Thu, 29 Feb 2024 23:59:59 GMT\r\nContent-Length: 0\r\n\r\n",
			 BAD_KEEP, 0, 0}, 1709251199},
		{{OK_200 "Date: Sun, 01 Mar 2099 00:00:00 GMT\r\nContent-Length: 0\r\n\r\n",
			 BAD_KEEP, 0, 0}, 4076006400},
		{{OK_200 "Date: Fri, 31 Dec 1999 12:30:01 GMT\r\nContent-Length: 0\r\n\r\n",
			 BAD_KEEP, 0, 0}, 946643401},
		{{OK_200 "Date: today\r\nContent-Length: 0\r\n\r\n", BAD_KEEP, 0, 0}, 0},
	};
	struct rj_key dir = t_new_log(RJ_KEY_EPOCH);
	struct rj_buf out = {0};
	struct bad_server *b;
	struct rj_store *s;
	struct rj_key key;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		b = bad_start(&cases[i].act, 1);
		s = open_bad(b);
		key = t_key(&dir, 1);
		CU_ASSERT_EQUAL(rj_store_get(s, &key, 100, &out, &err), 0);
		CU_ASSERT_EQUAL(s->clock_s, cases[i].seconds);
		rj_store_close(s);
		bad_stop(b);
	}
	rj_buf_free(&out);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(credentials),
		RJTEST(a_proxy_makes_a_tunnel),
		RJTEST(a_proxy_that_makes_none),
		RJTEST(a_proxy_with_tls),
		RJTEST(a_proxy_of_the_environment),
		RJTEST(this_machine_needs_no_proxy),
		RJTEST(a_connection_is_checked_once),
		RJTEST(a_server_without_the_log_gets_nothing),
		RJTEST(a_list_that_may_lack_the_end),
		RJTEST(a_server_that_keeps_no_connection),
		RJTEST(a_server_that_closes_without_a_word),
		RJTEST(streams),
		RJTEST(a_silent_stream_times_out),
		RJTEST(a_stream_without_content_times_out),
		RJTEST(a_request_is_given_up),
		RJTEST(the_same_over_tls),
		RJTEST(why_our_certificate_is_refused),
		RJTEST(nothing_is_left_over_in_tls),
		RJTEST(an_early_refusal),
		RJTEST(sending_counts),
		RJTEST(names_of_hosts),
		RJTEST(the_servers_clock),
	};

#ifndef RJ_TREE_STORES
	return rjtest_none("built without such stores");
#endif
	setenv("RJ_CONF", "/dev/null", 1);
	unsetenv("http_proxy");
	unsetenv("https_proxy");
	unsetenv("HTTPS_PROXY");
	unsetenv("no_proxy");
	unsetenv("NO_PROXY");
	unsetenv("ALL_PROXY");
	unsetenv("all_proxy");
	return RJTEST_RUN("store-http1", tests);
}
