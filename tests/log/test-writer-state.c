// SPDX-License-Identifier: GPL-2.0-or-later
/* A writer's process dies, and another goes on as the same writer. */
#include <stdlib.h>

#include "log/common.h"
#include "log/write/writer-state.h"

/* What outlives a process, and the store's handle of the next one. */
struct legacy {
	struct rj_log_writer_state at;
	struct rj_buf pending;
	uint64_t fence;
};

static void die(struct t_log *t, struct rj_log_writer *w, struct legacy *l)
{
	struct rj_log_sealed seg;

	rj_log_writer_save(w, &l->at);
	l->pending.len = 0;
	if (rj_log_sealed(w, &seg))
		CU_ASSERT_EQUAL(
			rj_buf_append(&l->pending, seg.bytes, seg.len), 0);
	rj_log_writer_free(w);
	rj_store_close(t->store);
	if (rj_fault_open(t_store(), &t->store, &t->err))
		exit(99);
}

static int again(struct t_log *t, const struct legacy *l,
	struct rj_log_writer **out, struct rj_error *err)
{
	int rc = rj_store_adopt(t->store, t->id.journal_uuid, l->at.epoch,
		l->fence, err);

	return rc ? rc
		  : rj_log_writer_restore(t->store, &t->id, &l->at,
			    l->pending.data, l->pending.len, out, err);
}

/* A writer with two segments after its fence. */
static struct rj_log_writer *begin(struct t_log *t, struct legacy *l)
{
	struct rj_log_writer *w;

	t_log_begin(t);
	*l = (struct legacy){0};
	w = t_claim(t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	l->fence = rj_log_writer_tail(w)->sequence;
	T_WORKS(t, t_append(t, w, 0, 2, 0x11));
	T_WORKS(t, t_append(t, w, 2, 2, 0x22));
	return w;
}

static void end(struct t_log *t, struct legacy *l, uint64_t last)
{
	T_WORKS(t, t_read(t, NULL));
	CU_ASSERT_EQUAL(t->sum.tail.sequence, last);
	CU_ASSERT_EQUAL(t->sum.epochs_claimed, 1);
	CU_ASSERT(t_same_ring(t));
	rj_buf_free(&l->pending);
	t_log_end(t);
}

static void with_nothing_under_way(void)
{
	struct rj_log_writer *w;
	struct legacy l;
	struct t_log t;
	unsigned i;

	w = begin(&t, &l);
	for (i = 0; i < 3; i++) {
		die(&t, w, &l);
		CU_ASSERT_FALSE(l.at.pending);
		T_WORKS(&t, again(&t, &l, &w, &t.err));
		CU_ASSERT_FALSE(rj_log_pending(w));
		T_WORKS(&t, t_append(&t, w, 4 + i, 1, (uint8_t)(0x33 + i)));
	}
	CU_ASSERT_EQUAL(rj_log_writer_epoch(w), 1);
	rj_log_writer_free(w);
	end(&t, &l, 6);
}

/* The answer to a segment is lost together with its sender, which may have been
 * stored (LOST) or not (FAIL); it dies again before it knows. */
static void with_a_segment_under_way(void)
{
	static const enum rj_fault_kind kinds[] = {
		RJ_FAULT_LOST, RJ_FAULT_FAIL, RJ_FAULT_PARTIAL};
	struct rj_log_writer *w;
	struct legacy l;
	struct t_log t;
	unsigned k;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		w = begin(&t, &l);
		t_fault(&t, RJ_FAULT_PUT, kinds[k], 1, 1);
		T_FAILS(&t, t_append(&t, w, 4, 2, 0x44), RJ_E_UNREACHABLE,
			"put");
		die(&t, w, &l);
		CU_ASSERT(l.at.pending);
		CU_ASSERT_EQUAL(l.at.next.sequence, 4);
		T_WORKS(&t, again(&t, &l, &w, &t.err));
		CU_ASSERT(rj_log_pending(w));
		die(&t, w, &l);
		T_WORKS(&t, again(&t, &l, &w, &t.err));
		CU_ASSERT_EQUAL(rj_log_writer_reserve(w, 1 << 20, NULL), 0);
		T_WORKS(&t, rj_log_retry(w, &t.err));
		CU_ASSERT_EQUAL(rj_log_writer_tail(w)->sequence, 4);
		T_WORKS(&t, t_append(&t, w, 6, 1, 0x55));
		rj_log_writer_free(w);
		end(&t, &l, 5);
	}
}

static void overtaken_meanwhile(void)
{
	struct rj_log_writer *w, *other;
	struct legacy l;
	struct t_log t;

	w = begin(&t, &l);
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_FAIL, 1, 1);
	T_FAILS(&t, t_append(&t, w, 4, 2, 0x44), RJ_E_UNREACHABLE, "put");
	die(&t, w, &l);
	other = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(other);
	rj_store_close(t.store);
	if (rj_fault_open(t_store(), &t.store, &t.err))
		exit(99);
	rj_log_writer_free(other);
	T_WORKS(&t, again(&t, &l, &w, &t.err));
	T_FAILS(&t, rj_log_retry(w, &t.err), RJ_E_FENCED, "epoch 2");
	CU_ASSERT(rj_log_writer_dead(w));
	rj_log_writer_free(w);
	rj_buf_free(&l.pending);
	t_log_end(&t);
}

/* What does not fit together is not gone on with. */
static void not_what_was_sealed(void)
{
	struct rj_log_writer *w;
	struct legacy l, bad;
	struct t_log t;
	size_t i;

	w = begin(&t, &l);
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_FAIL, 1, 1);
	T_FAILS(&t, t_append(&t, w, 4, 2, 0x44), RJ_E_UNREACHABLE, "put");
	die(&t, w, &l);
	for (i = 0; i < l.pending.len; i += 97) {
		l.pending.data[i] ^= 1;
		T_FAILS(&t, again(&t, &l, &w, &t.err), RJ_E_CORRUPT,
			"segment 4");
		CU_ASSERT_PTR_NULL(w);
		l.pending.data[i] ^= 1;
	}
	bad = l;
	bad.at.tail.chain[5] ^= 1;
	T_FAILS(&t, again(&t, &bad, &w, &t.err), RJ_E_CORRUPT, "segment 4");
	bad = l;
	bad.at.next.chain[5] ^= 1;
	T_FAILS(&t, again(&t, &bad, &w, &t.err), RJ_E_CORRUPT, "segment 4");
	bad = l;
	bad.at.next.sequence++;
	T_FAILS(&t, again(&t, &bad, &w, &t.err), RJ_E_CORRUPT, "segment 5");
	bad = l;
	bad.at.nonce[3] ^= 1;
	T_FAILS(&t, again(&t, &bad, &w, &t.err), RJ_E_CORRUPT, "segment 4");
	T_WORKS(&t, again(&t, &l, &w, &t.err));
	T_WORKS(&t, rj_log_retry(w, &t.err));
	rj_log_writer_free(w);
	end(&t, &l, 4);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(with_nothing_under_way),
		RJTEST(with_a_segment_under_way),
		RJTEST(overtaken_meanwhile),
		RJTEST(not_what_was_sealed),
	};
	int status = RJTEST_RUN("standing", tests);

	t_store_done();
	return status;
}
