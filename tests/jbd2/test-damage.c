// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Damaged logs: every byte flipped (every 5th unless RJ_LONG is set), every
 * block destroyed, the device cut off at every block. With checksums of
 * version 3 nothing may pass in silence; in all dialects there is no crash and
 * no write outside the volume.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2.h"
#include "jbd2/logmaker.h"
#include "support/rjtest.h"
#include "util/bytes.h"
#include "util/crc32c.h"

#define BS     1024u
#define FS     40u
#define TARGET 10u
#define MAXLEN 160u

enum result {
	REFUSED,  /* the scan itself failed */
	REPORTED, /* info.damage */
	WHOLE,
	SHORTER, /* a prefix, and nothing said */
	WRONG,
};

struct fixture {
	struct lm_log l;
	uint8_t *bytes; /* the log that is damaged */
	uint8_t got[FS * BS], want[FS * BS];
	struct rj_jbd2_info info;
	struct rj_error err;
};

static struct fixture f;

static void setup(int csum, bool wide, bool async, uint64_t seed)
{
	struct lm_params p = {
		.seed = seed,
		.block_size = BS,
		.maxlen = MAXLEN,
		.first = 1,
		.csum = csum,
		.wide = wide,
		.async = async,
		.revoke_bit = true,
		.first_tid = 0xFFFFFFFD,
		.stale = 30,
		.live = 9,
		.tags = 7,
		.target = TARGET,
		.targets = FS - TARGET,
		.uuid = {9, 8, 7},
	};

	lm_make(&p, &f.l);
	f.bytes = malloc(f.l.len);
	memcpy(f.bytes, f.l.bytes, f.l.len);
}

static void teardown(void)
{
	free(f.bytes);
	lm_free(&f.l);
}

static void model(uint32_t n)
{
	memset(f.want, 0x3C, sizeof(f.want));
	lm_apply(&f.l, n, f.want + TARGET * BS);
}

/* Scan f.bytes, replay what the plan says, and judge. */
static enum result judge(size_t len)
{
	struct rj_jbd2_scan_opts opts = {.fs_blocks = FS};
	struct rj_jbd2_plan *plan = NULL;
	struct rj_bio *log = rj_bio_new_mem(f.bytes, len, "log");
	struct rj_bio *fs = rj_bio_new_mem(f.got, sizeof(f.got), "volume");
	enum result r = REFUSED;
	static unsigned way;
	int rc;

	log->write = NULL;
	/* in memory; read twice; read once by the thread */
	if (++way % 3)
		log->map = NULL;
	opts.keep_bytes = way % 3 == 2 ? 64u << 20 : 0;
	f.err.msg[0] = '\0';
	rc = rj_jbd2_scan(log, &opts, &plan, &f.err);
	if (rc) {
		CU_ASSERT_NOT_EQUAL(f.err.msg[0], '\0');
		CU_ASSERT_TRUE(rc == -RJ_E_CORRUPT || rc == -RJ_E_UNSUPPORTED);
		goto out;
	}
	f.info = *rj_jbd2_plan_info(plan);
	memset(f.got, 0x3C, sizeof(f.got));
	/* the mem bio refuses anything outside the volume */
	CU_ASSERT_EQUAL(rj_jbd2_replay(plan, log, fs, NULL, NULL, &f.err), 0);
	model((uint32_t)f.info.transactions <= f.l.transactions
			? (uint32_t)f.info.transactions
			: f.l.transactions);
	if (memcmp(f.got, f.want, sizeof(f.got)))
		r = WRONG;
	else if (f.info.damage)
		r = REPORTED;
	else
		r = f.info.transactions == f.l.transactions ? WHOLE : SHORTER;
	if (f.info.damage)
		CU_ASSERT_NOT_EQUAL(f.info.damage_text[0], '\0');
out:
	rj_jbd2_plan_free(plan);
	rj_bio_free(log);
	rj_bio_free(fs);
	return r;
}

static bool in_live(uint32_t block)
{
	uint32_t ring = MAXLEN - 1;

	return (block + ring - f.l.start) % ring < f.l.used;
}

/* The block of the last commit: bad bytes there can look like a commit that
 * never happened. */
static uint32_t last_commit(void)
{
	return f.l.end == 1 ? MAXLEN - 1 : f.l.end - 1;
}

static unsigned stride(unsigned normal)
{
#ifdef __SANITIZE_ADDRESS__
	normal *= 7; /* every scan is slow */
#endif
	return getenv("RJ_LONG") ? 1 : normal;
}

static void flip(size_t i, enum result *r)
{
	uint8_t old = f.bytes[i];

	f.bytes[i] ^= (uint8_t)(1u << (i * 7 % 8));
	*r = judge(f.l.len);
	f.bytes[i] = old;
}

/* The bytes of the commit time, and the checksum: see doc/jbd2-replay.md. */
static bool may_vanish(size_t i)
{
	size_t off = i % BS;

	return i / BS == last_commit() && off >= 48 && off < 56;
}

static void flips_are_never_silent(int csum, bool wide)
{
	size_t i, count[5] = {0};
	enum result r;

	setup(csum, wide, false, rjtest_seed() + wide);
	CU_ASSERT_EQUAL(judge(f.l.len), WHOLE);
	CU_ASSERT_TRUE(f.l.transactions >= 5);
	for (i = 0; i < f.l.len; i += i < 0x200 ? 1 : stride(5)) {
		if (i >= RJ_JBD2_SB_BYTES && !in_live((uint32_t)(i / BS)))
			continue;
		flip(i, &r);
		count[r]++;
		if (r == WRONG || (r == SHORTER && !may_vanish(i))) {
			printf("# byte %zu (block %zu + %zu): %s, %s\n", i,
				i / BS, i % BS, r == WRONG ? "wrong" : "silent",
				f.info.damage_text);
			CU_FAIL("a flip has passed in silence");
		}
	}
	CU_ASSERT_TRUE(count[REPORTED] > 100);
	CU_ASSERT_TRUE(count[REFUSED] > 20);
	printf("# refused %zu, reported %zu, harmless %zu, shorter %zu\n",
		count[REFUSED], count[REPORTED], count[WHOLE], count[SHORTER]);
	teardown();
}

static void flips_v3(void)
{
	flips_are_never_silent(3, false);
}

static void flips_v3_wide(void)
{
	flips_are_never_silent(3, true);
}

/* No checksum, or half of one: only memory and the volume's end are safe. */
static void flips_elsewhere_do_no_harm(void)
{
	uint64_t seed = rjtest_seed();
	enum result r;
	size_t i;
	int csum;

	for (csum = 0; csum < 3; csum++) {
		setup(csum, csum == 1, csum == 1, seed + (unsigned)csum);
		CU_ASSERT_EQUAL(judge(f.l.len), WHOLE);
		for (i = 0; i < f.l.len; i += stride(11))
			flip(i, &r);
		teardown();
	}
}

static void destroyed_blocks_are_never_silent(void)
{
	uint8_t old[BS];
	uint32_t b, kind;
	enum result r;

	setup(3, true, false, rjtest_seed());
	for (b = 1; b < MAXLEN; b++) {
		if (!in_live(b) || b == last_commit())
			continue;
		memcpy(old, f.bytes + b * BS, BS);
		for (kind = 0; kind < 2; kind++) {
			memset(f.bytes + b * BS, kind ? 0xFF : 0, BS);
			r = judge(f.l.len);
			CU_ASSERT_TRUE(r == REPORTED || r == WHOLE);
			if (r == REPORTED)
				CU_ASSERT_TRUE((int32_t)(f.info.next_tid -
							 f.l.last_tid) > 0);
			if (r != REPORTED && r != WHOLE)
				printf("# block %u: %d\n", b, r);
		}
		memcpy(f.bytes + b * BS, old, BS);
	}
	/* without its last commit the last transaction never happened */
	memset(f.bytes + last_commit() * BS, 0, BS);
	CU_ASSERT_EQUAL(judge(f.l.len), SHORTER);
	CU_ASSERT_EQUAL(f.info.transactions, f.l.transactions - 1);
	teardown();
}

static void truncated_anywhere_is_refused(void)
{
	uint32_t b;

	setup(3, false, false, rjtest_seed());
	for (b = 0; b < MAXLEN; b++) {
		CU_ASSERT_EQUAL(judge((size_t)b * BS), REFUSED);
		CU_ASSERT_EQUAL(judge((size_t)b * BS + 500), REFUSED);
	}
	teardown();
}

/* ---- single rules ---- */

static void reseal_superblock(void)
{
	memcpy(f.l.bytes, f.bytes, f.l.len);
	lm_seal_superblock(&f.l);
	memcpy(f.bytes, f.l.bytes, f.l.len);
}

static void a_volume_too_small_is_damage(void)
{
	struct rj_jbd2_scan_opts opts = {.fs_blocks = TARGET + 3};
	struct rj_jbd2_plan *plan = NULL;
	struct rj_bio *log;

	setup(0, false, false, 4);
	log = rj_bio_new_mem(f.bytes, f.l.len, "log");
	CU_ASSERT_EQUAL(rj_jbd2_scan(log, &opts, &plan, &f.err), 0);
	CU_ASSERT_EQUAL(rj_jbd2_plan_info(plan)->damage, RJ_JBD2_BAD_BLOCKNR);
	CU_ASSERT_TRUE(
		rj_jbd2_plan_info(plan)->transactions < f.l.transactions);
	rj_jbd2_plan_free(plan);
	rj_bio_free(log);
	teardown();
}

static void a_superblock_out_of_place_is_refused(void)
{
	struct rj_jbd2_scan_opts opts = {.fs_blocks = FS, .sb_block = 1};
	struct rj_jbd2_plan *plan = NULL;
	struct rj_bio *log;

	setup(3, false, false, 4);
	log = rj_bio_new_mem(f.bytes, f.l.len, "log");
	CU_ASSERT_EQUAL(rj_jbd2_scan(log, &opts, &plan, &f.err), -RJ_E_CORRUPT);
	CU_ASSERT_PTR_NULL(plan);
	rj_bio_free(log);
	teardown();
}

static void an_empty_log_is_empty(void)
{
	setup(3, false, false, 4);
	CU_ASSERT_EQUAL(rj_jbd2_sb_make_empty(f.bytes, 77, &f.err), 0);
	CU_ASSERT_EQUAL(judge(f.l.len), SHORTER);
	CU_ASSERT_TRUE(f.info.empty);
	CU_ASSERT_EQUAL(f.info.next_tid, 77);
	CU_ASSERT_EQUAL(f.info.blocks, 0);
	teardown();
}

/* One fast commit: head, a padding, tail, as ext4_fc_write_tail() does. */
static void put_fast_commit(uint8_t *b, uint32_t tid)
{
	memset(b, 0, BS);
	rj_put_le16(b, 9);
	rj_put_le16(b + 2, 8);
	rj_put_le32(b + 8, tid);
	rj_put_le16(b + 12, 7);
	rj_put_le16(b + 14, 20);
	rj_put_le16(b + 36, 8);
	rj_put_le16(b + 38, 8);
	rj_put_le32(b + 40, tid);
	rj_put_le32(b + 44, rj_crc32c(0, b, 44));
}

static void fast_commits_are_refused(void)
{
	uint8_t *at;
	uint32_t tid;

	setup(3, false, false, 4);
	/* the area after the last live block becomes the fast-commit area */
	teardown();
	memset(&f, 0, sizeof(f));
	{
		struct lm_params p = {.seed = 11,
			.block_size = BS,
			.maxlen = MAXLEN,
			.first = 1,
			.csum = 3,
			.fast_commit = true,
			.fc_blocks = 10,
			.first_tid = 50,
			.live = 5,
			.tags = 5,
			.target = TARGET,
			.targets = FS - TARGET};
		lm_make(&p, &f.l);
	}
	f.bytes = malloc(f.l.len);
	memcpy(f.bytes, f.l.bytes, f.l.len);
	CU_ASSERT_EQUAL(judge(f.l.len), WHOLE);
	at = f.bytes + (MAXLEN - 10 + 1) * BS;
	tid = f.l.last_tid + 1;
	put_fast_commit(at, tid);
	CU_ASSERT_EQUAL(judge(f.l.len), REFUSED);
	CU_ASSERT_EQUAL(f.err.code, RJ_E_UNSUPPORTED);
	put_fast_commit(at, tid - 1); /* of a transaction that is complete */
	CU_ASSERT_EQUAL(judge(f.l.len), WHOLE);
	put_fast_commit(at, tid);
	at[20] ^= 1; /* in the padding, under the checksum */
	CU_ASSERT_EQUAL(judge(f.l.len), REPORTED);
	CU_ASSERT_EQUAL(f.info.damage, RJ_JBD2_BAD_FAST_COMMIT);
	put_fast_commit(at, tid);
	memset(at + 36, 0, 12); /* no tail: it was being written */
	CU_ASSERT_EQUAL(judge(f.l.len), WHOLE);
	/* without the feature nobody looks there */
	put_fast_commit(at, tid);
	rj_put_be32(f.bytes + 0x28, 0x10);
	reseal_superblock();
	CU_ASSERT_EQUAL(judge(f.l.len), WHOLE);
	teardown();
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(flips_v3),
		RJTEST(flips_v3_wide),
		RJTEST(flips_elsewhere_do_no_harm),
		RJTEST(destroyed_blocks_are_never_silent),
		RJTEST(truncated_anywhere_is_refused),
		RJTEST(a_volume_too_small_is_damage),
		RJTEST(a_superblock_out_of_place_is_refused),
		RJTEST(an_empty_log_is_empty),
		RJTEST(fast_commits_are_refused),
	};

	return RJTEST_RUN("jbd2 damage", tests);
}
