/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Track the log that the kernel writes, from the blocks as they arrive: recognise commit
 * blocks, and follow tail, head and transaction number. Pure. After a block that it
 * cannot follow "known" is false, and the daemon ships everything.
 */
#ifndef RJ_JOURNALD_JOURNAL_TRACK_H
#define RJ_JOURNALD_JOURNAL_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "log/ring.h"

struct rj_track {
	uint32_t sb_block; /* where the journal superblock is */
	bool sb_good;      /* the journal superblock could be read: */
	uint32_t first, last, maxlen; /* its geometry; the log proper is
				       * [first, last), fast commits follow */
	uint32_t start; /* s_start: first live log block; 0: empty */
	/*
	 * The running transaction: commit blocks up to running_tid - 1 have
	 * been seen, and its own first block is, or will be, at commit_end.
	 */
	bool known;
	uint32_t running_tid, commit_end;
	/* All live log blocks lie in [start, head), going round. */
	bool head_known;
	uint32_t head;
	/* Fast-commit blocks [last, last + fast_blocks) may be live. */
	uint32_t fast_blocks;
};

/* Begin with RING as it was read back from the log, or with an empty one. */
void rj_track_init(
	struct rj_track *t, const struct rj_ring *ring, uint32_t sb_block);
/*
 * Follow a write of the blocks [BLOCK, BLOCK + COUNT) of the ring. A request never
 * contains more than a part of the log, and the kernel sends the commit block of a
 * transaction after that of the transaction before.
 */
void rj_track_written(struct rj_track *t, const struct rj_ring *ring,
	uint32_t block, uint32_t count);
/* Count the blocks from FROM forward to TO, around the log proper. Both must lie in
 * it. */
uint32_t rj_track_distance(
	const struct rj_track *t, uint32_t from, uint32_t to);
/* Count the blocks after commit_end that the running transaction may fill before it
 * reaches the live log. 0 unless t->known. */
uint32_t rj_track_space(const struct rj_track *t);

#endif
