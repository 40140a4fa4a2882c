// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rjserver/record/index.h"
#include "rjserver/record/record.h"
#include "support/rjtest.h"

static struct okey key_of(unsigned journal, uint64_t number)
{
	struct okey k = {.key = {.kind = RJ_KEY_LOG, .number = number}};

	strcpy(k.name, journal & 1 ? "odd" : "even");
	memcpy(k.key.journal_uuid, &journal, sizeof(journal));
	return k;
}

/* All but each third below N are deleted at once. */
static void delete_below(
	struct index *idx, const struct okey *k, bool *there, unsigned n)
{
	struct idx_entry *e;
	uint64_t at = 0;

	for (; (e = idx_next(idx, k, at)) && e->number < n; at = e->number) {
		if (e->number % 3 == 0)
			continue;
		e->state = IDX_DELETING;
		there[e->number] = false;
	}
	idx_remove_below(idx, k, n);
}

/* Random inserts and removals against a plain table. */
static void as_a_table(void)
{
	enum { JOURNALS = 20, NUMBERS = 3000, STEPS = 400000 };
	static bool there[JOURNALS][NUMBERS + 1];
	struct index *idx = idx_new();
	const struct idx_entry *list;
	struct idx_entry *e;
	struct okey k;
	unsigned j, n, step, wrong = 0;

	srandom((unsigned)rjtest_seed());
	for (step = 0; step < STEPS; step++) {
		j = (unsigned)random() % JOURNALS;
		n = 1 + (unsigned)random() % NUMBERS;
		k = key_of(j, n);
		e = idx_find(idx, &k);
		wrong += (e != NULL) != there[j][n];
		if (step % 50000 == 49999) {
			delete_below(idx, &k, there[j], n);
		} else if (random() % 8 < 5) {
			e = idx_insert(idx, &k);
			wrong += (e == NULL) != there[j][n];
			if (e)
				e->pos = j * 10000 + n;
			there[j][n] = true;
		} else {
			idx_remove(idx, &k);
			there[j][n] = false;
		}
	}
	for (j = 0; j < JOURNALS; j++) {
		k = key_of(j, 0);
		for (list = NULL, n = 6; n <= NUMBERS; n++) {
			if (!there[j][n])
				continue;
			list = idx_next(idx, &k, list ? list->number : 5);
			wrong += !list || list->number != n ||
				 list->pos != j * 10000 + n;
		}
		wrong += list != idx_last(idx, &k);
		wrong += idx_next(idx, &k, list ? list->number : 0) != NULL;
	}
	CU_ASSERT_EQUAL(wrong, 0);
	idx_free(idx);
}

/* A log: appended at the end, trimmed at the front, for a long time. */
static void as_a_log(void)
{
	struct index *idx = idx_new();
	struct okey k;
	uint64_t n;

	for (n = 1; n <= 100000; n++) {
		k = key_of(1, n);
		CU_ASSERT_PTR_NOT_NULL_FATAL(idx_insert(idx, &k));
		if (n <= 10)
			continue;
		k.key.number = n - 10;
		idx_remove(idx, &k);
	}
	CU_ASSERT_EQUAL(idx_next(idx, &k, 0)->number, 99991);
	CU_ASSERT_EQUAL(idx_next(idx, &k, 99999)->number, 100000);
	CU_ASSERT_EQUAL(idx_last(idx, &k)->number, 100000);
	CU_ASSERT_PTR_NULL(idx_next(idx, &k, UINT64_MAX));
	idx_free(idx);
}

/* From the end to the begin: each insert moves a few entries, not all of them
 * (which took minutes). */
static void backwards(void)
{
	enum { MOST = 1000000 };
	struct index *idx = idx_new();
	struct okey k;
	uint64_t n, wrong = 0;

	for (n = MOST; n > 0; n--) {
		k = key_of(1, n);
		wrong += !idx_insert(idx, &k);
	}
	for (n = 1; n <= MOST; n++) {
		k = key_of(1, n);
		wrong += !idx_find(idx, &k);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	idx_free(idx);
}

static int collect(void *arg, const uint8_t *uuid)
{
	char **p = arg;

	*p += sprintf(*p, "%02x ", uuid[0]);
	return 0;
}

static void journals_of_a_name(void)
{
	struct index *idx = idx_new();
	char text[64] = "", *p = text;
	unsigned j;
	struct okey k;

	for (j = 9; j > 0; j--) {
		k = key_of(j, 1);
		idx_insert(idx, &k);
	}
	k = key_of(3, 1);
	idx_remove(idx, &k); /* its only object */
	CU_ASSERT_EQUAL(idx_journals(idx, "odd", collect, &p), 0);
	CU_ASSERT_STRING_EQUAL(text, "01 05 07 09 ");
	p = text;
	*p = 0;
	idx_journals(idx, "nobody", collect, &p);
	CU_ASSERT_STRING_EQUAL(text, "");
	idx_free(idx);
}

/* Any changed byte makes a header (or trailer) unreadable, never different. */
static void record_headers(void)
{
	struct rec r = {.type = REC_OBJECT,
		.flags = 0,
		.length = 12345,
		.body_crc = 0xdeadbeef,
		.okey = key_of(7, 42),
		.pos = pos_make(3, 8192),
		.prev = pos_make(3, 4096),
		.durable = pos_make(3, 4800),
		.store_id = 0x1122334455667788,
		.time_ns = 99};
	uint8_t raw[REC_HEAD_BYTES];
	struct rec got;
	int i, trailer;

	CU_ASSERT_EQUAL(rec_total(0), 384);
	CU_ASSERT_EQUAL(rec_total(1), 448);
	CU_ASSERT_EQUAL(rec_total(64), 448);
	for (trailer = 0; trailer < 2; trailer++) {
		rec_encode(&r, trailer, raw);
		CU_ASSERT_TRUE_FATAL(
			rec_decode(raw, trailer, r.store_id, &got));
		CU_ASSERT_EQUAL(got.length, r.length);
		CU_ASSERT_EQUAL(got.body_crc, r.body_crc);
		CU_ASSERT_EQUAL(got.pos, r.pos);
		CU_ASSERT_EQUAL(got.prev, r.prev);
		CU_ASSERT_EQUAL(got.durable, r.durable);
		CU_ASSERT_EQUAL(got.okey.key.number, 42);
		CU_ASSERT_STRING_EQUAL(got.okey.name, "odd");
		CU_ASSERT_FALSE(rec_decode(raw, !trailer, r.store_id, &got));
		CU_ASSERT_FALSE(rec_decode(raw, trailer, 1, &got));
		for (i = 0; i < REC_HEAD_BYTES; i++) {
			raw[i] ^= 0x10;
			if (rec_decode(raw, trailer, r.store_id, &got))
				CU_FAIL("a changed byte was not seen");
			raw[i] ^= 0x10;
		}
	}
}

static void file_heads(void)
{
	struct file_head h = {5, 64 << 20, 77, 99}, got = {0};
	uint8_t raw[FILE_HEAD_BYTES];
	bool bad;

	file_head_encode(&h, raw);
	CU_ASSERT_TRUE(file_head_decode(raw, &got, &bad));
	CU_ASSERT_FALSE(bad);
	CU_ASSERT_EQUAL(got.number, 5);
	CU_ASSERT_EQUAL(got.bytes, 64 << 20);
	CU_ASSERT_EQUAL(got.store_id, 77);
	raw[20] ^= 1;
	CU_ASSERT_TRUE(file_head_decode(raw, &got, &bad));
	CU_ASSERT_TRUE(bad);
	CU_ASSERT_EQUAL(got.bytes, 64 << 20);
	raw[FILE_HEAD_COPY + 9] ^= 1;
	CU_ASSERT_FALSE(file_head_decode(raw, &got, &bad));
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(as_a_table),
		RJTEST(as_a_log),
		RJTEST(backwards),
		RJTEST(journals_of_a_name),
		RJTEST(record_headers),
		RJTEST(file_heads),
	};

	return RJTEST_RUN("rjserver-index", tests);
}
