// SPDX-License-Identifier: GPL-2.0-or-later
/* The fallback file: what is acknowledged is found again, whatever was cut. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/common.h"
#include "log/fallback/fallback-log.h"
#include "support/rjtest.h"

#define BYTES ((size_t)RJ_FALLBACK_MIN_BYTES + 3 * RJ_FALLBACK_ALIGN)

struct rig {
	struct t_log t;
	struct rj_log_writer *w;
	uint8_t *disk;
	struct rj_bio *bio; /* over disk, through what fails */
	struct rj_fallback *s;
	unsigned long writes, fail_at; /* the FAIL_AT'th write (from 1) fails... */
	unsigned reach;		       /* ...after so many blocks reached the disk */
	struct rj_bio_tap tap;
	uint64_t order[4]; /* where the first writes went, or FLUSHED */
	unsigned ordered;
};

#define FLUSHED ~0ull

static void note_order(struct rig *r, uint64_t what)
{
	if (r->ordered < 4)
		r->order[r->ordered++] = what;
}

static int tap_write(void *arg, const void *data, uint64_t len, uint64_t off,
	struct rj_error *err)
{
	struct rig *r = arg;
	uint64_t reach;

	note_order(r, off);
	if (!r->fail_at || ++r->writes < r->fail_at)
		return 0;
	reach = (uint64_t)r->reach * RJ_FALLBACK_ALIGN;
	memcpy(r->disk + off, data, reach < len ? reach : len);
	return rj_fail(err, RJ_E_IO, "made to fail");
}

static int tap_flush(void *arg, struct rj_error *err)
{
	note_order(arg, FLUSHED);
	return 0;
}

static void rig_open(struct rig *r)
{
	r->tap = (struct rj_bio_tap){tap_write, tap_flush, r};
	r->bio = rj_bio_new_tap(
		rj_bio_new_mem(r->disk, BYTES, "fallback"), &r->tap);
}

static void rig_begin(struct rig *r)
{
	memset(r, 0, sizeof(*r));
	t_log_begin(&r->t);
	r->w = t_claim(&r->t, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(r->w);
	r->disk = calloc(1, BYTES);
	rig_open(r);
	T_WORKS(&r->t, rj_fallback_format(r->bio, &r->t.id, &r->t.err));
	T_WORKS(&r->t, rj_fallback_open(r->bio, &r->t.id, &r->s, &r->t.err));
}

static void rig_end(struct rig *r)
{
	rj_fallback_close(r->s);
	rj_bio_free(r->bio);
	free(r->disk);
	rj_log_writer_free(r->w);
	t_log_end(&r->t);
}

/* The process died: only the disk is left. */
static int reopen(struct rig *r)
{
	rj_fallback_close(r->s);
	r->s = NULL;
	r->fail_at = r->writes = 0;
	return rj_fallback_open(r->bio, &r->t.id, &r->s, &r->t.err);
}

static struct rj_fallback_facts facts(const struct rig *r)
{
	struct rj_fallback_facts f;

	rj_fallback_facts(r->s, &f);
	return f;
}

static int begin(struct rig *r)
{
	return rj_fallback_begin(r->s, rj_log_writer_tail(r->w),
		rj_log_writer_epoch(r->w), 1, &r->t.err);
}

/* Seal a segment of one block full of FILL. */
static struct rj_log_sealed seal(struct rig *r, uint8_t fill, bool base)
{
	struct rj_seg_run run = {3, 1};
	struct rj_log_append a = {
		.body = {.block_size = T_BLOCK, .journal_blocks = T_BLOCKS},
		.runs = &run,
		.run_count = 1,
		.ring = r->t.ring->data,
		.base = base,
	};
	struct rj_log_sealed seg = {0};

	memset(r->t.ring->data + (size_t)3 * T_BLOCK, fill, T_BLOCK);
	T_WORKS(&r->t, rj_log_seal(r->w, &a, &r->t.err));
	rj_log_sealed(r->w, &seg);
	return seg;
}

static int keep(struct rig *r, uint8_t fill)
{
	struct rj_log_sealed seg = seal(r, fill, false);
	int rc = rj_fallback_append(r->s, &seg, &r->t.err);

	rj_log_mark_stored(r->w);
	return rc;
}

static void codec(void)
{
	struct rj_fallback_header h = {.generation = 7,
					  .state = RJ_FALLBACK_LOCAL,
					  .area_bytes = 1 << 20,
					  .session = 9,
					  .epoch = 3,
					  .fence = 4,
					  .from = 5,
					  .next = 6,
					  .position = 8192,
					  .last = 8,
					  .since_ns = 77},
				  g;
	struct rj_fallback_record rec = {1, 2, 3, 4096, 500, 0xABCD}, back;
	uint8_t raw[RJ_FALLBACK_HEADER_BYTES], one[RJ_FALLBACK_RECORD_HEAD];
	unsigned i;

	memset(h.chain, 0x5A, sizeof(h.chain));
	rj_fallback_header_encode(&h, raw);
	CU_ASSERT_EQUAL(rj_fallback_header_decode(raw, &g, NULL), 0);
	CU_ASSERT(g.generation == 7 && g.next == 6 && g.since_ns == 77 &&
		  g.chain[31] == 0x5A && g.position == 8192 && g.last == 8);
	for (i = 0; i < sizeof(raw) * 8; i++) {
		raw[i / 8] ^= (uint8_t)(1 << i % 8);
		CU_ASSERT_NOT_EQUAL(
			rj_fallback_header_decode(raw, &g, NULL), 0);
		raw[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	rj_fallback_record_encode(&rec, one);
	CU_ASSERT_EQUAL(rj_fallback_record_decode(one, &back, NULL), 0);
	CU_ASSERT(back.sequence == 2 && back.position == 4096 &&
		  back.bytes == 500 && back.payload == 0xABCD);
	for (i = 0; i < sizeof(one) * 8; i++) {
		one[i / 8] ^= (uint8_t)(1 << i % 8);
		CU_ASSERT_NOT_EQUAL(rj_fallback_record_decode(one, &back, NULL), 0);
		one[i / 8] ^= (uint8_t)(1 << i % 8);
	}
}

static void what_is_kept_is_found_again(void)
{
	struct rj_fallback_place at;
	struct rj_fallback_facts f;
	struct rj_buf b = {0};
	struct rig r;
	unsigned i;

	rig_begin(&r);
	CU_ASSERT_EQUAL(facts(&r).state, RJ_FALLBACK_IDLE);
	T_WORKS(&r.t, begin(&r));
	for (i = 0; i < 20; i++)
		T_WORKS(&r.t, keep(&r, (uint8_t)i));
	T_WORKS(&r.t, reopen(&r));
	f = facts(&r);
	CU_ASSERT(f.state == RJ_FALLBACK_LOCAL && f.from == 2 && f.next == 2 &&
		  f.last == 21 && f.first == 2 && f.fence == 1);
	/* the log's first segment is needed, and is not here */
	CU_ASSERT_FALSE(f.self_sufficient);
	for (i = 2; i < 22; i++) {
		CU_ASSERT_TRUE_FATAL(rj_fallback_find(r.s, i, &at));
		T_WORKS(&r.t, rj_fallback_fetch(r.s, &at, &b, &r.t.err));
	}
	CU_ASSERT_FALSE(rj_fallback_find(r.s, 22, &at));
	/* and it goes on from there */
	T_WORKS(&r.t, keep(&r, 99));
	CU_ASSERT_EQUAL(facts(&r).last, 22);
	rj_fallback_shipped(r.s, 22);
	T_WORKS(&r.t, rj_fallback_idle(r.s, &r.t.err));
	T_WORKS(&r.t, reopen(&r));
	CU_ASSERT_EQUAL(facts(&r).state, RJ_FALLBACK_IDLE);
	rj_buf_free(&b);
	rig_end(&r);
}

static void an_idle_one_tells_who_had_it_last(void)
{
	struct rig r;

	rig_begin(&r);
	CU_ASSERT_TRUE(rj_fallback_was_elsewhere(r.s, 1));
	T_WORKS(&r.t, rj_fallback_serve(r.s, 4, &r.t.err));
	T_WORKS(&r.t, reopen(&r));
	CU_ASSERT_EQUAL(facts(&r).state, RJ_FALLBACK_IDLE);
	CU_ASSERT_FALSE(rj_fallback_was_elsewhere(r.s, 4));
	/* made for the mount of epoch 4: one before that had another */
	CU_ASSERT_TRUE(rj_fallback_was_elsewhere(r.s, 3));
	CU_ASSERT_TRUE(rj_fallback_was_elsewhere(r.s, 5));
	/* an older one's word does not count any more */
	T_WORKS(&r.t, rj_fallback_serve(r.s, 3, &r.t.err));
	CU_ASSERT_EQUAL(facts(&r).epoch, 4);
	/* what is kept is its writer's, whoever else comes */
	T_WORKS(&r.t, begin(&r));
	T_WORKS(&r.t, keep(&r, 1));
	T_WORKS(&r.t, rj_fallback_serve(r.s, 9, &r.t.err));
	T_WORKS(&r.t, reopen(&r));
	CU_ASSERT(facts(&r).state == RJ_FALLBACK_LOCAL && facts(&r).epoch != 9);
	CU_ASSERT_FALSE(rj_fallback_was_elsewhere(r.s, 9));
	rig_end(&r);
}

static bool saw(const struct rig *r, const struct rj_log_tail *want)
{
	struct rj_log_tail t;

	rj_fallback_noted_tail(r->s, &t);
	return t.sequence == want->sequence && t.epoch == want->epoch &&
	       !memcmp(t.chain, want->chain, sizeof(t.chain));
}

static void an_idle_one_notes_what_was_acknowledged(void)
{
	struct rj_log_tail a = {.sequence = 7, .epoch = 2, .chain = {1, 2}},
			   b = {.sequence = 9, .epoch = 2, .chain = {3}},
			   none = {0};
	struct rig r;

	rig_begin(&r);
	CU_ASSERT_TRUE(saw(&r, &none));
	T_WORKS(&r.t, rj_fallback_note_tail(r.s, &a, &r.t.err));
	T_WORKS(&r.t, reopen(&r));
	CU_ASSERT_TRUE(saw(&r, &a));
	/* cut off: the one before is still there */
	r.fail_at = r.writes + 1;
	r.reach = 0;
	CU_ASSERT_EQUAL(rj_fallback_note_tail(r.s, &b, &r.t.err), -RJ_E_IO);
	CU_ASSERT_TRUE(saw(&r, &a));
	T_WORKS(&r.t, reopen(&r));
	CU_ASSERT_TRUE(saw(&r, &a));
	CU_ASSERT_EQUAL(facts(&r).state, RJ_FALLBACK_IDLE);
	T_WORKS(&r.t, rj_fallback_note_tail(r.s, &b, &r.t.err));
	/* it goes along with all else, and stays while the file is in use */
	T_WORKS(&r.t, rj_fallback_serve(r.s, 4, &r.t.err));
	T_WORKS(&r.t, begin(&r));
	T_WORKS(&r.t, rj_fallback_note_tail(r.s, &a, &r.t.err));
	T_WORKS(&r.t, keep(&r, 1));
	T_WORKS(&r.t, reopen(&r));
	CU_ASSERT_TRUE(saw(&r, &b));
	CU_ASSERT_EQUAL(facts(&r).state, RJ_FALLBACK_LOCAL);
	rig_end(&r);
}

static void a_base_makes_it_self_sufficient(void)
{
	struct rj_log_sealed seg;
	struct rig r;

	rig_begin(&r);
	T_WORKS(&r.t, begin(&r));
	T_WORKS(&r.t, keep(&r, 1));
	CU_ASSERT_FALSE(facts(&r).self_sufficient);
	seg = seal(&r, 2, true);
	T_WORKS(&r.t, rj_fallback_append(r.s, &seg, &r.t.err));
	rj_log_mark_stored(r.w);
	CU_ASSERT_TRUE(facts(&r).self_sufficient);
	T_WORKS(&r.t, reopen(&r));
	CU_ASSERT_TRUE(facts(&r).self_sufficient);
	rig_end(&r);
}

/* The last record may be torn: it was never acknowledged. No other may. */
static void torn_is_the_end_and_damaged_is_not(void)
{
	struct rig r;

	rig_begin(&r);
	T_WORKS(&r.t, begin(&r));
	T_WORKS(&r.t, keep(&r, 1));
	T_WORKS(&r.t, keep(&r, 2));
	T_WORKS(&r.t, keep(&r, 3)); /* each takes one block */
	r.disk[RJ_FALLBACK_AREA + 2 * RJ_FALLBACK_ALIGN + 900] ^= 1;
	T_WORKS(&r.t, reopen(&r));
	CU_ASSERT_EQUAL(facts(&r).last, 3);
	r.disk[RJ_FALLBACK_AREA + 2 * RJ_FALLBACK_ALIGN + 900] ^= 1;
	r.disk[RJ_FALLBACK_AREA + RJ_FALLBACK_ALIGN + 900] ^= 1;
	T_FAILS(&r.t, reopen(&r), RJ_E_CORRUPT, "segment 3 is damaged");
	/* its head, too */
	r.disk[RJ_FALLBACK_AREA + RJ_FALLBACK_ALIGN + 20] ^= 1;
	T_FAILS(&r.t, reopen(&r), RJ_E_CORRUPT, "segment 3 is damaged");
	r.disk[RJ_FALLBACK_AREA + RJ_FALLBACK_ALIGN + 20] ^= 1;
	r.disk[RJ_FALLBACK_AREA + RJ_FALLBACK_ALIGN + 900] ^= 1;
	T_WORKS(&r.t, reopen(&r));
	CU_ASSERT_EQUAL(facts(&r).last, 4);
	/* a stop wrote down how far it goes: then the last one counts, too */
	T_WORKS(&r.t, rj_fallback_note(r.s, &r.t.err));
	r.disk[RJ_FALLBACK_AREA + 2 * RJ_FALLBACK_ALIGN + 900] ^= 1;
	T_FAILS(&r.t, reopen(&r), RJ_E_CORRUPT, "segment 4 is damaged");
	rig_end(&r);
}

static int (*whole_read)(struct rj_bio *bio, void *out, size_t len,
	uint64_t off, struct rj_error *err);
static uint64_t bad_off;

/* The disk cannot read one place, the first time that it is asked. */
static int bad_read(struct rj_bio *bio, void *out, size_t len, uint64_t off,
	struct rj_error *err)
{
	if (off == bad_off) {
		bad_off = UINT64_MAX;
		return rj_fail(err, RJ_E_IO, "fallback: cannot read");
	}
	return whole_read(bio, out, len, off, err);
}

static void unreadable_is_not_the_end(void)
{
	struct rig r;
	int i;

	for (i = 0; i < 2; i++) {
		rig_begin(&r);
		T_WORKS(&r.t, begin(&r));
		T_WORKS(&r.t, keep(&r, 1));
		T_WORKS(&r.t, keep(&r, 2));
		/* the last one's head; its bytes */
		bad_off = RJ_FALLBACK_AREA + RJ_FALLBACK_ALIGN +
			  (i ? RJ_FALLBACK_RECORD_HEAD : 0);
		whole_read = r.bio->read;
		r.bio->read = bad_read;
		T_FAILS(&r.t, reopen(&r), RJ_E_IO, "cannot read");
		T_WORKS(&r.t, reopen(&r));
		CU_ASSERT_EQUAL(facts(&r).last, 3);
		rig_end(&r);
	}
}

static void headers(void)
{
	struct rj_log_id other = {0};
	struct rig r;

	rig_begin(&r);
	T_WORKS(&r.t, begin(&r));
	T_WORKS(&r.t, keep(&r, 1));
	/* the newer one is gone: the older one says idle, or says local: never
	 * more than was promised; both are gone: refused */
	r.disk[0] ^= 1;
	r.disk[RJ_FALLBACK_ALIGN] ^= 1;
	T_FAILS(&r.t, reopen(&r), RJ_E_NOTRJ, "not a fallback file");
	r.disk[0] ^= 1;
	r.disk[RJ_FALLBACK_ALIGN] ^= 1;
	r.disk[30] ^= 1;
	r.disk[RJ_FALLBACK_ALIGN + 30] ^= 1;
	T_FAILS(&r.t, reopen(&r), RJ_E_CORRUPT, "checksum");
	r.disk[30] ^= 1;
	r.disk[RJ_FALLBACK_ALIGN + 30] ^= 1;
	T_WORKS(&r.t, reopen(&r));
	rj_fallback_close(r.s);
	r.s = NULL;
	T_FAILS(&r.t, rj_fallback_open(r.bio, &other, &r.s, &r.t.err),
		RJ_E_FOREIGN, "fallback file of journal");
	rig_end(&r);
}

/* Who wrote the header that we found may have died before its flush: the power
 * may take it away, but not after we built on it. */
static void what_was_found_is_made_durable_first(void)
{
	uint8_t was[RJ_FALLBACK_AREA];
	struct rig r;

	rig_begin(&r);
	T_WORKS(&r.t, begin(&r));
	T_WORKS(&r.t, keep(&r, 1));
	T_WORKS(&r.t, reopen(&r));
	memcpy(was, r.disk, sizeof(was));
	r.ordered = 0;
	T_WORKS(&r.t, keep(&r, 2));
	CU_ASSERT_EQUAL_FATAL(r.ordered, 4);
	CU_ASSERT(r.order[0] < RJ_FALLBACK_AREA);
	CU_ASSERT_EQUAL(r.order[1], FLUSHED);
	CU_ASSERT(r.order[2] >= RJ_FALLBACK_AREA);
	CU_ASSERT_EQUAL(r.order[3], FLUSHED);
	/* the same one, in its own slot */
	CU_ASSERT(!memcmp(was, r.disk, sizeof(was)));
	/* and once */
	r.ordered = 0;
	T_WORKS(&r.t, keep(&r, 3));
	CU_ASSERT(r.order[0] >= RJ_FALLBACK_AREA);
	/* before the next header, which would have the other slot */
	T_WORKS(&r.t, reopen(&r));
	r.ordered = 0;
	T_WORKS(&r.t, rj_fallback_note(r.s, &r.t.err));
	CU_ASSERT_EQUAL_FATAL(r.ordered, 4);
	CU_ASSERT_EQUAL(r.order[0] + r.order[2], RJ_FALLBACK_ALIGN);
	CU_ASSERT_EQUAL(r.order[1], FLUSHED);
	rig_end(&r);
}

/* ---- a model: random sizes round and round, with cuts ---- */

#define CASES 250

static uint64_t dice;

static uint32_t draw(uint32_t below)
{
	dice = dice * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(dice >> 33) % below;
}

struct model {
	struct rig r;
	uint64_t next, last; /* what was acknowledged, less what was shipped */
	uint32_t size[1024]; /* of segment n at n % 1024 */
	uint64_t sealed; /* the last one that was: a retry has the same bytes */
};

/* Segment N's bytes: a real header, then whatever. */
static struct rj_log_sealed fake(
	struct model *m, uint64_t n, uint32_t size, struct rj_buf *b)
{
	struct rj_seghdr h = {
		.version = RJ_SEG_VERSION,
		.kind = RJ_SEG_DATA,
		.sequence = n,
		.epoch = 1,
		.oldest = n,
		.stored_bytes = size,
		.raw_bytes = size,
	};
	struct rj_log_sealed seg = {.at = {.sequence = n, .epoch = 1,
					    .oldest = n}};

	if (n <= m->sealed)
		size = m->size[n % 1024];
	m->sealed = n;
	h.stored_bytes = h.raw_bytes = size;
	b->len = 0;
	rj_buf_reserve(b, size);
	memset(b->data, (int)(n & 0xFF), size);
	rj_seghdr_encode(&h, b->data);
	seg.bytes = b->data;
	seg.len = size;
	m->size[n % 1024] = size;
	return seg;
}

static void check_all(struct model *m, struct rj_buf *b)
{
	struct rj_fallback_place at;
	uint64_t n;

	for (n = m->next; n <= m->last; n++) {
		CU_ASSERT_TRUE_FATAL(rj_fallback_find(m->r.s, n, &at));
		T_WORKS(&m->r.t,
			rj_fallback_fetch(m->r.s, &at, b, &m->r.t.err));
		CU_ASSERT_EQUAL(b->len, m->size[n % 1024]);
		CU_ASSERT_EQUAL(b->data[b->len - 1], (uint8_t)n);
	}
}

/* The process dies; perhaps in the middle of the write that failed. */
static void die(struct model *m, struct rj_buf *b)
{
	struct rj_fallback_facts f;

	T_WORKS(&m->r.t, reopen(&m->r));
	CU_ASSERT_PTR_NOT_NULL_FATAL(m->r.s);
	f = facts(&m->r);
	if (f.state == RJ_FALLBACK_IDLE) {
		CU_ASSERT(m->next > m->last);
		return;
	}
	/* one that was being written may be there; never one too few, and what
	 * was shipped may have to be shipped again */
	CU_ASSERT(f.last == m->last || f.last == m->last + 1);
	CU_ASSERT(f.next <= m->next);
	check_all(m, b);
	m->last = f.last;
	m->next = f.next < m->next ? f.next : m->next;
}

static void one_turn(struct model *m, struct rj_buf *b)
{
	struct rj_log_sealed seg;
	int rc;

	if (draw(4) == 0) {
		m->r.writes = 0;
		m->r.fail_at = 1 + draw(2);
		m->r.reach = draw(5);
	}
	switch (draw(8)) {
	case 0:
		if (m->next <= m->last) {
			m->next += draw((uint32_t)(m->last - m->next + 2));
			rj_fallback_shipped(m->r.s, m->next - 1);
		}
		break;
	case 1:
		if (m->next > m->last)
			rj_fallback_idle(m->r.s, NULL);
		break;
	case 2:
		rj_fallback_note(m->r.s, NULL);
		break;
	default:
		if (facts(&m->r).state == RJ_FALLBACK_IDLE) {
			struct rj_log_tail tail = {.sequence = m->last,
				.epoch = 1};

			if (rj_fallback_begin(m->r.s, &tail, 1, 1, NULL))
				break;
			m->next = m->last + 1;
		}
		seg = fake(m, m->last + 1, draw(3) ?
			300 + draw(9000) :
			300 + draw(9u << 20), b);
		rc = rj_fallback_append(m->r.s, &seg, &m->r.t.err);
		if (!rc)
			m->last++;
		if (rc == -RJ_E_NOSPACE) /* then it is nearly full */
			CU_ASSERT(facts(&m->r).used > (20u << 20));
		break;
	}
	m->r.fail_at = 0;
	if (draw(5) == 0)
		die(m, b);
}

static void random_lives(void)
{
	struct rj_buf b = {0};
	unsigned i, full = 0;
	struct model m = {0};

	dice = rjtest_seed();
	rig_begin(&m.r);
	m.last = 1;
	m.next = 2;
	for (i = 0; i < CASES; i++) {
		one_turn(&m, &b);
		full += facts(&m.r).used > (30u << 20);
	}
	die(&m, &b);
	printf("# up to segment %llu, %u times nearly full\n",
		(unsigned long long)m.last, full);
	rj_buf_free(&b);
	rig_end(&m.r);
}

/* ---- and at the store ---- */

static void it_is_shipped_in_order_and_then_idle(void)
{
	struct rj_store *both = NULL;
	struct rj_log_summary sum;
	uint64_t n = 0;
	struct rig r;
	bool taken;

	rig_begin(&r);
	T_WORKS(&r.t, t_append(&r.t, r.w, 5, 1, 0x11));
	T_WORKS(&r.t, begin(&r));
	T_WORKS(&r.t, keep(&r, 1));
	T_WORKS(&r.t, keep(&r, 2));
	T_WORKS(&r.t, reopen(&r));
	/* read together, before anything is shipped */
	T_WORKS(&r.t,
		rj_fallback_store(r.s, r.t.raw, &r.t.id, &both, &r.t.err));
	T_WORKS(&r.t, rj_log_read(both, &r.t.id, NULL, NULL, NULL, &sum,
			    &r.t.err));
	CU_ASSERT_EQUAL(sum.tail.sequence, 4);
	rj_store_close(both);
	/* alone it is not enough */
	T_WORKS(&r.t, rj_fallback_store(r.s, NULL, &r.t.id, &both, &r.t.err));
	CU_ASSERT_EQUAL(rj_log_read(both, &r.t.id, NULL, NULL, NULL, &sum,
				&r.t.err), -RJ_E_GAP);
	rj_store_close(both);
	/* the store goes away in the middle */
	t_fault(&r.t, RJ_FAULT_PUT, RJ_FAULT_FAIL, 2, 0);
	CU_ASSERT_EQUAL(rj_fallback_ship(r.s, r.t.store, &r.t.id, 1, &n, &taken,
				&r.t.err), -RJ_E_UNREACHABLE);
	CU_ASSERT(n == 1 && !taken);
	rj_fault_clear(r.t.store);
	T_WORKS(&r.t, reopen(&r));
	CU_ASSERT_EQUAL(facts(&r).next, 4);
	T_WORKS(&r.t, rj_fallback_ship(r.s, r.t.store, &r.t.id, 1, &n, &taken,
			    &r.t.err));
	CU_ASSERT_EQUAL(n, 1);
	CU_ASSERT_EQUAL(facts(&r).state, RJ_FALLBACK_IDLE);
	T_WORKS(&r.t, t_read(&r.t, NULL));
	CU_ASSERT_EQUAL(r.t.sum.tail.sequence, 4);
	CU_ASSERT_TRUE(t_same_ring(&r.t));
	rig_end(&r);
}

static void who_took_over_is_not_overwritten(void)
{
	struct rj_log_writer *newer = NULL;
	struct rig r;
	bool taken;

	rig_begin(&r);
	T_WORKS(&r.t, begin(&r));
	T_WORKS(&r.t, keep(&r, 1));
	T_WORKS(&r.t, rj_log_claim(r.t.raw, &r.t.id, NULL, &newer, &r.t.err));
	T_WORKS(&r.t, reopen(&r));
	T_FAILS(&r.t, rj_fallback_ship(r.s, r.t.store, &r.t.id, 1, NULL, &taken,
			    &r.t.err), RJ_E_FENCED, "epoch 2");
	CU_ASSERT_TRUE(taken);
	T_WORKS(&r.t, reopen(&r));
	CU_ASSERT(facts(&r).state == RJ_FALLBACK_LOCAL && facts(&r).last == 2);
	T_WORKS(&r.t, rj_fallback_give_up(r.s, &r.t.err));
	T_WORKS(&r.t, reopen(&r));
	CU_ASSERT_EQUAL(facts(&r).state, RJ_FALLBACK_GIVEN_UP);
	rj_log_writer_free(newer);
	rig_end(&r);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(codec),
		RJTEST(what_is_kept_is_found_again),
		RJTEST(an_idle_one_tells_who_had_it_last),
		RJTEST(an_idle_one_notes_what_was_acknowledged),
		RJTEST(a_base_makes_it_self_sufficient),
		RJTEST(torn_is_the_end_and_damaged_is_not),
		RJTEST(unreadable_is_not_the_end),
		RJTEST(headers),
		RJTEST(what_was_found_is_made_durable_first),
		RJTEST(random_lives),
		RJTEST(it_is_shipped_in_order_and_then_idle),
		RJTEST(who_took_over_is_not_overwritten),
	};
	int status = RJTEST_RUN("fallback", tests);

	t_store_done();
	return status;
}
