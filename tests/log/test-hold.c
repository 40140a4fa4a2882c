// SPDX-License-Identifier: GPL-2.0-or-later
/* What a hold keeps from trimming, and that none slips in between. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "log/common.h"
#include "log/hold.h"
#include "log/trim.h"
#include "util/environ.h"

#define DAY 86400

static int64_t ahead_s; /* of the real clock */
static int64_t slept;   /* ns, without a wait */

static int64_t later(void *arg)
{
	struct timespec t;

	(void)arg;
	clock_gettime(CLOCK_REALTIME, &t);
	return (t.tv_sec + ahead_s) * 1000000000ll + t.tv_nsec;
}

static int64_t steady(void *arg)
{
	struct timespec t;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec + slept;
}

static void no_sleep(void *arg, int64_t ns)
{
	(void)arg;
	slept += ns;
}

static int any(void *arg, void *out, size_t len)
{
	(void)arg;
	return getrandom(out, len, 0) == (ssize_t)len ? 0 : -RJ_E_IO;
}

static const struct rj_environ world = {.realtime_ns = later,
	.monotonic_ns = steady,
	.sleep_ns = no_sleep,
	.random_bytes = any};

static struct rj_hold put(struct t_log *t, uint64_t seconds)
{
	struct rj_hold h = {0};

	T_WORKS(t, rj_hold_put(t->store, &t->id, "test", seconds, &h, &t->err));
	return h;
}

static void put_text(struct t_log *t, uint64_t number, const char *text)
{
	struct rj_key key = rj_log_key(&t->id, RJ_KEY_HOLD, number);

	T_WORKS(t, rj_store_put_new(
			   t->raw, &key, text, strlen(text), &t->err));
}

static struct rj_log_trim_report trim(
	struct t_log *t, const struct rj_log_trim_opts *o)
{
	struct rj_log_trim_report r;

	T_WORKS(t, rj_log_trim(t->store, &t->id, o, &r, &t->err));
	return r;
}

static int add(void *arg, uint64_t number, uint64_t bytes)
{
	(void)number;
	(void)bytes;
	++*(unsigned *)arg;
	return 0;
}

static unsigned segments(struct t_log *t)
{
	struct rj_key dir = rj_log_key(&t->id, RJ_KEY_LOG, 0);
	unsigned n = 0;

	T_WORKS(t, rj_store_list(t->raw, &dir, 0, add, &n, &t->err));
	return n;
}

/* 1 fence, 2..6 data; W goes on. The last one's oldest is 1. */
static struct rj_log_writer *begin(struct t_log *t)
{
	struct rj_log_writer *w;
	unsigned i;

	t_log_begin(t);
	w = t_claim(t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	for (i = 0; i < 5; i++)
		CU_ASSERT_EQUAL(t_append(t, w, i, 1, (uint8_t)(i + 1)), 0);
	return w;
}

static void it_keeps_until_it_expires(void)
{
	struct rj_log_trim_opts o = {.below = UINT64_MAX};
	struct rj_log_writer *w;
	struct rj_hold first, second;
	struct t_log t;

	ahead_s = 0;
	rj_environ_set(&world);
	w = begin(&t);
	CU_ASSERT_EQUAL(t_append_base(&t, w), 0); /* 7 */
	first = put(&t, 2 * DAY);
	CU_ASSERT_EQUAL(first.first, 7);
	CU_ASSERT_EQUAL(t_append(&t, w, 1, 1, 9), 0);
	CU_ASSERT_EQUAL(t_append_base(&t, w), 0); /* 9 */
	second = put(&t, 5 * DAY);
	CU_ASSERT_EQUAL(second.first, 9);
	CU_ASSERT_EQUAL(t_append(&t, w, 1, 1, 9), 0);
	CU_ASSERT_EQUAL(t_append_base(&t, w), 0); /* 11 */
	/* what nothing needs goes */
	CU_ASSERT_EQUAL(trim(&t, &o).limit, 7);
	CU_ASSERT_EQUAL(segments(&t), 6);
	CU_ASSERT_EQUAL(trim(&t, &o).hold.number, first.number);
	ahead_s = 2 * DAY - 60;
	CU_ASSERT_EQUAL(trim(&t, &o).limit, 7);
	ahead_s = 2 * DAY + 1;
	CU_ASSERT_EQUAL(trim(&t, &o).limit, 9);
	CU_ASSERT_EQUAL(segments(&t), 4);
	T_WORKS(&t, rj_hold_remove(t.store, &t.id, second.number, &t.err));
	CU_ASSERT_EQUAL(trim(&t, &o).limit, 11);
	CU_ASSERT_EQUAL(segments(&t), 2);
	T_FAILS(&t, rj_hold_remove(t.store, &t.id, second.number, &t.err),
		RJ_E_NOTFOUND, "");
	rj_log_writer_free(w);
	t_log_end(&t);
	rj_environ_set(NULL);
}

static void only_the_holds_are_looked_at(void)
{
	struct rj_log_trim_opts o = {.below = UINT64_MAX};
	struct rj_log_writer *w;
	unsigned long gets;
	struct rj_hold h;
	struct t_log t;

	w = begin(&t);
	h = put(&t, DAY);
	CU_ASSERT_EQUAL(h.first, 1);
	CU_ASSERT_EQUAL(t_append_base(&t, w), 0); /* 7 */
	o.held_from = 1;
	gets = rj_fault_calls(t.store, RJ_FAULT_LIST);
	CU_ASSERT_EQUAL(trim(&t, &o).limit, 1);
	CU_ASSERT_EQUAL(rj_fault_calls(t.store, RJ_FAULT_LIST), gets + 1);
	T_WORKS(&t, rj_hold_remove(t.store, &t.id, h.number, &t.err));
	CU_ASSERT_EQUAL(trim(&t, &o).limit, 7);
	CU_ASSERT_EQUAL(segments(&t), 2);
	rj_log_writer_free(w);
	t_log_end(&t);
}

static void nothing_goes_when_in_doubt(void)
{
	struct rj_log_trim_opts o = {.below = UINT64_MAX, .retry_ms = 1};
	struct rj_log_trim_report r;
	struct rj_log_writer *w;
	struct t_log t;
	int i;

	w = begin(&t);
	CU_ASSERT_EQUAL(t_append_base(&t, w), 0);
	/* the second list is that of the holds */
	t_fault(&t, RJ_FAULT_LIST, RJ_FAULT_FAIL, 2, 1000);
	CU_ASSERT_EQUAL(rj_log_trim(t.store, &t.id, &o, &r, &t.err),
		-RJ_E_UNREACHABLE);
	CU_ASSERT(r.limit == 0 && r.segments == 0);
	rj_fault_clear(t.store);
	put_text(&t, 5, "rj-hold 2\nof a later version\n");
	T_FAILS(&t, rj_log_trim(t.store, &t.id, &o, &r, &t.err), RJ_E_CORRUPT,
		"--hold=5");
	T_WORKS(&t, rj_hold_remove(t.store, &t.id, 5, &t.err));
	/* sound, and not in its place */
	put_text(&t, 6,
		"rj-hold 1\nhold 7\njournal 00112233-4455-6677-8899-aabbccddeeff\nfirst 42\nhost -\nprogram x\ntime 2026-01-31T23:59:59Z\nuntil 2026-01-31T23:59:59Z\n");
	T_FAILS(&t, rj_log_trim(t.store, &t.id, &o, &r, &t.err), RJ_E_CORRUPT,
		"hold 6");
	T_WORKS(&t, rj_hold_remove(t.store, &t.id, 6, &t.err));
	/* its text does not come */
	put(&t, DAY);
	t_fault(&t, RJ_FAULT_GET, RJ_FAULT_FAIL, 1, 1000);
	CU_ASSERT_EQUAL(rj_log_trim(t.store, &t.id, &o, &r, &t.err),
		-RJ_E_UNREACHABLE);
	rj_fault_clear(t.store);
	for (i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(segments(&t), 7);
	rj_log_writer_free(w);
	t_log_end(&t);
}

static void an_answer_that_is_lost(void)
{
	struct rj_buf all = {0};
	struct rj_log_writer *w;
	struct rj_hold h;
	struct t_log t;

	w = begin(&t);
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_LOST, 1, 1);
	h = put(&t, DAY);
	T_WORKS(&t, rj_hold_list(t.store, &t.id, 0, &all, &t.err));
	CU_ASSERT_EQUAL(all.len, sizeof(struct rj_hold_seen));
	t_fault(&t, RJ_FAULT_REMOVE, RJ_FAULT_LOST, 1, 1);
	T_WORKS(&t, rj_hold_remove(t.store, &t.id, h.number, &t.err));
	rj_buf_free(&all);
	rj_log_writer_free(w);
	t_log_end(&t);
}

/* The store lists a hold, and does not have its text. */
struct forgetful {
	struct rj_store base;
	struct rj_store *inner;
	bool removes; /* it was removed in between */
};

static int f_get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	struct forgetful *f = (struct forgetful *)s;

	if (key->kind != RJ_KEY_HOLD)
		return rj_store_get(f->inner, key, max, out, err);
	if (f->removes)
		return rj_store_remove(f->inner, key, err) ? -RJ_E_IO : -RJ_E_NOTFOUND;
	return rj_fail(err, RJ_E_NOTFOUND, "no such object");
}

static int f_list(struct rj_store *s, const struct rj_key *dir, uint64_t after,
	rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	return rj_store_list(((struct forgetful *)s)->inner, dir, after, fn, arg, err);
}

static const struct rj_store_ops forgetful_ops = {.get = f_get, .list = f_list};

static void one_that_is_listed_is_there(void)
{
	struct rj_log_trim_opts o = {.below = UINT64_MAX};
	struct rj_log_trim_report r;
	struct rj_buf all = {0};
	struct forgetful f = {0};
	struct rj_log_writer *w;
	struct t_log t;

	w = begin(&t);
	put(&t, DAY);
	CU_ASSERT_EQUAL(t_append_base(&t, w), 0);
	f.base = *t.raw;
	f.base.ops = &forgetful_ops;
	f.inner = t.raw;
	T_FAILS(&t, rj_log_trim(&f.base, &t.id, &o, &r, &t.err), RJ_E_CORRUPT,
		"cannot be read");
	CU_ASSERT_EQUAL(segments(&t), 7);
	f.removes = true;
	T_WORKS(&t, rj_hold_list(&f.base, &t.id, 0, &all, &t.err));
	CU_ASSERT_EQUAL(all.len, 0);
	rj_buf_free(&all);
	rj_log_writer_free(w);
	t_log_end(&t);
}

/* Its maker learns its number, to remove it or to tell it. */
static void a_put_without_an_answer(void)
{
	struct rj_hold h = {0};
	struct rj_log_writer *w;
	struct t_log t;

	rj_environ_set(&world);
	w = begin(&t);
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_LOST, 1, 1000);
	CU_ASSERT_NOT_EQUAL(rj_hold_put(t.store, &t.id, "test", DAY, &h, &t.err), 0);
	rj_fault_clear(t.store);
	CU_ASSERT_NOT_EQUAL(h.number, 0);
	T_WORKS(&t, rj_hold_remove(t.store, &t.id, h.number, &t.err));
	rj_log_writer_free(w);
	t_log_end(&t);
	rj_environ_set(NULL);
}

/* A handle that does something else before its call number AT, once. */
struct between {
	struct rj_store base;
	struct rj_store *inner;
	int at;
	void (*act)(void *arg);
	void *arg;
};

static struct rj_store *step(struct rj_store *s)
{
	struct between *b = (struct between *)s;

	if (!b->at--)
		b->act(b->arg);
	return b->inner;
}

static int b_get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	return rj_store_get(step(s), key, max, out, err);
}

static int b_list(struct rj_store *s, const struct rj_key *dir, uint64_t after,
	rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	return rj_store_list(step(s), dir, after, fn, arg, err);
}

static int b_remove(
	struct rj_store *s, const struct rj_key *key, struct rj_error *err)
{
	return rj_store_remove(step(s), key, err);
}

static const struct rj_store_ops between_ops = {
	.get = b_get, .list = b_list, .remove = b_remove};

struct race {
	struct t_log *t;
	struct rj_log_writer *w;
	uint64_t from; /* the maker's; 0: it was not its turn yet */
};

/* The maker: a hold, then the end of the log. After that the log goes on, and its
 * next segments need less. */
static void make(void *arg)
{
	struct race *r = arg;
	struct rj_listing l = {0};

	put(r->t, DAY);
	T_WORKS(r->t, rj_listing_end(r->t->raw, &r->t->id, false, 0, &l,
			      &r->t->err));
	r->from = l.last;
	rj_listing_free(&l);
	CU_ASSERT_EQUAL(t_append_base(r->t, r->w), 0);
	CU_ASSERT_EQUAL(t_append(r->t, r->w, 5, 1, 77), 0);
}

/* One trimming, in which the maker gets its turn before each of its requests. */
static bool race_at(int at, uint64_t epoch)
{
	struct rj_log_trim_opts o = {.below = UINT64_MAX, .epoch = epoch};
	struct rj_log_read_opts upto = {.retry_ms = T_PATIENCE_MS};
	struct between b = {.at = at, .act = make};
	struct rj_log_trim_report report;
	struct race r;
	struct t_log t;

	r.w = begin(&t);
	r.t = &t;
	r.from = 0;
	CU_ASSERT_EQUAL(t_append_base(&t, r.w), 0); /* 7 */
	CU_ASSERT_EQUAL(t_append(&t, r.w, 1, 1, 9), 0);
	if (!epoch) /* by a limit that was read before: rjlog prune */
		T_WORKS(&t, rj_log_trim_limit(
				    t.store, &t.id, &o.below, &o.until_ns, &t.err));
	b.base = *t.raw;
	b.base.ops = &between_ops;
	b.inner = t.raw;
	b.arg = &r;
	T_WORKS(&t, rj_log_trim(&b.base, &t.id, &o, &report, &t.err));
	if (r.from) {
		upto.upto = r.from;
		T_WORKS(&t, t_read(&t, &upto)); /* all that the base needs */
	}
	rj_log_writer_free(r.w);
	t_log_end(&t);
	return r.from;
}

static void no_turn_is_the_wrong_one(void)
{
	int at;

	for (at = 0; race_at(at, 1); at++)
		;
	/* lists, header, holds, and five segments of which one goes at a time */
	CU_ASSERT(at > 6);
	for (at = 0; race_at(at, 0); at++)
		;
	CU_ASSERT(at > 5);
}

/* Any account can put it into its empty log, and any store can list it. */
static void the_last_number_of_all(void)
{
	struct rj_range range = {UINT64_MAX - 1, UINT64_MAX};
	uint32_t bytes[] = {7, 8};
	struct rj_listing l = {.first = range.first, .last = range.last};

	CU_ASSERT_EQUAL(rj_buf_append(&l.ranges, &range, sizeof(range)), 0);
	CU_ASSERT_EQUAL(rj_buf_append(&l.bytes, bytes, sizeof(bytes)), 0);
	CU_ASSERT_EQUAL(rj_hold_bytes(&l, 0, UINT64_MAX), 7);
	CU_ASSERT_EQUAL(rj_hold_bytes(&l, UINT64_MAX, UINT64_MAX), 0);
	rj_listing_free(&l);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(it_keeps_until_it_expires),
		RJTEST(only_the_holds_are_looked_at),
		RJTEST(nothing_goes_when_in_doubt),
		RJTEST(an_answer_that_is_lost),
		RJTEST(one_that_is_listed_is_there),
		RJTEST(a_put_without_an_answer),
		RJTEST(no_turn_is_the_wrong_one),
		RJTEST(the_last_number_of_all),
	};
	int status = RJTEST_RUN("log-hold", tests);

	t_store_done();
	return status;
}
