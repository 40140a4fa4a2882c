// SPDX-License-Identifier: LGPL-2.1-or-later
/* Threads that fetch segments and check their seals ahead of the reader. */
#include "log/prefetch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "os/thread.h"

/* Where segment n is, or will be: slots[n % RJ_PREFETCH_SEGMENTS]. */
struct slot {
	struct rj_fetched fetched;
	uint64_t bytes; /* counted in held */
	bool ready;
};

struct worker {
	struct rj_prefetch *a;
	struct rj_store *store;
	pthread_t thread;
	bool running;
};

/*
 * One of three states: a stream is under way, its thread begins segments and
 * the workers only check them; there is none (any more), the workers fetch what
 * it did not bring; stop.
 */
struct rj_prefetch {
	const struct rj_log_id *id;
	const struct rj_listing *listing;
	int retry_ms;
	atomic_bool stop;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t space;  /* a segment may be begun, or stop */
	pthread_cond_t came;  /* one came by the stream, or it is over, or stop */
	pthread_cond_t ready; /* a segment came */
	uint64_t left;        /* not yet begun */
	uint64_t begin;       /* the next to fetch */
	uint64_t check;       /* the next of the stream's to check; or BEGIN */
	bool streaming;
	uint64_t want;        /* the next to hand out */
	bool lent;            /* want - 1 is with the caller */
	uint64_t held; /* bytes fetched or being fetched, by the listing */
	struct slot slots[RJ_PREFETCH_SEGMENTS];
	struct worker workers[RJ_PREFETCH_THREADS];
	struct worker streamer;
};

static struct slot *slot_of(struct rj_prefetch *a, uint64_t n)
{
	return &a->slots[n % RJ_PREFETCH_SEGMENTS];
}

/* The first that is held. */
static uint64_t oldest(const struct rj_prefetch *a)
{
	return a->lent ? a->want - 1 : a->want;
}

/* Is there space for BYTES more? Where nothing is held there always is: the segment
 * that the reader waits for is always fetched. */
static bool may_begin(const struct rj_prefetch *a, uint64_t bytes)
{
	if (a->begin - oldest(a) >= RJ_PREFETCH_SEGMENTS)
		return false;
	return a->begin == a->want || a->held + bytes <= RJ_PREFETCH_BYTES;
}

/* BYTES of the next segment will come. */
static uint64_t begin_next(struct rj_prefetch *a, uint64_t bytes)
{
	uint64_t number = a->begin++;

	a->left--;
	a->held += bytes;
	slot_of(a, number)->bytes = bytes;
	return number;
}

/* Take the next number to check (*CAME) or to fetch; false: there is none. */
static bool take(struct rj_prefetch *a, uint64_t *number, bool *came)
{
	uint64_t bytes;
	bool got = false;

	*came = false;
	pthread_mutex_lock(&a->lock);
	while (!a->stop && !got) {
		bytes = rj_listing_bytes(a->listing, a->begin);
		if (a->check != a->begin) {
			*number = a->check++;
			*came = got = true;
		} else if (a->streaming) {
			pthread_cond_wait(&a->came, &a->lock);
		} else if (!a->left) {
			break;
		} else if (may_begin(a, bytes)) {
			*number = begin_next(a, bytes);
			a->check = a->begin;
			got = true;
		} else {
			pthread_cond_wait(&a->space, &a->lock);
		}
	}
	pthread_mutex_unlock(&a->lock);
	return got;
}

static void fetch(struct worker *w, uint64_t number, struct rj_fetched *f)
{
	struct rj_prefetch *a = w->a;

	f->fetch_rc = rj_log_fetch_until(w->store, a->id, number, a->retry_ms,
		&a->stop, &f->bytes, &f->fetch_err);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct rj_prefetch *a = w->a;
	struct rj_fetched *f;
	uint64_t number;
	bool came;

	while (take(a, &number, &came)) {
		f = &slot_of(a, number)->fetched;
		f->open_rc = 0;
		if (!came)
			fetch(w, number, f);
		if (!f->fetch_rc)
			f->open_rc = rj_segment_open_with(f->bytes.data,
				f->bytes.len, a->id->key, &f->seg,
				&f->open_err);
		pthread_mutex_lock(&a->lock);
		slot_of(a, number)->ready = true;
		if (number == a->want)
			pthread_cond_signal(&a->ready);
		pthread_mutex_unlock(&a->lock);
	}
	return NULL;
}

/* Wait for space for NUMBER, which the stream brought. False: it is of no use,
 * or we are to stop. */
static bool wait_for_space(
	struct rj_prefetch *a, uint64_t number, uint64_t bytes)
{
	while (!a->stop && a->left && number == a->begin &&
		!may_begin(a, bytes))
		pthread_cond_wait(&a->space, &a->lock);
	return !a->stop && a->left && number == a->begin;
}

/* Not 0 ends the stream, whatever it is: what is missing will be fetched. */
static int on_object(void *arg, uint64_t number, struct rj_buf *object)
{
	struct rj_prefetch *a = arg;
	uint64_t bytes = rj_listing_bytes(a->listing, number);
	struct rj_fetched *f;
	struct rj_buf old;
	int end = 1;

	pthread_mutex_lock(&a->lock);
	if (!wait_for_space(a, number, bytes))
		goto out;
	f = &slot_of(a, number)->fetched;
	f->fetch_rc = 0;
	old = f->bytes; /* its memory is good for the next of the stream */
	f->bytes = *object;
	*object = old;
	begin_next(a, bytes);
	pthread_cond_signal(&a->came);
	end = !a->left;
out:
	pthread_mutex_unlock(&a->lock);
	return end;
}

/* Whether it ended well is of no interest: it brought what it brought, and the
 * rest is fetched one by one, with patience and with the right errors. */
static void *run_stream(void *arg)
{
	struct worker *w = arg;
	struct rj_prefetch *a = w->a;
	struct rj_key dir = rj_log_key(a->id, RJ_KEY_LOG, 0);
	struct rj_error unseen;

	rj_store_stream(w->store, &dir, a->begin, RJ_SEG_MAX_BYTES, on_object,
		a, &unseen);
	pthread_mutex_lock(&a->lock);
	a->streaming = false;
	pthread_cond_broadcast(&a->came);
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* The caller is through with the segment that was handed out. */
static void give_back(struct rj_prefetch *a)
{
	struct slot *s = slot_of(a, a->want - 1);

	if (!a->lent)
		return;
	rj_segment_release(&s->fetched.seg);
	s->ready = false;
	a->held -= s->bytes;
	a->lent = false;
	pthread_cond_broadcast(&a->space);
}

struct rj_fetched *rj_prefetch_next(struct rj_prefetch *a)
{
	struct slot *s;

	pthread_mutex_lock(&a->lock);
	give_back(a);
	s = slot_of(a, a->want);
	while (!s->ready)
		pthread_cond_wait(&a->ready, &a->lock);
	a->want++;
	a->lent = true;
	pthread_mutex_unlock(&a->lock);
	return &s->fetched;
}

static void end_worker(struct worker *w)
{
	if (w->running)
		pthread_join(w->thread, NULL);
	rj_store_close(w->store);
}

void rj_prefetch_stop(struct rj_prefetch *a)
{
	unsigned i;

	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_broadcast(&a->space);
	pthread_cond_broadcast(&a->came);
	pthread_mutex_unlock(&a->lock);
	end_worker(&a->streamer);
	for (i = 0; i < RJ_PREFETCH_THREADS; i++)
		end_worker(&a->workers[i]);
	for (i = 0; i < RJ_PREFETCH_SEGMENTS; i++) {
		rj_segment_release(&a->slots[i].fetched.seg);
		rj_buf_free(&a->slots[i].fetched.bytes);
	}
	pthread_cond_destroy(&a->ready);
	pthread_cond_destroy(&a->came);
	pthread_cond_destroy(&a->space);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static bool start_one(struct rj_prefetch *a, struct worker *w,
	struct rj_store *store, void *(*run)(void *))
{
	w->a = a;
	if (rj_store_dup(store, &w->store, NULL))
		return false;
	w->running = !rj_thread_start(&w->thread, run, w);
	return w->running;
}

/* Start up to COUNT workers, as many as the system allows, and the stream, if
 * possible. Returns how many workers there are. */
static unsigned start_threads(
	struct rj_prefetch *a, struct rj_store *store, unsigned count)
{
	unsigned i;

	a->streaming = store->ops->stream != NULL;
	for (i = 0; i < count; i++)
		if (!start_one(a, &a->workers[i], store, work))
			break;
	if (i && a->streaming &&
		!start_one(a, &a->streamer, store, run_stream)) {
		pthread_mutex_lock(&a->lock);
		a->streaming = false;
		pthread_cond_broadcast(&a->came);
		pthread_mutex_unlock(&a->lock);
	}
	return i;
}

struct rj_prefetch *rj_prefetch_start(struct rj_store *store,
	const struct rj_log_id *id, const struct rj_listing *l, uint64_t first,
	uint64_t last, int retry_ms)
{
	struct rj_prefetch *a;
	unsigned count;

	if (first >= last || !store->ops->dup) /* one is no work to share */
		return NULL;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->id = id;
	a->listing = l;
	a->retry_ms = retry_ms;
	a->begin = a->check = a->want = first;
	a->left = last - first + 1;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->space, NULL);
	pthread_cond_init(&a->came, NULL);
	pthread_cond_init(&a->ready, NULL);
	count = store->caps.exclusive_container ? RJ_PREFETCH_LOGINS : RJ_PREFETCH_THREADS;
	if (last - first < count)
		count = (unsigned)(last - first + 1);
	if (start_threads(a, store, count))
		return a;
	rj_prefetch_stop(a);
	return NULL;
}
