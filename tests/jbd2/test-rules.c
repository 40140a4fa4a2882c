// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules by which a log ends or is called damaged, one by one. */
#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2.h"
#include "jbd2/logmaker.h"
#include "support/rjtest.h"
#include "util/bytes.h"

#define BS      1024u
#define TARGETS 12u

static struct lm_log l;
static uint64_t born;
static struct rj_jbd2_info info;
static struct rj_error err;

static void make(int csum, bool async)
{
	struct lm_params p = {
		.seed = 21,
		.block_size = BS,
		.maxlen = 300,
		.first = 1,
		.csum = csum,
		.async = async,
		.first_tid = 100,
		.stale = 40,
		.live = 12,
		.tags = 5,
		.targets = TARGETS,
	};

	lm_make(&p, &l);
	CU_ASSERT_TRUE_FATAL(l.transactions == 12);
}

static uint8_t *at(uint32_t block)
{
	return l.bytes + (size_t)block * BS;
}

/* A transaction in mid-log that has a block of this kind. */
static struct lm_txn *pick(bool revokes)
{
	uint32_t i;

	for (i = 3; i < 11; i++)
		if (revokes ? l.txn[i].revokes > 0 : l.txn[i].writes > 1)
			return &l.txn[i];
	CU_FAIL_FATAL("no such transaction");
	return NULL;
}

static int scan(void)
{
	struct rj_jbd2_scan_opts opts = {.fs_blocks = TARGETS, .born = born};
	struct rj_bio *log = rj_bio_new_mem(l.bytes, l.len, "log");
	struct rj_jbd2_plan *plan = NULL;
	int rc = rj_jbd2_scan(log, &opts, &plan, &err);

	memset(&info, 0, sizeof(info));
	if (!rc)
		info = *rj_jbd2_plan_info(plan);
	rj_jbd2_plan_free(plan);
	rj_bio_free(log);
	return rc;
}

/* The log is good up to the transaction TID, and what follows is DAMAGE. */
static void ends_before(uint32_t tid, enum rj_jbd2_damage damage)
{
	CU_ASSERT_EQUAL(scan(), 0);
	CU_ASSERT_EQUAL(info.last_tid, tid - 1);
	CU_ASSERT_EQUAL(info.transactions, tid - 100);
	CU_ASSERT_EQUAL(info.damage, damage);
	if (damage)
		CU_ASSERT_EQUAL(info.damage_tid, tid);
	CU_ASSERT_TRUE((int32_t)(info.next_tid - tid) > 0);
}

static void bad_descriptor_checksum(void)
{
	int csum;

	for (csum = 2; csum <= 3; csum++) {
		struct lm_txn *t;

		make(csum, false);
		t = pick(false);
		at(t->descriptor_block)[BS - 8] ^= 1;
		ends_before(t->tid, RJ_JBD2_BAD_DESCRIPTOR);
		CU_ASSERT_TRUE(info.damage_committed);
		CU_ASSERT_EQUAL(info.damage_block, t->descriptor_block);
		CU_ASSERT_EQUAL(info.next_tid, l.last_tid + 1);
		lm_free(&l);
	}
}

static void bad_revoke_checksum(void)
{
	struct lm_txn *t;

	make(3, false);
	t = pick(true);
	at(t->revoke_block)[BS - 8] ^= 1;
	ends_before(t->tid, RJ_JBD2_BAD_REVOKE);
	lm_free(&l);
}

static void impossible_revoke_count(void)
{
	int csum;

	for (csum = 0; csum <= 3; csum += 3) {
		struct lm_txn *t;

		make(csum, false);
		t = pick(true);
		rj_put_be32(at(t->revoke_block) + 12, BS + 1);
		if (csum)
			lm_seal_block(&l, t->revoke_block);
		ends_before(t->tid, RJ_JBD2_BAD_REVOKE);
		lm_free(&l);
	}
}

static void revoke_beyond_the_volume(void)
{
	struct lm_txn *t;

	make(0, false);
	t = pick(true);
	rj_put_be32(at(t->revoke_block) + 16, TARGETS);
	ends_before(t->tid, RJ_JBD2_BAD_BLOCKNR);
	lm_free(&l);
}

static void bad_commit_in_mid_log(void)
{
	struct lm_txn *t;

	make(3, false);
	t = pick(false);
	at(t->commit_block)[20] ^= 1;
	ends_before(t->tid, RJ_JBD2_BAD_COMMIT);
	lm_free(&l);
}

static void bad_last_commit(void)
{
	struct lm_txn *t;

	make(3, false);
	t = &l.txn[11];
	at(t->commit_block)[20] ^= 1;
	ends_before(t->tid, RJ_JBD2_BAD_COMMIT);
	/* older than the one before: a stale block, and a clean end */
	rj_put_be64(at(t->commit_block) + 48, 1000);
	ends_before(t->tid, RJ_JBD2_SOUND);
	lm_free(&l);
}

/* The time rule alone would end the log here; the commits after it tell. */
static void stale_looking_commit_in_mid_log(void)
{
	struct lm_txn *t;

	make(3, false);
	t = pick(false);
	rj_put_be64(at(t->commit_block) + 48, 1000);
	ends_before(t->tid, RJ_JBD2_BAD_DESCRIPTOR);
	lm_free(&l);
}

static void only_the_commit_header_counts(void)
{
	make(3, false);
	memset(at(l.txn[5].commit_block) + 64, 0xDD, BS - 64);
	CU_ASSERT_EQUAL(scan(), 0);
	CU_ASSERT_EQUAL(info.transactions, 12);
	CU_ASSERT_EQUAL(info.damage, RJ_JBD2_SOUND);
	lm_free(&l);
}

static void async_drops_a_bad_last_commit(void)
{
	static const int csums[] = {1, 3};
	unsigned i;

	for (i = 0; i < 2; i++) {
		uint8_t *c;

		make(csums[i], true);
		c = at(l.txn[11].commit_block);
		c[12] = 1;
		c[17] ^= 1;
		ends_before(111, RJ_JBD2_SOUND);
		lm_free(&l);
		make(csums[i], true);
		c = at(l.txn[6].commit_block);
		c[12] = 1;
		c[17] ^= 1;
		ends_before(106,
			csums[i] == 1 ? RJ_JBD2_BAD_DATA : RJ_JBD2_BAD_COMMIT);
		lm_free(&l);
	}
}

static void version_1_sums_cover_the_data(void)
{
	struct lm_txn *t;
	uint32_t i, used = 0;

	make(1, false);
	for (i = 3; i < 12; i++) {
		t = &l.txn[i];
		if (!t->writes || at(t->commit_block)[12] != 1)
			continue;
		used++;
		at(t->write[0].log)[500] ^= 1;
		ends_before(t->tid, RJ_JBD2_BAD_DATA);
		at(t->write[0].log)[500] ^= 1;
		at(t->descriptor_block)[BS - 1] ^= 1;
		ends_before(t->tid, RJ_JBD2_BAD_DATA);
		at(t->descriptor_block)[BS - 1] ^= 1;
	}
	CU_ASSERT_TRUE(used > 2);
	CU_ASSERT_EQUAL(scan(), 0);
	CU_ASSERT_EQUAL(info.transactions, 12);
	lm_free(&l);
}

/* Without any checksum a lost header still shows by what follows it. */
static void lost_header_without_checksums(void)
{
	struct lm_txn *t;

	make(0, false);
	t = pick(false);
	memset(at(t->descriptor_block), 0, BS);
	ends_before(t->tid, RJ_JBD2_BAD_DESCRIPTOR);
	CU_ASSERT_EQUAL(info.next_tid, l.last_tid + 1);
	lm_free(&l);
}

#define DAY 86400u

/* Of the first transaction there is none before it: the volume's age speaks,
 * or the checksum's seed. */
static void lost_header_of_the_first(void)
{
	static const struct {
		int csum;
		uint64_t born;
		enum rj_jbd2_damage damage;
	} c[] = {
		{3, 0, RJ_JBD2_BAD_DESCRIPTOR},
		{3, LM_BORN_TIME, RJ_JBD2_BAD_DESCRIPTOR},
		/* made by a clock that was a day ahead */
		{3, LM_BASE_TIME + DAY, RJ_JBD2_BAD_DESCRIPTOR},
		{1, LM_BORN_TIME, RJ_JBD2_BAD_DESCRIPTOR},
		{0, LM_BORN_TIME, RJ_JBD2_BAD_DESCRIPTOR},
		/* nothing speaks */
		{0, 0, RJ_JBD2_SOUND},
	};
	unsigned i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		make(c[i].csum, false);
		memset(at(l.start), 0, BS);
		born = c[i].born;
		ends_before(100, c[i].damage);
		lm_free(&l);
	}
	born = 0;
}

/* A crash in the first commit since a mount: nothing is live, and higher tids
 * of an earlier journal in the same place are a few blocks ahead. */
static void earlier_journal_behind_an_empty_log(void)
{
	static const struct {
		int csum;
		uint64_t born;
		enum rj_jbd2_damage damage;
	} c[] = {
		{3, LM_BORN_TIME, RJ_JBD2_SOUND},
		{2, LM_BORN_TIME, RJ_JBD2_SOUND},
		{1, LM_BORN_TIME, RJ_JBD2_SOUND},
		{0, LM_BORN_TIME, RJ_JBD2_SOUND},
		{0, 0, RJ_JBD2_SOUND},
		/* the same bytes could be a log whose head is lost */
		{3, 0, RJ_JBD2_BAD_DESCRIPTOR},
		{3, LM_STALE_TIME + DAY, RJ_JBD2_BAD_DESCRIPTOR},
	};
	struct lm_params p = {
		.seed = 21,
		.block_size = BS,
		.maxlen = 300,
		.first = 1,
		.first_tid = 100,
		.stale = 40,
		.stale_ahead = true,
		.tags = 5,
		.targets = TARGETS,
	};
	unsigned i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		p.csum = c[i].csum;
		lm_make(&p, &l);
		CU_ASSERT_EQUAL(l.transactions, 0);
		born = c[i].born;
		ends_before(100, c[i].damage);
		lm_free(&l);
	}
	born = 0;
}

/* A descriptor with more tags than the whole ring has blocks. */
static void descriptor_longer_than_the_log(void)
{
	struct lm_params p = {.seed = 3,
		.block_size = 4096,
		.maxlen = 60,
		.first = 1,
		.csum = 3,
		.first_tid = 100,
		.live = 2,
		.tags = 3,
		.targets = TARGETS};
	struct lm_txn *t;
	uint8_t *d;
	uint32_t i;

	do {
		lm_make(&p, &l);
		t = &l.txn[1];
		p.seed++;
	} while (l.transactions != 2 || !t->writes);
	d = l.bytes + (size_t)t->descriptor_block * 4096;
	for (i = 0; i < 200; i++) {
		memset(d + 12 + 16 * i, 0, 16);
		d[12 + 16 * i + 7] = 2;
	}
	lm_seal_block(&l, t->descriptor_block);
	ends_before(101, RJ_JBD2_BAD_DESCRIPTOR);
	CU_ASSERT_TRUE(info.damage_committed);
	/* without its commit block nobody was ever told that it is safe */
	memset(l.bytes + (size_t)t->commit_block * 4096, 0, 4096);
	ends_before(101, RJ_JBD2_BAD_DESCRIPTOR);
	CU_ASSERT_FALSE(info.damage_committed);
	lm_free(&l);
}

/* A log whose reads fail from one block on. */
struct bad_bio {
	struct rj_bio bio;
	struct rj_bio *below;
	uint64_t bad_from;
};

static int bad_read(struct rj_bio *bio, void *out, size_t len, uint64_t off,
	struct rj_error *e)
{
	struct bad_bio *b = (struct bad_bio *)bio;

	if (off + len > b->bad_from)
		return rj_fail(e, RJ_E_IO, "bad sector");
	return b->below->read(b->below, out, len, off, e);
}

static void unreadable_with(uint64_t keep)
{
	struct rj_jbd2_scan_opts opts = {
		.fs_blocks = TARGETS, .keep_bytes = keep};
	struct lm_params p = {.seed = 3,
		.block_size = BS,
		.maxlen = 400,
		.first = 1,
		.first_tid = 100,
		.live = 9,
		.tags = 5,
		.targets = TARGETS};
	struct rj_jbd2_plan *plan = NULL;
	struct bad_bio b = {0};
	uint8_t volume[TARGETS * BS];
	struct rj_bio *fs = rj_bio_new_mem(volume, sizeof(volume), "volume");

	do {
		lm_make(&p, &l);
		p.seed++;
	} while (l.wrapped);
	b.below = rj_bio_new_mem(l.bytes, l.len, "log");
	b.bio = *b.below;
	b.bio.read = bad_read;
	b.bio.map = NULL;
	b.bad_from = (uint64_t)l.txn[4].commit_block * BS;
	CU_ASSERT_EQUAL(rj_jbd2_scan(&b.bio, &opts, &plan, &err), -RJ_E_IO);
	CU_ASSERT_PTR_NULL(plan);
	/* past the log's end nothing has to be read, in large pieces or not */
	b.bad_from = (uint64_t)(l.end + 1) * BS;
	CU_ASSERT_EQUAL(rj_jbd2_scan(&b.bio, &opts, &plan, &err), 0);
	CU_ASSERT_EQUAL(rj_jbd2_plan_info(plan)->transactions, l.transactions);
	rj_jbd2_plan_free(plan);
	plan = NULL;
	b.bad_from = UINT64_MAX;
	CU_ASSERT_EQUAL(rj_jbd2_scan(&b.bio, &opts, &plan, &err), 0);
	b.bad_from = (uint64_t)l.txn[4].commit_block * BS;
	/* what was kept is not read again */
	CU_ASSERT_EQUAL(rj_jbd2_replay(plan, &b.bio, fs, NULL, NULL, &err),
		keep ? 0 : -RJ_E_IO);
	rj_jbd2_plan_free(plan);
	rj_bio_free(b.below);
	rj_bio_free(fs);
	lm_free(&l);
}

static void unreadable_blocks(void)
{
	unreadable_with(0);
	unreadable_with(64u << 20);
}

static void scan_part(const struct rj_jbd2_scan_opts *opts, int want)
{
	struct rj_bio *log = rj_bio_new_mem(l.bytes, l.len, "log");
	struct rj_jbd2_plan *plan = NULL;

	CU_ASSERT_EQUAL(rj_jbd2_scan(log, opts, &plan, &err), want);
	memset(&info, 0, sizeof(info));
	if (plan)
		info = *rj_jbd2_plan_info(plan);
	rj_jbd2_plan_free(plan);
	rj_bio_free(log);
}

/* Two halves, cut after each of the transactions: together they are the log. */
static void from_a_place_and_up_to_one(void)
{
	struct rj_jbd2_scan_opts head = {.fs_blocks = TARGETS, .limited = true};
	struct rj_jbd2_scan_opts tail = {.fs_blocks = TARGETS};
	uint32_t i;

	make(3, false);
	for (i = 0; i <= l.transactions; i++) {
		head.until_tid = 100 + i;
		scan_part(&head, 0);
		CU_ASSERT_EQUAL(info.transactions, i);
		CU_ASSERT_EQUAL(info.damage, RJ_JBD2_SOUND);
		CU_ASSERT_EQUAL(info.last_tid, 99 + i);
		tail.from_block = info.end_block;
		tail.from_tid = info.last_tid + 1;
		scan_part(&tail, 0);
		CU_ASSERT_EQUAL(info.transactions, l.transactions - i);
		CU_ASSERT_EQUAL(info.damage, RJ_JBD2_SOUND);
		CU_ASSERT_EQUAL(info.first_tid, 100 + i);
		CU_ASSERT_EQUAL(info.last_tid, 99 + l.transactions);
	}
	/* a commit further on is a loss also from there */
	head.until_tid = 108;
	scan_part(&head, 0);
	memset(at(info.end_block), 0, 12);
	head.until_tid = 105;
	scan_part(&head, 0);
	tail.from_block = info.end_block;
	tail.from_tid = 105;
	scan_part(&tail, 0);
	CU_ASSERT_EQUAL(info.transactions, 3);
	CU_ASSERT_NOT_EQUAL(info.damage, RJ_JBD2_SOUND);
	tail.from_block = 300;
	scan_part(&tail, -RJ_E_INVAL);
	lm_free(&l);
}

struct told {
	uint32_t txn, write; /* after the last one */
	unsigned count, wrong;
};

/* The next write of target 9, in log order. (Copies that are escaped differ in four bytes.) */
static void next_copy(void *arg, const uint8_t *block)
{
	struct told *t = arg;
	const struct lm_txn *x;

	for (t->count++; t->txn < l.transactions; t->txn++, t->write = 0)
		for (x = &l.txn[t->txn]; t->write < x->writes; t->write++)
			if (x->write[t->write].target == 9) {
				t->wrong += memcmp(block + 4, at(x->write[t->write++].log) + 4,
						    BS - 4) != 0;
				return;
			}
	t->wrong++;
}

static void each_copy_of_a_block(void)
{
	struct told t = {0};
	struct rj_jbd2_scan_opts o = {
		.fs_blocks = TARGETS, .copies_of = 9, .each_copy = next_copy, .arg = &t};
	unsigned all;

	make(3, false);
	scan_part(&o, 0);
	CU_ASSERT(t.count > 2 && t.wrong == 0);
	all = t.count;
	next_copy(&t, l.bytes); /* there is no more */
	CU_ASSERT_EQUAL(t.wrong, 1);
	/* what is not replayed is not told */
	at(l.txn[9].descriptor_block)[BS - 8] ^= 1;
	t = (struct told){0};
	scan_part(&o, 0);
	CU_ASSERT(t.count > 0 && t.count < all && t.wrong == 0 && t.txn < 9);
	lm_free(&l);
}

/* The first copy from transaction 3 on that no revoke cancels. */
static uint32_t pick_copy(uint32_t *tid)
{
	uint32_t i, k;

	for (i = 3; i < 11; i++)
		for (k = 0; k < l.txn[i].writes; k++) {
			*tid = l.txn[i].tid;
			if (!lm_cancelled(&l, i, l.txn[i].write[k].target, l.transactions))
				return l.txn[i].write[k].log;
		}
	CU_FAIL_FATAL("no such copy");
	return 0;
}

/* A copy whose end the kernel zeroed after it had computed the checksum. */
static void zeroed_during_the_commit(void)
{
	struct rj_jbd2_scan_opts o = {.fs_blocks = TARGETS, .verified = true};
	uint32_t tid;
	uint8_t *copy;
	int csum;

	for (csum = 2; csum <= 3; csum++) {
		make(csum, false);
		copy = at(pick_copy(&tid));
		memset(copy + BS - 100, 0, 100);
		ends_before(tid, RJ_JBD2_BAD_DATA);
		CU_ASSERT_EQUAL(info.zeroed, 0);
		scan_part(&o, 0);
		CU_ASSERT_EQUAL(info.damage, RJ_JBD2_SOUND);
		CU_ASSERT_EQUAL(info.transactions, 12);
		CU_ASSERT_EQUAL(info.zeroed, 1);
		/* any other change is damage */
		copy[BS - 1] = 1;
		scan_part(&o, 0);
		CU_ASSERT_EQUAL(info.damage, RJ_JBD2_BAD_DATA);
		CU_ASSERT_EQUAL(info.damage_tid, tid);
		CU_ASSERT_EQUAL(info.zeroed, 0);
		lm_free(&l);
	}
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(from_a_place_and_up_to_one),
		RJTEST(each_copy_of_a_block),
		RJTEST(bad_descriptor_checksum),
		RJTEST(bad_revoke_checksum),
		RJTEST(impossible_revoke_count),
		RJTEST(revoke_beyond_the_volume),
		RJTEST(bad_commit_in_mid_log),
		RJTEST(bad_last_commit),
		RJTEST(stale_looking_commit_in_mid_log),
		RJTEST(only_the_commit_header_counts),
		RJTEST(async_drops_a_bad_last_commit),
		RJTEST(zeroed_during_the_commit),
		RJTEST(version_1_sums_cover_the_data),
		RJTEST(lost_header_without_checksums),
		RJTEST(lost_header_of_the_first),
		RJTEST(earlier_journal_behind_an_empty_log),
		RJTEST(descriptor_longer_than_the_log),
		RJTEST(unreadable_blocks),
	};

	return RJTEST_RUN("jbd2 rules", tests);
}
