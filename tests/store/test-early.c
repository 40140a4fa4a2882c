// SPDX-License-Identifier: GPL-2.0-or-later
/* A server that acknowledges what it cannot have, by each way a put goes; and
 * the longest URLs of S3. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/badserver.h"
#include "store/common.h"
#include "store/url.h"
#include "support/rjtest.h"

#define BODY_BYTES (64u << 20) /* more than any socket's buffers take */

static struct rj_error err;

static const char *const ways[] = {
	"rj",	   /* http1.c */
	"s3+http", /* http.c */
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* A store on B's port, by the I-th way. */
static struct rj_store *open_way(const struct bad_server *b, size_t i)
{
	/* libcurl goes on sending until this is over */
	const struct rj_store_opts opts = {.request_timeout_ms = 5000};
	struct rj_store *s;
	char url[64];

	setenv("RJ_CREDENTIALS", "[s3+http://127.0.0.1]\nuser=u\npassword=p\n", 1);
	snprintf(url, sizeof(url), "%s://127.0.0.1:%d/vol", ways[i],
		bad_port(b));
	if (rj_store_open(url, &opts, &s, &err))
		exit(99);
	return s;
}

#define ANSWER(words)                                                          \
	"HTTP/1.1 " words "\r\nETag: \"1\"\r\nContent-Length: 0\r\n\r\n"

static void an_early_answer_is_no_acknowledgement(void)
{
	static const struct bad_act acts[] = {
		{ANSWER("507 Full"), BAD_EARLY, 0, 0},
		{ANSWER("201 Created"), BAD_EARLY, 0, 0},
		{ANSWER("200 OK"), BAD_EARLY, 0, 0},
	};
	struct rj_key dir = t_new_log(RJ_KEY_EPOCH), key = t_key(&dir, 1);
	uint8_t *body = t_bytes(BODY_BYTES, 1);
	struct bad_server *b;
	struct rj_store *s;
	size_t i, j;

	for (i = 0; i < WAYS; i++) {
		/* S3 says 200, all else 201 */
		for (j = 0; j < 2; j++) {
			b = bad_start(&acts[j && i == 1 ? 2 : j], 1);
			s = open_way(b, i);
			T_FAILS(rj_store_put_new(
					s, &key, body, BODY_BYTES, &err),
				j ? RJ_E_UNREACHABLE : RJ_E_NOSPACE, "");
			rj_store_close(s);
			bad_stop(b);
		}
	}
	free(body);
}

/* Nor is one that comes in time taken for early, whatever the size. */
static void an_answer_in_time_is_one(void)
{
	static const struct bad_act act = {
		ANSWER("201 Created"), BAD_KEEP, 0, 0};
	static const size_t sizes[] = {0, 1, 65535, 65536, 300000, 1 << 20,
		1500000, 9 << 20, 1, 0};
	uint8_t *body = t_bytes(BODY_BYTES, 1);
	struct rj_key dir = t_new_log(RJ_KEY_EPOCH), key;
	struct bad_server *b;
	struct rj_store *s;
	size_t i, j;

	for (i = 0; i < WAYS; i++) {
		b = bad_start(&act, 1);
		s = open_way(b, i);
		for (j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
			key = t_key(&dir, j + 1);
			T_WORKS(rj_store_put_new(
				s, &key, body, sizes[j], &err));
		}
		CU_ASSERT_EQUAL(bad_connections(b), 1);
		rj_store_close(s);
		bad_stop(b);
	}
	free(body);
}

#define PAGE_1                                                                 \
	"<ListBucketResult><IsTruncated>true</IsTruncated><CommonPrefixes>"    \
	"<Prefix>%sx&amp;y=%%41 +;/</Prefix></CommonPrefixes>"                 \
	"</ListBucketResult>"
#define PAGE_2 "<ListBucketResult></ListBucketResult>"

static int ignore(void *arg, uint64_t number, uint64_t bytes)
{
	return 0;
}

static int ignore_journal(void *arg, const uint8_t uuid[RJ_UUID_BYTES])
{
	return 0;
}

static void s3_lists_below_the_longest_names(void)
{
	char url[RJ_URL_BYTES], prefix[RJ_URL_BYTES], page[2048], answers[2][3000];
	struct bad_act acts[] = {{answers[0], BAD_KEEP, 0, 1},
		{answers[1], BAD_KEEP, 0, 0}};
	struct rj_key dir = t_new_log(RJ_KEY_LOG);
	struct bad_server *b = bad_start(acts, 2);
	struct rj_store *s;
	uint64_t removed;
	int n;

	setenv("RJ_CREDENTIALS", "[s3+http://127.0.0.1]\nuser=u\npassword=p\n", 1);
	n = snprintf(url, sizeof(url), "s3+http://127.0.0.1:%d/b", bad_port(b));
	while (n < RJ_URL_BYTES - 2)
		n += sprintf(url + n, "/a");
	snprintf(prefix, sizeof(prefix), "%s/",
		strstr(url, "/b/") + strlen("/b/"));
	snprintf(page, sizeof(page), PAGE_1, prefix);
	snprintf(answers[0], sizeof(answers[0]),
		"HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
		strlen(page), page);
	snprintf(answers[1], sizeof(answers[1]),
		"HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
		strlen(PAGE_2), PAGE_2);
	s = t_open(url);
	T_WORKS(rj_store_list_journals(s, ignore_journal, NULL, &err));
	/* where the second page begins: after a name that the server said */
	CU_ASSERT_PTR_NOT_NULL(strstr(bad_last_head(b),
		"%2Fa%2Fx%26y%3D%2541%20%2B%3B%2F~ HTTP/1.1\r\n"));
	T_WORKS(rj_store_list(s, &dir, UINT64_MAX, ignore, NULL, &err));
	T_WORKS(rj_store_remove_below(s, &dir, 9, 0, &removed, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(bad_last_head(b), "start-after=a%2Fa%2F"));
	rj_store_close(s);
	bad_stop(b);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(an_early_answer_is_no_acknowledgement),
		RJTEST(an_answer_in_time_is_one),
		RJTEST(s3_lists_below_the_longest_names),
	};

	unsetenv("http_proxy");
	unsetenv("ALL_PROXY");
	unsetenv("all_proxy");
	return RJTEST_RUN("store-early", tests);
}
