// SPDX-License-Identifier: GPL-2.0-or-later
/* The ordinary life of a log: claim, append, lose answers, read, resume. */
#include <string.h>

#include "log/common.h"
#include "log/listing.h"

static void one_writer_appends_and_a_reader_sees_it(void)
{
	struct rj_log_writer *w;
	struct t_log t;
	unsigned i;

	t_log_begin(&t);
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	CU_ASSERT_EQUAL(rj_log_writer_epoch(w), 1);
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->sequence, 1);
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->oldest, 1);
	for (i = 0; i < 20; i++)
		T_WORKS(&t, t_append(&t, w, i * 3, 1 + i % 3, (uint8_t)i));
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->sequence, 21);
	T_WORKS(&t, t_read(&t, NULL));
	CU_ASSERT_EQUAL(t.count, 21);
	CU_ASSERT_EQUAL(t.sequence[0], 1);
	CU_ASSERT_EQUAL(t.sequence[20], 21);
	CU_ASSERT_EQUAL(t.sum.first, 1);
	CU_ASSERT_EQUAL(t.sum.last, 21);
	CU_ASSERT_EQUAL(t.sum.start, 1);
	CU_ASSERT_EQUAL(t.sum.segments, 21);
	CU_ASSERT_EQUAL(t.sum.epochs_claimed, 1);
	CU_ASSERT_EQUAL(t.sum.bad_sequence, 0);
	CU_ASSERT_FALSE(
		memcmp(&t.sum.tail, rj_log_writer_tail(w), sizeof(t.sum.tail)));
	CU_ASSERT_TRUE(t_same_ring(&t));
	rj_log_writer_free(w);
	t_log_end(&t);
}

static void no_log_is_not_found(void)
{
	struct rj_log_read_opts floor = {.floor = 3};
	struct t_log t;

	t_log_begin(&t);
	T_FAILS(&t, t_read(&t, NULL), RJ_E_NOTFOUND, "there is no log");
	CU_ASSERT_EQUAL(t.sum.last, 0);
	T_FAILS(&t, t_read(&t, &floor), RJ_E_GAP, "the log is empty");
	CU_ASSERT_EQUAL(t.sum.bad_sequence, 1);
	t_log_end(&t);
}

static void reading_begins_at_oldest(void)
{
	struct rj_seg_run run = {5, 1};
	struct rj_log_append a = {
		.body = {.block_size = T_BLOCK, .journal_blocks = T_BLOCKS},
		.runs = &run,
		.run_count = 1,
		.oldest = 4,
	};
	struct rj_log_writer *w;
	struct t_log t;
	int i;

	t_log_begin(&t);
	a.ring = t.ring->data;
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	for (i = 0; i < 5; i++)
		T_WORKS(&t, t_append(&t, w, i, 1, 7));
	T_WORKS(&t, rj_log_append(w, &a, &t.err));
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->oldest, 4);
	/* 0 keeps it, and a later claim does too */
	T_WORKS(&t, t_append(&t, w, 9, 1, 9));
	rj_log_writer_free(w);
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->oldest, 4);
	T_WORKS(&t, t_read(&t, NULL));
	CU_ASSERT_EQUAL(t.sum.start, 4);
	CU_ASSERT_EQUAL(t.sequence[0], 4);
	CU_ASSERT_EQUAL(t.count, 6);
	/* what lies before is not needed: it may be trimmed */
	t_remove(&t, 1);
	t_remove(&t, 3);
	T_WORKS(&t, t_read(&t, NULL));
	a.oldest = 99;
	T_FAILS(&t, rj_log_append(w, &a, &t.err), RJ_E_INVAL, "oldest");
	CU_ASSERT_FALSE(rj_log_pending(w));
	T_WORKS(&t, t_append_base(&t, w));
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->oldest, 10);
	T_WORKS(&t, t_read(&t, NULL));
	CU_ASSERT_EQUAL(t.count, 1);
	CU_ASSERT_TRUE(t_same_ring(&t));
	rj_log_writer_free(w);
	t_log_end(&t);
}

static void resume_reads_only_what_is_new(void)
{
	struct rj_log_read_opts o = {.retry_ms = T_PATIENCE_MS};
	struct rj_log_tail tail;
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 4);
	T_WORKS(&t, t_read(&t, NULL));
	tail = t.sum.tail;
	o.resume = &tail;
	T_WORKS(&t, t_read(&t, &o));
	CU_ASSERT_EQUAL(t.count, 0);
	CU_ASSERT_FALSE(memcmp(&t.sum.tail, &tail, sizeof(tail)));
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	T_WORKS(&t, t_append(&t, w, 40, 3, 0xEE));
	T_WORKS(&t, t_read(&t, &o));
	CU_ASSERT_EQUAL(t.count, 2);
	CU_ASSERT_EQUAL(t.sequence[0], 6);
	CU_ASSERT_EQUAL(t.sum.tail.sequence, 7);
	CU_ASSERT_TRUE(t_same_ring(&t));
	tail.chain[0] ^= 1;
	T_FAILS(&t, t_read(&t, &o), RJ_E_CORRUPT, "segment 6 is damaged");
	CU_ASSERT_EQUAL(t.sum.bad_sequence, 6);
	tail.chain[0] ^= 1;
	o.floor = 8;
	T_FAILS(&t, t_read(&t, &o), RJ_E_GAP, "ends at segment 7");
	rj_log_writer_free(w);
	t_log_end(&t);
}

/* A store that was put back to an earlier state. */
static void what_was_read_has_to_be_there(void)
{
	struct rj_log_read_opts o = {.retry_ms = T_PATIENCE_MS};
	struct rj_log_writer *w;
	struct rj_log_tail tail;
	struct rj_buf was = {0};
	struct t_log t;

	t_log_begin(&t);
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	T_WORKS(&t, t_append_base(&t, w));
	T_WORKS(&t, t_append(&t, w, 40, 3, 0xEE));
	T_WORKS(&t, t_read(&t, NULL));
	tail = t.sum.tail;
	o.resume = &tail;
	t_get(&t, 3, &was);
	t_remove(&t, 3);
	T_FAILS(&t, t_read(&t, &o), RJ_E_GAP, "segment 3 is not there any more");
	CU_ASSERT_EQUAL(t.sum.bad_sequence, 3);
	/* another segment has its number */
	tail.chain[31] ^= 1;
	t_replace(&t, 3, was.data, was.len);
	T_FAILS(&t, t_read(&t, &o), RJ_E_GAP, "segment 3 is not there any more");
	tail.chain[31] ^= 1;
	T_WORKS(&t, t_read(&t, &o));
	/* trimmed: the next one follows from it, or does not */
	T_WORKS(&t, t_append_base(&t, w));
	t_remove(&t, 3);
	T_WORKS(&t, t_read(&t, &o));
	CU_ASSERT_EQUAL(t.sum.tail.sequence, 4);
	o.upto = 3;
	T_WORKS(&t, t_read(&t, &o));
	CU_ASSERT_EQUAL(t.count, 0);
	rj_buf_free(&was);
	rj_log_writer_free(w);
	t_log_end(&t);
}

/* What this host saw acknowledged, by log/floor/floor.h. */
static void another_history_is_not_the_one_that_was_seen(void)
{
	struct rj_log_tail seen = {0};
	struct rj_log_read_opts o = {.retry_ms = T_PATIENCE_MS, .seen = &seen};
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 6);
	T_WORKS(&t, t_read(&t, &o)); /* nothing */
	seen = t.sum.tail;
	T_WORKS(&t, t_read(&t, &o));
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	T_WORKS(&t, t_append(&t, w, 40, 3, 0xEE));
	T_WORKS(&t, t_read(&t, &o));
	rj_log_writer_seen(w, &seen);
	CU_ASSERT_EQUAL(seen.sequence, t.sum.tail.sequence);
	T_WORKS(&t, t_read(&t, &o));
	seen.chain[31] ^= 1;
	T_FAILS(&t, t_read(&t, &o), RJ_E_REFUSED,
		"not the one that this host saw");
	CU_ASSERT_EQUAL(t.sum.bad_sequence, seen.sequence);
	seen.chain[31] ^= 1;
	seen.sequence++;
	T_FAILS(&t, t_read(&t, &o), RJ_E_REFUSED, "but this host saw");
	rj_log_writer_free(w);
	t_log_end(&t);
}

static void upto_reads_as_if_the_log_ended_there(void)
{
	struct rj_log_read_opts o = {.retry_ms = T_PATIENCE_MS, .upto = 4};
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 6);
	t_remove(&t, 6);
	t_flip(&t, 5, 300);
	T_WORKS(&t, t_read(&t, &o));
	CU_ASSERT_EQUAL(t.count, 4);
	CU_ASSERT_EQUAL(t.sum.tail.sequence, 4);
	o.upto = 6;
	T_FAILS(&t, t_read(&t, &o), RJ_E_GAP, "segment 6 is missing");
	o.upto = 9;
	T_FAILS(&t, t_read(&t, &o), RJ_E_GAP, "segments 8 to 9 are missing");
	t_log_end(&t);
}

/* A store whose next TORN_LISTS listings miss segment 3, as when it was put while they were
 * made, or all from CUT_FROM on, as of a server that cuts long lists. */
static const struct rj_store_ops *real_ops;
static unsigned torn_lists;
static uint64_t cut_from = UINT64_MAX;

struct torn {
	rj_store_list_fn fn;
	void *arg;
};

static int all_but_3(void *arg, uint64_t number, uint64_t bytes)
{
	struct torn *torn = arg;

	if (number == 3 || number >= cut_from)
		return 0;
	return torn->fn(torn->arg, number, bytes);
}

static int torn_list(struct rj_store *s, const struct rj_key *dir,
	uint64_t after, rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	struct torn torn = {fn, arg};

	if (dir->kind == RJ_KEY_LOG && torn_lists) {
		torn_lists--;
		return real_ops->list(s, dir, after, all_but_3, &torn, err);
	}
	return real_ops->list(s, dir, after, fn, arg, err);
}

static void a_hole_is_believed_when_seen_twice(void)
{
	struct rj_store_ops ops;
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 5);
	real_ops = t.store->ops;
	ops = *real_ops;
	ops.list = torn_list;
	t.store->ops = &ops;
	torn_lists = 1;
	T_WORKS(&t, t_read(&t, NULL));
	CU_ASSERT_EQUAL(torn_lists, 0);
	CU_ASSERT_EQUAL(t.count, 6);
	torn_lists = 1;
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL(w);
	rj_log_writer_free(w);
	torn_lists = 2;
	T_FAILS(&t, t_read(&t, NULL), RJ_E_PROTOCOL, "does not show segment 3, which is there");
	CU_ASSERT_EQUAL(torn_lists, 0);
	t_remove(&t, 3);
	torn_lists = 2;
	T_FAILS(&t, t_read(&t, NULL), RJ_E_GAP, "segment 3 is missing");
	torn_lists = 0;
	t.store->ops = real_ops;
	t_log_end(&t);
}

/* Its end would be taken for that of the log. Stores of mode B: tests/store/tree/test-cut-list.c */
static void a_list_that_is_cut_is_not_believed(void)
{
	struct rj_log_claim_opts o = {.retry_ms = T_PATIENCE_MS};
	struct rj_log_writer *w = NULL;
	struct rj_listing l = {0};
	struct rj_store_ops ops;
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 5);
	if (t_mode_b(&t)) {
		t_log_end(&t);
		return;
	}
	real_ops = t.store->ops;
	ops = *real_ops;
	ops.list = torn_list;
	t.store->ops = &ops;
	cut_from = 5;
	torn_lists = 9;
	T_FAILS(&t, t_read(&t, NULL), RJ_E_PROTOCOL, "does not show segment 5, which is there");
	T_FAILS(&t, rj_log_claim(t.store, &t.id, &o, &w, &t.err), RJ_E_PROTOCOL, "segment 5");
	T_FAILS(&t, rj_listing_log(t.store, &t.id, 4, 0, &l, &t.err), RJ_E_PROTOCOL, "segment 5");
	torn_lists = 1; /* it was put in between */
	T_WORKS(&t, rj_listing_log(t.store, &t.id, 3, 0, &l, &t.err));
	CU_ASSERT_EQUAL(l.last, 6);
	T_WORKS(&t, t_read(&t, NULL));
	CU_ASSERT_EQUAL(t.count, 6);
	rj_listing_free(&l);
	cut_from = UINT64_MAX;
	t.store->ops = real_ops;
	t_log_end(&t);
}

static int stop_at_3(void *arg, uint64_t done, uint64_t total)
{
	CU_ASSERT_EQUAL(total, 6);
	return done == 3;
}

static int sink_fails(
	void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	return rj_fail(err, RJ_E_NOSPACE, "the sink is full");
}

static void reading_stops_when_told(void)
{
	struct rj_log_read_opts o = {.progress = stop_at_3};
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 5);
	T_FAILS(&t, t_read(&t, &o), RJ_E_CANCELLED, "segment 3");
	CU_ASSERT_EQUAL(t.sum.segments, 3);
	CU_ASSERT_EQUAL(t.sum.tail.sequence, 3);
	T_FAILS(&t,
		rj_log_read(
			t.store, &t.id, NULL, sink_fails, NULL, &t.sum, &t.err),
		RJ_E_NOSPACE, "the sink is full");
	CU_ASSERT_EQUAL(
		rj_log_read(t.store, &t.id, NULL, NULL, NULL, NULL, NULL), 0);
	t_log_end(&t);
}

static void an_older_writer_is_fenced_at_its_next_append(void)
{
	struct rj_log_writer *a, *b;
	struct t_log t;

	t_log_begin(&t);
	a = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	T_WORKS(&t, t_append(&t, a, 1, 1, 1));
	b = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(b);
	CU_ASSERT_EQUAL(rj_log_writer_epoch(b), 2);
	T_FAILS(&t, t_append(&t, a, 2, 1, 2), RJ_E_FENCED, "epoch 2");
	CU_ASSERT_FALSE(rj_log_pending(a));
	T_WORKS(&t, t_append(&t, b, 2, 1, 3));
	/* once fenced, always fenced: even if the number is free again */
	t_remove(&t, 4);
	T_FAILS(&t, t_append(&t, a, 2, 1, 2), RJ_E_FENCED, "epoch 2");
	T_FAILS(&t, rj_log_retry(a, &t.err), RJ_E_FENCED, "epoch 2");
	T_WORKS(&t, t_read(&t, NULL));
	CU_ASSERT_EQUAL(t.sum.tail.sequence, 3);
	rj_log_writer_free(a);
	rj_log_writer_free(b);
	t_log_end(&t);
}

static void a_claim_goes_above_every_number_it_knows(void)
{
	struct rj_log_claim_opts o = {.retry_ms = T_PATIENCE_MS, .min_epoch = 41};
	struct rj_key epoch = {.kind = RJ_KEY_EPOCH, .number = 42};
	struct rj_buf text = {0};
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	w = t_claim(&t, &o);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	CU_ASSERT_EQUAL(rj_log_writer_epoch(w), 42);
	rj_log_writer_free(w);
	memcpy(epoch.journal_uuid, t.id.journal_uuid, RJ_UUID_BYTES);
	CU_ASSERT_EQUAL(rj_store_get(t.raw, &epoch, 4096, &text, &t.err), 0);
	CU_ASSERT_EQUAL(rj_buf_append(&text, "", 1), 0);
	CU_ASSERT_EQUAL(
		strncmp((char *)text.data, "rj-epoch 1\nepoch 42\nvolume ", 27),
		0);
	CU_ASSERT_PTR_NOT_NULL(strstr((char *)text.data, "\nnonce "));
	CU_ASSERT_PTR_NOT_NULL(strstr((char *)text.data, "\nhost "));
	CU_ASSERT_PTR_NOT_NULL(strstr((char *)text.data, "Z\n"));
	rj_buf_free(&text);
	/* the epoch objects are gone: the last segment still knows */
	CU_ASSERT_EQUAL(rj_store_remove(t.raw, &epoch, &t.err),
		t_mode_b(&t) ? -RJ_E_UNSUPPORTED : 0);
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	CU_ASSERT_EQUAL(rj_log_writer_epoch(w), 43);
	rj_log_writer_free(w);
	T_WORKS(&t, t_read(&t, NULL));
	t_log_end(&t);
}

static void new_log_must_be_empty(void)
{
	struct rj_log_claim_opts o = {.new_log = true};
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	w = t_claim(&t, &o);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	rj_log_writer_free(w);
	w = NULL;
	T_FAILS(&t, rj_log_claim(t.store, &t.id, &o, &w, &t.err), RJ_E_EXISTS,
		"a log is there already");
	CU_ASSERT_PTR_NULL(w);
	t_log_end(&t);
}

static void an_outage_keeps_the_bytes_and_retry_sends_them(void)
{
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_FAIL, 1, 0);
	T_FAILS(&t, t_append(&t, w, 3, 2, 0x33), RJ_E_UNREACHABLE,
		"cannot append segment 2");
	CU_ASSERT_TRUE(rj_log_pending(w));
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->sequence, 1);
	T_FAILS(&t, t_append(&t, w, 8, 2, 0), RJ_E_INVAL,
		"not acknowledged yet");
	T_FAILS(&t, rj_log_retry(w, &t.err), RJ_E_UNREACHABLE, "segment 2");
	rj_fault_clear(t.store);
	T_WORKS(&t, rj_log_retry(w, &t.err));
	CU_ASSERT_FALSE(rj_log_pending(w));
	CU_ASSERT_EQUAL(rj_log_retry(w, &t.err), 0);
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->sequence, 2);
	T_WORKS(&t, t_read(&t, NULL));
	CU_ASSERT_TRUE(t_same_ring(&t));
	rj_log_writer_free(w);
	t_log_end(&t);
}

/* A sealed segment that is kept elsewhere and put later, by another handle. */
static void what_was_kept_is_put_later_in_order(void)
{
	struct rj_buf kept[3] = {0}, back = {0};
	struct rj_log_sealed sealed;
	struct rj_log_writer *w;
	struct t_log t;
	bool taken;
	unsigned i;

	t_log_begin(&t);
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	CU_ASSERT_FALSE(rj_log_sealed(w, &sealed));
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_FAIL, 1, 0);
	for (i = 0; i < 3; i++) {
		T_FAILS(&t, t_append(&t, w, 3 + i, 2, (uint8_t)(0x41 + i)),
			RJ_E_UNREACHABLE, "cannot append");
		CU_ASSERT_TRUE_FATAL(rj_log_sealed(w, &sealed));
		CU_ASSERT_EQUAL(sealed.at.sequence, 2 + i);
		CU_ASSERT_EQUAL(
			rj_buf_append(&kept[i], sealed.bytes, sealed.len), 0);
		rj_log_mark_stored(w);
		CU_ASSERT_EQUAL(rj_log_writer_tail(w)->sequence, 2 + i);
	}
	rj_fault_clear(t.store);
	T_WORKS(&t, rj_store_adopt(t.raw, t.id.journal_uuid,
			    rj_log_writer_epoch(w), 1, &t.err));
	for (i = 0; i < 6; i++) { /* and again: they are there */
		T_WORKS(&t, rj_log_put_sealed(t.raw, &t.id, 2 + i % 3,
				    rj_log_writer_epoch(w),
				    &(struct iovec){kept[i % 3].data,
					    kept[i % 3].len},
				    1, &back, &taken, &t.err));
		CU_ASSERT_FALSE(taken);
	}
	T_WORKS(&t, t_append(&t, w, 9, 1, 0x77)); /* after them */
	T_WORKS(&t, t_read(&t, NULL));
	CU_ASSERT_TRUE(t_same_ring(&t));
	for (i = 0; i < 3; i++)
		rj_buf_free(&kept[i]);
	rj_buf_free(&back);
	rj_log_writer_free(w);
	t_log_end(&t);
}

/* Somebody took over meanwhile: what was kept is not put over it. */
static void what_was_kept_is_not_put_over_another_writer(void)
{
	struct rj_buf kept = {0}, back = {0};
	struct rj_log_writer *w, *newer;
	struct rj_log_sealed sealed;
	struct t_log t;
	bool taken;

	t_log_begin(&t);
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_FAIL, 1, 0);
	T_FAILS(&t, t_append(&t, w, 3, 2, 0x41), RJ_E_UNREACHABLE,
		"cannot append");
	CU_ASSERT_TRUE_FATAL(rj_log_sealed(w, &sealed));
	CU_ASSERT_EQUAL(rj_buf_append(&kept, sealed.bytes, sealed.len), 0);
	rj_log_mark_stored(w);
	rj_fault_clear(t.store);
	T_WORKS(&t, rj_log_claim(t.raw, &t.id, NULL, &newer, &t.err));
	T_FAILS(&t, rj_log_put_sealed(t.store, &t.id, 2,
			    rj_log_writer_epoch(w),
			    &(struct iovec){kept.data, kept.len}, 1, &back,
			    &taken, &t.err),
		RJ_E_FENCED, "epoch 2");
	CU_ASSERT_TRUE(taken);
	rj_buf_free(&kept);
	rj_buf_free(&back);
	rj_log_writer_free(newer);
	rj_log_writer_free(w);
	t_log_end(&t);
}

static void a_full_store_keeps_the_bytes_too(void)
{
	struct rj_fault full = {
		.op = RJ_FAULT_PUT, .times = 1, .code = RJ_E_NOSPACE};
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	CU_ASSERT_EQUAL(rj_fault_add(t.store, &full), 0);
	T_FAILS(&t, t_append(&t, w, 3, 2, 0x33), RJ_E_NOSPACE, "segment 2");
	CU_ASSERT_TRUE(rj_log_pending(w));
	T_WORKS(&t, rj_log_retry(w, &t.err));
	rj_log_writer_free(w);
	t_log_end(&t);
}

static void a_lost_answer_is_recognised(void)
{
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_LOST, 1, 1);
	T_FAILS(&t, t_append(&t, w, 3, 2, 0x44), RJ_E_UNREACHABLE, "put");
	/* and the reading back is cut as well; in mode B it is put again */
	t_fault(&t, RJ_FAULT_GET, RJ_FAULT_FAIL, 1, 1);
	if (!t_mode_b(&t))
		T_FAILS(&t, rj_log_retry(w, &t.err), RJ_E_UNREACHABLE, "get");
	CU_ASSERT_TRUE(rj_log_pending(w));
	T_WORKS(&t, rj_log_retry(w, &t.err));
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->sequence, 2);
	T_WORKS(&t, t_append(&t, w, 5, 2, 0x45));
	T_WORKS(&t, t_read(&t, NULL));
	CU_ASSERT_TRUE(t_same_ring(&t));
	rj_log_writer_free(w);
	t_log_end(&t);
}

/* Two runs that go round the ring's end, left there until they are stored. */
static int append_in_place(struct t_log *t, struct rj_log_writer *w, uint8_t fill)
{
	static const struct rj_seg_run runs[] = {{T_BLOCKS - 2, 2}, {0, 3}};
	const struct rj_log_append a = {
		.body = {.block_size = T_BLOCK, .journal_blocks = T_BLOCKS},
		.runs = runs,
		.run_count = 2,
		.ring = t->ring->data,
		.in_place = true,
	};

	memset(t->ring->data, fill, (size_t)3 * T_BLOCK);
	memset(t->ring->data + (size_t)(T_BLOCKS - 2) * T_BLOCK, fill + 1,
		(size_t)2 * T_BLOCK);
	return rj_log_append(w, &a, &t->err);
}

static void what_stays_in_the_ring_is_sent_from_there(void)
{
	struct rj_log_sealed sealed;
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	T_WORKS(&t, append_in_place(&t, w, 0x21));
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_FAIL, 1, 2);
	T_FAILS(&t, append_in_place(&t, w, 0x31), RJ_E_UNREACHABLE, "segment 3");
	CU_ASSERT_TRUE(rj_log_pending(w));
	CU_ASSERT_FALSE(rj_log_sealed(w, &sealed));
	T_FAILS(&t, rj_log_retry(w, &t.err), RJ_E_UNREACHABLE, "segment 3");
	T_WORKS(&t, rj_log_retry(w, &t.err));
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_LOST, 1, 1);
	T_FAILS(&t, append_in_place(&t, w, 0x41), RJ_E_UNREACHABLE, "put");
	T_WORKS(&t, rj_log_retry(w, &t.err));
	T_WORKS(&t, t_append(&t, w, 5, 2, 0x51));
	T_WORKS(&t, t_read(&t, NULL));
	CU_ASSERT_TRUE(t_same_ring(&t));
	/* what is stored is compared to its last byte */
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_LOST, 1, 1);
	T_FAILS(&t, append_in_place(&t, w, 0x61), RJ_E_UNREACHABLE, "put");
	t.ring->data[T_BLOCKS * T_BLOCK - 1] ^= 1;
	if (!t_mode_b(&t))
		T_FAILS(&t, rj_log_retry(w, &t.err), RJ_E_FENCED, "two writers");
	rj_log_writer_free(w);
	t_log_end(&t);
}

static void a_lost_answer_and_then_a_takeover(void)
{
	struct rj_log_writer *a, *b;
	struct t_log t;

	t_log_begin(&t);
	a = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	/* stored, not heard: the segment is the log's, the writer not yet
	 * fenced, and its retry succeeds; the next append does not */
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_LOST, 1, 1);
	T_FAILS(&t, t_append(&t, a, 3, 2, 0x44), RJ_E_UNREACHABLE, "put");
	rj_fault_clear(t.store);
	b = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(b);
	CU_ASSERT_EQUAL(rj_log_writer_tail(b)->sequence, 3);
	if (t_mode_b(&t)) /* whether it counts, it can no longer know */
		T_FAILS(&t, rj_log_retry(a, &t.err), RJ_E_FENCED, "epoch 2");
	else
		T_WORKS(&t, rj_log_retry(a, &t.err));
	T_FAILS(&t, t_append(&t, a, 3, 2, 0x44), RJ_E_FENCED, "epoch 2");
	/* not stored, and then fenced: the retry must say so */
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_FAIL, 1, 1);
	T_FAILS(&t, t_append(&t, b, 3, 2, 0x45), RJ_E_UNREACHABLE, "put");
	rj_log_writer_free(a);
	a = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	T_FAILS(&t, rj_log_retry(b, &t.err), RJ_E_FENCED, "epoch 3");
	CU_ASSERT_FALSE(rj_log_pending(b));
	rj_log_writer_free(a);
	rj_log_writer_free(b);
	T_WORKS(&t, t_read(&t, NULL));
	CU_ASSERT_EQUAL(t.sum.tail.sequence, 4);
	t_log_end(&t);
}

/* Every call of a claim and of a read fails once, before and after it was
 * carried out: each gets through, and the log stays sound. */
static void any_single_fault_is_outlasted(void)
{
	static const enum rj_fault_kind kinds[] = {
		RJ_FAULT_FAIL, RJ_FAULT_LOST, RJ_FAULT_PARTIAL};
	struct rj_log_writer *w;
	struct t_log t;
	unsigned k, nth, epoch = 0;

	t_log_begin(&t);
	for (k = 0; k < 3; k++) {
		for (nth = 1; nth <= 8; nth++) {
			t_fault(&t, RJ_FAULT_ANY, kinds[k], nth, 1);
			w = t_claim(&t, NULL);
			CU_ASSERT_PTR_NOT_NULL(w);
			if (!w) {
				printf("# %s\n", t.err.msg);
				continue;
			}
			rj_fault_clear(t.store);
			CU_ASSERT_EQUAL(rj_log_writer_epoch(w), ++epoch);
			T_WORKS(&t, t_append(&t, w, nth, 1, (uint8_t)epoch));
			T_WORKS(&t, t_append_base(&t, w));
			rj_log_writer_free(w);
			t_fault(&t, RJ_FAULT_ANY, kinds[k], nth, 1);
			T_WORKS(&t, t_read(&t, NULL));
			CU_ASSERT_TRUE(t_same_ring(&t));
			rj_fault_clear(t.store);
		}
	}
	t_log_end(&t);
}

/* The last put of a recovery, and the first one of a new journal. */
static void a_tool_tries_its_put_again(void)
{
	static const enum rj_fault_kind kinds[] = {
		RJ_FAULT_FAIL, RJ_FAULT_LOST, RJ_FAULT_PARTIAL};
	struct rj_seg_run run = {3, 1};
	struct rj_log_append a = {.runs = &run, .run_count = 1};
	struct rj_log_writer *w;
	struct t_log t;
	unsigned k;

	t_log_begin(&t);
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	T_WORKS(&t, t_append_base(&t, w));
	a.body = (struct rj_segbody){
		.block_size = t.ring->block_size, .journal_blocks = t.ring->blocks};
	a.ring = t.ring->data;
	for (k = 0; k < 3; k++) {
		t_fault(&t, RJ_FAULT_PUT, kinds[k], 1, 2);
		T_WORKS(&t, rj_log_append_within(w, &a, 0, &t.err));
		CU_ASSERT_FALSE(rj_log_pending(w));
		rj_fault_clear(t.store);
	}
	t_fault(&t, RJ_FAULT_PUT, RJ_FAULT_FAIL, 1, 0);
	T_FAILS(&t, rj_log_append_within(w, &a, 50, &t.err), RJ_E_UNREACHABLE, "injected");
	CU_ASSERT_TRUE(rj_log_pending(w));
	rj_fault_clear(t.store);
	T_WORKS(&t, rj_log_retry(w, &t.err));
	T_WORKS(&t, t_read(&t, NULL));
	rj_log_writer_free(w);
	t_log_end(&t);
}

static void a_store_that_stays_away_is_unreachable(void)
{
	struct rj_log_read_opts soon = {.retry_ms = 50};
	struct rj_log_claim_opts o = {.retry_ms = 50};
	struct rj_log_writer *w = NULL;
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 1);
	t_fault(&t, RJ_FAULT_ANY, RJ_FAULT_FAIL, 1, 0);
	T_FAILS(&t, t_read(&t, &soon), RJ_E_UNREACHABLE, "injected");
	CU_ASSERT_EQUAL(t.sum.bad_sequence, 0);
	T_FAILS(&t, rj_log_claim(t.store, &t.id, &o, &w, &t.err),
		RJ_E_UNREACHABLE, "injected");
	rj_fault_clear(t.store);
	t_fault(&t, RJ_FAULT_GET, RJ_FAULT_FAIL, 1, 0);
	T_FAILS(&t, t_read(&t, &soon), RJ_E_UNREACHABLE,
		t_mode_b(&t) ? "cannot read segment 2" : "cannot ask for segment 3");
	t_log_end(&t);
}

static void a_store_without_fencing_is_refused(void)
{
	struct rj_log_writer *w = NULL;
	struct t_log t;

	t_log_begin(&t);
	t.store->caps.put_new = false;
	t.store->caps.exclusive_container = false;
	T_FAILS(&t, rj_log_claim(t.store, &t.id, NULL, &w, &t.err),
		RJ_E_UNSUPPORTED, "cannot hold a log");
	t_log_end(&t);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(one_writer_appends_and_a_reader_sees_it),
		RJTEST(no_log_is_not_found),
		RJTEST(reading_begins_at_oldest),
		RJTEST(resume_reads_only_what_is_new),
		RJTEST(what_was_read_has_to_be_there),
		RJTEST(another_history_is_not_the_one_that_was_seen),
		RJTEST(upto_reads_as_if_the_log_ended_there),
		RJTEST(a_hole_is_believed_when_seen_twice),
		RJTEST(a_list_that_is_cut_is_not_believed),
		RJTEST(reading_stops_when_told),
		RJTEST(an_older_writer_is_fenced_at_its_next_append),
		RJTEST(a_claim_goes_above_every_number_it_knows),
		RJTEST(new_log_must_be_empty),
		RJTEST(an_outage_keeps_the_bytes_and_retry_sends_them),
		RJTEST(what_was_kept_is_put_later_in_order),
		RJTEST(what_was_kept_is_not_put_over_another_writer),
		RJTEST(a_full_store_keeps_the_bytes_too),
		RJTEST(a_lost_answer_is_recognised),
		RJTEST(what_stays_in_the_ring_is_sent_from_there),
		RJTEST(a_lost_answer_and_then_a_takeover),
		RJTEST(any_single_fault_is_outlasted),
		RJTEST(a_tool_tries_its_put_again),
		RJTEST(a_store_that_stays_away_is_unreachable),
		RJTEST(a_store_without_fencing_is_refused),
	};
	int status = RJTEST_RUN("log", tests);

	t_store_done();
	return status;
}
