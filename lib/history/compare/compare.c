// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The log is applied to an overlay of the base up to the first moment, and from there on to an
 * overlay of that one: what is in the second overlay is all that can differ.
 */
#include "history/compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "history/base/target.h"
#include "history/download.h"
#include "history/overlay.h"
#include "os/fileio.h"

#define SUPER_AT 1024u

struct comparing {
	const struct rj_compare_opts *opts;
	const struct rj_base_facts *facts;
	int from; /* the base; -1 */
	struct rj_download *down;
	uint8_t super[1024]; /* the last one in the log */
	bool have_super;
	struct rj_compare_side before, after;
	uint64_t *blocks;
	size_t room;
	uint8_t *both[2]; /* a block each */
};

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Does BLOCK differ? One that the volume had not yet does. */
static int differs(struct comparing *c, uint64_t block, bool *out, struct rj_error *err)
{
	uint32_t bs = c->facts->block_size;
	int rc = c->after.fs->read(c->after.fs, c->both[1], bs, block * bs, err);

	if (!rc)
		rc = c->before.fs->read(c->before.fs, c->both[0], bs, block * bs, err);
	*out = !rc && memcmp(c->both[0], c->both[1], bs) != 0;
	return rc;
}

static int list_blocks(struct comparing *c, size_t *count, struct rj_error *err)
{
	const uint64_t *written;
	uint64_t *more;
	size_t n, i;
	bool is;
	int rc = 0;

	*count = 0;
	written = rj_overlay_written(c->after.fs, &n);
	if (n > c->room) {
		more = realloc(c->blocks, n * sizeof(*more));
		if (!more)
			return rj_fail(err, RJ_E_NOMEM, "out of memory");
		c->blocks = more;
		c->room = n;
	}
	for (i = 0; !rc && i < n; i++) {
		rc = differs(c, written[i], &is, err);
		if (!rc && is)
			c->blocks[(*count)++] = written[i];
	}
	if (*count)
		qsort(c->blocks, *count, sizeof(*c->blocks), by_number);
	return rc;
}

static void see(struct comparing *c, struct rj_compare_side *s, const struct rj_history_report *r)
{
	if (c->have_super)
		memcpy(s->super, c->super, sizeof(s->super));
	s->place = r->reached;
	s->blocks = r->blocks;
}

/* Let TO, whose blocks are those of FROM, be of the same moment. */
static void follow_side(struct rj_compare_side *to, const struct rj_compare_side *from)
{
	struct rj_bio *fs = to->fs;

	*to = *from;
	to->fs = fs;
}

static int at_reached(void *arg, const struct rj_history_report *r, struct rj_error *err)
{
	struct comparing *c = arg;

	see(c, &c->before, r);
	follow_side(&c->after, &c->before);
	if (!c->opts->each_commit)
		return 0;
	return c->opts->step(c->opts->arg, &c->before, &c->after, NULL, 0, err);
}

static int step(void *arg, const struct rj_history_report *r, struct rj_error *err)
{
	struct comparing *c = arg;
	size_t count;
	int rc;

	see(c, &c->after, r);
	rc = list_blocks(c, &count, err);
	if (!rc)
		rc = c->opts->step(c->opts->arg, &c->before, &c->after, c->blocks, count, err);
	if (!rc && c->opts->each_commit)
		rc = rj_overlay_settle(c->after.fs, err);
	follow_side(&c->before, &c->after);
	return rc;
}

static int grow(void *arg, uint64_t end, uint64_t to, struct rj_error *err)
{
	struct comparing *c = arg;
	uint64_t bs = c->facts->block_size;
	int rc = c->down ? rj_target_grow(c->before.fs, c->opts->scratch[0], RJ_SCRATCH_NAME,
				   end * bs, to * bs, err)
			 : rj_overlay_grow(c->before.fs, end, to, err);

	if (!rc && c->down)
		c->before.fs->size_bytes = to * bs;
	return rc ? rc : rj_overlay_grow(c->after.fs, end, to, err);
}

static int progress(void *arg, uint64_t done, uint64_t total)
{
	struct comparing *c = arg;

	return c->opts->progress ? c->opts->progress(c->opts->arg, done, total) : 0;
}

static int open_sides(struct comparing *c, struct rj_error *err)
{
	const struct rj_compare_opts *o = c->opts;
	const struct rj_base_facts *f = c->facts;
	int rc = 0;

	if (c->down) {
		rc = rj_download_scratch(c->down, f, o->scratch[0], progress, c, err);
		if (!rc)
			c->before.fs = rj_bio_new_fd(o->scratch[0], RJ_SCRATCH_NAME, err);
	} else {
		c->before.fs = rj_overlay_new(
			c->from, o->scratch[0], f->block_size, f->blocks, o->base, err);
	}
	if (!rc && c->before.fs)
		c->after.fs = rj_overlay_over(c->before.fs, o->scratch[1], f->block_size, err);
	c->both[0] = malloc(f->block_size);
	c->both[1] = malloc(f->block_size);
	if (!rc && (!c->after.fs || !c->both[0] || !c->both[1]))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (!rc)
		rc = c->before.fs->read(
			c->before.fs, c->before.super, sizeof(c->before.super), SUPER_AT, err);
	return rc;
}

static int walk(struct comparing *c, struct rj_history_report *report, struct rj_error *err)
{
	const struct rj_compare_opts *o = c->opts;
	struct rj_history_opts h = {
		.base = c->facts->record,
		.fs_blocks = c->facts->blocks,
		.at = o->from,
		.until_break = o->until_break,
		.fs = c->before.fs,
		.super = c->super,
		.have_super = &c->have_super,
		.grow = grow,
		.progress = progress,
		.then = &o->to,
		.then_fs = c->after.fs,
		.at_reached = at_reached,
		.each = o->each_commit ? step : NULL,
		.arg = c,
	};
	struct rj_base_log log;
	int rc = rj_base_log_open(c->facts, o->url, o->keyfile, &log, err);

	if (o->from_base)
		h.at = (struct rj_moment){.kind = RJ_AT_SEGMENT, .segment = h.base.whole};
	if (!rc && o->to.kind == RJ_AT_LATEST)
		rc = rj_base_log_check_end(c->facts, &log,
			"; name an earlier moment: what is there can be compared", err);
	if (!rc)
		rc = rj_history_walk(log.store, &log.id, &h, report, err);
	rj_base_log_close(&log);
	return rc;
}

int rj_history_compare(const struct rj_compare_opts *opts, struct rj_base_facts *facts,
	struct rj_history_report *report, struct rj_error *err)
{
	struct comparing c = {.opts = opts, .facts = facts, .from = -1};
	int rc;

	memset(report, 0, sizeof(*report));
	memset(facts, 0, sizeof(*facts));
	rc = rj_base_or_download(opts->base, opts->keyfile, facts, &c.from, &c.down, err);
	if (!rc)
		rc = open_sides(&c, err);
	if (!rc)
		rc = walk(&c, report, err);
	if (!rc && !opts->each_commit)
		rc = step(&c, report, err);
	rj_bio_free(c.after.fs);
	rj_bio_free(c.before.fs);
	rj_close(&c.from, opts->base, NULL); /* only read */
	rj_download_free(c.down);
	free(c.blocks);
	free(c.both[0]);
	free(c.both[1]);
	return rc;
}
