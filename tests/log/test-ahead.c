// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading with threads that fetch ahead gives exactly what reading one segment
 * after the other gives, whatever comes first and whatever fails; it holds no
 * more than it may, and leaves no thread or handle behind.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/ahead.h"
#include "log/common.h"
#include "support/memstore.h"
#include "util/environ.h"

#define SEGMENTS 48 /* and the fence before them, which is number 1 */
#define LAST     (SEGMENTS + 1)

/* A layer over memory that can be dup'ed, and watches. */
struct watch {
	struct memshelf *shelf;
	atomic_uint handles, gets, most_gets;
	atomic_uint begun, used, most_held;
	unsigned dups_left;    /* then dup fails */
	uint64_t size_in_list; /* not 0: what listings say of each */
	uint64_t lost;         /* this segment is listed and not there */
	bool away;             /* or its store does not answer */
	bool uneven;           /* later ones come first */
};

struct watched {
	struct rj_store base;
	struct rj_store *inner;
	struct watch *w;
};

static struct rj_store *open_watched(struct watch *w, bool with_dup);

static void raise_to(atomic_uint *most, unsigned n)
{
	unsigned old = *most;

	while (n > old && !atomic_compare_exchange_weak(most, &old, n))
		;
}

static int w_get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	struct watched *h = (struct watched *)s;
	struct watch *w = h->w;
	int rc;

	raise_to(&w->most_gets, ++w->gets);
	raise_to(&w->most_held, ++w->begun - w->used);
	if (w->uneven)
		rj_sleep_ns((int64_t)(key->number % 8 ? 100000 : 2000000));
	if (key->number == w->lost)
		rc = w->away ? rj_fail(err, RJ_E_UNREACHABLE, "%s: away",
				       s->url)
			     : rj_fail(err, RJ_E_NOTFOUND, "%s: no such object",
				       s->url);
	else
		rc = rj_store_get(h->inner, key, max, out, err);
	w->gets--;
	return rc;
}

struct relist {
	rj_store_list_fn fn;
	void *arg;
	uint64_t bytes;
};

static int w_list_one(void *arg, uint64_t number, uint64_t bytes)
{
	struct relist *r = arg;

	return r->fn(r->arg, number, r->bytes ? r->bytes : bytes);
}

static int w_list(struct rj_store *s, const struct rj_key *dir, uint64_t after,
	rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	struct watched *h = (struct watched *)s;
	struct relist r = {fn, arg, h->w->size_in_list};

	return rj_store_list(h->inner, dir, after, w_list_one, &r, err);
}

static int w_dup(
	struct rj_store *s, struct rj_store **out, struct rj_error *err)
{
	struct watch *w = ((struct watched *)s)->w;

	if (!w->dups_left)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	w->dups_left--;
	*out = open_watched(w, true);
	return 0;
}

static void w_close(struct rj_store *s)
{
	struct watched *h = (struct watched *)s;

	h->w->handles--;
	rj_store_close(h->inner);
	free(h);
}

static const struct rj_store_ops with_dup_ops = {
	.get = w_get, .list = w_list, .dup = w_dup, .close = w_close};
static const struct rj_store_ops without_dup_ops = {
	.get = w_get, .list = w_list, .close = w_close};

static struct rj_store *open_watched(struct watch *w, bool with_dup)
{
	struct watched *h = calloc(1, sizeof(*h));

	if (!h)
		abort();
	h->inner = memstore_open(w->shelf);
	h->base = *h->inner;
	h->base.ops = with_dup ? &with_dup_ops : &without_dup_ops;
	h->w = w;
	w->handles++;
	return &h->base;
}

/* A log of LAST segments in W's shelf, through T's functions. */
static void make_log(struct t_log *t, struct watch *w)
{
	memset(w, 0, sizeof(*w));
	memset(t, 0, sizeof(*t));
	w->shelf = memshelf_new();
	w->dups_left = 1000000;
	t->raw = memstore_open(w->shelf);
	if (rj_uuid_random(t->id.volume_uuid) ||
		rj_uuid_random(t->id.journal_uuid) ||
		rj_fault_open(memstore_open(w->shelf), &t->store, &t->err) ||
		rj_ring_new(T_BLOCK, T_BLOCKS, &t->ring, &t->err) ||
		rj_ring_new(T_BLOCK, T_BLOCKS, &t->seen, &t->err))
		abort();
	t_log_fill(t, SEGMENTS);
}

static void end_log(struct t_log *t, struct watch *w)
{
	CU_ASSERT_EQUAL(w->handles, 0);
	CU_ASSERT_EQUAL(w->gets, 0);
	t_log_end(t);
	memshelf_free(w->shelf);
}

struct seen {
	struct watch *w;
	struct rj_ring *ring;
	uint64_t count, disorder, before, fail_at;
};

static int take(void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	struct seen *s = arg;

	s->w->used++;
	s->disorder += s->before && seg->header.sequence != s->before + 1;
	s->before = seg->header.sequence;
	if (s->before == s->fail_at)
		return rj_fail(err, RJ_E_NOSPACE, "the sink is full");
	s->count++;
	return rj_ring_apply(s->ring, seg, err);
}

struct outcome {
	int rc;
	struct rj_error err;
	struct rj_log_summary sum;
	struct seen seen;
	uint8_t ring[T_BLOCK * T_BLOCKS];
};

static void read_log(struct t_log *t, struct watch *w, bool with_dup,
	const struct rj_log_read_opts *opts, uint64_t fail_at,
	struct outcome *o)
{
	struct rj_store *s = open_watched(w, with_dup);

	memset(o, 0, sizeof(*o));
	w->most_gets = w->most_held = w->begun = w->used = 0;
	o->seen.w = w;
	o->seen.fail_at = fail_at;
	if (rj_ring_new(T_BLOCK, T_BLOCKS, &o->seen.ring, &o->err))
		abort();
	o->rc = rj_log_read(s, &t->id, opts, take, &o->seen, &o->sum, &o->err);
	CU_ASSERT_EQUAL(w->handles, 1); /* all threads' are closed */
	CU_ASSERT_EQUAL(w->gets, 0);
	memcpy(o->ring, o->seen.ring->data, sizeof(o->ring));
	rj_ring_free(o->seen.ring);
	o->seen.ring = NULL;
	rj_store_close(s);
}

/* Read both ways; the same must come of it. Leaves the parallel one in O. */
static void both_ways(struct t_log *t, struct watch *w,
	const struct rj_log_read_opts *opts, uint64_t fail_at,
	struct outcome *o)
{
	static struct outcome one;
	unsigned before;

	read_log(t, w, false, opts, fail_at, &one);
	CU_ASSERT_TRUE(w->most_gets <= 1);
	before = w->dups_left;
	read_log(t, w, true, opts, fail_at, o);
	if (one.sum.start && one.sum.start + 2 < one.sum.last)
		CU_ASSERT_TRUE(w->dups_left < before); /* threads were there */
	CU_ASSERT_TRUE(w->most_gets <= RJ_AHEAD_THREADS);
	CU_ASSERT_EQUAL(o->rc, one.rc);
	CU_ASSERT_EQUAL(o->err.code, one.err.code);
	CU_ASSERT_STRING_EQUAL(o->err.msg, one.err.msg);
	CU_ASSERT_EQUAL(memcmp(&o->sum, &one.sum, sizeof(one.sum)), 0);
	CU_ASSERT_EQUAL(o->seen.count, one.seen.count);
	CU_ASSERT_EQUAL(o->seen.disorder, 0);
	CU_ASSERT_EQUAL(memcmp(o->ring, one.ring, sizeof(one.ring)), 0);
}

static void in_order_whatever_comes_first(void)
{
	static struct outcome o;
	struct rj_log_read_opts opts = {.retry_ms = 200};
	struct rj_log_tail tail;
	struct watch w;
	struct t_log t;

	make_log(&t, &w);
	w.uneven = true;
	both_ways(&t, &w, &opts, 0, &o);
	CU_ASSERT_EQUAL(o.rc, 0);
	CU_ASSERT_EQUAL(o.sum.segments, LAST);
	CU_ASSERT_EQUAL(memcmp(o.ring, t.ring->data, sizeof(o.ring)), 0);
	CU_ASSERT_TRUE(w.most_gets > 1);
	CU_ASSERT_TRUE(w.most_held <= RJ_AHEAD_SEGMENTS + 1);
	opts.upto = 20;
	both_ways(&t, &w, &opts, 0, &o);
	CU_ASSERT_EQUAL(o.sum.tail.sequence, 20);
	tail = o.sum.tail;
	opts.upto = 0;
	opts.resume = &tail;
	both_ways(&t, &w, &opts, 0, &o);
	CU_ASSERT_EQUAL(o.sum.segments, LAST - 20);
	end_log(&t, &w);
}

/* At most so many at once by what the listing says, and never none. */
static void bytes_are_bounded(void)
{
	static struct outcome o;
	struct watch w;
	struct t_log t;

	make_log(&t, &w);
	w.uneven = true;
	w.size_in_list = RJ_AHEAD_BYTES / 4;
	both_ways(&t, &w, NULL, 0, &o);
	CU_ASSERT_EQUAL(o.rc, 0);
	/* 4, and the last one, which was read for the start */
	CU_ASSERT_TRUE(w.most_held <= 5);
	CU_ASSERT_TRUE(w.most_held > 2);
	w.size_in_list = RJ_AHEAD_BYTES * 2ull;
	both_ways(&t, &w, NULL, 0, &o);
	CU_ASSERT_EQUAL(o.rc, 0);
	w.size_in_list = UINT64_MAX;
	both_ways(&t, &w, NULL, 0, &o);
	CU_ASSERT_EQUAL(o.rc, 0);
	end_log(&t, &w);
}

static void a_lost_segment_anywhere(void)
{
	static struct outcome o;
	struct rj_log_read_opts opts = {.retry_ms = 1};
	struct watch w;
	struct t_log t;

	make_log(&t, &w);
	for (w.lost = 1; w.lost <= LAST; w.lost++) {
		w.away = false;
		both_ways(&t, &w, &opts, 0, &o);
		CU_ASSERT_EQUAL(o.rc, -RJ_E_GAP);
		CU_ASSERT_EQUAL(o.sum.bad_sequence, w.lost);
		if (w.lost % 7)
			continue;
		w.away = true;
		both_ways(&t, &w, &opts, 0, &o);
		CU_ASSERT_EQUAL(o.rc, -RJ_E_UNREACHABLE);
		CU_ASSERT_EQUAL(
			o.sum.segments, w.lost == LAST ? 0 : w.lost - 1);
	}
	w.lost = 0;
	end_log(&t, &w);
}

/* Bytes that fail by themselves, by the chain, and by their owner. */
static void a_damaged_segment_anywhere(void)
{
	static struct outcome o;
	struct rj_buf good = {0}, other = {0};
	struct watch w;
	struct t_log t;
	uint64_t n;

	make_log(&t, &w);
	for (n = 1; n <= LAST; n++) {
		t_get(&t, n, &good);
		t_flip(&t, n, good.len - 1);
		both_ways(&t, &w, NULL, 0, &o);
		CU_ASSERT_EQUAL(o.rc, -RJ_E_CORRUPT);
		CU_ASSERT_EQUAL(o.sum.bad_sequence, n);
		CU_ASSERT_EQUAL(o.sum.segments, n == LAST ? 0 : n - 1);
		t_get(&t, n % LAST + 1, &other);
		t_replace(&t, n, other.data, other.len);
		both_ways(&t, &w, NULL, 0, &o);
		CU_ASSERT_EQUAL(o.rc, -RJ_E_CORRUPT);
		CU_ASSERT_EQUAL(o.sum.bad_sequence, n);
		t_replace(&t, n, "", 0);
		both_ways(&t, &w, NULL, 0, &o);
		CU_ASSERT_EQUAL(o.rc, -RJ_E_CORRUPT);
		t_replace(&t, n, good.data, good.len);
	}
	t.id.volume_uuid[0] ^= 1;
	both_ways(&t, &w, NULL, 0, &o);
	CU_ASSERT_EQUAL(o.rc, -RJ_E_FOREIGN);
	rj_buf_free(&good);
	rj_buf_free(&other);
	end_log(&t, &w);
}

static int stop_at(void *arg, uint64_t done, uint64_t total)
{
	return done == *(uint64_t *)arg;
}

static void stopped_anywhere(void)
{
	static struct outcome o;
	uint64_t n;
	struct rj_log_read_opts opts = {
		.progress = stop_at, .progress_arg = &n};
	struct watch w;
	struct t_log t;

	make_log(&t, &w);
	for (n = 1; n <= LAST; n++) {
		w.uneven = n % 16 == 0;
		both_ways(&t, &w, &opts, 0, &o);
		CU_ASSERT_EQUAL(o.rc, -RJ_E_CANCELLED);
		CU_ASSERT_EQUAL(o.seen.count, n);
		both_ways(&t, &w, NULL, n, &o);
		CU_ASSERT_EQUAL(o.rc, -RJ_E_NOSPACE);
		CU_ASSERT_EQUAL(o.seen.count, n - 1);
	}
	end_log(&t, &w);
}

/* A stopped read does not wait out the patience of threads ahead of it. */
static void stopping_ends_patience(void)
{
	static struct outcome o;
	uint64_t n = 1;
	struct rj_log_read_opts opts = {
		.progress = stop_at, .progress_arg = &n, .retry_ms = 60000};
	int64_t ns = rj_monotonic_ns();
	struct watch w;
	struct t_log t;

	make_log(&t, &w);
	w.lost = 4;
	w.away = true;
	read_log(&t, &w, true, &opts, 0, &o);
	CU_ASSERT_EQUAL(o.rc, -RJ_E_CANCELLED);
	CU_ASSERT_TRUE(rj_monotonic_ns() - ns < 5000000000);
	end_log(&t, &w);
}

/* The last number there is: nothing is fetched behind it. */
static void up_to_the_last_number(void)
{
	struct rj_range range = {UINT64_MAX - 20, UINT64_MAX};
	struct rj_listing l = {0};
	struct rj_ahead *a;
	struct rj_store *s;
	struct watch w;
	struct t_log t;
	uint64_t n;

	make_log(&t, &w);
	s = open_watched(&w, true);
	CU_ASSERT_EQUAL(rj_buf_append(&l.ranges, &range, sizeof(range)), 0);
	for (n = 0; n <= 20; n++)
		CU_ASSERT_EQUAL(rj_buf_append(&l.bytes, &(uint32_t){9}, 4), 0);
	a = rj_ahead_start(s, &t.id, &l, range.first, range.last, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	for (n = 0; n <= 20; n++)
		CU_ASSERT_EQUAL(rj_ahead_next(a)->fetch_rc, -RJ_E_GAP);
	rj_ahead_stop(a);
	CU_ASSERT_EQUAL(w.begun, 21);
	rj_store_close(s);
	rj_listing_free(&l);
	end_log(&t, &w);
}

static void few_handles_or_none_will_do(void)
{
	static struct outcome o;
	struct watch w;
	struct t_log t;
	unsigned i;

	make_log(&t, &w);
	for (i = 0; i < 3; i++) {
		w.dups_left = i;
		read_log(&t, &w, true, NULL, 0, &o);
		CU_ASSERT_EQUAL(o.rc, 0);
		CU_ASSERT_EQUAL(o.sum.segments, LAST);
		CU_ASSERT_TRUE(w.most_gets <= (i ? i : 1));
	}
	end_log(&t, &w);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(in_order_whatever_comes_first),
		RJTEST(bytes_are_bounded),
		RJTEST(a_lost_segment_anywhere),
		RJTEST(a_damaged_segment_anywhere),
		RJTEST(stopped_anywhere),
		RJTEST(stopping_ends_patience),
		RJTEST(up_to_the_last_number),
		RJTEST(few_handles_or_none_will_do),
	};

	return RJTEST_RUN("log-ahead", tests);
}
