// SPDX-License-Identifier: GPL-2.0-or-later
/* The probe before a new log, at stores in memory that do what real servers were seen to do. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/sbx.h"
#include "os/thread.h"
#include "store/common.h"
#include "store/probe.h"
#include "support/rjtest.h"
#include "util/environ.h"

#define MOST 64

/* What all handles share: the epochs' objects. */
struct shared {
	pthread_mutex_t lock;
	struct {
		bool there;
		char text[64];
		size_t len;
	} at[MOST];
	bool looks_first;	/* the object is looked for before its last byte comes */
	bool ignores_after;	/* lists begin at the beginning */
	uint64_t hides;		/* lists lack this number */
	int64_t slow_ns;	/* each put takes this long */
	unsigned puts;
};

struct memory {
	struct rj_store base;
	struct shared *of;
};

static struct rj_error err;

static int mem_put(struct rj_store *s, const struct rj_key *key, const void *data, size_t len,
	struct rj_error *e)
{
	struct shared *m = ((struct memory *)s)->of;
	bool there;

	if (m->slow_ns)
		rj_sleep_ns(m->slow_ns);
	pthread_mutex_lock(&m->lock);
	m->puts++;
	there = m->at[key->number].there;
	pthread_mutex_unlock(&m->lock);
	if (s->gate)
		s->gate->wait(s->gate->arg, -1);
	pthread_mutex_lock(&m->lock);
	if (!m->looks_first)
		there = m->at[key->number].there;
	if (!there) {
		m->at[key->number].there = true;
		m->at[key->number].len = len;
		memcpy(m->at[key->number].text, data, len);
	}
	pthread_mutex_unlock(&m->lock);
	return there ? rj_fail(e, RJ_E_EXISTS, "there") : 0;
}

static int mem_get(struct rj_store *s, const struct rj_key *key, size_t max, struct rj_buf *out,
	struct rj_error *e)
{
	struct shared *m = ((struct memory *)s)->of;

	if (!m->at[key->number].there)
		return rj_fail(e, RJ_E_NOTFOUND, "not there");
	return rj_buf_append(out, m->at[key->number].text, m->at[key->number].len);
}

static int mem_list(struct rj_store *s, const struct rj_key *dir, uint64_t after,
	rj_store_list_fn fn, void *arg, struct rj_error *e)
{
	struct shared *m = ((struct memory *)s)->of;
	uint64_t i;
	int rc = 0;

	for (i = m->ignores_after ? 1 : after + 1; !rc && i < MOST; i++)
		if (m->at[i].there && i != m->hides)
			rc = fn(arg, i, m->at[i].len);
	return rc;
}

static int mem_remove(struct rj_store *s, const struct rj_key *key, struct rj_error *e)
{
	struct shared *m = ((struct memory *)s)->of;

	m->at[key->number].there = false;
	return 0;
}

static int mem_dup(struct rj_store *s, struct rj_store **out, struct rj_error *e)
{
	struct memory *m = malloc(sizeof(*m));

	*m = *(struct memory *)s;
	m->base.gate = NULL;
	*out = &m->base;
	return 0;
}

static void mem_close(struct rj_store *s)
{
	free(s);
}

static const struct rj_store_ops ops = {
	.put_new = mem_put,
	.get = mem_get,
	.list = mem_list,
	.remove = mem_remove,
	.dup = mem_dup,
	.close = mem_close,
};

/* Probe a store with M; SEEN as of rj_store_probe_brief(). */
static int brief(struct shared *m, bool foreign, uint8_t *seen)
{
	struct memory *s = calloc(1, sizeof(*s));
	uint8_t journal[RJ_UUID_BYTES] = {1};
	int rc;

	pthread_mutex_init(&m->lock, NULL);
	s->base.ops = &ops;
	s->base.caps = (struct rj_store_caps){
		.put_new = true, .list_consistent = true, .foreign = foreign};
	strcpy(s->base.url, "memory");
	s->of = m;
	err = (struct rj_error){0};
	rc = rj_store_probe_brief(&s->base, journal, seen, &err);
	rj_store_close(&s->base);
	return rc;
}

static unsigned left(const struct shared *m)
{
	unsigned i, n = 0;

	for (i = 0; i < MOST; i++)
		n += m->at[i].there;
	return n;
}

static void an_honest_store_passes(void)
{
	struct shared m = {0};
	uint8_t seen = 0;

	CU_ASSERT_EQUAL(brief(&m, true, &seen), 0);
	CU_ASSERT_TRUE(seen & RJ_SBX_PROBED_RACED);
	CU_ASSERT_EQUAL(m.puts, 2 + 8 * 20);
	CU_ASSERT_EQUAL(left(&m), 0);
}

static void a_look_before_the_last_byte_is_found(void)
{
	unsigned i;

	for (i = 0; i < 20; i++) {
		struct shared m = {.looks_first = true};

		T_FAILS(brief(&m, true, NULL), RJ_E_UNSUPPORTED, "more than one was told");
		CU_ASSERT_EQUAL(left(&m), 0);
	}
}

static void lists_are_looked_at(void)
{
	struct shared from_start = {.ignores_after = true}, gap = {.hides = 3};

	T_FAILS(brief(&from_start, true, NULL), RJ_E_UNSUPPORTED,
		"a list that is to begin after an object does not");
	T_FAILS(brief(&gap, true, NULL), RJ_E_UNSUPPORTED, "a list lacks objects");
}

/* Our own server needs no long race; a slow one none that takes long. */
static void a_race_has_an_end(void)
{
	struct shared own = {0}, slow = {.slow_ns = 700000000};

	CU_ASSERT_EQUAL(brief(&own, false, NULL), 0);
	CU_ASSERT_EQUAL(own.puts, 2 + 4 * 2);
	CU_ASSERT_EQUAL(brief(&slow, true, NULL), 0);
	CU_ASSERT_EQUAL(slow.puts, 2 + 8 * 3);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(an_honest_store_passes),
		RJTEST(a_look_before_the_last_byte_is_found),
		RJTEST(lists_are_looked_at),
		RJTEST(a_race_has_an_end),
	};

	return RJTEST_RUN("store-probe", tests);
}
