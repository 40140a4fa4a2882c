// SPDX-License-Identifier: GPL-2.0-or-later
/* A segment that is sealed while the one before it is being put. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "log/common.h"

#define APPENDS 1500

/* Segment SEQUENCE of one block. */
static struct rj_log_append one(const struct t_log *t,
	const struct rj_seg_run *run, uint64_t sequence)
{
	return (struct rj_log_append){
		.body = {.block_size = T_BLOCK, .journal_blocks = T_BLOCKS},
		.runs = run,
		.run_count = 1,
		.ring = t->ring->data,
		.sequence = sequence,
	};
}

static uint8_t *block(const struct t_log *t, uint32_t b)
{
	return t->ring->data + (size_t)b * T_BLOCK;
}

/* Segment 2 is under way: its answer has not come. */
static struct rj_log_writer *begin(struct t_log *t)
{
	struct rj_log_writer *w;

	t_log_begin(t);
	w = t_claim(t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	t_fault(t, RJ_FAULT_PUT, RJ_FAULT_FAIL, 1, 1);
	CU_ASSERT_EQUAL_FATAL(t_append(t, w, 2, 1, 2), -RJ_E_UNREACHABLE);
	return w;
}

static void end(struct t_log *t, struct rj_log_writer *w, uint8_t third)
{
	T_WORKS(t, t_read(t, NULL));
	CU_ASSERT_EQUAL(t->count, 3);
	CU_ASSERT_EQUAL(t->seen->data[3 * T_BLOCK], third);
	rj_log_writer_free(w);
	t_log_end(t);
}

static void it_is_used(void)
{
	const struct rj_seg_run run = {3, 1};
	struct rj_log_append a;
	struct rj_log_writer *w;
	struct t_log t;

	w = begin(&t);
	a = one(&t, &run, 3);
	block(&t, 3)[0] = 'A';
	CU_ASSERT_TRUE(rj_log_seal_next(w, &a));
	T_WORKS(&t, rj_log_retry(w, &t.err));
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->sequence, 2);
	block(&t, 3)[0] = 'B'; /* which its caller must not do */
	T_WORKS(&t, rj_log_append(w, &a, &t.err));
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->sequence, 3);
	end(&t, w, 'A');
}

static void not_what_does_not_come_next(void)
{
	const struct rj_seg_run run = {3, 1};
	struct rj_log_append a;
	struct rj_log_writer *w;
	struct t_log t;

	w = begin(&t);
	a = one(&t, &run, 2);
	CU_ASSERT_FALSE(rj_log_seal_next(w, &a));
	a.sequence = 4;
	CU_ASSERT_FALSE(rj_log_seal_next(w, &a));
	a.sequence = 0;
	CU_ASSERT_FALSE(rj_log_seal_next(w, &a));
	a.sequence = 3;
	a.base = true;
	CU_ASSERT_FALSE(rj_log_seal_next(w, &a));
	a.base = false;
	T_WORKS(&t, rj_log_retry(w, &t.err));
	CU_ASSERT_FALSE(rj_log_seal_next(w, &a)); /* nothing is under way */
	block(&t, 3)[0] = 'B';
	T_WORKS(&t, rj_log_append(w, &a, &t.err));
	end(&t, w, 'B');
}

/* Something else came instead: that is what is in the log. */
static void another_in_its_place(void)
{
	const struct rj_seg_run run = {3, 1};
	struct rj_log_append a, b;
	struct rj_log_writer *w;
	struct t_log t;

	w = begin(&t);
	a = one(&t, &run, 3);
	b = one(&t, &run, 0);
	block(&t, 3)[0] = 'A';
	CU_ASSERT_TRUE(rj_log_seal_next(w, &a));
	T_WORKS(&t, rj_log_retry(w, &t.err));
	block(&t, 3)[0] = 'B';
	T_WORKS(&t, rj_log_append(w, &b, &t.err));
	end(&t, w, 'B');
}

static void as_well_with_a_key(void)
{
	const struct rj_seg_run run = {3, 1};
	const uint8_t bytes[RJ_SEALKEY_BYTES] = {9};
	struct rj_sealkey *key = NULL;
	struct rj_log_append a;
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	T_WORKS(&t, rj_sealkey_from_bytes(bytes, &key, &t.err));
	t.id.key = key;
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_FAIL, 1, 1);
	CU_ASSERT_EQUAL(t_append(&t, w, 2, 1, 2), -RJ_E_UNREACHABLE);
	a = one(&t, &run, 3);
	block(&t, 3)[0] = 'A';
	CU_ASSERT_TRUE(rj_log_seal_next(w, &a));
	T_WORKS(&t, rj_log_retry(w, &t.err));
	T_WORKS(&t, rj_log_append(w, &a, &t.err));
	end(&t, w, 'A');
	rj_sealkey_free(key);
}

/* ---- two threads ---- */

struct race {
	struct t_log t;
	struct rj_log_writer *w;
	struct rj_seg_run runs[APPENDS];
	struct rj_log_append all[APPENDS];
	atomic_int appending; /* which is being appended */
	int failed;
};

static void *append_all(void *arg)
{
	struct race *r = arg;
	int i;

	for (i = 0; i < APPENDS; i++) {
		r->appending = i;
		r->failed |= rj_log_append(r->w, &r->all[i], &r->t.err);
	}
	r->appending = APPENDS;
	return NULL;
}

static void two_threads(void)
{
	static struct race r;
	unsigned long sealed = 0;
	pthread_t thread;
	int i;

	t_log_begin(&r.t);
	r.w = t_claim(&r.t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(r.w);
	for (i = 0; i < T_BLOCKS; i++)
		block(&r.t, (uint32_t)i)[7] = (uint8_t)(i + 1);
	for (i = 0; i < APPENDS; i++) {
		r.runs[i] = (struct rj_seg_run){(uint32_t)i % 8 * 8, 8};
		r.all[i] = one(&r.t, &r.runs[i], (uint64_t)i + 2);
	}
	CU_ASSERT_EQUAL_FATAL(
		pthread_create(&thread, NULL, append_all, &r), 0);
	while ((i = r.appending + 1) < APPENDS)
		sealed += rj_log_seal_next(r.w, &r.all[i]);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(r.failed, 0);
	T_WORKS(&r.t, t_read(&r.t, NULL));
	CU_ASSERT_TRUE(t_same_ring(&r.t));
	CU_ASSERT_EQUAL(rj_log_writer_tail(r.w)->sequence, APPENDS + 1);
	printf("# sealed %lu times meanwhile, %d appends\n", sealed, APPENDS);
	rj_log_writer_free(r.w);
	t_log_end(&r.t);
}

static const struct rjtest tests[] = {
	RJTEST(it_is_used),
	RJTEST(not_what_does_not_come_next),
	RJTEST(another_in_its_place),
	RJTEST(as_well_with_a_key),
	RJTEST(two_threads),
};

int main(void)
{
	return RJTEST_RUN("sealed in advance", tests);
}
