/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tree in memory, for the tests of mode B. Any number of handles, each for
 * one thread, share one grove.
 */
#ifndef RJ_TEST_MEMTREE_H
#define RJ_TEST_MEMTREE_H

#include "store/tree/tree.h"

struct memgrove;

enum memtree_op {
	MEMTREE_MAKE,
	MEMTREE_PUT,
	MEMTREE_GET,
	MEMTREE_LIST,
	MEMTREE_REMOVE,
};

/* What becomes of a call. */
enum memtree_fate {
	MEMTREE_DONE,
	MEMTREE_FAILS, /* unreachable: not done */
	MEMTREE_LOST,  /* done, and the answer is lost */
	MEMTREE_LATE,  /* unreachable; a make or put is done later */
};

typedef enum memtree_fate (*memtree_judge)(void *arg, enum memtree_op op);

/* NULL when memory is short. */
struct memgrove *memgrove_new(void);
/* After its last handle was closed. NULL-safe. */
void memgrove_free(struct memgrove *g);
/* How many calls wait to be done late; do the I-th of them. */
unsigned memgrove_late(struct memgrove *g);
void memgrove_deliver(struct memgrove *g, unsigned i);
/* Put DATA in the place of segment NUMBER, in whichever epoch of JOURNAL it
 * is; in the highest if it is in none, in epoch 1 if there is none. */
void memgrove_replace(struct memgrove *g, const uint8_t journal[RJ_UUID_BYTES],
	uint64_t number, const void *data, size_t len);

/* JUDGE may be NULL: all is done. */
struct rj_tree *memtree_open(
	struct memgrove *g, memtree_judge judge, void *arg);
/* With all done, as a store of mode B. NULL when memory is short. */
struct rj_store *memtree_store(struct memgrove *g);

#endif
