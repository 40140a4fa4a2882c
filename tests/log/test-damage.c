// SPDX-License-Identifier: GPL-2.0-or-later
/* A log that is not as it should be: each kind of damage is found, named by
 * its number, and never handed on. */
#include <string.h>

#include "log/common.h"

/* The data segments of t_log_fill(t, 6) are 2..7; the fence is 1. */
#define LAST 7

/* Read must fail so, with segment BAD at fault and none from BAD on seen. */
#define T_BAD(t, code, bad, text)                                              \
	do {                                                                   \
		T_FAILS(t, t_read(t, NULL), code, text);                       \
		CU_ASSERT_PTR_NOT_NULL(strstr((t)->err.msg, (t)->raw->url));   \
		CU_ASSERT_EQUAL((t)->sum.bad_sequence, bad);                   \
		CU_ASSERT_TRUE((t)->count < (bad));                            \
		CU_ASSERT_TRUE((t)->sum.tail.sequence < (bad));                \
	} while (0)

static void a_flipped_byte(void)
{
	static const size_t offsets[] = {
		0, 8, 24, 40, 150, 190, 250, 256, 290, 300, 1000};
	char text[64];
	struct t_log t;
	unsigned i, n;

	t_log_begin(&t);
	t_log_fill(&t, 6);
	for (n = 1; n <= LAST; n++) {
		snprintf(text, sizeof(text), "segment %u is damaged", n);
		for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
			if (n == 1 && offsets[i] >= 288)
				break; /* the fence is short */
			t_flip(&t, n, offsets[i]);
			T_BAD(&t, RJ_E_CORRUPT, n, text);
			t_flip(&t, n, offsets[i]);
		}
	}
	t_flip(&t, 4, 700);
	T_BAD(&t, RJ_E_CORRUPT, 4,
		"segment 4 is damaged: its checksum does not match (the log is "
		"kept)");
	CU_ASSERT_EQUAL(t.count, 3);
	t_flip(&t, 4, 700);
	T_WORKS(&t, t_read(&t, NULL));
	t_log_end(&t);
}

static void another_length(void)
{
	struct rj_buf b = {0};
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 6);
	t_get(&t, 5, &b);
	t_replace(&t, 5, b.data, b.len - 1);
	T_BAD(&t, RJ_E_CORRUPT, 5, "segment 5 is damaged");
	t_replace(&t, 5, b.data, 100);
	T_BAD(&t, RJ_E_CORRUPT, 5, "segment 5 is damaged");
	t_replace(&t, 5, b.data, 0);
	T_BAD(&t, RJ_E_CORRUPT, 5, "segment 5 is damaged");
	CU_ASSERT_EQUAL(rj_buf_append(&b, "x", 1), 0);
	t_replace(&t, 5, b.data, b.len);
	T_BAD(&t, RJ_E_CORRUPT, 5, "segment 5 is damaged");
	t_replace(&t, 5, b.data, b.len - 1);
	T_WORKS(&t, t_read(&t, NULL));
	t_get(&t, LAST, &b);
	t_replace(&t, LAST, b.data, b.len - 1024);
	T_BAD(&t, RJ_E_CORRUPT, LAST, "segment 7 is damaged");
	rj_buf_free(&b);
	t_log_end(&t);
}

static void a_missing_segment(void)
{
	struct rj_log_read_opts floor = {.floor = LAST, .retry_ms = T_PATIENCE_MS};
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 6);
	t_remove(&t, 4);
	T_BAD(&t, RJ_E_GAP, 4, "segment 4 is missing");
	CU_ASSERT_EQUAL(t.count, 0);
	t_remove(&t, 5);
	T_BAD(&t, RJ_E_GAP, 4, "segments 4 to 5 are missing");
	t_log_end(&t);

	t_log_begin(&t);
	t_log_fill(&t, 6);
	t_remove(&t, 1);
	T_BAD(&t, RJ_E_GAP, 1, "segment 1 is missing");
	t_log_end(&t);

	t_log_begin(&t);
	t_log_fill(&t, 6);
	T_WORKS(&t, t_read(&t, &floor));
	t_remove(&t, LAST);
	T_WORKS(&t, t_read(&t, NULL)); /* nobody knows of it: the end */
	CU_ASSERT_EQUAL(t.sum.tail.sequence, LAST - 1);
	T_FAILS(&t, t_read(&t, &floor), RJ_E_GAP,
		"the log ends at segment 6, but the volume saw 7 acknowledged");
	CU_ASSERT_PTR_NOT_NULL(strstr(t.err.msg, t.raw->url));
	CU_ASSERT_EQUAL(t.sum.bad_sequence, LAST);
	CU_ASSERT_EQUAL(t.count, 0);
	t_log_end(&t);
}

/* Put OTHER's segment FROM in the place of T's segment TO. */
static void transplant(
	struct t_log *other, uint64_t from, struct t_log *t, uint64_t to)
{
	struct rj_buf b = {0};

	t_get(other, from, &b);
	t_replace(t, to, b.data, b.len);
	rj_buf_free(&b);
}

static void a_foreign_segment(void)
{
	char ours[RJ_UUID_TEXT], theirs[RJ_UUID_TEXT];
	struct t_log t, other;
	uint64_t n;

	t_log_begin(&t);
	t_log_begin(&other);
	t_log_fill(&t, 6);
	t_log_fill(&other, 6);
	rj_uuid_text(t.id.volume_uuid, ours);
	rj_uuid_text(other.id.volume_uuid, theirs);
	transplant(&other, 4, &t, 4);
	T_BAD(&t, RJ_E_FOREIGN, 4, "segment 4 belongs to another volume");
	CU_ASSERT_PTR_NOT_NULL(strstr(t.err.msg, ours));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.err.msg, theirs));
	/* the whole log */
	for (n = 1; n <= LAST; n++)
		transplant(&other, n, &t, n);
	T_BAD(&t, RJ_E_FOREIGN, LAST, "belongs to another volume");
	CU_ASSERT_EQUAL(t.count, 0);
	t_log_end(&other);

	/* the same volume's, from before its journal was made anew */
	t_log_begin(&other);
	memcpy(other.id.volume_uuid, t.id.volume_uuid, RJ_UUID_BYTES);
	t_log_fill(&other, 6);
	for (n = 1; n <= LAST; n++)
		transplant(&other, n, &t, n);
	T_BAD(&t, RJ_E_FOREIGN, LAST, "belongs to another journal");
	t_log_end(&other);
	t_log_end(&t);
}

static void swapped_segments(void)
{
	struct rj_buf a = {0}, b = {0};
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 6);
	t_get(&t, 3, &a);
	t_get(&t, 4, &b);
	t_replace(&t, 3, b.data, b.len);
	t_replace(&t, 4, a.data, a.len);
	T_BAD(&t, RJ_E_CORRUPT, 3, "it is segment 4, in a wrong place");
	t_replace(&t, 3, a.data, a.len);
	t_replace(&t, 4, b.data, b.len);
	t_replace(&t, LAST, b.data, b.len);
	T_BAD(&t, RJ_E_CORRUPT, LAST, "it is segment 4, in a wrong place");
	rj_buf_free(&a);
	rj_buf_free(&b);
	t_log_end(&t);
}

/*
 * Seal a segment that is sound in itself, as H says, after segment
 * H->sequence-1 as it is in the log; put it there.
 */
static void forge(struct t_log *t, struct rj_seghdr h, bool own_nonce)
{
	struct rj_seg_run run = {7, 1};
	struct rj_seg_draft d = {.header = h};
	uint8_t chain[RJ_SEG_HASH_BYTES];
	struct rj_segment before;
	struct rj_buf b = {0};

	t_get(t, h.sequence - 1, &b);
	if (rj_segment_open(b.data, b.len, &before, &t->err))
		return;
	memcpy(d.header.prev_chain, before.chain, sizeof(before.chain));
	memcpy(d.header.nonce, before.header.nonce, RJ_SEG_NONCE_BYTES);
	if (own_nonce)
		d.header.nonce[0] ^= 1;
	rj_segment_release(&before);
	memcpy(d.header.volume_uuid, t->id.volume_uuid, RJ_UUID_BYTES);
	memcpy(d.header.journal_uuid, t->id.journal_uuid, RJ_UUID_BYTES);
	d.header.oldest = 1;
	if (h.kind == RJ_SEG_DATA) {
		d.body.block_size = T_BLOCK;
		d.body.journal_blocks = T_BLOCKS;
		d.runs = &run;
		d.run_count = 1;
		d.ring = t->ring->data;
	}
	CU_ASSERT_EQUAL(rj_segment_seal(&d, &b, chain, &t->err), 0);
	t_replace(t, h.sequence, b.data, b.len);
	rj_buf_free(&b);
}

static void sound_segments_in_a_wrong_place(void)
{
	struct rj_seghdr h = {.kind = RJ_SEG_DATA, .sequence = LAST + 2};
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 6);
	t_log_fill(&t, 0); /* epoch 2: its fence is 8 */
	h.epoch = 2;
	forge(&t, h, false);
	T_WORKS(&t, t_read(&t, NULL)); /* forge() can make a good one */
	h.epoch = 1;
	forge(&t, h, false);
	T_BAD(&t, RJ_E_CORRUPT, LAST + 2,
		"it is of epoch 1, but epoch 2 had begun");
	h.epoch = 2;
	forge(&t, h, true);
	T_BAD(&t, RJ_E_CORRUPT, LAST + 2, "epoch 2 has two writers");
	h.epoch = 3;
	forge(&t, h, true);
	T_BAD(&t, RJ_E_CORRUPT, LAST + 2,
		"epoch 3 begins with it, and it is no fence");
	h.kind = RJ_SEG_FENCE;
	h.epoch = 2;
	forge(&t, h, false);
	T_BAD(&t, RJ_E_CORRUPT, LAST + 2, "a fence in the middle of epoch 2");
	h.epoch = 3;
	forge(&t, h, true);
	T_WORKS(&t, t_read(&t, NULL));
	/* one in the middle that is sound, and not the one that was there */
	h = (struct rj_seghdr){
		.kind = RJ_SEG_DATA, .sequence = 4, .epoch = 1, .time_ns = 1};
	forge(&t, h, false);
	T_BAD(&t, RJ_E_CORRUPT, 5,
		"it does not follow from segment 4: the chain of hashes "
		"breaks");
	t_log_end(&t);
}

static void a_log_that_does_not_begin_with_a_fence(void)
{
	struct rj_seg_run run = {7, 1};
	struct rj_seg_draft d = {
		.header = {.kind = RJ_SEG_DATA,
			.sequence = 1,
			.epoch = 1,
			.oldest = 1},
		.body = {.block_size = T_BLOCK, .journal_blocks = T_BLOCKS},
		.runs = &run,
		.run_count = 1,
	};
	uint8_t chain[RJ_SEG_HASH_BYTES];
	struct rj_buf b = {0};
	struct t_log t;

	t_log_begin(&t);
	d.ring = t.ring->data;
	memcpy(d.header.volume_uuid, t.id.volume_uuid, RJ_UUID_BYTES);
	memcpy(d.header.journal_uuid, t.id.journal_uuid, RJ_UUID_BYTES);
	CU_ASSERT_EQUAL(rj_segment_seal(&d, &b, chain, &t.err), 0);
	t_replace(&t, 1, b.data, b.len);
	T_BAD(&t, RJ_E_CORRUPT, 1, "it is no fence");
	rj_buf_free(&b);
	t_log_end(&t);
}

static void an_unsupported_segment_is_not_called_damaged(void)
{
	struct rj_buf b = {0};
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 6);
	t_get(&t, 5, &b);
	b.data[RJ_SEG_VERSION_OFFSET] = RJ_SEG_VERSION + 1;
	b.data[200] = 1; /* a field of that version's */
	t_replace(&t, 5, b.data, b.len);
	T_BAD(&t, RJ_E_UNSUPPORTED, 5, "segment 5: it has format version 3");
	rj_buf_free(&b);
	t_log_end(&t);
}

static int count_one(void *arg, uint64_t number, uint64_t bytes)
{
	++*(unsigned *)arg;
	return 0;
}

static unsigned count_objects(struct t_log *t)
{
	struct rj_key dir = t_segment_key(t, 0);
	unsigned n = 0;

	rj_store_list(t->raw, &dir, 0, count_one, &n, &t->err);
	dir.kind = RJ_KEY_EPOCH;
	rj_store_list(t->raw, &dir, 0, count_one, &n, &t->err);
	return n;
}

/* Claim T, whose log fails with CODE: refused without a trace, and with a
 * break it goes on from a base. */
static void break_and_go_on(struct t_log *t, enum rj_code code)
{
	struct rj_log_claim_opts o = {.allow_break = true, .retry_ms = T_PATIENCE_MS};
	struct rj_log_read_opts resume = {.retry_ms = T_PATIENCE_MS};
	struct rj_seg_run run = {9, 2};
	struct rj_log_append a = {
		.body = {.block_size = T_BLOCK, .journal_blocks = T_BLOCKS},
		.runs = &run,
		.run_count = 1,
		.oldest = 1,
	};
	struct rj_log_writer *w = NULL;
	unsigned before = count_objects(t);
	struct rj_log_tail tail;
	uint64_t fence;

	T_FAILS(t, rj_log_claim(t->store, &t->id, NULL, &w, &t->err), code,
		"segment");
	CU_ASSERT_EQUAL(count_objects(t), before);
	w = t_claim(t, &o);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	fence = rj_log_writer_tail(w)->sequence;
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->oldest, fence);
	tail = *rj_log_writer_tail(w);
	T_FAILS(t, t_read(t, NULL), RJ_E_CORRUPT, "no base follows it");
	CU_ASSERT_EQUAL(t->sum.bad_sequence, fence);
	CU_ASSERT_EQUAL(t->count, 0);
	T_FAILS(t, t_append(t, w, 3, 1, 0x3C), RJ_E_INVAL, "must be a base");
	CU_ASSERT_FALSE(rj_log_pending(w));
	/* who comes now finds no log to continue either */
	rj_log_writer_free(w);
	w = NULL;
	T_FAILS(t, rj_log_claim(t->store, &t->id, NULL, &w, &t->err),
		RJ_E_CORRUPT, "no base follows it");
	w = t_claim(t, &o);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->sequence, fence + 1);
	/* the base, its answer lost */
	t_fault(t, RJ_FAULT_PUT, RJ_FAULT_LOST, 1, 1);
	T_FAILS(t, t_append_base(t, w), RJ_E_UNREACHABLE, "put");
	T_WORKS(t, rj_log_retry(w, &t->err));
	/* whatever the caller believes, nothing before the base is needed */
	memset(t->ring->data + 9 * T_BLOCK, 0x99, 2 * T_BLOCK);
	a.ring = t->ring->data;
	T_WORKS(t, rj_log_append(w, &a, &t->err));
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->oldest, fence + 2);
	T_WORKS(t, t_read(t, NULL));
	CU_ASSERT_EQUAL(t->sum.start, fence + 2);
	CU_ASSERT_EQUAL(t->count, 2);
	CU_ASSERT_TRUE(t_same_ring(t));
	/* on from the first fence: over another break, to the same ring */
	resume.resume = &tail;
	T_WORKS(t, t_read(t, &resume));
	CU_ASSERT_EQUAL(t->count, 3);
	CU_ASSERT_TRUE(t_same_ring(t));
	rj_log_writer_free(w);
	/* and it is a sound log again */
	t_log_fill(t, 3);
	T_WORKS(t, t_read(t, NULL));
	CU_ASSERT_EQUAL(t->sum.start, fence + 2);
	CU_ASSERT_TRUE(t_same_ring(t));
}

static void break_behind_a_damaged_end(void)
{
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 6);
	t_flip(&t, LAST, 500);
	break_and_go_on(&t, RJ_E_CORRUPT);
	t_log_end(&t);
}

static void break_behind_a_gap(void)
{
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 6);
	t_remove(&t, 3);
	break_and_go_on(&t, RJ_E_GAP);
	t_log_end(&t);
}

static void break_behind_a_foreign_log(void)
{
	struct t_log t, other;

	t_log_begin(&t);
	t_log_begin(&other);
	t_log_fill(&t, 6);
	t_log_fill(&other, 6);
	transplant(&other, LAST, &t, LAST);
	break_and_go_on(&t, RJ_E_FOREIGN);
	t_log_end(&other);
	t_log_end(&t);
}

static void no_replay_across_a_break(void)
{
	struct rj_log_claim_opts o = {.allow_break = true, .retry_ms = T_PATIENCE_MS};
	struct rj_seghdr h = {
		.kind = RJ_SEG_DATA, .sequence = LAST + 2, .epoch = 2};
	struct rj_log_read_opts resume = {.retry_ms = T_PATIENCE_MS};
	struct rj_log_tail tail;
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 6);
	T_WORKS(&t, t_read(&t, NULL));
	tail = t.sum.tail;
	resume.resume = &tail;
	t_remove(&t, 3);
	rj_log_writer_free(t_claim(&t, &o));
	T_FAILS(&t, t_read(&t, &resume), RJ_E_CORRUPT, "no base follows it");
	forge(&t, h, false);
	T_FAILS(&t, t_read(&t, &resume), RJ_E_CORRUPT, "this is no base");
	CU_ASSERT_EQUAL(t.sum.bad_sequence, LAST + 2);
	t_log_end(&t);
}

static void a_sound_log_is_not_broken(void)
{
	struct rj_log_claim_opts o = {.allow_break = true, .retry_ms = T_PATIENCE_MS};
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 6);
	w = t_claim(&t, &o);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->oldest, 1);
	T_WORKS(&t, t_append(&t, w, 1, 1, 1));
	T_WORKS(&t, t_read(&t, NULL));
	CU_ASSERT_EQUAL(t.count, LAST + 2);
	rj_log_writer_free(w);
	t_log_end(&t);
}

/* Damage where the next segment is to go: the writer stops for good. */
static void an_unreadable_object_in_the_way(void)
{
	struct rj_log_writer *w;
	struct t_log t;

	t_log_begin(&t);
	w = t_claim(&t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	t_replace(&t, 2, "garbage", 7);
	if (t_mode_b(&t)) { /* in our own folder our put replaces it */
		T_WORKS(&t, t_append(&t, w, 1, 1, 1));
		T_WORKS(&t, t_read(&t, NULL));
	} else {
		T_FAILS(&t, t_append(&t, w, 1, 1, 1), RJ_E_CORRUPT,
			"segment 2 is damaged");
		T_FAILS(&t, rj_log_retry(w, &t.err), RJ_E_CORRUPT,
			"segment 2 is damaged");
	}
	rj_log_writer_free(w);
	t_log_end(&t);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(a_flipped_byte),
		RJTEST(another_length),
		RJTEST(a_missing_segment),
		RJTEST(a_foreign_segment),
		RJTEST(swapped_segments),
		RJTEST(sound_segments_in_a_wrong_place),
		RJTEST(a_log_that_does_not_begin_with_a_fence),
		RJTEST(an_unsupported_segment_is_not_called_damaged),
		RJTEST(break_behind_a_damaged_end),
		RJTEST(break_behind_a_gap),
		RJTEST(break_behind_a_foreign_log),
		RJTEST(no_replay_across_a_break),
		RJTEST(a_sound_log_is_not_broken),
		RJTEST(an_unreadable_object_in_the_way),
	};
	int status = RJTEST_RUN("damage", tests);

	t_store_done();
	return status;
}
