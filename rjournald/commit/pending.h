/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mark the blocks of the ring that were written and not yet shipped: a bitmap, so
 * that marking costs the same however often a block is rewritten.
 */
#ifndef RJ_JOURNALD_PENDING_H
#define RJ_JOURNALD_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "segment/segment.h"
#include "util/error.h"

struct rj_pending {
	uint64_t *bits;
	uint32_t blocks;   /* length of the ring */
	uint32_t count;    /* blocks marked */
	uint32_t low, end; /* all marked blocks lie in [low, end) */
	bool borrowed;	   /* the bitmap is the caller's */
};

/* Allocate an empty bitmap; nothing is allocated later. RJ_E_NOMEM. */
int rj_pending_init(
	struct rj_pending *p, uint32_t blocks, struct rj_error *err);
/* Use a bitmap of the caller's, 64 blocks in a word, with the marks that it has. */
void rj_pending_init_over(struct rj_pending *p, uint32_t blocks, uint64_t *bits);
void rj_pending_release(struct rj_pending *p);
/* Mark COUNT blocks from BLOCK, which must lie inside the ring. */
void rj_pending_mark(struct rj_pending *p, uint32_t block, uint32_t count);
bool rj_pending_test(const struct rj_pending *p, uint32_t block);
/*
 * Write the marked blocks as ascending runs into RUNS, which has space for MAX, and
 * return the number of runs. MAX is enough when it is at least p->count.
 */
uint32_t rj_pending_runs(
	const struct rj_pending *p, struct rj_seg_run *runs, uint32_t max);
void rj_pending_clear(struct rj_pending *p);

#endif
