// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two stores whose logs parted: one host goes on alone with the first, another
 * was told (--accept-loss) to go on with the second. What the one trims must not
 * hide that from it: the other's log is left as it is.
 */
#include <stdlib.h>
#include <string.h>

#include "log/common.h"
#include "log/trim.h"
#include "log/weather.h"
#include "store/pair.h"
#include "support/memstore.h"

struct host {
	bool cut[2]; /* from which store */
	struct rj_store *store;
	struct rj_log_writer *w;
};

struct world {
	struct memshelf *shelf[2];
	struct weather net[2];
	struct rj_log_id id;
	struct host host[2];
	struct rj_error err;
};

static struct rj_store *side(struct world *x, struct host *h, int i)
{
	return weather_open(
		&x->net[i], &h->cut[i], memstore_open(x->shelf[i]));
}

static void begin(struct world *x)
{
	memset(x, 0, sizeof(*x));
	memset(x->id.journal_uuid, 7, sizeof(x->id.journal_uuid));
	x->shelf[0] = memshelf_new();
	x->shelf[1] = memshelf_new();
	memshelf_spare(x->shelf[0]);
	memshelf_spare(x->shelf[1]);
}

static void claim(struct world *x, struct host *h, bool accept_loss)
{
	struct rj_pair_opts o = {.store.accept_loss = accept_loss};
	struct rj_log_claim_opts c = {.retry_ms = 1};

	CU_ASSERT_EQUAL_FATAL(rj_pair_open(side(x, h, 0), side(x, h, 1), &o,
				      &h->store, &x->err), 0);
	T_WORKS(x, rj_log_claim(h->store, &x->id, &c, &h->w, &x->err));
	CU_ASSERT_PTR_NOT_NULL_FATAL(h->w);
}

static int put(struct world *x, struct host *h, bool base)
{
	static uint8_t ring[T_BLOCK * T_BLOCKS];
	struct rj_log_append a = t_block_3(ring);
	int rc;

	a.base = base;
	rc = rj_log_pending(h->w) ? rj_log_retry(h->w, &x->err)
				  : rj_log_append(h->w, &a, &x->err);
	ring[3 * T_BLOCK]++;
	return rc;
}

static void trim(struct world *x, struct host *h)
{
	struct rj_log_trim_opts o = {
		.below = rj_log_writer_tail(h->w)->oldest, .retry_ms = 1};
	struct rj_log_trim_report report;

	T_WORKS(x, rj_log_trim(h->store, &x->id, &o, &report, &x->err));
	CU_ASSERT(report.segments > 0);
}

static int count(void *arg, uint64_t number, uint64_t bytes)
{
	++*(uint64_t *)arg;
	return 0;
}

static uint64_t objects(struct world *x, int i)
{
	struct rj_store *s = memstore_open(x->shelf[i]);
	struct rj_key dir = {.kind = RJ_KEY_LOG};
	uint64_t n = 0;

	memcpy(dir.journal_uuid, x->id.journal_uuid, RJ_UUID_BYTES);
	T_WORKS(x, rj_store_list(s, &dir, 0, count, &n, &x->err));
	rj_store_close(s);
	return n;
}

static void end(struct world *x)
{
	int i;

	for (i = 0; i < 2; i++) {
		rj_log_writer_free(x->host[i].w);
		rj_store_close(x->host[i].store);
	}
	memshelf_free(x->shelf[0]);
	memshelf_free(x->shelf[1]);
}

static int sink(void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	return 0;
}

/* BASE: B had the time to put one behind its fence. */
static void part(bool base)
{
	struct rj_log_read_opts read = {.retry_ms = 1};
	struct host *a, *b;
	struct rj_log_summary sum;
	struct rj_store *s;
	struct world x;
	uint64_t was;
	int i;

	begin(&x);
	a = &x.host[0];
	b = &x.host[1];
	claim(&x, a, false);
	for (i = 0; i < 5; i++)
		T_WORKS(&x, put(&x, a, i == 0));
	/* A loses the second store, B has only that one */
	a->cut[1] = b->cut[0] = true;
	T_WORKS(&x, put(&x, a, false));
	CU_ASSERT_EQUAL(rj_pair_need(a->store), 0);
	claim(&x, b, true);
	CU_ASSERT_EQUAL(rj_pair_need(b->store), 1);
	if (base)
		T_WORKS(&x, put(&x, b, true));
	/* A trims all that the two could be compared by */
	for (i = 0; i < 20; i++)
		T_WORKS(&x, put(&x, a, false));
	T_WORKS(&x, put(&x, a, true));
	trim(&x, a);
	was = objects(&x, 1);
	a->cut[1] = false;
	for (i = 0; i < 5; i++) {
		weather_spare(true);
		rj_pair_step(a->store);
		weather_spare(false);
		T_WORKS(&x, put(&x, a, false));
	}
	CU_ASSERT_EQUAL(rj_pair_need(a->store), 0);
	CU_ASSERT_EQUAL(objects(&x, 1), was);
	T_WORKS(&x, put(&x, b, true));
	s = memstore_open(x.shelf[1]);
	T_WORKS(&x, rj_log_read(s, &x.id, &read, sink, NULL, &sum, &x.err));
	CU_ASSERT_EQUAL(sum.tail.epoch, 2);
	rj_store_close(s);
	end(&x);
}

static void trimmed_segments_hide_no_other_log(void)
{
	part(true);
	part(false);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(trimmed_segments_hide_no_other_log),
	};

	return RJTEST_RUN("two stores that parted", tests);
}
