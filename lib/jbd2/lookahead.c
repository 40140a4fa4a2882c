// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A destroyed header looks like the end of the log, and everything committed
 * after it would be lost without a word. JBD2 writes no block of a
 * transaction before the commit block of the one before it is stable; so a
 * later commit block after the end proves that the end is damage.
 *
 * What must not be taken for one: blocks of an earlier lap (their tids are
 * smaller), and blocks of an earlier journal in the same place, whose tids
 * started again (their commit times are older than that of the last good
 * transaction, and as a rule their checksums have another seed). Where there
 * is no good transaction, they are older than the volume. A kernel leaves such
 * a log when it crashes in the first commit since it was mounted.
 */
#include <string.h>

#include "jbd2/jbd2-priv.h"

/* How far to look. A transaction may be longer (a quarter of the log), but
 * reading on would cost more than the rest of a recovery. */
#define LOOKAHEAD_BYTES (32u << 20)

/* Clocks of installers may be off by a time zone. Where the checksum's seed
 * says that a block is of this journal, its time must contradict by more. */
#define CLOCK_SLACK (2u * 24 * 60 * 60)

/* Does the commit time say that the block is of an earlier journal, or not
 * say that it is of this one? */
static bool too_old(const struct jbd2_scan *s, uint64_t seconds)
{
	bool seeded = s->dialect.checksum >= 2;

	if (s->last_seconds)
		return seconds < s->last_seconds;
	if (seeded)
		return s->born > CLOCK_SLACK && seconds < s->born - CLOCK_SLACK;
	return !s->born || seconds < s->born;
}

static bool proves_damage(const struct jbd2_scan *s, const uint8_t *raw,
	enum rj_jbd2_block_type type, uint32_t tid)
{
	uint32_t ahead = tid - s->expected;

	if (type != RJ_JBD2_COMMIT || ahead >= s->ring)
		return false;
	/* with async_commit the commit block does not wait for its blocks */
	if (s->dialect.async && ahead == 0)
		return false;
	if (too_old(s, rj_get_be64(raw + JBD2_COMMIT_SECONDS)))
		return false;
	return jbd2_commit_good(&s->dialect, raw);
}

/* Would the block at which the walk ended be a good commit block, were it not
 * for its first 12 bytes? */
static int lost_header(struct jbd2_scan *s, struct rj_error *err)
{
	const uint8_t *raw;
	int rc;

	if (s->dialect.checksum < 2)
		return 0;
	rc = jbd2_window_get(&s->window, s->stopped, &raw, err);
	if (rc)
		return rc;
	memcpy(s->descriptor, raw, s->dialect.block_size);
	rj_put_be32(s->descriptor, RJ_JBD2_MAGIC);
	rj_put_be32(s->descriptor + 4, RJ_JBD2_COMMIT);
	rj_put_be32(s->descriptor + 8, s->expected);
	if (jbd2_commit_good(&s->dialect, s->descriptor))
		jbd2_scan_damage(s, RJ_JBD2_BAD_COMMIT, s->stopped, s->expected,
			"the header of its commit block is destroyed");
	return 0;
}

int jbd2_lookahead(struct jbd2_scan *s, struct rj_error *err)
{
	uint32_t most = LOOKAHEAD_BYTES / s->dialect.block_size, i, tid, block;
	enum rj_jbd2_block_type type;
	const uint8_t *raw;
	int rc = lost_header(s, err);

	if (rc)
		return rc;
	if (most > s->ring - s->good)
		most = s->ring - s->good;
	if (most)
		jbd2_log_cache_upto(&s->plan->cache,
			jbd2_scan_block(s, s->good + most - 1));
	for (i = 0; i < most && !s->plan->info.damage; i++) {
		block = jbd2_scan_block(s, s->good + i);
		rc = jbd2_window_get(&s->window, block, &raw, err);
		if (rc == -RJ_E_IO)
			return 0; /* no need to read here: only a chance */
		if (rc)
			return rc;
		if (!rj_jbd2_block_header(raw, &type, &tid) ||
			!proves_damage(s, raw, type, tid))
			continue;
		jbd2_scan_damage(s, RJ_JBD2_BAD_DESCRIPTOR, s->stopped,
			s->expected,
			"the log seems to end here, but log block %u commits "
			"transaction %u",
			block, tid);
	}
	return 0;
}

int jbd2_look_beyond(struct jbd2_scan *s, struct rj_error *err)
{
	enum rj_jbd2_block_type type;
	const uint8_t *raw;
	bool commit = !s->uncommitted;
	uint32_t i, tid;
	int rc;

	for (i = s->good; i < s->ring; i++) {
		rc = jbd2_window_get(
			&s->window, jbd2_scan_block(s, i), &raw, err);
		if (rc == -RJ_E_IO) {
			commit = true; /* who knows */
			continue;
		}
		if (rc)
			return rc;
		if (!rj_jbd2_block_header(raw, &type, &tid) ||
			tid - s->expected >= s->ring)
			continue;
		commit |= type == RJ_JBD2_COMMIT;
		if (jbd2_tid_gt(tid, s->max_tid))
			s->max_tid = tid;
	}
	s->plan->info.damage_committed = commit;
	return 0;
}
