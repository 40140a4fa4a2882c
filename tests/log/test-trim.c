// SPDX-License-Identifier: GPL-2.0-or-later
/* What trimming deletes, and what it must leave. */
#include <string.h>

#include "log/common.h"
#include "log/hold.h"
#include "log/trim.h"
#include "util/environ.h"

#define SECOND 1000000000ll

static int64_t now_ns = 1700000000 * SECOND;

static int64_t fake_now(void *arg)
{
	(void)arg;
	return now_ns;
}

static int64_t fake_monotonic(void *arg)
{
	static int64_t t;

	(void)arg;
	return t += 1000000;
}

static void fake_sleep(void *arg, int64_t ns)
{
	(void)arg;
	(void)ns;
}

static int fake_random(void *arg, void *out, size_t len)
{
	static uint8_t n;
	uint8_t *p = out;

	(void)arg;
	while (len--)
		*p++ = n++;
	return 0;
}

static const struct rj_environ fake = {.realtime_ns = fake_now,
	.monotonic_ns = fake_monotonic,
	.sleep_ns = fake_sleep,
	.random_bytes = fake_random};

struct present {
	uint64_t number[64];
	unsigned count;
};

static int note(void *arg, uint64_t number, uint64_t bytes)
{
	struct present *p = arg;

	(void)bytes;
	if (p->count < 64)
		p->number[p->count++] = number;
	return 0;
}

static struct present listed(struct t_log *t, enum rj_key_kind kind)
{
	struct rj_key dir = {.kind = kind};
	struct present p = {0};

	memcpy(dir.journal_uuid, t->id.journal_uuid, RJ_UUID_BYTES);
	CU_ASSERT_EQUAL(rj_store_list(t->raw, &dir, 0, note, &p, &t->err), 0);
	return p;
}

static struct rj_log_trim_report trim(
	struct t_log *t, const struct rj_log_trim_opts *o)
{
	struct rj_log_trim_report r;

	CU_ASSERT_EQUAL(rj_log_trim(t->store, &t->id, o, &r, &t->err), 0);
	return r;
}

static bool same(const struct present *p, const uint64_t *want, unsigned count)
{
	unsigned i;

	if (p->count != count)
		return false;
	for (i = 0; i < count; i++)
		if (p->number[i] != want[i])
			return false;
	return true;
}

/* 1 fence, 2..6 data, 7 fence, 8 and 9 data, 10 base, 11 data. */
static struct rj_log_writer *two_epochs(struct t_log *t)
{
	struct rj_log_writer *w;
	int i;

	t_log_fill(t, 5);
	w = t_claim(t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	for (i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(t_append(t, w, 10 + (unsigned)i, 1, 9), 0);
	CU_ASSERT_EQUAL(t_append_base(t, w), 0);
	CU_ASSERT_EQUAL(t_append(t, w, 20, 1, 7), 0);
	return w;
}

static void fences_and_epochs_stay(void)
{
	static const uint64_t left[] = {1, 7, 10, 11};
	struct rj_log_trim_opts o = {.below = 10};
	struct rj_log_writer *w;
	struct present p;
	struct t_log t;

	t_log_begin(&t);
	w = two_epochs(&t);
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 7);
	p = listed(&t, RJ_KEY_LOG);
	CU_ASSERT_TRUE(same(&p, left, 4));
	CU_ASSERT_EQUAL(listed(&t, RJ_KEY_EPOCH).count, 2);
	/* again: nothing more */
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 0);
	/* it reads as before, and its writer goes on */
	CU_ASSERT_EQUAL(t_read(&t, NULL), 0);
	CU_ASSERT_TRUE(t_same_ring(&t));
	CU_ASSERT_EQUAL(t_append(&t, w, 21, 1, 8), 0);
	rj_log_writer_free(w);
	/* and a new one can claim it */
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL(w);
	rj_log_writer_free(w);
	t_log_end(&t);
}

/* A writer that slept since before the fence gets no number that the trimming
 * has emptied. */
static void a_sleeper_stays_fenced(void)
{
	struct rj_log_trim_opts o = {.below = UINT64_MAX};
	struct rj_log_writer *sleeper, *w;
	struct t_log t;

	t_log_begin(&t);
	sleeper = t_claim(&t, NULL);
	CU_ASSERT_EQUAL(t_append(&t, sleeper, 1, 1, 1), 0);
	w = t_claim(&t, NULL); /* its fence is the sleeper's next number */
	CU_ASSERT_EQUAL(t_append_base(&t, w), 0);
	CU_ASSERT_EQUAL(t_append_base(&t, w), 0);
	trim(&t, &o);
	CU_ASSERT_EQUAL(t_append(&t, sleeper, 2, 1, 2), -RJ_E_FENCED);
	rj_log_writer_free(sleeper);
	rj_log_writer_free(w);
	t_log_end(&t);
}

static void the_last_segment_stays(void)
{
	struct rj_log_trim_opts o = {.below = UINT64_MAX};
	struct rj_log_writer *w;
	struct present p;
	struct t_log t;

	t_log_begin(&t);
	w = two_epochs(&t);
	trim(&t, &o);
	p = listed(&t, RJ_KEY_LOG);
	CU_ASSERT_EQUAL(p.number[p.count - 1], 11);
	rj_log_writer_free(w);
	t_log_end(&t);
}

/* As a daemon trims, which names its epoch: once a later one is in the log, what
 * that one's recovery needs is not for the older to say. */
static void a_later_epoch_is_not_trimmed(void)
{
	struct rj_log_trim_opts o = {.below = 10, .epoch = 1};
	struct rj_log_trim_report r;
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	w = two_epochs(&t);
	o.dry_run = true;
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 0);
	o.dry_run = false;
	r = trim(&t, &o);
	CU_ASSERT(r.segments == 0 && r.limit == 0);
	CU_ASSERT_EQUAL(listed(&t, RJ_KEY_LOG).count, 11);
	/* its own, and no more than what the store's last segment says: the base
	 * is 10, however far its writer believes to be */
	o.epoch = 2;
	o.below = 11;
	CU_ASSERT_EQUAL(trim(&t, &o).limit, 10);
	CU_ASSERT_EQUAL(listed(&t, RJ_KEY_LOG).count, 4);
	CU_ASSERT_EQUAL(t_read(&t, NULL), 0);
	CU_ASSERT_TRUE(t_same_ring(&t));
	rj_log_writer_free(w);
	t_log_end(&t);
	/* nor if only its fence has come so far */
	t_log_begin(&t);
	t_log_fill(&t, 5);
	w = t_claim(&t, NULL);
	o.epoch = 1;
	o.below = 6;
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 0);
	CU_ASSERT_EQUAL(listed(&t, RJ_KEY_LOG).count, 7);
	rj_log_writer_free(w);
	t_log_end(&t);
}

static void a_dry_run_counts(void)
{
	struct rj_log_trim_opts o = {.below = 10, .dry_run = true};
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	w = two_epochs(&t);
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 7);
	CU_ASSERT_EQUAL(listed(&t, RJ_KEY_LOG).count, 11);
	o.below = 4;
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 2);
	o.below = 0;
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 0);
	rj_log_writer_free(w);
	t_log_end(&t);
}

/* Ten segments, one each 100 seconds; the retention keeps the younger ones. */
static void what_is_young_is_kept(void)
{
	struct rj_log_trim_opts o = {.below = 11, .dry_run = true};
	struct rj_log_writer *w;
	struct t_log t;
	int i;

	rj_environ_set(&fake);
	t_log_begin(&t);
	w = t_claim(&t, NULL);
	for (i = 0; i < 10; i++) {
		now_ns += 100 * SECOND;
		CU_ASSERT_EQUAL(t_append(&t, w, (unsigned)i, 1, 3), 0);
	}
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 9);
	o.retain_s = 350; /* 0, 100, 200 and 300 seconds old: 11, 10, 9, 8 */
	CU_ASSERT_EQUAL(trim(&t, &o).limit, 8);
	CU_ASSERT_EQUAL(trim(&t, &o).next_ns, now_ns + 50 * SECOND);
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 6);
	now_ns += 50 * SECOND; /* still it is kept; a moment later it is not */
	CU_ASSERT_EQUAL(trim(&t, &o).limit, 8);
	now_ns += 1;
	CU_ASSERT_EQUAL(trim(&t, &o).limit, 9);
	now_ns -= 50 * SECOND + 1;
	o.retain_s = 1; /* only the last is as young, and it stays anyway */
	CU_ASSERT_EQUAL(trim(&t, &o).next_ns, 0);
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 9);
	o.retain_s = 100000000000;
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 0);
	o.dry_run = false;
	o.retain_s = 350;
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 6);
	CU_ASSERT_EQUAL(listed(&t, RJ_KEY_LOG).count, 5);
	rj_log_writer_free(w);
	t_log_end(&t);
	rj_environ_set(NULL);
}

/* Segments in the middle that were sealed with a clock that was behind do not make what is
 * below them old. */
static void a_wrong_clock_ages_nothing(void)
{
	struct rj_log_trim_opts o = {.below = 41, .retain_s = 3500, .dry_run = true};
	struct rj_log_writer *w;
	struct t_log t;
	int i, behind;

	rj_environ_set(&fake);
	t_log_begin(&t);
	w = t_claim(&t, NULL);
	for (i = 0; i < 40; i++) {
		behind = i >= 18 && i < 23;
		now_ns += 100 * SECOND - (behind ? 90000 * SECOND : 0);
		CU_ASSERT_EQUAL(t_append(&t, w, (unsigned)i, 1, 3), 0);
		now_ns += behind ? 90000 * SECOND : 0;
	}
	/* of 3,900 seconds the last 3,500, from 6 on; no deletion is too early */
	CU_ASSERT_EQUAL(trim(&t, &o).limit, 6);
	now_ns -= 500 * SECOND;
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 0);
	rj_log_writer_free(w);
	t_log_end(&t);
	rj_environ_set(NULL);
}

/* A clock that goes a year ahead deletes nothing that the store's clock, or the log, does not
 * confirm: neither by a retention, nor by the end of a hold. */
static void a_clock_ahead_deletes_nothing(void)
{
	struct rj_log_trim_opts o = {.below = 11, .retain_s = 2 * 86400, .dry_run = true};
	int64_t right_s, until;
	struct rj_log_writer *w;
	struct rj_hold hold, by;
	uint64_t limit, first;
	struct t_log t;
	int i;

	rj_environ_set(&fake);
	t_log_begin(&t);
	w = t_claim(&t, NULL);
	T_WORKS(&t, rj_hold_put_at(t.store, &t.id, "test", 2 * 86400, 3, &hold, &t.err));
	for (i = 0; i < 10; i++) {
		now_ns += 100 * SECOND;
		CU_ASSERT_EQUAL(t_append(&t, w, (unsigned)i, 1, 3), 0);
	}
	right_s = now_ns / SECOND;
	now_ns += 366 * 86400 * SECOND;
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 9); /* it is known by this clock alone */
	T_WORKS(&t, rj_log_trim_limit(t.store, &t.id, &limit, &until, &t.err));
	CU_ASSERT_EQUAL(until, right_s * SECOND + RJ_CLOCK_AHEAD_NS);
	o.until_ns = until;
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 0);
	T_WORKS(&t, rj_hold_lowest(t.store, &t.id, 0, until, &first, &by, &t.err));
	CU_ASSERT(first == 3 && by.number == hold.number);
	o.until_ns = 0;
	t.store->clock_s = right_s;
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 0);
	T_WORKS(&t, rj_hold_lowest(t.store, &t.id, 0, 0, &first, &by, &t.err));
	CU_ASSERT_EQUAL(first, 3);
	t.store->clock_s = right_s + 3 * 86400; /* the time has come */
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 9);
	T_WORKS(&t, rj_hold_lowest(t.store, &t.id, 0, 0, &first, &by, &t.err));
	CU_ASSERT_EQUAL(first, UINT64_MAX);
	rj_log_writer_free(w);
	t_log_end(&t);
	rj_environ_set(NULL);
}

/* Segments that a clock that was ahead has sealed are kept no longer than the next one after
 * them; and where the clock is behind now, nothing is deleted for that. */
static void a_clock_that_was_ahead(void)
{
	struct rj_log_trim_opts o = {.below = 21, .retain_s = 350, .dry_run = true};
	struct rj_log_trim_report r;
	struct rj_log_writer *w;
	struct t_log t;
	int i, ahead;

	rj_environ_set(&fake);
	t_log_begin(&t);
	w = t_claim(&t, NULL);
	for (i = 2; i <= 21; i++) {
		ahead = i >= 8 && i < 13;
		now_ns += 100 * SECOND + (ahead ? 900000 * SECOND : 0);
		CU_ASSERT_EQUAL(t_append(&t, w, (unsigned)i, 1, 3), 0);
		now_ns -= ahead ? 900000 * SECOND : 0;
	}
	now_ns -= 300 * SECOND;
	r = trim(&t, &o); /* 15 is 300 seconds old */
	CU_ASSERT(r.limit == 15 && r.next_ns == now_ns + 50 * SECOND);
	now_ns -= 200 * SECOND; /* 13 is as old now */
	r = trim(&t, &o);
	CU_ASSERT(r.limit == 8 && r.next_ns == now_ns + 50 * SECOND);
	now_ns -= 9000000 * SECOND; /* behind */
	r = trim(&t, &o);
	CU_ASSERT(r.limit == 1 && r.next_ns > now_ns && r.next_ns <= now_ns + 86400 * SECOND);
	CU_ASSERT_EQUAL(r.segments, 0);
	rj_log_writer_free(w);
	t_log_end(&t);
	rj_environ_set(NULL);
}

static uint64_t limit_of(struct t_log *t)
{
	uint64_t limit = 99;

	int64_t until;

	CU_ASSERT_EQUAL(
		rj_log_trim_limit(t->store, &t->id, &limit, &until, &t->err), 0);
	return limit;
}

static int recovery_base(struct t_log *t, struct rj_log_writer *w)
{
	struct rj_seg_run run = {0, T_BLOCKS};
	struct rj_log_append a = {
		.body = {.block_size = T_BLOCK, .journal_blocks = T_BLOCKS},
		.runs = &run,
		.run_count = 1,
		.ring = t->ring->data,
		.base = true,
		.recovered = true,
	};

	return rj_log_append(w, &a, &t->err);
}

static void the_limit(void)
{
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	w = two_epochs(&t);
	CU_ASSERT_EQUAL(limit_of(&t), 10);
	rj_log_writer_free(w);
	/* a recovery: what came before may be needed until it is used again */
	w = t_claim(&t, NULL);
	CU_ASSERT_EQUAL(recovery_base(&t, w), 0);
	rj_log_writer_free(w);
	CU_ASSERT_EQUAL(limit_of(&t), 0);
	w = t_claim(&t, NULL);
	CU_ASSERT_EQUAL(limit_of(&t), 0);
	CU_ASSERT_EQUAL(t_append(&t, w, 3, 1, 3), 0);
	CU_ASSERT_EQUAL(limit_of(&t), 13);
	rj_log_writer_free(w);
	t_log_end(&t);
}

static void a_store_that_goes_away(void)
{
	struct rj_log_trim_opts o = {.below = 10};
	struct rj_log_trim_report r;
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	w = two_epochs(&t);
	t_fault(&t, RJ_FAULT_REMOVE, RJ_FAULT_FAIL, 4, 1);
	CU_ASSERT_EQUAL(rj_log_trim(t.store, &t.id, &o, &r, &t.err),
		-RJ_E_UNREACHABLE);
	/* the lowest went first; the rest goes the next time */
	CU_ASSERT_EQUAL(r.segments, 3);
	CU_ASSERT_EQUAL(t_read(&t, NULL), 0);
	CU_ASSERT_EQUAL(trim(&t, &o).segments, 4);
	rj_log_writer_free(w);
	t_log_end(&t);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(fences_and_epochs_stay),
		RJTEST(a_sleeper_stays_fenced),
		RJTEST(the_last_segment_stays),
		RJTEST(a_later_epoch_is_not_trimmed),
		RJTEST(a_dry_run_counts),
		RJTEST(what_is_young_is_kept),
		RJTEST(a_wrong_clock_ages_nothing),
		RJTEST(a_clock_ahead_deletes_nothing),
		RJTEST(a_clock_that_was_ahead),
		RJTEST(the_limit),
		RJTEST(a_store_that_goes_away),
	};
	int status = RJTEST_RUN("log-trim", tests);

	t_store_done();
	return status;
}
