/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find the oldest segment that a replay needs, from the number of the segment that
 * wrote each block of the ring last, and choose what a segment must carry in addition so
 * that the log can be trimmed. Pure.
 */
#ifndef RJ_JOURNALD_NEEDED_H
#define RJ_JOURNALD_NEEDED_H

#include <stdbool.h>
#include <stdint.h>

#include "log/log.h"
#include "log/ring.h"
#include "pending.h"
#include "rjournald/handover/journal-track.h"

/* The journal superblock is among the PENDING blocks: mark also what a replay reads
 * beside the log (blocks 0..sb_block, live fast commits), so that those blocks never
 * keep the log from being trimmed. False: the segment would be too large; nothing was
 * marked, and the oldest segment needed must stay what it was. */
bool rj_needed_with_superblock(const struct rj_ring *ring,
	const struct rj_track *t, struct rj_pending *pending);
/*
 * Find the oldest segment that a replay needs once segment SEQUENCE, whose blocks are
 * numbered already, brings such a superblock; never less than KNOWN, the result before.
 */
uint64_t rj_needed_oldest(const struct rj_ring *ring, const struct rj_track *t,
	uint64_t known, uint64_t sequence);

/*
 * Of a raw device all blocks are needed. If SEQUENCE is a REFRESH_EVERY-th segment, mark
 * blocks that were last shipped long ago, so that all are shipped again, a few at a
 * time, and return true.
 */
bool rj_needed_refresh(const struct rj_ring *ring, struct rj_pending *pending,
	uint64_t sequence);
/* Find the oldest segment that any block of the ring was last written by. */
uint64_t rj_needed_oldest_of_all(const struct rj_ring *ring, uint64_t sequence);

/* Note in the ring that segment SEQUENCE writes the blocks of A's runs. */
void rj_needed_number(
	struct rj_ring *ring, const struct rj_log_append *a, uint64_t sequence);
/* Note that SEQUENCE is a base: a reader starts there with an empty ring. */
void rj_needed_from(struct rj_ring *ring, uint64_t sequence);
/* Put the first and the last transaction in A's runs into its body, which rjlog
 * shows. Blocks 0..SB_BLOCK have none. */
void rj_needed_tids(const struct rj_ring *ring, uint32_t sb_block,
	struct rj_log_append *a);

#endif
