/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which segments a replay needs, by what the ring says of who wrote each block
 * last, and what a segment must carry along so that it does not need more. Pure.
 */
#ifndef RJ_JOURNALD_NEEDED_H
#define RJ_JOURNALD_NEEDED_H

#include <stdbool.h>
#include <stdint.h>

#include "log/log.h"
#include "log/ring.h"
#include "pending.h"
#include "rjournald/handover/journal-track.h"

/* The journal superblock is among the PENDING blocks: mark what a replay reads
 * beside the log (blocks 0..sb_block, live fast commits), too, so that it never
 * holds the log back. False: with so much more it would be no segment; nothing of
 * that is marked, and the oldest segment needed must stay what it was. */
bool rj_needed_with_superblock(const struct rj_ring *ring,
	const struct rj_track *t, struct rj_pending *pending);
/*
 * The oldest segment that a replay needs when segment SEQUENCE, numbered
 * already, brings such a superblock; never less than KNOWN, the one before.
 */
uint64_t rj_needed_oldest(const struct rj_ring *ring, const struct rj_track *t,
	uint64_t known, uint64_t sequence);

/*
 * Nothing is known of a raw device but its blocks: all of them are needed. In
 * some segments, of which SEQUENCE may be one (then true), mark some blocks that
 * were last written long ago: so all are shipped once more, a few at a time.
 */
bool rj_needed_refresh(const struct rj_ring *ring, struct rj_pending *pending,
	uint64_t sequence);
uint64_t rj_needed_oldest_of_all(const struct rj_ring *ring, uint64_t sequence);

/* The blocks of A's runs are written by segment SEQUENCE. */
void rj_needed_number(
	struct rj_ring *ring, const struct rj_log_append *a, uint64_t sequence);
/* SEQUENCE is a base: a reader starts there with nothing else in its ring. */
void rj_needed_from(struct rj_ring *ring, uint64_t sequence);
/* First and last transaction in A's runs into its body, for rjlog and people.
 * Blocks 0..SB_BLOCK have none. */
void rj_needed_tids(const struct rj_ring *ring, uint32_t sb_block,
	struct rj_log_append *a);

#endif
