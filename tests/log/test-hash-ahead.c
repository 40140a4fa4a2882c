// SPDX-License-Identifier: GPL-2.0-or-later
/* A writer's segment that is hashed before its last block is known. */
#include <string.h>

#include "log/common.h"
#include "log/write/writer.h"
#include "util/environ.h"

#define START_NS 1700000000000000000LL
#define MS       1000000LL

static int64_t now;

static int64_t clock_now(void *arg)
{
	return now;
}

static const struct rj_seg_run run = {3, 2};

static struct rj_log_append two_blocks(const struct t_log *t)
{
	return (struct rj_log_append){
		.body = {.block_size = T_BLOCK,
			.journal_blocks = T_BLOCKS,
			.tid_count = 1,
			.first_tid = 7,
			.last_tid = 7},
		.runs = &run,
		.run_count = 1,
		.ring = t->ring->data,
	};
}

static uint64_t time_of(struct t_log *t, uint64_t sequence)
{
	struct rj_segment seg = {0};
	struct rj_buf b = {0};
	uint64_t time_ns;

	t_get(t, sequence, &b);
	CU_ASSERT_EQUAL(rj_segment_open(b.data, b.len, &seg, NULL), 0);
	time_ns = seg.header.time_ns;
	rj_segment_release(&seg);
	rj_buf_free(&b);
	return time_ns;
}

/* Segment SEQUENCE, hashed ahead, then appended AFTER ns later: whose time has it? */
static bool has_its_time(
	struct t_log *t, struct rj_log_writer *w, uint64_t sequence, int64_t after)
{
	struct rj_log_append a = two_blocks(t);
	int64_t hashed = now;

	memset(t->ring->data + (size_t)3 * T_BLOCK, (int)sequence, T_BLOCK);
	rj_log_hash_ahead(w, &a);
	CU_ASSERT_TRUE(w->ahead.ready);
	memset(t->ring->data + (size_t)4 * T_BLOCK, (int)sequence, T_BLOCK);
	now += after;
	T_WORKS(t, rj_log_append(w, &a, &t->err));
	CU_ASSERT_FALSE(w->ahead.ready);
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->sequence, sequence);
	return time_of(t, sequence) == (uint64_t)hashed;
}

static void the_log_is_sound(void)
{
	const struct rj_environ clock = {
		.realtime_ns = clock_now,
	};
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	now = START_NS;
	rj_environ_set(&clock);
	CU_ASSERT_TRUE(has_its_time(&t, w, 2, 20 * MS));
	CU_ASSERT_TRUE(has_its_time(&t, w, 3, 0));
	/* too long ago, or the clock was set back */
	CU_ASSERT_FALSE(has_its_time(&t, w, 4, 100 * MS));
	CU_ASSERT_FALSE(has_its_time(&t, w, 5, -MS));
	rj_environ_set(NULL);
	T_WORKS(&t, t_read(&t, NULL));
	CU_ASSERT_EQUAL(t.count, 5);
	CU_ASSERT_TRUE(t_same_ring(&t));
	rj_log_writer_free(w);
	t_log_end(&t);
}

static void something_else_is_appended(void)
{
	struct rj_log_append a, b;
	struct rj_log_writer *w;
	struct t_log t;
	unsigned i;

	t_log_begin(&t);
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	for (i = 0; i < 5; i++) {
		a = b = two_blocks(&t);
		b.base = i == 0;
		b.oldest = i == 1 ? 2 : 0;
		b.body.last_tid += i == 2;
		b.body.tid_count += i == 2;
		b.marked = i == 3 ? 3 : 0;
		rj_log_hash_ahead(w, &a);
		CU_ASSERT_TRUE(w->ahead.ready);
		if (i == 4) /* the kernel writes a block again */
			t.ring->data[3 * T_BLOCK + 5] ^= 1;
		T_WORKS(&t, rj_log_append(w, &b, &t.err));
	}
	T_WORKS(&t, t_read(&t, NULL));
	CU_ASSERT_TRUE(t_same_ring(&t));
	rj_log_writer_free(w);
	t_log_end(&t);
}

/* While a segment is pending, its place is not free yet. */
static void nothing_is_hashed_over_a_pending_one(void)
{
	struct rj_log_append a;
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	a = two_blocks(&t);
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_FAIL, 1, 1);
	CU_ASSERT_EQUAL(t_append(&t, w, 2, 1, 2), -RJ_E_UNREACHABLE);
	rj_log_hash_ahead(w, &a);
	CU_ASSERT_FALSE(w->ahead.ready);
	T_WORKS(&t, rj_log_retry(w, &t.err));
	T_WORKS(&t, rj_log_append(w, &a, &t.err));
	T_WORKS(&t, t_read(&t, NULL));
	CU_ASSERT_EQUAL(t.count, 3);
	rj_log_writer_free(w);
	t_log_end(&t);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(the_log_is_sound),
		RJTEST(something_else_is_appended),
		RJTEST(nothing_is_hashed_over_a_pending_one),
	};
	int rc = RJTEST_RUN("hash-ahead", tests);

	t_store_done();
	return rc;
}
