// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Replay. Every block of the plan (plan.c has left revoked blocks out) is written
 * once, with the same bytes whatever was written before, and the log is not
 * touched: a replay that was cut anywhere is simply run again.
 */
#include "jbd2/replay-io.h"

struct job {
	const struct rj_jbd2_plan *p;
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void *arg;
	uint64_t done;
};

static int report(struct job *j, struct rj_error *err)
{
	uint64_t total = j->p->info.blocks;

	if (j->progress && j->progress(j->arg, j->done, total))
		return rj_fail(err, RJ_E_CANCELLED,
			"replay stopped after %llu of %llu blocks; run it "
			"again before the volume is used",
			(unsigned long long)j->done, (unsigned long long)total);
	return 0;
}

static int batch(
	struct job *j, struct jbd2_engine *e, uint32_t n, struct rj_error *err)
{
	const struct jbd2_copy *c = j->p->copies.v + j->done;
	uint32_t at, written;
	int rc = jbd2_engine_load(e, c, n, err);

	for (at = 0; !rc && at < n; at += written) {
		rc = jbd2_engine_store(e, c, at, n, &written, err);
		if (rc)
			break;
		j->done += written;
		rc = report(j, err);
	}
	return rc;
}

int rj_jbd2_replay(const struct rj_jbd2_plan *p, struct rj_bio *log,
	struct rj_bio *fs,
	int (*progress)(void *arg, uint64_t done, uint64_t total), void *arg,
	struct rj_error *err)
{
	struct job j = {.p = p, .progress = progress, .arg = arg};
	struct jbd2_engine e = {0};
	uint64_t total = p->info.blocks;
	uint32_t n;
	int rc = 0;

	if (total)
		rc = jbd2_engine_init(&e, log, fs, &p->cache,
			p->info.sb.block_size, p->copies.n, err);
	while (!rc && j.done < total) {
		n = e.batch;
		if (n > total - j.done)
			n = (uint32_t)(total - j.done);
		rc = batch(&j, &e, n, err);
	}
	if (!rc)
		rc = jbd2_engine_finish(&e, err);
	if (!rc)
		rc = fs->flush(fs, err);
	jbd2_engine_free(&e);
	return rc;
}
