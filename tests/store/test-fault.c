// SPDX-License-Identifier: GPL-2.0-or-later
/* The fault layer does what it is told, and otherwise nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/common.h"
#include "support/fault.h"
#include "support/rjtest.h"
#include "util/environ.h"

static char dir[400], url[420];
static struct rj_error err;

static struct rj_store *open_layer(void)
{
	struct rj_store *s;

	if (rj_fault_open(t_open(url), &s, &err))
		exit(99);
	return s;
}

static void add(struct rj_store *s, struct rj_fault f)
{
	CU_ASSERT_EQUAL(rj_fault_add(s, &f), 0);
}

static void without_faults_it_is_the_store_below(void)
{
	struct rj_key log = t_new_log(RJ_KEY_LOG), key = t_key(&log, 1);
	struct rj_store *s = open_layer();
	struct rj_buf out = {0};
	struct t_list l = {0};

	CU_ASSERT_STRING_EQUAL(s->url, url);
	CU_ASSERT_TRUE(s->caps.put_new);
	T_WORKS(rj_store_put_new(s, &key, "x", 1, &err));
	T_FAILS(rj_store_put_new(s, &key, "x", 1, &err), RJ_E_EXISTS, "");
	T_WORKS(rj_store_get(s, &key, 1, &out, &err));
	T_WORKS(rj_store_list(s, &log, 0, t_list_add, &l, &err));
	CU_ASSERT_EQUAL(l.count, 1);
	T_WORKS(rj_store_remove(s, &key, &err));
	CU_ASSERT_EQUAL(rj_fault_calls(s, RJ_FAULT_PUT), 2);
	CU_ASSERT_EQUAL(rj_fault_calls(s, RJ_FAULT_GET), 1);
	CU_ASSERT_EQUAL(rj_fault_calls(s, RJ_FAULT_ANY), 5);
	rj_store_close(s);
	rj_buf_free(&out);
}

static void the_nth_call_fails_so_many_times(void)
{
	struct rj_key log = t_new_log(RJ_KEY_LOG), key;
	struct rj_store *s = open_layer();
	unsigned i, failed = 0;

	add(s, (struct rj_fault){.op = RJ_FAULT_PUT,
		       .kind = RJ_FAULT_FAIL,
		       .nth = 3,
		       .times = 2,
		       .code = RJ_E_NOSPACE});
	s->copying = true; /* what fails leaves a gap */
	for (i = 1; i <= 6; i++) {
		key = t_key(&log, i);
		if (rj_store_put_new(s, &key, "x", 1, &err)) {
			CU_ASSERT_EQUAL(err.code, RJ_E_NOSPACE);
			CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "injected"));
			CU_ASSERT_TRUE(i == 3 || i == 4);
			failed++;
		}
	}
	CU_ASSERT_EQUAL(failed, 2);
	rj_store_close(s);
}

static void until_cleared(void)
{
	struct rj_key log = t_new_log(RJ_KEY_LOG), key = t_key(&log, 1);
	struct rj_store *s = open_layer();
	struct rj_buf out = {0};
	struct t_list l = {0};
	int i;

	add(s, (struct rj_fault){.op = RJ_FAULT_ANY, .kind = RJ_FAULT_FAIL});
	for (i = 0; i < 3; i++) {
		T_FAILS(rj_store_put_new(s, &key, "x", 1, &err),
			RJ_E_UNREACHABLE, "put fails");
		T_FAILS(rj_store_get(s, &key, 1, &out, &err), RJ_E_UNREACHABLE,
			"get fails");
		T_FAILS(rj_store_list(s, &log, 0, t_list_add, &l, &err),
			RJ_E_UNREACHABLE, "list fails");
		T_FAILS(rj_store_remove(s, &key, &err), RJ_E_UNREACHABLE,
			"remove fails");
	}
	rj_fault_clear(s);
	T_FAILS(rj_store_get(s, &key, 1, &out, &err), RJ_E_NOTFOUND, "");
	rj_store_close(s);
}

static void a_lost_answer_is_done_all_the_same(void)
{
	struct rj_key log = t_new_log(RJ_KEY_LOG), key = t_key(&log, 1);
	struct rj_store *s = open_layer();
	struct rj_buf out = {0};

	add(s, (struct rj_fault){
		       .op = RJ_FAULT_PUT, .kind = RJ_FAULT_LOST, .times = 1});
	T_FAILS(rj_store_put_new(s, &key, "x", 1, &err), RJ_E_UNREACHABLE,
		"loses its answer");
	T_FAILS(rj_store_put_new(s, &key, "x", 1, &err), RJ_E_EXISTS, "");
	rj_fault_clear(s);
	add(s, (struct rj_fault){.op = RJ_FAULT_REMOVE,
		       .kind = RJ_FAULT_LOST,
		       .times = 1});
	T_FAILS(rj_store_remove(s, &key, &err), RJ_E_UNREACHABLE, "loses");
	T_FAILS(rj_store_get(s, &key, 1, &out, &err), RJ_E_NOTFOUND, "");
	rj_store_close(s);
}

static void half_is_nothing_but_in_a_list(void)
{
	struct rj_key log = t_new_log(RJ_KEY_LOG), key;
	struct rj_store *s = open_layer();
	struct rj_buf out = {0};
	struct t_list l = {0};
	unsigned i;

	for (i = 1; i <= 6; i++) {
		key = t_key(&log, i);
		T_WORKS(rj_store_put_new(s, &key, "x", 1, &err));
	}
	add(s, (struct rj_fault){.op = RJ_FAULT_ANY, .kind = RJ_FAULT_PARTIAL});
	T_FAILS(rj_store_get(s, &key, 1, &out, &err), RJ_E_UNREACHABLE,
		"half-way");
	CU_ASSERT_EQUAL(out.len, 0);
	T_FAILS(rj_store_list(s, &log, 0, t_list_add, &l, &err),
		RJ_E_UNREACHABLE, "half-way");
	CU_ASSERT_EQUAL(l.count, 3);
	key.number = 7;
	T_FAILS(rj_store_put_new(s, &key, "x", 1, &err), RJ_E_UNREACHABLE,
		"half-way");
	rj_fault_clear(s);
	T_FAILS(rj_store_get(s, &key, 1, &out, &err), RJ_E_NOTFOUND, "");
	rj_store_close(s);
}

static void a_delay_delays_and_then_works(void)
{
	struct rj_key log = t_new_log(RJ_KEY_LOG), key = t_key(&log, 1);
	struct rj_store *s = open_layer();
	int64_t ns = rj_monotonic_ns();

	add(s, (struct rj_fault){.op = RJ_FAULT_PUT,
		       .kind = RJ_FAULT_DELAY,
		       .delay_ms = 50});
	T_WORKS(rj_store_put_new(s, &key, "x", 1, &err));
	CU_ASSERT_TRUE(rj_monotonic_ns() - ns >= 50000000);
	rj_store_close(s);
}

static void faults_are_limited(void)
{
	struct rj_store *s = open_layer();
	struct rj_fault f = {.op = RJ_FAULT_ANY, .kind = RJ_FAULT_FAIL};
	int i;

	for (i = 0; i < 16; i++)
		CU_ASSERT_EQUAL(rj_fault_add(s, &f), 0);
	CU_ASSERT_EQUAL(rj_fault_add(s, &f), -RJ_E_NOSPACE);
	rj_store_close(s);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(without_faults_it_is_the_store_below),
		RJTEST(the_nth_call_fails_so_many_times),
		RJTEST(until_cleared),
		RJTEST(a_lost_answer_is_done_all_the_same),
		RJTEST(half_is_nothing_but_in_a_list),
		RJTEST(a_delay_delays_and_then_works),
		RJTEST(faults_are_limited),
	};
	const char *tmp = getenv("TMPDIR");
	char command[420];
	int status;

	snprintf(dir, sizeof(dir), "%s/rjtest.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return 99;
	snprintf(url, sizeof(url), "file://%s", dir);
	status = RJTEST_RUN("store-fault", tests);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		status = 99;
	return status;
}
