/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The journal device's image, rebuilt from segments: "the ring". Memory is
 * mapped, and used only where blocks were written.
 */
#ifndef RJ_LOG_RING_H
#define RJ_LOG_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/bio.h"
#include "segment/segment.h"
#include "util/error.h"

struct rj_ring {
	uint32_t block_size; /* bytes */
	uint32_t blocks;
	uint8_t *data; /* blocks * block_size bytes */
	uint64_t *seq; /* per block: the segment that wrote it last; 0: none */
	int spill_fd;  /* of the file that DATA is; -1: it is plain memory */
	bool borrowed; /* DATA and SEQ are the caller's, page aligned, in memory
			* that is shared */
	bool bounded;  /* rj_ring_new_bounded() made it, in memory */
	size_t written; /* bytes, by rj_ring_apply() */
};

/* The length of the device. */
static inline size_t rj_ring_bytes(const struct rj_ring *ring)
{
	return (size_t)ring->blocks * ring->block_size;
}

/* RJ_E_NOMEM, RJ_E_INVAL (a block size that is no power of two in 1024..65536,
 * no blocks, or too many to map). */
int rj_ring_new(uint32_t block_size, uint32_t blocks, struct rj_ring **out,
	struct rj_error *err);
/*
 * The same, for a replay: a ring of more than MEMORY bytes is kept in a file
 * without a name in $TMPDIR (or /var/tmp), which the kernel writes out and
 * drops from memory as it needs to. Without such a file the ring is in memory
 * nevertheless, with a warning through rj_log().
 */
int rj_ring_new_bounded(uint32_t block_size, uint32_t blocks, uint64_t memory,
	struct rj_ring **out, struct rj_error *err);
/* A ring over memory of the caller's: DATA and SEQ as in struct rj_ring, which
 * must outlive it. RJ_E_NOMEM, RJ_E_INVAL. */
int rj_ring_new_over(uint32_t block_size, uint32_t blocks, uint8_t *data,
	uint64_t *seq, struct rj_ring **out, struct rj_error *err);
/* As if nothing had ever been written. */
void rj_ring_clear(struct rj_ring *ring);
/* NULL-safe. */
void rj_ring_free(struct rj_ring *ring);
/* Copy SEG's blocks into the ring: a base replaces all that was there, a fence
 * changes nothing. RJ_E_CORRUPT when its geometry differs. */
int rj_ring_apply(struct rj_ring *ring, const struct rj_segment *seg,
	struct rj_error *err);
/*
 * The oldest segment that a replay of this ring needs: the smallest number
 * among the superblock area (blocks 0..SB_BLOCK) and the live log blocks
 * [START, END) going round from LAST to FIRST. START 0 (an empty log): only
 * the superblock area counts. Blocks never written are skipped. FIRST and
 * LAST as in the journal superblock (s_first, s_maxlen less the fast-commit
 * area). START == END is no live block: JBD2 never fills its ring. With
 * a START or END outside the ring every block counts, to be safe.
 */
uint64_t rj_ring_oldest(const struct rj_ring *ring, uint32_t sb_block,
	uint32_t first, uint32_t last, uint32_t start, uint32_t end);
/* A bio over the ring; writes change it. Free it before the ring. */
struct rj_bio *rj_ring_bio(struct rj_ring *ring, const char *name);

#endif
