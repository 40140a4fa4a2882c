// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Implied revokes in random logs, against the rule of doc/jbd2-replay.md told
 * once more, as slowly as it reads: for each copy each later transaction, for
 * each of those its bitmap bit by bit. 300 logs, 10,000 with RJ_LONG.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2.h"
#include "jbd2/logmaker.h"
#include "support/rjtest.h"
#include "util/bytes.h"

#define BS	   1024u
#define LOG_BLOCKS 700u
#define TXNS	   40u
#define WRITES	   24u /* most in one transaction */
#define GROUPS	   40u
#define DESCS	   2u
#define MAGIC	   0xC03B3998u

struct copy {
	uint64_t nr; /* block of the volume */
	uint8_t bytes[BS];
};

struct txn {
	struct copy copy[WRITES];
	uint32_t copies;
};

/* What the volume's groups are now. */
struct group {
	uint8_t bitmap[BS];
	uint32_t place, inodes, table; /* its metadata's blocks */
};

static struct txn txn[TXNS];
static struct group group[GROUPS];
static struct rj_jbd2_groups geo;
static uint64_t fs_blocks, rng;
static uint32_t txns, groups, first_tid;
static uint8_t log_bytes[LOG_BLOCKS * BS];

static uint32_t below(uint32_t n)
{
	return (uint32_t)(lm_rand(&rng) % n);
}

static uint32_t per_block(void)
{
	return BS / geo.desc_bytes;
}

static uint32_t desc_blocks(void)
{
	return (groups + per_block() - 1) / per_block();
}

static uint64_t begin_of(uint32_t g)
{
	return geo.first + (uint64_t)g * geo.group_blocks;
}

static uint64_t end_of(uint32_t g)
{
	uint64_t end = begin_of(g) + geo.group_blocks;

	return end < fs_blocks ? end : fs_blocks;
}

static bool in_group(uint32_t g, uint64_t nr)
{
	return nr >= begin_of(g) && nr < end_of(g);
}

/* Is block NR, which is in group G, in use by BITMAP? */
static bool in_use(const uint8_t *bitmap, uint32_t g, uint64_t nr)
{
	uint64_t bit = (nr - begin_of(g)) >> geo.cluster_bits;

	return bitmap[bit / 8] >> bit % 8 & 1;
}

static void set_use(uint64_t nr, bool use)
{
	uint32_t g = (uint32_t)((nr - geo.first) / geo.group_blocks);
	uint64_t bit = (nr - begin_of(g)) >> geo.cluster_bits;
	uint8_t mask = (uint8_t)(1u << bit % 8);

	if (use)
		group[g].bitmap[bit / 8] |= mask;
	else
		group[g].bitmap[bit / 8] &= (uint8_t)~mask;
}

static uint32_t count_free(const uint8_t *bitmap, uint32_t g)
{
	uint64_t nr;
	uint32_t n = 0;

	for (nr = begin_of(g); nr < end_of(g); nr += 1u << geo.cluster_bits)
		n += !in_use(bitmap, g, nr);
	return n;
}

/* ---- the volume, and what its transactions log ---- */

static void make_volume(void)
{
	static const uint32_t sizes[] = {64, 128, 256, 8192};
	uint64_t nr;
	uint32_t g, i, at;

	groups = 1 + below(below(3) ? 4 : GROUPS);
	geo = (struct rj_jbd2_groups){1, sizes[below(4)],
		below(4) ? 0 : 1 + below(3), 32u << below(2), DESCS};
	fs_blocks = begin_of(groups) - below(geo.group_blocks / 2);
	at = DESCS + desc_blocks();
	for (g = 0; g < groups; g++) {
		for (i = 0; i < BS; i++)
			group[g].bitmap[i] = (uint8_t)lm_rand(&rng);
		if (below(8) == 0) /* its copies are escaped */
			rj_put_be32(group[g].bitmap, MAGIC);
		if (begin_of(g) > at && below(2)) /* not flex_bg */
			at = (uint32_t)begin_of(g);
		group[g].place = at++;
		group[g].inodes = at++;
		group[g].table = at++;
	}
	/* of 40 groups of 64 blocks the metadata end in the second */
	if (fs_blocks <= at)
		fs_blocks = at + 1;
	for (nr = geo.first; nr < DESCS + desc_blocks(); nr++)
		set_use(nr, true);
	for (g = 0; g < groups; g++) {
		set_use(group[g].place, true);
		set_use(group[g].inodes, true);
		set_use(group[g].table, true);
	}
}

/* Room for a copy of NR in T; NULL when it has one, or is full. */
static uint8_t *add(struct txn *t, uint64_t nr)
{
	uint32_t i;

	for (i = 0; i < t->copies; i++)
		if (t->copy[i].nr == nr)
			return NULL;
	if (t->copies == WRITES || nr >= fs_blocks)
		return NULL;
	t->copy[t->copies].nr = nr;
	memset(t->copy[t->copies].bytes, 0, BS);
	return t->copy[t->copies++].bytes;
}

static void put_descs(uint8_t *out, uint32_t nr)
{
	uint32_t g = nr * per_block(), i;
	uint8_t *d;

	for (i = 0; i < per_block() && g < groups; i++, g++) {
		d = out + i * geo.desc_bytes;
		rj_put_le32(d, group[g].place);
		rj_put_le32(d + 4, group[g].inodes);
		rj_put_le32(d + 8, group[g].table);
		rj_put_le16(d + 12,
			(uint16_t)count_free(group[g].bitmap, g));
	}
}

/* Of the group's descriptor at D, or its bitmap at B (NULL: not logged), make
 * something that speaks against them. */
static void spoil(uint32_t g, uint8_t *d, uint8_t *b)
{
	uint32_t what = below(5);
	uint64_t nr = what == 2 ? group[g].inodes : group[g].table;

	if (what == 0)
		rj_put_le16(d + 18, 2); /* BLOCK_UNINIT */
	if (what == 1)
		rj_put_le16(d + 12, (uint16_t)(rj_get_le16(d + 12) + 1));
	if (what == 4)
		rj_put_le32(d, group[below(groups)].place);
	/* what is never free is, and counted so */
	if ((what == 2 || what == 3) && b && in_group(g, nr)) {
		nr = (nr - begin_of(g)) >> geo.cluster_bits;
		b[nr / 8] &= (uint8_t) ~(1u << nr % 8);
		rj_put_le16(d + 12, (uint16_t)count_free(b, g));
	}
}

static void change_group(struct txn *t, uint32_t g)
{
	uint32_t i, nr = g / per_block();
	uint8_t *b = NULL, *d = NULL;
	uint64_t block;

	for (i = below(30); i; i--) {
		block = begin_of(g) + below((uint32_t)(end_of(g) - begin_of(g)));
		if (block >= DESCS + desc_blocks() + 3 * groups)
			set_use(block, below(2));
	}
	if (below(10))
		b = add(t, group[g].place);
	if (b)
		memcpy(b, group[g].bitmap, BS);
	if (below(10))
		d = add(t, DESCS + nr);
	if (d)
		put_descs(d, nr);
	if (d && below(5) == 0)
		spoil(g, d + (g - nr * per_block()) * geo.desc_bytes, b);
}

static void make_transactions(void)
{
	uint64_t pool[30];
	struct copy swap;
	struct txn *t;
	uint32_t i, j;
	uint8_t *b;

	for (i = 0; i < 30; i++)
		pool[i] = geo.first +
			  below((uint32_t)fs_blocks - geo.first);
	txns = 1 + below(TXNS);
	for (t = txn; t < txn + txns; t++) {
		t->copies = 0;
		for (i = below(10); i; i--) {
			b = add(t, pool[below(30)]);
			for (j = 0; b && j < BS; j += 8)
				rj_put_be64(b + j, lm_rand(&rng));
		}
		for (i = below(4); i; i--)
			change_group(t, below(groups));
		for (i = t->copies; i > 1; i--) { /* in any order */
			j = below(i);
			swap = t->copy[j];
			t->copy[j] = t->copy[i - 1];
			t->copy[i - 1] = swap;
		}
	}
}

/* ---- their log ---- */

static uint8_t *header(uint32_t *at, uint32_t type, uint32_t tid)
{
	uint8_t *b = log_bytes + (size_t)(*at)++ * BS;

	rj_put_be32(b, MAGIC);
	rj_put_be32(b + 4, type);
	rj_put_be32(b + 8, tid);
	return b;
}

static void put_transaction(const struct txn *t, uint32_t tid, uint32_t *at)
{
	uint8_t *d = header(at, RJ_JBD2_DESCRIPTOR, tid), *tag = d + 12, *b;
	uint32_t i, flags;

	for (i = 0; i < t->copies; i++, tag += 8) {
		b = log_bytes + (size_t)(*at)++ * BS;
		memcpy(b, t->copy[i].bytes, BS);
		flags = 2 | (i + 1 == t->copies ? 8 : 0); /* SAME_UUID, LAST */
		if (rj_get_be32(b) == MAGIC) {
			flags |= 1; /* ESCAPE */
			rj_put_be32(b, 0);
		}
		rj_put_be32(tag, (uint32_t)t->copy[i].nr);
		rj_put_be16(tag + 6, (uint16_t)flags);
	}
	if (!t->copies)
		(*at)--; /* a transaction of nothing but its commit block */
	rj_put_be64(header(at, RJ_JBD2_COMMIT, tid) + 48, 1700000000);
}

static void put_log(void)
{
	uint8_t uuid[RJ_UUID_BYTES] = {1};
	uint32_t at = 3, i;

	first_tid = below(2) ? 10 : UINT32_MAX - below(TXNS);
	memset(log_bytes, 0, sizeof(log_bytes));
	rj_jbd2_sb_format_external(
		log_bytes, BS, LOG_BLOCKS, uuid, uuid, first_tid);
	rj_put_be32(log_bytes + 0x1C, 3); /* s_start: not empty */
	for (i = 0; i < txns; i++) {
		/* room for a whole transaction and for the log's end */
		if (at + txn[i].copies + 3 > LOG_BLOCKS) {
			txns = i;
			break;
		}
		put_transaction(&txn[i], first_tid + i, &at);
	}
}

/* ---- the rule ---- */

static const uint8_t *copy_of(const struct txn *t, uint64_t nr)
{
	uint32_t i;

	for (i = 0; i < t->copies; i++)
		if (t->copy[i].nr == nr)
			return t->copy[i].bytes;
	return NULL;
}

static bool is_free(const uint8_t *bitmap, uint32_t g, uint64_t nr)
{
	return in_group(g, nr) && !in_use(bitmap, g, nr);
}

/* The bitmap of group G in transaction T, if it is to be believed. */
static const uint8_t *bitmap_of(const struct txn *t, uint32_t g)
{
	const uint8_t *d = copy_of(t, DESCS + g / per_block()), *b;
	uint64_t nr;

	if (!d)
		return NULL;
	d += g % per_block() * geo.desc_bytes;
	b = copy_of(t, rj_get_le32(d));
	if (!b || rj_get_le16(d + 18) & 2)
		return NULL;
	if (rj_get_le16(d + 12) != count_free(b, g))
		return NULL;
	if (is_free(b, g, rj_get_le32(d)) || is_free(b, g, rj_get_le32(d + 4)) ||
		is_free(b, g, rj_get_le32(d + 8)))
		return NULL;
	for (nr = 0; nr < DESCS + desc_blocks(); nr++)
		if (is_free(b, g, nr))
			return NULL;
	return b;
}

/* Is the copy of block NR in transaction T dropped? */
static bool dropped(uint32_t t, uint64_t nr)
{
	uint32_t g, u;
	const uint8_t *b;

	for (u = t; u < txns; u++)
		for (g = 0; g < groups; g++) {
			if (!in_group(g, nr))
				continue;
			b = bitmap_of(&txn[u], g);
			if (b && is_free(b, g, nr))
				return true;
		}
	return false;
}

/* ---- both ---- */

/* The last copy of NR that is not dropped, as the plan has it? */
static bool agreed(struct rj_jbd2_plan *plan, struct rj_bio *log, uint64_t nr)
{
	const uint8_t *want = NULL;
	struct rj_error err;
	uint8_t got[BS];
	uint32_t t;
	int rc;

	for (t = 0; t < txns; t++)
		if (copy_of(&txn[t], nr) && !dropped(t, nr))
			want = copy_of(&txn[t], nr);
	rc = rj_jbd2_plan_read(plan, log, nr, got, &err);
	return want ? !rc && !memcmp(want, got, BS) : rc == -RJ_E_NOTFOUND;
}

static uint64_t one_log(uint64_t seed)
{
	struct rj_bio *log = rj_bio_new_mem(log_bytes, sizeof(log_bytes), "log");
	struct rj_jbd2_scan_opts o = {0};
	struct rj_jbd2_plan *plan = NULL;
	uint64_t freed = 0, wrong = 0;
	struct rj_error err;
	uint32_t t, i;

	rng = seed;
	make_volume();
	make_transactions();
	put_log();
	o.fs_blocks = fs_blocks;
	o.groups = geo;
	CU_ASSERT_EQUAL_FATAL(rj_jbd2_scan(log, &o, &plan, &err), 0);
	for (t = 0; t < txns; t++)
		for (i = 0; i < txn[t].copies; i++) {
			freed += dropped(t, txn[t].copy[i].nr);
			wrong += !agreed(plan, log, txn[t].copy[i].nr);
		}
	if (wrong || rj_jbd2_plan_info(plan)->freed != freed)
		printf("# log %#llx: %llu of %llu dropped, %llu wrong\n",
			(unsigned long long)seed,
			(unsigned long long)rj_jbd2_plan_info(plan)->freed,
			(unsigned long long)freed, (unsigned long long)wrong);
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(rj_jbd2_plan_info(plan)->freed, freed);
	CU_ASSERT_EQUAL(rj_jbd2_plan_info(plan)->damage, RJ_JBD2_SOUND);
	CU_ASSERT_EQUAL(rj_jbd2_plan_info(plan)->transactions, txns);
	rj_jbd2_plan_free(plan);
	rj_bio_free(log);
	return freed;
}

static void random_logs(void)
{
	uint64_t seed = rjtest_seed(), freed = 0;
	unsigned i, n = getenv("RJ_LONG") ? 10000 : 300;

	for (i = 0; i < n; i++)
		freed += one_log(lm_rand(&seed));
	printf("# %u logs, %llu copies dropped\n", n, (unsigned long long)freed);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(random_logs),
	};

	return RJTEST_RUN("jbd2 freed, random", tests);
}
