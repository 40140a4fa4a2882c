// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two stores, two hosts: while B takes over, A loses the first store in the middle
 * of a put, and the second before it could say that it goes on alone; it says
 * so later. At each call of B's for both. Whichever log it is then, what was
 * acknowledged to either is in it. With $RJ_LEAVE_OUT (enum rj_pair_rule) not.
 *
 * And: B goes on with the second store by --accept-loss, while A, which it does not
 * see, catches that one up over what was trimmed in the first. At each call of the
 * one for the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/common.h"
#include "log/seeded.h"
#include "log/trim.h"
#include "log/weather.h"
#include "store/pair.h"
#include "support/memstore.h"
#include "util/environ.h"

#define CALLS 40

struct host {
	bool cut[2]; /* from which store */
	struct rj_store *store;
	struct rj_log_writer *w;
	uint8_t id; /* of what is pending */
	bool accepts_loss;
};

struct world {
	struct memshelf *shelf[2];
	struct weather net[2];
	struct rj_log_id id;
	struct host a, b, reader;
	uint8_t next;
	bool bases; /* what is put is a base */
	bool goes_on; /* B */
	bool acked[256], seen[256];
};

static void open_host(struct world *x, struct host *h)
{
	const char *out = getenv("RJ_LEAVE_OUT");
	struct rj_pair_opts o = {
		.leave_out = out ? (unsigned)atoi(out) : 0,
		.store.accept_loss = h->accepts_loss};
	struct rj_store *side[2];
	int i;

	rj_log_writer_free(h->w);
	rj_store_close(h->store);
	h->w = NULL;
	for (i = 0; i < 2; i++)
		side[i] = weather_open(&x->net[i], &h->cut[i],
			memstore_open(x->shelf[i]));
	CU_ASSERT_EQUAL_FATAL(
		rj_pair_open(side[0], side[1], &o, &h->store, NULL), 0);
}

static int claim(struct world *x, struct host *h)
{
	struct rj_log_claim_opts c = {.retry_ms = 1};

	open_host(x, h);
	return rj_log_claim(h->store, &x->id, &c, &h->w, NULL);
}

static int put(struct world *x, struct host *h)
{
	static uint8_t ring[T_BLOCK * T_BLOCKS];
	struct rj_log_append a = t_block_3(ring);
	int rc;

	a.base = !x->next || x->bases;
	if (!rj_log_pending(h->w)) {
		h->id = ring[3 * T_BLOCK] = ++x->next;
		rc = rj_log_append(h->w, &a, NULL);
	} else {
		rc = rj_log_retry(h->w, NULL);
	}
	x->acked[h->id] |= !rc;
	return rc;
}

static void falls_silent(void *arg)
{
	weather_silence(true);
}

/* A's next segment is in the second store only, and its mark nowhere. */
static void lose_both(void *arg)
{
	struct world *x = arg;

	x->a.cut[0] = true;
	weather_at(3, falls_silent, NULL);
	CU_ASSERT_NOT_EQUAL(put(x, &x->a), 0);
	weather_at(0, NULL, NULL);
	weather_silence(false);
}

static void find_one(void *arg)
{
	struct world *x = arg;

	if (rj_log_pending(x->a.w))
		put(x, &x->a);
}

static int take(void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	struct world *x = arg;

	if (seg->block_count)
		x->seen[seg->blocks[0]] = true;
	return 0;
}

static bool all_there(struct world *x)
{
	struct rj_log_read_opts o = {.retry_ms = 1};
	struct rj_log_summary sum;
	unsigned i;

	open_host(x, &x->reader);
	if (rj_log_read(x->reader.store, &x->id, &o, take, x, &sum, NULL))
		return false;
	for (i = 0; i < 256; i++)
		if (x->acked[i] && !x->seen[i])
			return false;
	return true;
}

static void end(struct world *x)
{
	struct host *h[] = {&x->a, &x->b, &x->reader};
	int i;

	for (i = 0; i < 3; i++) {
		rj_log_writer_free(h[i]->w);
		rj_store_close(h[i]->store);
	}
	for (i = 0; i < 2; i++) {
		weather_drop(&x->net[i]);
		memshelf_free(x->shelf[i]);
	}
}

/* A writes, and both stores have it. */
static void begin(struct world *x, unsigned seed)
{
	int i;

	memset(x, 0, sizeof(*x));
	weather_seed(seed);
	seeded_now_ns = 1000000000;
	memset(x->id.journal_uuid, 7, sizeof(x->id.journal_uuid));
	x->shelf[0] = memshelf_new();
	x->shelf[1] = memshelf_new();
	memshelf_spare(x->shelf[0]);
	memshelf_spare(x->shelf[1]);
	CU_ASSERT_EQUAL_FATAL(claim(x, &x->a), 0);
	for (i = 0; i < 3; i++)
		CU_ASSERT_EQUAL_FATAL(put(x, &x->a), 0);
}

/* True: nothing is lost. LOSES, FINDS: at which call of B's. */
static bool life(unsigned loses, unsigned finds)
{
	static struct world x;
	bool good;
	int rc, i;

	begin(&x, loses * 1000 + finds);
	weather_at(loses, lose_both, &x);
	rc = claim(&x, &x.b);
	weather_at(finds, find_one, &x);
	for (i = 0; rc && i < 3; i++)
		rc = claim(&x, &x.b);
	if (!rc)
		put(&x, &x.b);
	weather_at(0, NULL, NULL);
	find_one(&x);
	good = all_there(&x);
	end(&x);
	return good;
}

static void nothing_is_lost(void)
{
	unsigned loses, finds, bad = 0;

	seeded_environ(weather_rnd);
	for (loses = 1; loses <= CALLS; loses++)
		for (finds = 1; finds <= CALLS; finds++)
			bad += !life(loses, finds);
	rj_environ_set(NULL);
	if (bad)
		printf("# %u lives of %d lost something\n", bad,
			CALLS * CALLS);
	CU_ASSERT_EQUAL(bad, 0);
}

/* As a recovery does: what can be read is claimed, and read once more. */
static int recover(struct world *x, struct host *h)
{
	struct rj_log_read_opts o = {.retry_ms = 1};
	struct rj_log_claim_opts c = {
		.retry_ms = 1, .after_loss = h->accepts_loss};
	struct rj_log_summary sum;
	int rc;

	open_host(x, h);
	rc = rj_log_read(h->store, &x->id, &o, take, x, &sum, NULL);
	if (!rc)
		rc = rj_log_claim(h->store, &x->id, &c, &h->w, NULL);
	if (!rc)
		rc = rj_log_read(h->store, &x->id, &o, take, x, &sum, NULL);
	if (!rc && sum.tail.sequence != rj_log_writer_tail(h->w)->sequence)
		rc = -RJ_E_FENCED;
	return rc;
}

/* B goes on with the second store, if it can. */
static void b_goes_on(void *arg)
{
	struct world *x = arg;

	x->goes_on = !recover(x, &x->b);
}

static void a_catches_up(void *arg)
{
	struct world *x = arg;
	int i;

	for (i = 0; i < 4; i++)
		rj_pair_step(x->a.store);
}

/* A is alone with the first store, and what the second lacks is trimmed. */
static void open_a_gap(struct world *x)
{
	struct rj_log_trim_opts o = {.retry_ms = 1};
	struct rj_log_trim_report report;
	struct rj_store *dup = NULL;
	int i;

	x->a.cut[1] = true;
	x->bases = true;
	for (i = 0; i < 6; i++)
		CU_ASSERT_EQUAL_FATAL(put(x, &x->a), 0);
	o.below = rj_log_writer_tail(x->a.w)->oldest;
	weather_spare(true);
	CU_ASSERT_EQUAL_FATAL(rj_store_dup(x->a.store, &dup, NULL), 0);
	CU_ASSERT_EQUAL(
		rj_log_trim(dup, &x->id, &o, &report, NULL), 0);
	CU_ASSERT_TRUE(report.segments >= 4);
	rj_store_close(dup);
	x->a.cut[1] = false;
}

/* True: the second store has one writer's log. */
static bool gap_life(unsigned at, bool b_first, unsigned *goes_on)
{
	struct rj_log_read_opts o = {.retry_ms = 1};
	static struct world x;
	struct rj_log_summary sum;
	bool good, disturbed = false;
	unsigned i;
	int rc;

	begin(&x, at * 2 + b_first);
	open_a_gap(&x);
	x.b.cut[0] = x.b.accepts_loss = true;
	weather_at(at, b_first ? a_catches_up : b_goes_on, &x);
	if (b_first)
		b_goes_on(&x);
	else
		a_catches_up(&x);
	weather_at(0, NULL, NULL);
	a_catches_up(&x);
	/* then nobody is in its way */
	x.bases = false;
	memset(x.acked, 0, sizeof(x.acked));
	for (i = 0; x.goes_on && !disturbed && i < 8; i++)
		disturbed = put(&x, &x.b) != 0;
	x.reader.cut[0] = x.reader.accepts_loss = true;
	open_host(&x, &x.reader);
	rc = rj_log_read(x.reader.store, &x.id, &o, take, &x, &sum, NULL);
	good = !disturbed && rc != -RJ_E_CORRUPT && (!rc || !x.goes_on);
	for (i = 0; good && x.goes_on && i < 256; i++)
		good = !x.acked[i] || x.seen[i];
	*goes_on += x.goes_on;
	end(&x);
	return good;
}

static void over_a_gap(void)
{
	unsigned at, first, bad = 0, goes_on = 0;

	seeded_environ(weather_rnd);
	for (at = 1; at <= CALLS; at++)
		for (first = 0; first < 2; first++)
			bad += !gap_life(at, first, &goes_on);
	rj_environ_set(NULL);
	if (bad)
		printf("# %u lives of %d over a gap lost something\n", bad,
			2 * CALLS);
	CU_ASSERT_EQUAL(bad, 0);
	/* it was about something: B got in, or A did */
	CU_ASSERT_TRUE(goes_on > 4 && goes_on < 2 * CALLS - 4);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(nothing_is_lost),
		RJTEST(over_a_gap),
	};

	return RJTEST_RUN("two stores, two hosts", tests);
}
