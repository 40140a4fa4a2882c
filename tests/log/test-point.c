// SPDX-License-Identifier: GPL-2.0-or-later
/* Named marks: one of a name, found, listed in order, removed. */
#include <string.h>

#include "log/common.h"
#include "log/past/point.h"

static struct rj_point put(struct t_log *t, const char *name, uint64_t segment)
{
	struct rj_point p = {0};

	T_WORKS(t, rj_point_put(t->store, &t->id, name, segment, "test", &p, &t->err));
	return p;
}

static void one_of_a_name(void)
{
	struct rj_point p, q;
	struct t_log t;

	t_log_begin(&t);
	T_FAILS(&t, rj_point_find(t.store, &t.id, "a", 0, &p, &t.err), RJ_E_NOTFOUND, "no mark a");
	p = put(&t, "a", 7);
	T_FAILS(&t, rj_point_put(t.store, &t.id, "a", 9, "test", &q, &t.err), RJ_E_EXISTS,
		"a mark a already, at segment 7");
	T_FAILS(&t, rj_point_check(t.store, &t.id, "a", &t.err), RJ_E_EXISTS, "another name");
	T_WORKS(&t, rj_point_check(t.store, &t.id, "b", &t.err));
	T_FAILS(&t, rj_point_check(t.store, &t.id, "a/b", &t.err), RJ_E_INVAL, "no name");
	T_FAILS(&t, rj_point_put(t.store, &t.id, "", 9, "test", &q, &t.err), RJ_E_INVAL, "");
	T_WORKS(&t, rj_point_find(t.raw, &t.id, "a", 0, &q, &t.err));
	CU_ASSERT(q.segment == 7 && q.time == p.time);
	CU_ASSERT_STRING_EQUAL(q.name, "a");
	T_WORKS(&t, rj_point_remove(t.store, &t.id, "a", &t.err));
	T_FAILS(&t, rj_point_remove(t.store, &t.id, "a", &t.err), RJ_E_NOTFOUND, "");
	put(&t, "a", 9);
	t_log_end(&t);
}

/* Where a put replaces what is there, only the look before it finds the other. */
static void an_answer_that_is_lost(void)
{
	struct rj_point q;
	struct t_log t;

	t_log_begin(&t);
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_LOST, 1, 1);
	put(&t, "a", 3);
	T_WORKS(&t, rj_point_find(t.raw, &t.id, "a", 0, &q, &t.err));
	CU_ASSERT_EQUAL(q.segment, 3);
	t_log_end(&t);
}

static void by_segment(void)
{
	struct rj_key key;
	struct rj_buf all = {0};
	const struct rj_point *p;
	unsigned bad;
	struct t_log t;

	t_log_begin(&t);
	T_WORKS(&t, rj_point_list(t.store, &t.id, 0, &all, &bad, &t.err));
	CU_ASSERT(!all.len && !bad);
	put(&t, "late", 30);
	put(&t, "early", 2);
	put(&t, "b", 5);
	put(&t, "a", 5);
	key = rj_log_key(&t.id, RJ_KEY_POINT, 5);
	T_WORKS(&t, rj_store_put_new(t.raw, &key, "of a later version\n", 19, &t.err));
	T_WORKS(&t, rj_point_list(t.store, &t.id, 0, &all, &bad, &t.err));
	CU_ASSERT_EQUAL(bad, 1);
	CU_ASSERT_EQUAL_FATAL(all.len, 4 * sizeof(*p));
	p = (const void *)all.data;
	CU_ASSERT_STRING_EQUAL(p[0].name, "early");
	CU_ASSERT_STRING_EQUAL(p[1].name, "a");
	CU_ASSERT_STRING_EQUAL(p[2].name, "b");
	CU_ASSERT_STRING_EQUAL(p[3].name, "late");
	rj_buf_free(&all);
	t_log_end(&t);
}

static void gone(void)
{
	struct rj_point p = {.segment = 6};
	struct rj_listing l = {0};
	struct rj_key key;
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 8); /* 1 fence, 2..9 */
	T_WORKS(&t, rj_listing_log(t.store, &t.id, 0, 0, &l, &t.err));
	CU_ASSERT(!rj_point_gone(&p, &l));
	rj_listing_free(&l);
	key = rj_log_key(&t.id, RJ_KEY_LOG, 7);
	T_WORKS(&t, rj_store_remove(t.raw, &key, &t.err));
	memset(&l, 0, sizeof(l));
	T_WORKS(&t, rj_listing_log(t.store, &t.id, 0, 0, &l, &t.err));
	/* an older base still reaches it, or the list was made while 7 was put */
	CU_ASSERT(!rj_point_gone(&p, &l));
	p.segment = 7;
	CU_ASSERT(rj_point_gone(&p, &l));
	p.segment = 8;
	CU_ASSERT(!rj_point_gone(&p, &l));
	/* the log lost its end */
	p.segment = 10;
	CU_ASSERT(!rj_point_gone(&p, &l));
	rj_listing_free(&l);
	t_log_end(&t);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(one_of_a_name),
		RJTEST(an_answer_that_is_lost),
		RJTEST(by_segment),
		RJTEST(gone),
	};
	int status = RJTEST_RUN("log-point", tests);

	t_store_done();
	return status;
}
