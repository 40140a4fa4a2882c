// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/probe-run.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/thread.h"
#include "util/environ.h"

#define WATCHED       6
#define WATCHED_BYTES (1u << 20)

struct rj_key probe_key(
	const struct probe_run *r, enum rj_key_kind kind, uint64_t number)
{
	struct rj_key key = {.kind = kind, .number = number};

	memcpy(key.journal_uuid, r->out->journal_uuid, RJ_UUID_BYTES);
	return key;
}

void probe_not(struct probe_run *r, const char *why, const char *detail)
{
	r->out->mode = RJ_PROBE_NONE;
	if (r->out->why[0])
		return;
	if (snprintf(r->out->why, sizeof(r->out->why), "%s%s%s", why,
		    detail ? ": " : "", detail ? detail : "") >=
		(int)sizeof(r->out->why))
		strcpy(r->out->why + sizeof(r->out->why) - 4, "...");
}

/* Try again while the store does not answer, for a while. */
int probe_put(struct rj_store *s, const struct rj_key *key, const void *data,
	size_t len, bool *doubt, struct rj_error *err)
{
	int64_t until = rj_monotonic_ns() + PROBE_RETRY_NS, pause = PROBE_PAUSE_NS;
	int rc;

	*doubt = false;
	while ((rc = rj_store_put_new(s, key, data, len, err)) ==
			-RJ_E_UNREACHABLE &&
		rj_monotonic_ns() < until) {
		*doubt = true; /* it may have been stored */
		rj_sleep_ns(pause); /* a server that is slow gets slower by more requests */
		pause *= 2;
	}
	return rc;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t quantile(const uint64_t *sorted, unsigned n, unsigned percent)
{
	return sorted[(uint64_t)(n - 1) * percent / 100];
}

struct seek {
	uint64_t number;
	bool seen;
};

static int seek(void *arg, uint64_t number, uint64_t bytes)
{
	struct seek *s = arg;

	s->seen |= number == s->number;
	return 0;
}

/* The handle that put N is told about it by a list and by a get of the other
 * one; in mode B the writer's own, as only that reads its own epoch for sure. */
static int look_for(struct probe_run *r, uint64_t n, const void *data,
	uint64_t *get_us, struct rj_error *err)
{
	struct rj_key dir = probe_key(r, RJ_KEY_LOG, 0);
	struct rj_key key = probe_key(r, RJ_KEY_LOG, n);
	struct seek s = {.number = n};
	struct rj_buf got = {0};
	int64_t start;
	int rc;

	rc = rj_store_list(r->other, &dir, n - 1, seek, &s, err);
	if (rc)
		return rc;
	r->out->lists++;
	r->out->stale += !s.seen;
	start = rj_monotonic_ns();
	rc = rj_store_get(r->other, &key, PROBE_MAX, &got, err);
	*get_us = (uint64_t)(rj_monotonic_ns() - start) / 1000;
	if (rc == -RJ_E_NOTFOUND) {
		r->out->stale++;
		rc = 0;
	} else if (!rc) {
		r->out->looks++;
		r->out->partial +=
			got.len != r->out->put_bytes ||
			memcmp(got.data, data, r->out->put_bytes) != 0;
	}
	rj_buf_free(&got);
	return rc;
}

static int measure(struct probe_run *r, uint8_t *data, uint64_t *put_us,
	uint64_t *get_us, struct rj_error *err)
{
	struct rj_probe *p = r->out;
	struct rj_key key;
	int64_t start;
	bool doubt;
	unsigned i;
	int rc;

	/* in mode B the writer must have an epoch of its own */
	key = probe_key(r, RJ_KEY_EPOCH, ++r->epochs);
	rc = probe_put(r->store, &key, "measure\n", 8, &doubt, err);
	if (rc == -RJ_E_EXISTS) /* ours, its answer lost: the key is new */
		rc = 0;
	for (i = 0; !rc && i < p->puts; i++) {
		key = probe_key(r, RJ_KEY_LOG, ++r->objects);
		if (rj_random_bytes(data, p->put_bytes))
			return rj_fail(err, RJ_E_IO, "no random bytes");
		start = rj_monotonic_ns();
		rc = probe_put(
			r->store, &key, data, p->put_bytes, &doubt, err);
		put_us[i] = (uint64_t)(rj_monotonic_ns() - start) / 1000;
		if (rc == -RJ_E_EXISTS) /* ours: its bytes are looked at */
			rc = 0;
		if (!rc)
			rc = look_for(r, r->objects, data, &get_us[i], err);
	}
	return rc;
}

int probe_measure(struct probe_run *r, struct rj_error *err)
{
	struct rj_probe *p = r->out;
	uint64_t *put_us = calloc(p->puts, sizeof(*put_us));
	uint64_t *get_us = calloc(p->puts, sizeof(*get_us));
	uint8_t *data = malloc(p->put_bytes);
	int rc;

	if (!put_us || !get_us || !data)
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	else
		rc = measure(r, data, put_us, get_us, err);
	if (!rc) {
		qsort(put_us, p->puts, sizeof(*put_us), by_size);
		qsort(get_us, p->puts, sizeof(*get_us), by_size);
		p->put_p50_us = quantile(put_us, p->puts, 50);
		p->put_p99_us = quantile(put_us, p->puts, 99);
		p->put_max_us = put_us[p->puts - 1];
		p->get_p50_us = quantile(get_us, p->puts, 50);
		if (p->stale)
			probe_not(r,
				"a list or a get did not know of an object "
				"that had been acknowledged",
				NULL);
	}
	free(put_us);
	free(get_us);
	free(data);
	return rc;
}

struct writer {
	struct probe_run *run;
	const uint8_t *data;
	struct rj_error err;
	int rc;
	bool done;
};

static void *write_watched(void *arg)
{
	struct writer *w = arg;
	struct probe_run *r = w->run;
	bool doubt;
	unsigned i;

	for (i = 1; !w->rc && i <= WATCHED; i++) {
		struct rj_key key =
			probe_key(r, RJ_KEY_LOG, r->objects + i);

		w->rc = probe_put(r->store, &key, w->data, WATCHED_BYTES,
			&doubt, &w->err);
		if (w->rc == -RJ_E_EXISTS) /* ours: its bytes are looked at */
			w->rc = 0;
	}
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Look at the object that is being put until it is there. */
static int watch_one(struct probe_run *r, struct writer *w, unsigned i,
	struct rj_error *err)
{
	struct rj_key key = probe_key(r, RJ_KEY_LOG, r->objects + i);
	struct rj_buf got = {0};
	bool done;
	int rc;

	do {
		done = __atomic_load_n(&w->done, __ATOMIC_ACQUIRE);
		got.len = 0;
		rc = rj_store_get(r->other, &key, PROBE_MAX, &got, err);
		r->out->looks++;
		if (!rc)
			r->out->partial +=
				got.len != WATCHED_BYTES ||
				memcmp(got.data, w->data, got.len) != 0;
	} while (rc == -RJ_E_NOTFOUND && !done);
	rj_buf_free(&got);
	return rc == -RJ_E_NOTFOUND ? 0 : rc;
}

int probe_watch(struct probe_run *r, struct rj_error *err)
{
	uint8_t *data = malloc(WATCHED_BYTES);
	struct writer w = {.run = r, .data = data};
	pthread_t thread;
	unsigned i;
	int rc = 0;

	if (!data || rj_random_bytes(data, WATCHED_BYTES) ||
		rj_thread_start(&thread, write_watched, &w)) {
		free(data);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	for (i = 1; !rc && i <= WATCHED; i++)
		rc = watch_one(r, &w, i, err);
	pthread_join(thread, NULL);
	r->objects += WATCHED;
	free(data);
	if (r->out->partial)
		probe_not(r, "a reader saw a part of an object", NULL);
	if (!rc && w.rc) {
		*err = w.err;
		rc = w.rc;
	}
	return rc;
}
