// SPDX-License-Identifier: GPL-2.0-or-later
/* Moments as people write them, the record of a base, and the overlay of a mount. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "format/sbx-base.h"
#include "history/history.h"
#include "history/overlay.h"
#include "support/rjtest.h"

static void moments(void)
{
	static const struct {
		const char *text;
		enum rj_moment_kind kind;
		uint64_t segment;
		int64_t time_ns;
	} good[] = {
		{"latest", RJ_AT_LATEST, 0, 0},
		{"segment:1", RJ_AT_SEGMENT, 1, 0},
		{"segment:18446744073709551615", RJ_AT_SEGMENT, UINT64_MAX, 0},
		{"@0", RJ_AT_TIME, 0, 0},
		{"@1795300000.000000001", RJ_AT_TIME, 0, 1795300000000000001},
		{"@1795300000.5", RJ_AT_TIME, 0, 1795300000500000000},
		{"2026-11-22 02:26:40Z", RJ_AT_TIME, 0, 1795314400000000000},
		{"2026-11-22T02:26:40.25Z", RJ_AT_TIME, 0, 1795314400250000000},
		/* an hour before that in UTC */
		{"2026-11-22 02:26:40", RJ_AT_TIME, 0, 1795310800000000000},
		{"2026-11-22 02:26:40+02:00", RJ_AT_TIME, 0, 1795307200000000000},
		{"now", RJ_AT_LATEST, 0, 0},
		{"2024-02-29 00:00:00Z", RJ_AT_TIME, 0, 1709164800000000000},
	};
	static const char *const bad[] = {"", "late", "latest ", "segment:",
		"segment:0", "segment:-1", "segment:1x", "segment: 1",
		"segment:18446744073709551616", "@", "@-1", "@1.", "@1.5x",
		"@9223372036854775807", "2026-11-22 02", "2026-11-22 25:00",
		"2026-11-22 02:26:40ZZ", "2026-11-22 02:26:40.Z",
		"2026-02-31 00:00:00Z", "2026-13-01 00:00:00Z",
		"1969-12-31 23:59:59Z", "tomorrow", "10 minutes", "-10"};
	char text[RJ_WHEN_TEXT];
	struct rj_error err;
	struct rj_moment m;
	size_t i;

	setenv("TZ", "CET-1", 1);
	tzset();
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CU_ASSERT_EQUAL(rj_moment_parse(good[i].text, &m, &err), 0);
		CU_ASSERT_EQUAL(m.kind, good[i].kind);
		CU_ASSERT_EQUAL(m.segment, good[i].segment);
		CU_ASSERT_EQUAL(m.time_ns, good[i].time_ns);
		/* what is printed is read as the same */
		rj_when_text(good[i].time_ns, text);
		CU_ASSERT_EQUAL(rj_moment_parse(text, &m, &err), 0);
		CU_ASSERT_EQUAL(m.time_ns, good[i].time_ns);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&err, 0, sizeof(err));
		CU_ASSERT_EQUAL(rj_moment_parse(bad[i], &m, &err), -RJ_E_INVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "is not a moment"));
	}
}

static void places(void)
{
	struct rj_history_place p = {.segment = 7};
	char text[RJ_WHEN_TEXT];

	CU_ASSERT_STRING_EQUAL(rj_place_text(&p, text), "a time that is not known");
	p.sealed_ns = 1795314400250000000;
	CU_ASSERT_STRING_EQUAL(rj_place_text(&p, text), "about 2026-11-22 03:26:40.250000000+01:00");
	p.time_ns = 1795314400000000000;
	CU_ASSERT_STRING_EQUAL(rj_place_text(&p, text), "2026-11-22 03:26:40+01:00");
}

static void sample(uint8_t raw[RJ_SBX_BYTES])
{
	struct rj_sbx s = {
		.placement = RJ_PLACE_REMOTE,
		.journal_uuid = {1, 2, 3},
		.journal_blocks = 1024,
		.epoch = 7,
		.floor = 99,
		.url = "rj://h:1/v",
		.fallback = "/var/lib/f",
	};

	CU_ASSERT_EQUAL(rj_sbx_encode(&s, raw, NULL), 0);
}

static void base_record(void)
{
	struct rj_base_record in = {
		.from = 0x0102030405060708,
		.whole = UINT64_MAX,
		.id = 0x8f3c2a1b5d6e7f09,
		.hold = 999999999999,
		.chain = 0x8807060504030201,
	};
	static const uint8_t chain[RJ_SEG_HASH_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct rj_base_record out;
	uint8_t raw[RJ_SBX_BYTES];
	struct rj_error err;
	struct rj_sbx sbx;
	int i;

	sample(raw);
	CU_ASSERT_EQUAL(rj_sbx_base_get(raw, &out, &sbx, &err), -RJ_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "not a base"));
	rj_sbx_base_put(raw, &in);
	CU_ASSERT_EQUAL(rj_sbx_decode(raw, &sbx, &err), -RJ_E_UNSUPPORTED);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "a base of rjbackup"));
	CU_ASSERT_EQUAL(rj_sbx_base_get(raw, &out, &sbx, &err), 0);
	CU_ASSERT_EQUAL(out.from, in.from);
	CU_ASSERT_EQUAL(out.whole, in.whole);
	CU_ASSERT_EQUAL(out.id, in.id);
	CU_ASSERT_EQUAL(sbx.redo_block, 0);
	CU_ASSERT_EQUAL(out.hold, in.hold);
	CU_ASSERT_EQUAL(out.chain, in.chain);
	CU_ASSERT_EQUAL(out.chain, rj_base_chain(chain));
	CU_ASSERT_EQUAL(sbx.intent_blocks, 0);
	CU_ASSERT_EQUAL(sbx.intent_placement, 0);
	CU_ASSERT_EQUAL(sbx.epoch, 7);
	CU_ASSERT_EQUAL(sbx.floor, 0);
	CU_ASSERT_EQUAL(sbx.incompat, RJ_SBX_INCOMPAT_FALLBACK);
	CU_ASSERT_STRING_EQUAL(sbx.url, "rj://h:1/v");
	CU_ASSERT_STRING_EQUAL(sbx.fallback, "/var/lib/f");
	/* no flipped bit makes another base of it, nor a volume */
	for (i = 0; i < RJ_SBX_BYTES * 8; i++) {
		raw[i / 8] ^= (uint8_t)(1 << i % 8);
		CU_ASSERT_TRUE(rj_sbx_base_get(raw, &out, &sbx, NULL) < 0);
		raw[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	/* an older version left the volume's floor there */
	in.chain = 99;
	rj_sbx_base_put(raw, &in);
	CU_ASSERT_EQUAL(rj_sbx_base_get(raw, &out, &sbx, &err), 0);
	CU_ASSERT_EQUAL(out.chain, 0);
	/* whole before it begins */
	in = (struct rj_base_record){.from = 5, .whole = 4};
	rj_sbx_base_put(raw, &in);
	CU_ASSERT_EQUAL(rj_sbx_base_get(raw, &out, &sbx, &err), -RJ_E_CORRUPT);
	in = (struct rj_base_record){.from = 0, .whole = 4};
	rj_sbx_base_put(raw, &in);
	CU_ASSERT_EQUAL(rj_sbx_base_get(raw, &out, &sbx, &err), -RJ_E_CORRUPT);
	rj_sbx_base_put(raw, &RJ_BASE_UNFINISHED);
	CU_ASSERT_EQUAL(rj_sbx_base_get(raw, &out, &sbx, &err), -RJ_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "was stopped while it made this"));
}

/* Random reads and writes, of parts of blocks too, against the same in memory. */
static void overlay(void)
{
	enum { BLOCK = 1024, BLOCKS = 37, BYTES = BLOCK * BLOCKS };
	static uint8_t want[BYTES], first[BYTES], got[BYTES], data[BYTES];
	int base = memfd_create("base", 0), scratch = memfd_create("scratch", 0), i;
	struct rj_bio *bio = rj_overlay_new(base, scratch, BLOCK, BLOCKS, "base", NULL);
	size_t off, len;

	srand((unsigned)rjtest_seed());
	for (i = 0; i < BYTES; i++)
		first[i] = want[i] = (uint8_t)rand();
	CU_ASSERT_EQUAL_FATAL(write(base, first, BYTES), BYTES);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bio);
	for (i = 0; i < 300; i++) {
		off = (size_t)rand() % BYTES;
		len = (size_t)rand() % (i % 2 ? 3 * BLOCK : BLOCK / 4);
		if (len > BYTES - off)
			len = BYTES - off;
		memset(data, i, len);
		if (i % 3 == 0) {
			CU_ASSERT_EQUAL(bio->write(bio, data, len, off, NULL), 0);
			memcpy(want + off, data, len);
		}
		CU_ASSERT_EQUAL(bio->read(bio, got, len, off, NULL), 0);
		CU_ASSERT_EQUAL(memcmp(got, want + off, len), 0);
		CU_ASSERT_EQUAL(bio->read(bio, got, BYTES, 0, NULL), 0);
		CU_ASSERT_EQUAL(memcmp(got, want, BYTES), 0);
	}
	CU_ASSERT_EQUAL(bio->write(bio, data, 2, BYTES - 1, NULL), -RJ_E_INVAL);
	CU_ASSERT_EQUAL(pread(base, got, BYTES, 0), BYTES);
	CU_ASSERT_EQUAL(memcmp(got, first, BYTES), 0);
	rj_bio_free(bio);
	close(base);
	close(scratch);
}

/* A resize that was cut off, and then one to fewer blocks, and one to more. */
static void overlay_grows(void)
{
	enum { BLOCK = 1024, FROM = 11, MOST = 100000 };
	static uint8_t data[BLOCK], got[BLOCK], none[BLOCK];
	static const uint64_t to[] = {MOST, 70, MOST / 2, MOST};
	int base = memfd_create("base", 0), scratch = memfd_create("scratch", 0);
	struct rj_bio *bio = rj_overlay_new(base, scratch, BLOCK, FROM, "base", NULL);
	uint64_t last;
	size_t i;

	CU_ASSERT_PTR_NOT_NULL_FATAL(bio);
	CU_ASSERT_EQUAL_FATAL(ftruncate(base, (off_t)FROM * BLOCK), 0);
	memset(data, 7, BLOCK);
	CU_ASSERT_EQUAL(bio->write(bio, data, BLOCK, (FROM - 1) * BLOCK, NULL), 0);
	for (i = 0; i < sizeof(to) / sizeof(to[0]); i++) {
		CU_ASSERT_EQUAL(rj_overlay_grow(bio, FROM, to[i], NULL), 0);
		CU_ASSERT_EQUAL(bio->size_bytes, to[i] * BLOCK);
		last = to[i] - 1;
		CU_ASSERT_EQUAL(bio->read(bio, got, BLOCK, FROM * BLOCK, NULL), 0);
		CU_ASSERT_EQUAL(memcmp(got, none, BLOCK), 0);
		CU_ASSERT_EQUAL(bio->read(bio, got, BLOCK, last * BLOCK, NULL), 0);
		CU_ASSERT_EQUAL(memcmp(got, none, BLOCK), 0);
		CU_ASSERT_EQUAL(bio->write(bio, data, BLOCK, FROM * BLOCK, NULL), 0);
		CU_ASSERT_EQUAL(bio->write(bio, data, BLOCK, last * BLOCK, NULL), 0);
		CU_ASSERT_EQUAL(bio->read(bio, got, BLOCK, (FROM - 1) * BLOCK, NULL), 0);
		CU_ASSERT_EQUAL(memcmp(got, data, BLOCK), 0);
	}
	CU_ASSERT_EQUAL(rj_overlay_grow(bio, MOST + 1, 2 * MOST, NULL), -RJ_E_INVAL);
	rj_bio_free(bio);
	close(base);
	close(scratch);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(moments),
		RJTEST(places),
		RJTEST(base_record),
		RJTEST(overlay),
		RJTEST(overlay_grows),
	};

	return RJTEST_RUN("history", tests);
}
