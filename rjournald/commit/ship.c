// SPDX-License-Identifier: GPL-2.0-or-later
/* Ship all that is pending as one segment, and raise the volume's mark before. */
#include "pipeline-priv.h"

#include "util/environ.h"

/*
 * A journal that is nearly full moves its tail with every few commits, and the kernel
 * waits for it: then the mark is raised, and the log's oldest moved, no more often.
 * A replay reads what was written in that time in addition.
 */
#define MARK_INTERVAL_NS 100000000

/*
 * Write OLDEST into the volume's mark, before the log says it. When the journal's
 * superblock has moved its tail, the kernel has written and flushed to the volume
 * what lies below; so a power cut never leaves the mark below the log's oldest.
 */
static void mark(struct rj_pipeline *p, uint64_t oldest, bool emptied)
{
	if (!p->mark_writer || oldest <= p->marked)
		return;
	p->marked = rj_mark_writer_raise(p->mark_writer, oldest, emptied) ? oldest
									  : 0;
	p->mark_due_ns = rj_monotonic_ns() + MARK_INTERVAL_NS;
}

/* Have segment A, of number SEQUENCE, move the log's oldest as the journal's superblock
 * in it allows. Returns the oldest segment that is needed after it. */
static uint64_t move_oldest(
	struct rj_pipeline *p, struct rj_log_append *a, uint64_t sequence)
{
	uint64_t oldest = rj_needed_oldest(
		p->ring, &p->track, p->oldest, sequence);
	bool emptied = oldest == sequence;

	if (!emptied && p->mark_writer && rj_monotonic_ns() < p->mark_due_ns)
		return p->oldest;
	mark(p, oldest, emptied);
	a->oldest = oldest;
	a->marked = p->marked;
	a->base = emptied;
	return oldest;
}

int rj_pl_ship(struct rj_pipeline *p, struct rj_error *err)
{
	struct rj_log_append a;
	uint64_t sequence, oldest = p->oldest;
	struct rj_error e;
	bool superblock, refresh, moves = false;
	int rc;

	if (p->abandoned && !p->failed) {
		rj_fail(&e, RJ_E_CANCELLED, "told to stop at once");
		rj_pl_fail(p, &e);
	}
	superblock = !p->raw && rj_pending_test(&p->pending, p->sb_block);
	rj_pl_take_back(p, true);
	if (p->failed)
		return rj_pl_failed(p, err);
	if (!p->pending.count)
		return 0;
	sequence = p->acked + 1;
	if (superblock)
		moves = rj_needed_with_superblock(
			p->ring, &p->track, &p->pending);
	refresh = p->raw && rj_needed_refresh(p->ring, &p->pending, sequence);
	a = rj_pl_gather(p, p->runs, sequence);
	if (moves)
		oldest = move_oldest(p, &a, sequence);
	if (refresh)
		a.oldest = oldest = rj_needed_oldest_of_all(p->ring, sequence);
	if (a.base)
		rj_needed_from(p->ring, sequence);
	rc = rj_pl_put(p, &a, &e);
	if (rc) {
		if (err)
			*err = e;
		return rc;
	}
	rj_pl_account(p, &a, p->pending.count, sequence, oldest);
	rj_pl_nothing_pending(p);
	return 0;
}
