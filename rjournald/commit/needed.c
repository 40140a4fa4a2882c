// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the oldest segment that a replay needs, and what to ship again so that it moves. */
#include "needed.h"

#include "jbd2/jbd2.h"

/* Shipped again with each journal superblock; a larger fast-commit area only
 * means that the log's oldest needed segment does not move. */
#define FAST_BYTES_MAX (8u << 20)
/* The limit for that with all else that is pending. */
#define WITH_FAST_BYTES_MAX (RJ_SEG_MAX_BYTES - (1u << 20))
/* A raw device: every REFRESH_EVERY-th segment ships up to REFRESH_BLOCKS blocks
 * again that were last shipped more than REFRESH_AGE segments ago. */
#define REFRESH_EVERY  16
#define REFRESH_BLOCKS 256
#define REFRESH_AGE    512

static bool fast_too_many(const struct rj_ring *ring, const struct rj_track *t)
{
	return (uint64_t)t->fast_blocks * ring->block_size > FAST_BYTES_MAX;
}

bool rj_needed_with_superblock(const struct rj_ring *ring,
	const struct rj_track *t, struct rj_pending *pending)
{
	uint64_t blocks = (uint64_t)pending->count + t->fast_blocks;

	rj_pending_mark(pending, 0, t->sb_block + 1);
	if (!t->sb_good || fast_too_many(ring, t))
		return true;
	/* what a worker left may fill a segment by itself */
	if (blocks * ring->block_size > WITH_FAST_BYTES_MAX)
		return false;
	rj_pending_mark(pending, t->last, t->fast_blocks);
	return true;
}

uint64_t rj_needed_oldest_of_all(const struct rj_ring *ring, uint64_t sequence)
{
	uint64_t oldest = sequence;
	uint32_t b;

	for (b = 0; b < ring->blocks; b++)
		if (ring->seq[b] && ring->seq[b] < oldest)
			oldest = ring->seq[b];
	return oldest;
}

/*
 * Why the ring can always be rebuilt from there: every block that the new
 * superblock makes live was last written in a segment not before it, and all
 * that is written later goes to later segments. Until the next superblock the
 * live part only grows at its head, so the number stays right. It never falls
 * either: what was not needed before can not become live without being
 * written.
 */
uint64_t rj_needed_oldest(const struct rj_ring *ring, const struct rj_track *t,
	uint64_t known, uint64_t sequence)
{
	uint64_t oldest;

	if (!t->sb_good || fast_too_many(ring, t))
		return known;
	if (t->head_known || !t->start)
		oldest = rj_ring_oldest(ring, t->sb_block, t->first, t->last,
			t->start, t->head);
	else
		oldest = rj_needed_oldest_of_all(ring, sequence);
	return oldest > known ? oldest : known;
}

bool rj_needed_refresh(const struct rj_ring *ring, struct rj_pending *pending,
	uint64_t sequence)
{
	uint32_t b, n = 0;

	if (sequence % REFRESH_EVERY)
		return false;
	for (b = 0; b < ring->blocks && n < REFRESH_BLOCKS; b++)
		if (ring->seq[b] && ring->seq[b] + REFRESH_AGE < sequence) {
			rj_pending_mark(pending, b, 1);
			n++;
		}
	return true;
}

void rj_needed_number(
	struct rj_ring *ring, const struct rj_log_append *a, uint64_t sequence)
{
	const struct rj_seg_run *run;
	uint32_t i, b;

	for (i = 0; i < a->run_count; i++) {
		run = &a->runs[i];
		for (b = run->block; b < run->block + run->count; b++)
			ring->seq[b] = sequence;
	}
}

void rj_needed_from(struct rj_ring *ring, uint64_t sequence)
{
	uint32_t b;

	for (b = 0; b < ring->blocks; b++)
		if (ring->seq[b] != sequence)
			ring->seq[b] = 0;
}

static void note_tid(struct rj_segbody *body, uint32_t tid)
{
	if (!body->tid_count)
		body->first_tid = body->last_tid = tid;
	if ((int32_t)(tid - body->first_tid) < 0)
		body->first_tid = tid;
	if ((int32_t)(tid - body->last_tid) > 0)
		body->last_tid = tid;
	body->tid_count = body->last_tid - body->first_tid + 1;
}

void rj_needed_tids(const struct rj_ring *ring, uint32_t sb_block,
	struct rj_log_append *a)
{
	enum rj_jbd2_block_type type;
	uint32_t i, b, tid;

	for (i = 0; i < a->run_count; i++)
		for (b = a->runs[i].block;
			b < a->runs[i].block + a->runs[i].count; b++)
			if (b > sb_block &&
				rj_jbd2_block_header(
					ring->data +
						(size_t)b * ring->block_size,
					&type, &tid))
				note_tid(&a->body, tid);
}
