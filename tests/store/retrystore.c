// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/retrystore.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/fault.h"
#include "support/rjtest.h"

#define TRIES  200
#define MAX    (32u << 20)

struct retry {
	struct rj_store base;
	struct rj_store *inner;
	bool faulty; /* it is a layer of faults */
};

/* Keys that some handle of this process was told are there: another put of one
 * of them cannot be an attempt of its own. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rj_buf acked;

static bool same(const struct rj_key *a, const struct rj_key *b)
{
	return a->kind == b->kind && a->number == b->number &&
	       rj_uuid_equal(a->journal_uuid, b->journal_uuid);
}

static bool knows(const struct rj_key *key, bool forget)
{
	struct rj_key *k;
	bool found = false;

	pthread_mutex_lock(&lock);
	k = (void *)acked.data;
	for (size_t i = 0; i < acked.len / sizeof(*k); i++) {
		if (!same(&k[i], key))
			continue;
		found = true;
		if (forget)
			k[i].number = 0;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

/* Those of DIR below BELOW are perhaps gone. */
static void forget_below(const struct rj_key *dir, uint64_t below)
{
	struct rj_key *k;

	pthread_mutex_lock(&lock);
	k = (void *)acked.data;
	for (size_t i = 0; i < acked.len / sizeof(*k); i++)
		if (k[i].kind == dir->kind && k[i].number < below &&
			rj_uuid_equal(k[i].journal_uuid, dir->journal_uuid))
			k[i].number = 0;
	pthread_mutex_unlock(&lock);
}

static void note(const struct rj_key *key)
{
	pthread_mutex_lock(&lock);
	if (rj_buf_append(&acked, key, sizeof(*key)))
		exit(99);
	pthread_mutex_unlock(&lock);
}

static atomic_uint harm_state;

static void begin_harm(void)
{
	harm_state = (unsigned)rjtest_seed();
}

/* $RJ_TEST_FAULTS percent of the calls fail, in the layer that retrystore_open()
 * was given, each kind in turn. */
static void harm(struct rj_store *layer)
{
	static const enum rj_fault_kind kinds[] = {RJ_FAULT_FAIL, RJ_FAULT_LOST,
		RJ_FAULT_PARTIAL, RJ_FAULT_DELAY};
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static atomic_uint turn;
	unsigned now;

	pthread_once(&once, begin_harm);
	now = atomic_fetch_add(&harm_state, 2654435761u);
	now ^= now >> 15;
	rj_fault_clear(layer);
	if ((now * 2246822519u >> 16) % 100 >=
		(unsigned)atoi(getenv("RJ_TEST_FAULTS")))
		return;
	if (rj_fault_add(layer,
		    &(struct rj_fault){.op = RJ_FAULT_ANY,
			    .kind = kinds[atomic_fetch_add(&turn, 1) % 4],
			    .times = 1,
			    .delay_ms = 3}))
		exit(99);
}

static struct rj_store *inner_of(struct rj_store *s)
{
	struct retry *r = (struct retry *)s;

	if (r->faulty)
		harm(r->inner);
	return r->inner;
}

static bool again(int rc, int *tries)
{
	if (rc != -RJ_E_UNREACHABLE || ++*tries == TRIES)
		return false;
	usleep(2000);
	return true;
}

static int retry_get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	int tries = 0, rc;

	do
		rc = rj_store_get(inner_of(s), key, max, out, err);
	while (again(rc, &tries));
	return rc;
}

static bool ours(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len)
{
	struct rj_buf got = {0};
	bool yes = !retry_get(s, key, MAX, &got, NULL) && got.len == len &&
		   (!len || !memcmp(got.data, data, len));

	rj_buf_free(&got);
	return yes;
}

static int retry_put_new(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	bool known = knows(key, false);
	int tries = 0, rc;

	do
		rc = rj_store_put_new(inner_of(s), key, data, len, err);
	while (again(rc, &tries));
	/* also after one try: libcurl itself sends a request again when a
	 * connection that it had kept dies before an answer */
	if (rc == -RJ_E_EXISTS && !known && ours(s, key, data, len))
		rc = 0;
	if (!rc)
		note(key);
	return rc;
}

struct entry {
	uint64_t number, bytes;
};

static int keep(void *arg, uint64_t number, uint64_t bytes)
{
	struct entry e = {number, bytes};

	return rj_buf_append(arg, &e, sizeof(e));
}

static int retry_list(struct rj_store *s, const struct rj_key *dir,
	uint64_t after, rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	struct rj_buf all = {0};
	const struct entry *e;
	int tries = 0, rc;

	do {
		all.len = 0;
		rc = rj_store_list(inner_of(s), dir, after, keep, &all, err);
	} while (again(rc, &tries));
	e = (const void *)all.data;
	for (size_t i = 0; !rc && i < all.len / sizeof(*e); i++)
		rc = fn(arg, e[i].number, e[i].bytes);
	rj_buf_free(&all);
	return rc;
}

static int retry_remove(
	struct rj_store *s, const struct rj_key *key, struct rj_error *err)
{
	int tries = 0, rc;

	do
		rc = rj_store_remove(inner_of(s), key, err);
	while (again(rc, &tries));
	if (rc == -RJ_E_NOTFOUND && knows(key, false))
		rc = 0;
	knows(key, true);
	return rc;
}

static int keep_uuid(void *arg, const uint8_t uuid[RJ_UUID_BYTES])
{
	return rj_buf_append(arg, uuid, RJ_UUID_BYTES);
}

static int retry_list_journals(struct rj_store *s, rj_store_journal_fn fn,
	void *arg, struct rj_error *err)
{
	struct rj_buf all = {0};
	int tries = 0, rc;

	do {
		all.len = 0;
		rc = rj_store_list_journals(inner_of(s), keep_uuid, &all, err);
	} while (again(rc, &tries));
	for (size_t i = 0; !rc && i < all.len; i += RJ_UUID_BYTES)
		rc = fn(arg, all.data + i);
	rj_buf_free(&all);
	return rc;
}

static int retry_dup(
	struct rj_store *s, struct rj_store **out, struct rj_error *err)
{
	struct rj_store *inner;
	int rc = rj_store_dup(inner_of(s), &inner, err);

	if (!rc)
		*out = retrystore_open(inner);
	return rc;
}

static void retry_close(struct rj_store *s)
{
	rj_store_close(inner_of(s));
	free(s);
}

static int retry_remove_below(struct rj_store *s, const struct rj_key *dir,
	uint64_t below, uint64_t least, uint64_t *removed,
	struct rj_error *err)
{
	uint64_t sum = 0, some;
	int tries = 0, rc;

	do {
		some = 0;
		rc = rj_store_remove_below(
			inner_of(s), dir, below, least, &some, err);
		sum += some;
	} while (again(rc, &tries));
	forget_below(dir, below);
	if (removed)
		*removed = sum;
	return rc;
}

struct streaming {
	rj_store_stream_fn fn;
	void *arg;
	uint64_t next;
	bool ended; /* FN did */
};

static int count_streamed(void *arg, uint64_t number, struct rj_buf *object)
{
	struct streaming *st = arg;
	int rc = st->fn(st->arg, number, object);

	st->next = number + 1;
	st->ended = rc != 0;
	return rc;
}

/* What was handed over stays true: it goes on after that. */
static int retry_stream(struct rj_store *s, const struct rj_key *dir,
	uint64_t from, size_t max, rj_store_stream_fn fn, void *arg,
	struct rj_error *err)
{
	struct streaming st = {fn, arg, from, false};
	int tries = 0, rc;

	do
		rc = rj_store_stream(inner_of(s), dir, st.next, max,
			count_streamed, &st, err);
	while (!st.ended && again(rc, &tries));
	return rc;
}

static const struct rj_store_ops retry_ops = {
	.put_new = retry_put_new,
	.get = retry_get,
	.list = retry_list,
	.remove = retry_remove,
	.list_journals = retry_list_journals,
	.remove_below = retry_remove_below,
	.stream = retry_stream,
	.dup = retry_dup,
	.close = retry_close,
};

struct rj_store *retrystore_open(struct rj_store *inner)
{
	struct retry *r = calloc(1, sizeof(*r));

	if (!r)
		exit(99);
	r->base.ops = &retry_ops;
	r->base.caps = inner->caps;
	snprintf(r->base.url, sizeof(r->base.url), "%s", inner->url);
	r->inner = inner;
	r->faulty = getenv("RJ_TEST_FAULTS") != NULL;
	return &r->base;
}
