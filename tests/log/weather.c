// SPDX-License-Identifier: GPL-2.0-or-later
#include "log/weather.h"

#include <stdlib.h>
#include <string.h>

struct handle {
	struct rj_store base;
	struct rj_store *inner;
	struct weather *w;
	const bool *cut;
};

static uint64_t state;
static void (*meanwhile)(void *arg);
static void *meanwhile_arg;
static unsigned calls_left;
static void (*at_call)(void *arg);
static void *at_call_arg;
static bool spare, silent;

void weather_meanwhile(void (*fn)(void *arg), void *arg)
{
	meanwhile = fn;
	meanwhile_arg = arg;
}

void weather_spare(bool on)
{
	spare = on;
}

void weather_at(unsigned n, void (*fn)(void *arg), void *arg)
{
	calls_left = n;
	at_call = fn;
	at_call_arg = arg;
}

void weather_silence(bool on)
{
	silent = on;
}

void weather_seed(uint64_t seed)
{
	state = seed * 2862933555777941757u + 3037000493u;
	weather_rnd(2);
}

uint32_t weather_rnd(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

static struct handle *of(struct rj_store *s)
{
	return (struct handle *)s;
}

enum weather_fate weather_judge(const struct weather *w, const bool *cut)
{
	void (*fn)(void *arg) = meanwhile;
	void *arg = meanwhile_arg;

	if (calls_left && !--calls_left)
		at_call(at_call_arg);
	if (fn && !weather_rnd(4)) {
		meanwhile = NULL; /* not while it acts, unless it says so */
		fn(arg);
		weather_meanwhile(fn, arg);
	}
	if (silent)
		return WEATHER_FAILS;
	if (w->away || (cut && *cut))
		return weather_rnd(8) ? WEATHER_FAILS : WEATHER_LATE;
	if (weather_rnd(100) >= w->bad)
		return WEATHER_DONE;
	return (enum weather_fate)(1 + weather_rnd(3));
}

static enum weather_fate judge(const struct handle *h)
{
	return weather_judge(h->w, h->cut);
}

static int unreachable(struct rj_store *s, struct rj_error *err)
{
	return rj_fail(err, RJ_E_UNREACHABLE, "%s: away", s->url);
}

static void keep(struct weather *w, const struct rj_key *key, const void *data,
	size_t len)
{
	if (w->puts == sizeof(w->put) / sizeof(w->put[0]))
		return;
	w->put[w->puts].data = malloc(len);
	if (!w->put[w->puts].data)
		exit(99);
	memcpy(w->put[w->puts].data, data, len);
	w->put[w->puts].key = *key;
	w->put[w->puts++].len = len;
}

void weather_deliver(struct weather *w, bool all)
{
	unsigned i;

	while (w->puts) {
		i = weather_rnd(w->puts);
		rj_store_put_new(w->late, &w->put[i].key, w->put[i].data,
			w->put[i].len, NULL);
		free(w->put[i].data);
		w->put[i] = w->put[--w->puts];
		if (!all)
			break;
	}
}

void weather_drop(struct weather *w)
{
	while (w->puts)
		free(w->put[--w->puts].data);
}

static int put_new(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	struct handle *h = of(s);
	enum weather_fate fate = judge(h);

	h->inner->copying = s->copying;
	if (fate == WEATHER_LATE)
		keep(h->w, key, data, len);
	if (fate == WEATHER_LOST)
		rj_store_put_new(h->inner, key, data, len, NULL);
	return fate == WEATHER_DONE ? rj_store_put_new(h->inner, key, data, len, err)
			    : unreachable(s, err);
}

static int get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	return judge(of(s)) == WEATHER_DONE
		       ? rj_store_get(of(s)->inner, key, max, out, err)
		       : unreachable(s, err);
}

static int list(struct rj_store *s, const struct rj_key *dir, uint64_t after,
	rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	return judge(of(s)) == WEATHER_DONE
		       ? rj_store_list(of(s)->inner, dir, after, fn, arg, err)
		       : unreachable(s, err);
}

static int drop(
	struct rj_store *s, const struct rj_key *key, struct rj_error *err)
{
	return judge(of(s)) == WEATHER_DONE
		       ? rj_store_remove(of(s)->inner, key, err)
		       : unreachable(s, err);
}

static int dup(struct rj_store *s, struct rj_store **out, struct rj_error *err)
{
	struct rj_store *inner = NULL;
	int rc = spare ? rj_store_dup(of(s)->inner, &inner, err)
		       : rj_fail(err, RJ_E_UNSUPPORTED, "no handle to spare");

	if (!rc)
		*out = weather_open(of(s)->w, of(s)->cut, inner);
	return rc;
}

static void close_handle(struct rj_store *s)
{
	rj_store_close(of(s)->inner);
	free(s);
}

static const struct rj_store_ops ops = {
	.put_new = put_new,
	.get = get,
	.list = list,
	.remove = drop,
	.dup = dup,
	.close = close_handle,
};

struct rj_store *weather_open(
	struct weather *w, const bool *cut, struct rj_store *inner)
{
	struct handle *h = calloc(1, sizeof(*h));

	if (!h || !inner)
		exit(99);
	h->base = *inner;
	h->base.ops = &ops;
	h->inner = inner;
	h->w = w;
	h->cut = cut;
	return &h->base;
}
