// SPDX-License-Identifier: GPL-2.0-or-later
/* The probe before a new log, at stores in memory that do what real servers were seen to do. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/sbx.h"
#include "store/common.h"
#include "store/probe.h"
#include "support/memstore.h"
#include "support/rjtest.h"
#include "util/environ.h"

/* How the store is, and what it was asked. */
struct kind {
	bool looks_first;	/* the object is looked for before its last byte comes */
	bool ignores_after;	/* lists begin at the beginning */
	uint64_t hides;		/* lists lack this number */
	int64_t slow_ns;	/* each put takes this long */
	atomic_uint puts;
	unsigned left; /* epochs, at the end */
};

static const struct rj_store_ops *memory; /* of memstore.c */
static struct rj_store_ops ops;
static struct memshelf *shelf;
static struct kind *now;
static struct rj_error err;

static int put(struct rj_store *s, const struct rj_key *key, const void *data, size_t len,
	struct rj_error *e)
{
	struct rj_buf there = {0};
	bool absent;
	int rc;

	now->puts++;
	if (now->slow_ns)
		rj_sleep_ns(now->slow_ns);
	absent = memory->get(s, key, 64, &there, NULL) == -RJ_E_NOTFOUND;
	rj_buf_free(&there);
	if (s->gate)
		s->gate->wait(s->gate->arg, -1);
	rc = memory->put_new(s, key, data, len, e);
	return rc == -RJ_E_EXISTS && now->looks_first && absent ? 0 : rc;
}

struct listing {
	rj_store_list_fn fn;
	void *arg;
};

static int pass(void *arg, uint64_t number, uint64_t bytes)
{
	struct listing *l = arg;

	return number == now->hides ? 0 : l->fn(l->arg, number, bytes);
}

static int list(struct rj_store *s, const struct rj_key *dir, uint64_t after,
	rj_store_list_fn fn, void *arg, struct rj_error *e)
{
	struct listing l = {fn, arg};

	return memory->list(s, dir, now->ignores_after ? 0 : after, pass, &l, e);
}

static int another(struct rj_store *s, struct rj_store **out, struct rj_error *e)
{
	*out = memstore_open(shelf);
	(*out)->ops = &ops;
	return 0;
}

static int count(void *arg, uint64_t number, uint64_t bytes)
{
	now->left++;
	return 0;
}

/* Probe a store of kind K; SEEN as of rj_store_probe_brief(). */
static int brief(struct kind *k, bool foreign, uint8_t *seen)
{
	struct rj_key epochs = t_new_log(RJ_KEY_EPOCH);
	struct rj_store *s;
	int rc;

	shelf = memshelf_new();
	s = memstore_open(shelf);
	memory = s->ops;
	ops = *memory;
	ops.put_new = put;
	ops.list = list;
	ops.dup = another;
	s->ops = &ops;
	s->caps.foreign = foreign;
	now = k;
	err = (struct rj_error){0};
	rc = rj_store_probe_brief(s, epochs.journal_uuid, 0, seen, &err);
	CU_ASSERT_EQUAL(memory->list(s, &epochs, 0, count, NULL, NULL), 0);
	rj_store_close(s);
	memshelf_free(shelf);
	return rc;
}

static void an_honest_store_passes(void)
{
	struct kind m = {0};
	uint8_t seen = 0;

	CU_ASSERT_EQUAL(brief(&m, true, &seen), 0);
	CU_ASSERT_TRUE(seen & RJ_SBX_PROBED_RACED);
	CU_ASSERT_EQUAL(m.puts, 2 + 8 * 20);
	CU_ASSERT_EQUAL(m.left, 0);
}

static void a_look_before_the_last_byte_is_found(void)
{
	unsigned i;

	for (i = 0; i < 20; i++) {
		struct kind m = {.looks_first = true};

		T_FAILS(brief(&m, true, NULL), RJ_E_UNSUPPORTED, "more than one was told");
		CU_ASSERT_EQUAL(m.left, 0);
	}
}

static void lists_are_looked_at(void)
{
	struct kind from_start = {.ignores_after = true}, gap = {.hides = 3};

	T_FAILS(brief(&from_start, true, NULL), RJ_E_UNSUPPORTED,
		"a list that is to begin after an object does not");
	T_FAILS(brief(&gap, true, NULL), RJ_E_UNSUPPORTED, "a list lacks objects");
}

/* Our own server needs no long race; a slow one none that takes long. */
static void a_race_has_an_end(void)
{
	struct kind own = {0}, slow = {.slow_ns = 700000000};

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
