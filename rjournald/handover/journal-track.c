// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follow the log that the kernel writes, by its blocks: the journal superblock tells
 * the tail, commit blocks tell the running transaction, and every block of the log
 * moves the head on.
 */
#include "journal-track.h"

#include <string.h>

#include "jbd2/jbd2.h"

static const uint8_t *ring_block(const struct rj_ring *ring, uint32_t block)
{
	return ring->data + (size_t)block * ring->block_size;
}

static void forget(struct rj_track *t)
{
	t->known = false;
	t->head_known = false;
}

uint32_t rj_track_distance(const struct rj_track *t, uint32_t from, uint32_t to)
{
	return to >= from ? to - from : to - from + (t->last - t->first);
}

uint32_t rj_track_space(const struct rj_track *t)
{
	uint32_t len = t->last - t->first;

	if (!t->known)
		return 0;
	return len - rj_track_distance(t, t->start, t->commit_end);
}

/* The log block after B, going round. */
static uint32_t behind(const struct rj_track *t, uint32_t b)
{
	return b + 1 >= t->last ? t->first : b + 1;
}

/*
 * The log begins at SB's s_start with transaction s_sequence, and we did not
 * follow it so far. It is empty, and so known, when the block there is not of
 * that transaction: a replay (do_one_pass() in fs/jbd2/recovery.c) would end
 * at once. The kernel writes such a superblock before the first commit after
 * a mount and at the end of its own recovery (journal_reset()).
 */
static void begin_at(struct rj_track *t, const struct rj_ring *ring,
	const struct rj_jbd2_sb *sb)
{
	enum rj_jbd2_block_type type;
	uint32_t tid;

	forget(t);
	if (rj_jbd2_block_header(ring_block(ring, sb->start), &type, &tid) &&
		tid == sb->sequence)
		return;
	t->known = true;
	t->running_tid = sb->sequence;
	t->commit_end = sb->start;
	t->head_known = true;
	t->head = sb->start;
}

static void see_superblock(struct rj_track *t, const struct rj_ring *ring)
{
	struct rj_jbd2_sb sb;

	t->sb_good = false;
	if (rj_jbd2_sb_decode(ring_block(ring, t->sb_block), &sb, NULL) ||
		sb.block_size != ring->block_size || sb.maxlen > ring->blocks ||
		sb.first <= t->sb_block || sb.last <= sb.first ||
		sb.last > sb.maxlen ||
		(sb.start && (sb.start < sb.first || sb.start >= sb.last))) {
		forget(t);
		return;
	}
	t->sb_good = true;
	if (t->first != sb.first || t->last != sb.last ||
		t->maxlen != sb.maxlen) {
		/* the fast-commit area came, went or moved */
		forget(t);
		t->fast_blocks = sb.maxlen - sb.last;
	}
	t->first = sb.first;
	t->last = sb.last;
	t->maxlen = sb.maxlen;
	t->start = sb.start;
	if (!sb.start)
		forget(t);
	else if (!t->known || (int32_t)(sb.sequence - t->running_tid) > 0)
		begin_at(t, ring, &sb);
}

/*
 * The kernel fills the log from its head forward, a transaction is at most a
 * quarter of it, and requests may overtake each other a little: a block
 * within the half of the log before the head is ahead of it.
 */
static void advance_head(struct rj_track *t, uint32_t b)
{
	uint32_t ahead;

	if (!t->head_known)
		return;
	ahead = rj_track_distance(t, t->head, b);
	if (ahead < (t->last - t->first) / 2)
		t->head = behind(t, b);
}

static void see_log_block(
	struct rj_track *t, const struct rj_ring *ring, uint32_t b)
{
	enum rj_jbd2_block_type type;
	uint32_t tid;

	advance_head(t, b);
	if (!rj_jbd2_block_header(ring_block(ring, b), &type, &tid) ||
		type != RJ_JBD2_COMMIT)
		return;
	t->fast_blocks = 0;
	if (!t->known)
		return;
	/* the last one once more: the kernel sends it again when a worker died
	 * before it was answered */
	if (tid + 1 == t->running_tid && behind(t, b) == t->commit_end)
		return;
	if (tid != t->running_tid) {
		t->known = false;
		return;
	}
	t->running_tid++;
	t->commit_end = behind(t, b);
}

void rj_track_written(struct rj_track *t, const struct rj_ring *ring,
	uint32_t block, uint32_t count)
{
	uint32_t b;

	for (b = block; b < block + count; b++) {
		if (b == t->sb_block)
			see_superblock(t, ring);
		else if (!t->sb_good)
			continue;
		else if (b >= t->first && b < t->last)
			see_log_block(t, ring, b);
		else if (b >= t->last && b < t->maxlen &&
			 t->fast_blocks < b - t->last + 1)
			t->fast_blocks = b - t->last + 1;
	}
}

void rj_track_init(
	struct rj_track *t, const struct rj_ring *ring, uint32_t sb_block)
{
	memset(t, 0, sizeof(*t));
	t->sb_block = sb_block;
	see_superblock(t, ring);
	/*
	 * A log that is not empty is not followed: the kernel recovers it, or
	 * a tool empties it, and both write a superblock. Its fast commits
	 * may all be live until then.
	 */
	forget(t);
	if (t->sb_good && t->start)
		t->fast_blocks = t->maxlen - t->last;
}
