// SPDX-License-Identifier: LGPL-2.1-or-later
/* From the journal superblock to the plan. */
#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2-priv.h"

/* The superblock in block SB_BLOCK of blocks of SIZE bytes. *SEEN: something
 * there has its magic number, so that its error is the one to report. */
static int try_superblock(struct rj_bio *log, uint64_t sb_block, uint32_t size,
	struct rj_jbd2_sb *sb, bool *seen, struct rj_error *err)
{
	uint8_t raw[RJ_JBD2_SB_BYTES];
	int rc;

	if (sb_block >= log->size_bytes / size)
		return rj_fail(err, RJ_E_CORRUPT,
			"too short to hold a journal superblock");
	rc = log->read(log, raw, sizeof(raw), sb_block * size, err);
	if (rc)
		return rc;
	*seen = rj_get_be32(raw) == RJ_JBD2_MAGIC;
	rc = rj_jbd2_sb_decode(raw, sb, err);
	if (!rc && sb_block && sb->block_size != size)
		rc = rj_fail(err, RJ_E_CORRUPT,
			"journal superblock: block size %u, but it is "
			"where one with %u would be",
			sb->block_size, size);
	return rc;
}

static int read_superblock(struct rj_bio *log,
	const struct rj_jbd2_scan_opts *opts, struct rj_jbd2_sb *sb,
	struct rj_error *err)
{
	struct rj_error first = {0};
	bool seen = false, one;
	uint32_t size;
	int rc;

	/* Its own block size says where block SB_BLOCK is: try each. Block 0
	 * is the same place with all. */
	for (size = 1024; size <= 65536; size *= 2) {
		one = false;
		rc = try_superblock(log, opts->sb_block, size, sb, &one, err);
		if (rc != -RJ_E_CORRUPT && rc != -RJ_E_UNSUPPORTED)
			break;
		if (!first.msg[0] || (one && !seen))
			rj_fail(&first, (enum rj_code) - rc, "%s",
				err ? err->msg : "");
		seen |= one;
		if (!opts->sb_block)
			break;
	}
	if (err && (rc == -RJ_E_CORRUPT || rc == -RJ_E_UNSUPPORTED))
		*err = first;
	return rc ? rj_fail_prefix(err, "%s", log->name) : 0;
}

static int check_size(struct rj_bio *log, const struct rj_jbd2_scan_opts *opts,
	const struct rj_jbd2_sb *sb, struct rj_error *err)
{
	uint64_t blocks = log->size_bytes / sb->block_size;

	if (sb->maxlen > blocks)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: the journal claims %u blocks, but there are only "
			"%llu",
			log->name, sb->maxlen, (unsigned long long)blocks);
	if (opts->sb_block >= sb->first)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: the log begins in block %u, before the end of "
			"its superblock",
			log->name, sb->first);
	return 0;
}

/* Begin at the caller's place. */
static int take_place(struct rj_jbd2_sb *sb,
	const struct rj_jbd2_scan_opts *opts, struct rj_error *err)
{
	if (!opts->from_block)
		return 0;
	if (opts->from_block < sb->first || opts->from_block >= sb->last)
		return rj_fail(err, RJ_E_INVAL,
			"block %u is not in the log, which has blocks %u to %u",
			opts->from_block, sb->first, sb->last - 1);
	sb->start = opts->from_block;
	sb->sequence = opts->from_tid;
	return 0;
}

static void reset(struct jbd2_scan *s)
{
	struct rj_jbd2_plan *p = s->plan;
	struct rj_jbd2_info info = {.sb = p->info.sb};

	p->info = info;
	p->copies.n = 0;
	p->txns = 0;
	s->uncommitted = false;
	jbd2_revokes_free(&s->revokes);
}

/* The walk again, only up to the transaction with a bad data block. */
static int walk_to_cut(
	struct jbd2_scan *s, const struct jbd2_bad *b, struct rj_error *err)
{
	struct jbd2_bad cut = *b;
	int rc;

	reset(s);
	s->limited = true;
	s->limit = cut.tid;
	rc = jbd2_walk(s, err);
	jbd2_scan_damage(s, RJ_JBD2_BAD_DATA, cut.log, cut.tid,
		"the copy of volume block %llu fails its checksum",
		(unsigned long long)cut.block);
	return rc;
}

static int scan_log(struct jbd2_scan *s, struct rj_error *err)
{
	struct rj_jbd2_info *info = &s->plan->info;
	const struct jbd2_bad *bad;
	int rc = jbd2_walk(s, err);

	if (rc)
		return rc;
	bad = jbd2_revokes_cut(&s->revokes, s->expected);
	if (bad)
		rc = walk_to_cut(s, bad, err);
	else if (!info->damage && !s->limited)
		rc = jbd2_lookahead(s, err);
	if (!rc && !info->damage && !s->limited &&
		(info->sb.incompat & RJ_JBD2_INCOMPAT_FAST_COMMIT))
		rc = jbd2_fast_commits(s, err);
	if (!rc && info->damage)
		rc = jbd2_look_beyond(s, err);
	return rc;
}

static void summarize(struct jbd2_scan *s)
{
	struct rj_jbd2_info *info = &s->plan->info;
	const struct rj_jbd2_sb *sb = &info->sb;

	info->first_tid = sb->sequence;
	info->last_tid = s->expected - 1;
	/* Like the kernel, skip the tid of an unfinished transaction even if
	 * nothing of it was seen. */
	info->next_tid =
		jbd2_tid_gt(s->expected, s->max_tid) ? s->expected : s->max_tid;
	info->next_tid++;
	info->end_block = jbd2_scan_block(s, s->good);
	info->wrapped = s->good > sb->last - sb->start;
}

/* The copies are sorted, and all of them are there still. */
static int tell_copies(struct jbd2_scan *s, struct rj_bio *log,
	const struct rj_jbd2_scan_opts *opts, struct rj_error *err)
{
	const struct jbd2_copies *c = &s->plan->copies;
	size_t i;
	int rc = 0;

	for (i = 0; opts->each_copy && !rc && i < c->n; i++) {
		if ((c->v[i].key & JBD2_COPY_BLOCK) != opts->copies_of)
			continue;
		rc = jbd2_plan_copy(s->plan, log, &c->v[i], s->descriptor, err);
		if (!rc)
			opts->each_copy(opts->arg, s->descriptor);
	}
	return rc;
}

static int scan_and_plan(struct jbd2_scan *s, struct rj_bio *log,
	const struct rj_jbd2_scan_opts *opts, struct rj_error *err)
{
	const struct rj_jbd2_sb *sb = &s->plan->info.sb;
	int rc = jbd2_window_init(&s->window, log, &s->plan->cache,
		sb->block_size, sb->maxlen, err);

	if (rc)
		return rc;
	if (!log->map)
		jbd2_log_cache_start(&s->plan->cache, log, sb->block_size,
			sb->maxlen, sb->start, opts->keep_bytes);
	s->descriptor = malloc(sb->block_size);
	if (!s->descriptor)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	rc = scan_log(s, err);
	if (rc)
		return rc;
	jbd2_log_cache_stop(&s->plan->cache);
	summarize(s);
	rc = jbd2_copies_sort(&s->plan->copies, err);
	if (!rc)
		rc = tell_copies(s, log, opts, err);
	if (!rc)
		rc = jbd2_freed_mark(s->plan, log, opts, err);
	if (!rc)
		jbd2_plan_build(s->plan, &s->revokes);
	return rc;
}

int rj_jbd2_scan(struct rj_bio *log, const struct rj_jbd2_scan_opts *opts,
	struct rj_jbd2_plan **out, struct rj_error *err)
{
	struct jbd2_scan s = {0};
	struct rj_jbd2_sb *sb;
	int rc;

	s.plan = calloc(1, sizeof(*s.plan));
	if (!s.plan)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	sb = &s.plan->info.sb;
	rc = read_superblock(log, opts, sb, err);
	if (!rc)
		rc = check_size(log, opts, sb, err);
	if (!rc)
		rc = take_place(sb, opts, err);
	if (rc)
		goto out;
	if (!sb->start) {
		s.plan->info.empty = true;
		s.plan->info.first_tid = sb->sequence;
		s.plan->info.last_tid = sb->sequence - 1;
		s.plan->info.next_tid = sb->sequence;
		goto out;
	}
	jbd2_dialect_init(&s.dialect, sb);
	s.ring = sb->last - sb->first;
	s.fs_blocks = opts->fs_blocks > opts->device_blocks ? opts->fs_blocks
							     : opts->device_blocks;
	if (s.fs_blocks > JBD2_COPY_BLOCKS_MAX)
		s.fs_blocks = JBD2_COPY_BLOCKS_MAX;
	s.born = opts->born;
	s.verified = opts->verified;
	s.limited = opts->limited;
	s.limit = opts->until_tid;
	rc = scan_and_plan(&s, log, opts, err);
out:
	jbd2_log_cache_stop(&s.plan->cache);
	jbd2_window_free(&s.window);
	jbd2_revokes_free(&s.revokes);
	free(s.descriptor);
	free(s.pending);
	if (rc) {
		rj_jbd2_plan_free(s.plan);
		return rc;
	}
	*out = s.plan;
	return 0;
}
