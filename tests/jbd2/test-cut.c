// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replay cut at every write, also in the middle of it, then run again: the
 * volume is the same as without the cut.
 */
#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2.h"
#include "jbd2/logmaker.h"
#include "support/rjtest.h"

/* Passes LEFT writes on, half of the next one, and then nothing. */
struct cut_bio {
	struct rj_bio bio;
	struct rj_bio *below;
	unsigned long left, writes, flushes;
};

static int cut_write(struct rj_bio *bio, const void *data, size_t len,
	uint64_t off, struct rj_error *err)
{
	struct cut_bio *c = (struct cut_bio *)bio;

	c->writes++;
	if (c->left == 0) {
		c->below->write(c->below, data, len / 2, off, err);
		return rj_fail(err, RJ_E_IO, "power cut");
	}
	c->left--;
	return c->below->write(c->below, data, len, off, err);
}

static int cut_flush(struct rj_bio *bio, struct rj_error *err)
{
	((struct cut_bio *)bio)->flushes++;
	return 0;
}

static void make(struct lm_log *l, uint32_t block_size)
{
	struct lm_params p = {
		.seed = rjtest_seed(),
		.block_size = block_size,
		.maxlen = 400,
		.first = 1,
		.csum = 3,
		.first_tid = 5,
		.live = 20,
		.tags = 20,
		.target = 3,
		.targets = 90,
	};

	lm_make(&p, l);
}

static int stop_at(void *arg, uint64_t done, uint64_t total)
{
	uint64_t *at = arg;

	CU_ASSERT_TRUE(done <= total);
	return done >= *at;
}

struct fixture {
	struct lm_log l;
	struct rj_bio *log, *mem;
	struct rj_jbd2_plan *plan;
	size_t size;
	uint8_t *got, *want;
};

static void setup(struct fixture *f, uint32_t block_size)
{
	struct rj_jbd2_scan_opts opts = {0};
	struct rj_error err;

	memset(f, 0, sizeof(*f));
	make(&f->l, block_size);
	f->size = (size_t)93 * block_size;
	f->got = malloc(f->size);
	f->want = malloc(f->size);
	memset(f->want, 0x77, f->size);
	lm_apply(&f->l, f->l.transactions, f->want + (size_t)3 * block_size);
	f->log = rj_bio_new_mem(f->l.bytes, f->l.len, "log");
	f->mem = rj_bio_new_mem(f->got, f->size, "volume");
	opts.fs_blocks = 93;
	CU_ASSERT_EQUAL_FATAL(rj_jbd2_scan(f->log, &opts, &f->plan, &err), 0);
}

static void teardown(struct fixture *f)
{
	rj_jbd2_plan_free(f->plan);
	rj_bio_free(f->log);
	rj_bio_free(f->mem);
	lm_free(&f->l);
	free(f->got);
	free(f->want);
}

static void cut_everywhere(uint32_t block_size)
{
	struct cut_bio cut = {0};
	struct rj_error err;
	struct fixture f;
	unsigned long n;
	int rc;

	setup(&f, block_size);
	cut.bio.write = cut_write;
	cut.bio.flush = cut_flush;
	cut.bio.size_bytes = f.size;
	cut.below = f.mem;
	for (n = 0;; n++) {
		memset(f.got, 0x77, f.size);
		cut.left = n;
		cut.flushes = cut.writes = 0;
		rc = rj_jbd2_replay(f.plan, f.log, &cut.bio, NULL, NULL, &err);
		if (!rc)
			break;
		CU_ASSERT_EQUAL(rc, -RJ_E_IO);
		CU_ASSERT_EQUAL(cut.writes, n + 1); /* it stops there */
		CU_ASSERT_EQUAL(cut.flushes, 0);
		CU_ASSERT_NOT_EQUAL(memcmp(f.got, f.want, f.size), 0);
		CU_ASSERT_EQUAL(
			rj_jbd2_replay(f.plan, f.log, f.mem, NULL, NULL, &err),
			0);
		CU_ASSERT_EQUAL(memcmp(f.got, f.want, f.size), 0);
	}
	CU_ASSERT_EQUAL(cut.flushes, 1);
	CU_ASSERT_EQUAL(memcmp(f.got, f.want, f.size), 0);
	CU_ASSERT_TRUE(n >= 3);
	/* runs are joined */
	CU_ASSERT_TRUE(n < rj_jbd2_plan_info(f.plan)->blocks);
	teardown(&f);
}

static void cut_1k(void)
{
	cut_everywhere(1024);
}

static void cut_64k(void)
{
	cut_everywhere(65536);
}

static void cancel_and_run_again(void)
{
	struct rj_error err;
	struct fixture f;
	uint64_t at, total;

	setup(&f, 4096);
	total = rj_jbd2_plan_info(f.plan)->blocks;
	memset(f.got, 0x77, f.size);
	for (at = 1; at <= total; at += 7)
		CU_ASSERT_EQUAL(rj_jbd2_replay(f.plan, f.log, f.mem, stop_at,
					&at, &err),
			-RJ_E_CANCELLED);
	at = total + 1;
	CU_ASSERT_EQUAL(
		rj_jbd2_replay(f.plan, f.log, f.mem, stop_at, &at, &err), 0);
	CU_ASSERT_EQUAL(memcmp(f.got, f.want, f.size), 0);
	teardown(&f);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(cut_1k),
		RJTEST(cut_64k),
		RJTEST(cancel_and_run_again),
	};

	return RJTEST_RUN("jbd2 cut", tests);
}
