// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading with threads that fetch ahead gives exactly what reading one segment
 * after the other gives, whatever comes first and whatever fails, and so does
 * one stream from the store; it holds no more than it may, and leaves no thread
 * or handle open.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/common.h"
#include "log/prefetch.h"
#include "support/memstore.h"
#include "util/environ.h"

#define SEGMENTS 48 /* and the fence before them, which is number 1 */
#define LAST     (SEGMENTS + 1)

/* A layer over memory that can be dup'ed, and watches. */
struct watch {
	struct memshelf *shelf; /* NULL: on the store under test */
	atomic_uint handles, gets, most_gets;
	atomic_uint begun, used, most_held;
	atomic_uint all_gets, streams, streamed;
	uint64_t cut;      /* a stream ends before this one, with ... */
	int cut_rc;        /* ... this; 1: with the one after it */
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

enum way {
	ONE_BY_ONE,
	BY_THREADS,
	BY_STREAM
};

static struct rj_store *open_watched(struct watch *w, enum way way);

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

	w->all_gets++;
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
	if (rc == -RJ_E_NOTFOUND && key->number != w->lost) { /* that was the end of the log */
		w->all_gets--;
		w->begun--;
	}
	w->gets--;
	return rc;
}

struct passing {
	struct watch *w;
	rj_store_stream_fn fn;
	void *arg;
	struct rj_error *err;
};

static int w_pass(void *arg, uint64_t number, struct rj_buf *object)
{
	struct passing *p = arg;

	if (number == p->w->cut)
		return rj_fail(p->err, RJ_E_UNREACHABLE, "cut");
	raise_to(&p->w->most_held, ++p->w->begun - p->w->used);
	p->w->streamed++;
	return p->fn(p->arg, number, object);
}

/* Objects up to the first that is not there, or to the cut. */
static int w_stream(struct rj_store *s, const struct rj_key *dir, uint64_t from,
	size_t max, rj_store_stream_fn fn, void *arg, struct rj_error *err)
{
	struct watched *h = (struct watched *)s;
	struct watch *w = h->w;
	struct rj_key key = *dir;
	struct rj_buf buf = {0};
	struct passing pass = {w, fn, arg, err};
	int rc = 0;

	w->streams++;
	if (!w->shelf)
		return rj_store_stream(
			h->inner, dir, from, max, w_pass, &pass, err);
	for (key.number = from; !rc; key.number++) {
		buf.len = 0;
		if (key.number == w->cut && w->cut_rc <= 0) {
			rc = w->cut_rc ? rj_fail(err, (enum rj_code) - w->cut_rc,
						 "%s: cut", s->url)
				       : 0;
			break;
		}
		if (key.number == w->cut)
			key.number++;
		if (key.number == w->lost ||
			rj_store_get(h->inner, &key, max, &buf, err))
			break;
		raise_to(&w->most_held, ++w->begun - w->used);
		w->streamed++;
		rc = fn(arg, key.number, &buf);
		rj_buf_free(&buf); /* valid during the call */
	}
	rj_buf_free(&buf);
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
	*out = open_watched(w, s->ops->stream ? BY_STREAM : BY_THREADS);
	return 0;
}

static void w_close(struct rj_store *s)
{
	struct watched *h = (struct watched *)s;

	h->w->handles--;
	rj_store_close(h->inner);
	free(h);
}

static const struct rj_store_ops ops[] = {
	[ONE_BY_ONE] = {.get = w_get, .list = w_list, .close = w_close},
	[BY_THREADS] = {.get = w_get,
		.list = w_list,
		.dup = w_dup,
		.close = w_close},
	[BY_STREAM] = {.get = w_get,
		.list = w_list,
		.dup = w_dup,
		.stream = w_stream,
		.close = w_close},
};

static struct rj_store *open_watched(struct watch *w, enum way way)
{
	struct watched *h = calloc(1, sizeof(*h));

	if (!h)
		abort();
	h->inner = w->shelf ? memstore_open(w->shelf) : t_store();
	h->base = *h->inner;
	h->base.ops = &ops[way];
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

static void read_log(struct t_log *t, struct watch *w, enum way way,
	const struct rj_log_read_opts *opts, uint64_t fail_at,
	struct outcome *o)
{
	struct rj_store *s = open_watched(w, way);

	memset(o, 0, sizeof(*o));
	w->most_gets = w->most_held = w->begun = w->used = 0;
	w->all_gets = w->streams = w->streamed = 0;
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

static void same_outcome(const struct outcome *a, const struct outcome *b)
{
	CU_ASSERT_EQUAL(a->rc, b->rc);
	CU_ASSERT_EQUAL(a->err.code, b->err.code);
	CU_ASSERT_STRING_EQUAL(a->err.msg, b->err.msg);
	CU_ASSERT_EQUAL(memcmp(&a->sum, &b->sum, sizeof(a->sum)), 0);
	CU_ASSERT_EQUAL(a->seen.count, b->seen.count);
	CU_ASSERT_EQUAL(a->seen.disorder, 0);
	CU_ASSERT_EQUAL(memcmp(a->ring, b->ring, sizeof(a->ring)), 0);
}

/* Read all ways; the same must come of it. Leaves the one by threads in O. */
static void all_ways(struct t_log *t, struct watch *w,
	const struct rj_log_read_opts *opts, uint64_t fail_at,
	struct outcome *o)
{
	static struct outcome one;
	unsigned before;
	bool many;

	read_log(t, w, ONE_BY_ONE, opts, fail_at, &one);
	CU_ASSERT_TRUE(w->most_gets <= 1);
	many = one.sum.start && one.sum.start + 2 < one.sum.last;
	read_log(t, w, BY_STREAM, opts, fail_at, o);
	CU_ASSERT_EQUAL(w->streams, many);
	CU_ASSERT_TRUE(w->most_held <= RJ_PREFETCH_SEGMENTS + 2);
	same_outcome(o, &one);
	before = w->dups_left;
	read_log(t, w, BY_THREADS, opts, fail_at, o);
	if (many)
		CU_ASSERT_TRUE(w->dups_left < before); /* threads were there */
	CU_ASSERT_TRUE(w->most_gets <= RJ_PREFETCH_THREADS);
	same_outcome(o, &one);
}

static void in_order_whatever_comes_first(void)
{
	static struct outcome o;
	struct rj_log_read_opts opts = {.retry_ms = T_PATIENCE_MS};
	struct rj_log_tail tail;
	struct watch w;
	struct t_log t;

	make_log(&t, &w);
	w.uneven = true;
	all_ways(&t, &w, &opts, 0, &o);
	CU_ASSERT_EQUAL(o.rc, 0);
	CU_ASSERT_EQUAL(o.sum.segments, LAST);
	CU_ASSERT_EQUAL(memcmp(o.ring, t.ring->data, sizeof(o.ring)), 0);
	CU_ASSERT_TRUE(w.most_gets > 1);
	CU_ASSERT_TRUE(w.most_held <= RJ_PREFETCH_SEGMENTS + 1);
	opts.upto = 20;
	all_ways(&t, &w, &opts, 0, &o);
	CU_ASSERT_EQUAL(o.sum.tail.sequence, 20);
	tail = o.sum.tail;
	opts.upto = 0;
	opts.resume = &tail;
	all_ways(&t, &w, &opts, 0, &o);
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
	w.size_in_list = RJ_PREFETCH_BYTES / 4;
	all_ways(&t, &w, NULL, 0, &o);
	CU_ASSERT_EQUAL(o.rc, 0);
	/* 4, and the last one, which was read for the start */
	CU_ASSERT_TRUE(w.most_held <= 5);
	CU_ASSERT_TRUE(w.most_held > 2);
	w.size_in_list = RJ_PREFETCH_BYTES * 2ull;
	all_ways(&t, &w, NULL, 0, &o);
	CU_ASSERT_EQUAL(o.rc, 0);
	w.size_in_list = UINT64_MAX;
	all_ways(&t, &w, NULL, 0, &o);
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
		all_ways(&t, &w, &opts, 0, &o);
		CU_ASSERT_EQUAL(o.rc, -RJ_E_GAP);
		CU_ASSERT_EQUAL(o.sum.bad_sequence, w.lost);
		if (w.lost % 7)
			continue;
		w.away = true;
		all_ways(&t, &w, &opts, 0, &o);
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
		all_ways(&t, &w, NULL, 0, &o);
		CU_ASSERT_EQUAL(o.rc, -RJ_E_CORRUPT);
		CU_ASSERT_EQUAL(o.sum.bad_sequence, n);
		CU_ASSERT_EQUAL(o.sum.segments, n == LAST ? 0 : n - 1);
		t_get(&t, n % LAST + 1, &other);
		t_replace(&t, n, other.data, other.len);
		all_ways(&t, &w, NULL, 0, &o);
		CU_ASSERT_EQUAL(o.rc, -RJ_E_CORRUPT);
		CU_ASSERT_EQUAL(o.sum.bad_sequence, n);
		t_replace(&t, n, "", 0);
		all_ways(&t, &w, NULL, 0, &o);
		CU_ASSERT_EQUAL(o.rc, -RJ_E_CORRUPT);
		t_replace(&t, n, good.data, good.len);
	}
	t.id.volume_uuid[0] ^= 1;
	all_ways(&t, &w, NULL, 0, &o);
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
		all_ways(&t, &w, &opts, 0, &o);
		CU_ASSERT_EQUAL(o.rc, -RJ_E_CANCELLED);
		CU_ASSERT_EQUAL(o.seen.count, n);
		all_ways(&t, &w, NULL, n, &o);
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
	read_log(&t, &w, BY_THREADS, &opts, 0, &o);
	CU_ASSERT_EQUAL(o.rc, -RJ_E_CANCELLED);
	CU_ASSERT_TRUE(rj_monotonic_ns() - ns < 40000000000);
	end_log(&t, &w);
}

/* Nothing is asked for twice, nothing but the stream is asked for, and no more
 * of it is taken than is wanted. */
static void one_stream_is_enough(void)
{
	static struct outcome o;
	struct rj_log_read_opts opts = {.upto = 30};
	struct watch w;
	struct t_log t;

	make_log(&t, &w);
	read_log(&t, &w, BY_STREAM, NULL, 0, &o);
	CU_ASSERT_EQUAL(o.rc, 0);
	CU_ASSERT_EQUAL(o.sum.segments, LAST);
	CU_ASSERT_EQUAL(memcmp(o.ring, t.ring->data, sizeof(o.ring)), 0);
	CU_ASSERT_EQUAL(w.streams, 1);
	CU_ASSERT_EQUAL(w.streamed, LAST - 1);
	CU_ASSERT_EQUAL(w.all_gets, 1); /* the last one, for the start */
	read_log(&t, &w, BY_STREAM, &opts, 0, &o);
	CU_ASSERT_EQUAL(o.rc, 0);
	CU_ASSERT_EQUAL(w.streamed, 29);
	CU_ASSERT_EQUAL(w.all_gets, 1);
	w.size_in_list = RJ_PREFETCH_BYTES / 4;
	read_log(&t, &w, BY_STREAM, NULL, 0, &o);
	CU_ASSERT_EQUAL(o.rc, 0);
	/* 4, the last one, and one that waits for room */
	CU_ASSERT_TRUE(w.most_held <= 6);
	w.size_in_list = RJ_PREFETCH_BYTES * 2ull;
	read_log(&t, &w, BY_STREAM, NULL, 0, &o);
	CU_ASSERT_EQUAL(o.rc, 0);
	CU_ASSERT_EQUAL(w.all_gets, 1);
	end_log(&t, &w);
}

static void what_a_stream_does_not_bring_is_fetched(void)
{
	static const int how[] = {0, 1, -RJ_E_UNREACHABLE, -RJ_E_CORRUPT,
		-RJ_E_PROTOCOL, -RJ_E_UNSUPPORTED};
	static struct outcome o;
	struct watch w;
	struct t_log t;
	unsigned i;

	make_log(&t, &w);
	for (w.cut = 1; w.cut < LAST; w.cut++)
		for (i = 0; i < sizeof(how) / sizeof(*how); i++) {
			w.cut_rc = how[i];
			w.uneven = w.cut % 16 == 0;
			read_log(&t, &w, BY_STREAM, NULL, 0, &o);
			CU_ASSERT_EQUAL(o.rc, 0);
			CU_ASSERT_EQUAL(o.sum.segments, LAST);
			CU_ASSERT_EQUAL(o.seen.disorder, 0);
			CU_ASSERT_EQUAL(memcmp(o.ring, t.ring->data,
						sizeof(o.ring)),
				0);
			CU_ASSERT_EQUAL(w.streams, 1);
			CU_ASSERT_EQUAL(w.all_gets, LAST - w.cut + 1);
		}
	end_log(&t, &w);
}

/* The same on a real server: whole, broken off, and stopped. */
static void from_a_real_store(void)
{
	static const uint64_t cuts[] = {0, 1, 2, 20, LAST - 1};
	static struct outcome o;
	uint64_t n = 1;
	struct rj_log_read_opts opts = {
		.progress = stop_at, .progress_arg = &n};
	struct watch w = {.dups_left = 1000000};
	struct t_log t;
	unsigned i;

	t_log_begin(&t);
	if (!t.raw->ops->stream) {
		t_log_end(&t);
		rjtest_skip("this store has no streams");
		return;
	}
	t_log_fill(&t, SEGMENTS);
	for (i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		w.cut = cuts[i];
		all_ways(&t, &w, NULL, 0, &o);
		CU_ASSERT_EQUAL(o.rc, 0);
		CU_ASSERT_EQUAL(memcmp(o.ring, t.ring->data, sizeof(o.ring)),
			0);
		read_log(&t, &w, BY_STREAM, NULL, 0, &o);
		CU_ASSERT_EQUAL(w.streamed, (w.cut ? w.cut : LAST) - 1);
		CU_ASSERT_EQUAL(w.all_gets, 1 + LAST - 1 - w.streamed);
	}
	w.cut = 0;
	for (; n <= LAST; n += 7)
		all_ways(&t, &w, &opts, 0, &o);
	CU_ASSERT_EQUAL(o.rc, -RJ_E_CANCELLED);
	CU_ASSERT_EQUAL(w.handles, 0);
	t_log_end(&t);
}

/* The last number there is: nothing is fetched after it. */
static void up_to_the_last_number_by(enum way way)
{
	struct rj_range range = {UINT64_MAX - 20, UINT64_MAX};
	struct rj_listing l = {0};
	struct rj_fetched *f;
	struct rj_prefetch *a;
	struct rj_store *s;
	struct rj_key key;
	struct watch w;
	struct t_log t;
	uint64_t n;

	make_log(&t, &w);
	s = open_watched(&w, way);
	CU_ASSERT_EQUAL(rj_buf_append(&l.ranges, &range, sizeof(range)), 0);
	for (n = 0; n <= 20; n++) {
		CU_ASSERT_EQUAL(rj_buf_append(&l.bytes, &(uint32_t){9}, 4), 0);
		key = rj_log_key(&t.id, RJ_KEY_LOG, range.first + n);
		CU_ASSERT_EQUAL(
			rj_store_put_new(t.raw, &key, "no seal.", 9, NULL), 0);
	}
	a = rj_prefetch_start(s, &t.id, &l, range.first, range.last, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	for (n = 0; n <= 20; n++) {
		f = rj_prefetch_next(a);
		CU_ASSERT_EQUAL(f->fetch_rc, 0);
		CU_ASSERT_EQUAL(f->bytes.len, 9);
		CU_ASSERT_EQUAL(f->open_rc, -RJ_E_CORRUPT);
	}
	rj_prefetch_stop(a);
	CU_ASSERT_EQUAL(w.begun, 21);
	CU_ASSERT_EQUAL(w.streamed, way == BY_STREAM ? 21 : 0);
	rj_store_close(s);
	rj_listing_free(&l);
	end_log(&t, &w);
}

static void up_to_the_last_number(void)
{
	up_to_the_last_number_by(BY_THREADS);
	up_to_the_last_number_by(BY_STREAM);
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
		read_log(&t, &w, BY_THREADS, NULL, 0, &o);
		CU_ASSERT_EQUAL(o.rc, 0);
		CU_ASSERT_EQUAL(o.sum.segments, LAST);
		CU_ASSERT_TRUE(w.most_gets <= (i ? i : 1));
		w.dups_left = i;
		read_log(&t, &w, BY_STREAM, NULL, 0, &o);
		CU_ASSERT_EQUAL(o.rc, 0);
		CU_ASSERT_EQUAL(o.sum.segments, LAST);
		CU_ASSERT_EQUAL(w.streams, 0);
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
		RJTEST(one_stream_is_enough),
		RJTEST(what_a_stream_does_not_bring_is_fetched),
		RJTEST(from_a_real_store),
		RJTEST(up_to_the_last_number),
		RJTEST(few_handles_or_none_will_do),
	};

	return RJTEST_RUN("log-ahead", tests);
}
