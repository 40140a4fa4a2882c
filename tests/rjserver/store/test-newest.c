// SPDX-License-Identifier: GPL-2.0-or-later
/* How old is what a DELETE means: retention goes by that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rjserver/store/commit.h"
#include "rjserver/store/store.h"
#include "support/rjtest.h"
#include "util/crc32c.h"
#include "util/environ.h"

#define START 1700000000
#define YEAR  (365 * 86400)

static char top[RJTEST_DIR];
static struct rj_error err;
static enum rj_key_kind kind; /* of key_of() */
static int64_t now_s = START; /* of the clock */

static int64_t set_clock(void *arg)
{
	return now_s * 1000000000;
}

static int same_bytes(void *arg, void *out, size_t len)
{
	memset(out, 7, len);
	return 0;
}

static struct okey key_of(uint64_t n)
{
	return (struct okey){.name = "n", .key = {.kind = kind, .number = n}};
}

static void done(void *arg, int rc, const struct rj_error *e)
{
	*(int *)arg = rc;
}

/* Put an object of LEN bytes at AT seconds of the clock. */
static void put(struct store *s, uint64_t n, uint32_t len, int64_t at)
{
	static uint8_t data[100];
	struct okey k = key_of(n);
	struct commit_body body = {data, len, rj_crc32c(~0u, data, len), false};
	int result = 1;

	now_s = at;
	CU_ASSERT_EQUAL(commit_put(s->commit, &k, &body, done, &result, &err), 0);
	commit_flush(s->commit);
	CU_ASSERT_EQUAL(result, 0);
}

static struct store *open_store(const char *name)
{
	struct store_opts opts = {.file_bytes = 1 << 20};
	char dir[128];
	struct store *s;

	snprintf(dir, sizeof(dir), "%s/%s", top, name);
	opts.dir = dir;
	if (store_open(&opts, &s, &err)) {
		printf("# %s\n", err.msg);
		exit(1);
	}
	kind = RJ_KEY_LOG;
	return s;
}

/* When the youngest was stored that a DELETE of number N, or with QUERY, means: in seconds;
 * 0: there is none. */
static int64_t newest(struct store *s, uint64_t n, const char *query)
{
	struct okey k = key_of(n);
	uint64_t ns = 0;

	if (store_newest(s, &k, query, &ns))
		return 0;
	return (int64_t)(ns / 1000000000) - 1;
}

static void the_youngest_decides(void)
{
	struct store *s = open_store("youngest");
	unsigned n;

	for (n = 1; n <= 5; n++)
		put(s, n, n == 5 ? 10 : 100, START + (n == 2 ? 900 : n * 100));
	CU_ASSERT_EQUAL(newest(s, 1, NULL), START + 100);
	CU_ASSERT_EQUAL(newest(s, 0, "below=2"), START + 100);
	CU_ASSERT_EQUAL(newest(s, 0, "below=5"), START + 900);
	CU_ASSERT_EQUAL(newest(s, 0, "below=1"), 0);
	CU_ASSERT_EQUAL(newest(s, 0, "below=0"), 0);
	CU_ASSERT_EQUAL(newest(s, 6, NULL), 0);
	put(s, 6, 10, START + 1000);
	CU_ASSERT_EQUAL(newest(s, 0, "below=7&least=100"), START + 900);
	CU_ASSERT_EQUAL(newest(s, 0, "least=100&below=7&least=10"), START + 1000);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

/* What was stored while the clock was ahead is as old as the next one that was not; without
 * one it stays, however the clock is. */
static void a_clock_that_was_ahead(void)
{
	struct store *s = open_store("ahead");
	unsigned n;

	for (n = 1; n <= 8; n++)
		put(s, n, 100, START + n * 100 + (n == 3 || n == 4 || n == 8 ? YEAR : 0));
	now_s = START + 900;
	CU_ASSERT_EQUAL(newest(s, 0, "below=3"), START + 200);
	CU_ASSERT_EQUAL(newest(s, 0, "below=4"), START + 500);
	CU_ASSERT_EQUAL(newest(s, 3, NULL), START + 500);
	CU_ASSERT_EQUAL(newest(s, 5, NULL), START + 500);
	CU_ASSERT_EQUAL(newest(s, 0, "below=8"), START + 700);
	CU_ASSERT_TRUE(newest(s, 0, "below=9") > now_s);
	CU_ASSERT_TRUE(newest(s, 8, NULL) > now_s);
	put(s, 9, 10, START + 900); /* also where it is not meant itself */
	CU_ASSERT_EQUAL(newest(s, 0, "below=10&least=100"), START + 900);
	CU_ASSERT_EQUAL(newest(s, 8, NULL), START + 900);
	now_s = START - YEAR; /* behind: nothing is old */
	CU_ASSERT_TRUE(newest(s, 0, "below=2") > now_s);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

/* Its pieces, which were stored before it and have higher numbers, do not make it older. */
static void a_base_has_the_age_of_its_manifest(void)
{
	struct store *s = open_store("base");
	const uint64_t place = RJ_BASE_PLACES;

	kind = RJ_KEY_BASE;
	put(s, place + 1, 100, START);
	put(s, place, 10, START + YEAR);
	now_s = START + 500;
	CU_ASSERT_TRUE(newest(s, place, NULL) > now_s);
	CU_ASSERT_TRUE(newest(s, 0, "below=99999999&least=100") > now_s);
	put(s, 2 * place + 1, 100, START + 600);
	CU_ASSERT_TRUE(newest(s, place, NULL) > now_s);
	put(s, 2 * place, 10, START + 700);
	CU_ASSERT_EQUAL(newest(s, place, NULL), START + 700);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

/* What a checkpoint of an earlier version does not say is read once. */
static void an_age_is_read_once(void)
{
	struct store *s = open_store("once");
	struct okey k = key_of(0);
	struct idx_entry *e;
	uint64_t n;

	for (n = 1; n < 20; n++)
		put(s, n, 100, START + (int64_t)n);
	for (n = 0; (e = idx_next(s->index, &k, n)); n = e->number)
		e->time_s = 0;
	CU_ASSERT_EQUAL(newest(s, 0, "below=10"), START + 9);
	CU_ASSERT_EQUAL(newest(s, 0, "below=100"), START + 19);
	for (n = 0; (e = idx_next(s->index, &k, n)); n = e->number)
		CU_ASSERT_EQUAL(e->time_s, START + e->number);
	CU_ASSERT_EQUAL(store_close(s, &err), 0);
}

int main(void)
{
	static const struct rj_environ set = {.realtime_ns = set_clock,
		.monotonic_ns = set_clock,
		.random_bytes = same_bytes};
	static const struct rjtest tests[] = {
		RJTEST(the_youngest_decides),
		RJTEST(a_clock_that_was_ahead),
		RJTEST(a_base_has_the_age_of_its_manifest),
		RJTEST(an_age_is_read_once),
	};
	int status;

	if (!rjtest_scratch(top))
		return 99;
	rj_environ_set(&set);
	status = RJTEST_RUN("rjserver-newest", tests);
	return rjtest_scratch_remove(top) ? status : 99;
}
