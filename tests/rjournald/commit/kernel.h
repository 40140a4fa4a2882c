/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A toy JBD2 that writes a log through the pipeline, a sink that keeps what
 * was shipped, and a reader that tells which transactions the log holds.
 */
#ifndef RJ_TEST_KERNEL_H
#define RJ_TEST_KERNEL_H

#include "rjournald/commit/pipeline.h"

#define TK_BLOCKS   1024
#define TK_SIZE     1024
#define TK_SB       2
#define TK_FIRST    3
#define TK_SEGMENTS 20000

struct tk_segment {
	struct rj_seg_run *runs;
	uint32_t run_count;
	uint8_t *blocks;
	uint64_t oldest;
	bool base;
};

struct tk_sink {
	struct tk_segment segments[TK_SEGMENTS]; /* [0] is unused */
	uint64_t last;                           /* number of the last one */
	int fail[8]; /* codes that the next calls return, 0-terminated */
	unsigned appends, retries;
	bool lost; /* a segment waits for a retry */
};

struct tk {
	struct rj_ring *ring;
	struct rj_pipeline *p;
	struct tk_sink *sink;
	uint32_t start, sequence; /* of the journal superblock */
	uint32_t head, tid;       /* next block, running transaction */
	uint32_t acked;           /* last tid whose commit was acknowledged */
	bool good;                /* every call succeeded so far */
	uint32_t life; /* stands in each block of a transaction */
	bool through; /* the device has no write cache: no flush is sent */
	/* The worker died during a write, and there is another one, in tk.p:
	 * the write is sent again. NULL: workers do not die. */
	bool (*died)(struct tk *k);
	/* What happens between two writes. NULL: nothing. */
	void (*meanwhile)(struct tk *k);
	void *arg; /* the caller's */
};

/* Zeros, for a struct rj_environ whose random_bytes must draw nothing. */
int tk_no_chance(void *arg, void *out, size_t len);
/* An empty journal, already shipped as segment 1. */
void tk_start(struct tk *k, rj_rule_fn rule, enum rj_on_loss on_loss);
/* The same on a device without a write cache: an answered write is durable. */
void tk_start_through(struct tk *k, rj_rule_fn rule, enum rj_on_loss on_loss);
/* And with two segments under way, put by a THREAD or by rj_pipeline_step(). */
void tk_start_ahead(
	struct tk *k, rj_rule_fn rule, enum rj_on_loss on_loss, bool thread);
/* As tk_start_through(), and WATCH is told of mounts. */
void tk_start_watched(struct tk *k, rj_rule_fn rule,
	const struct rj_journal_watch *watch);
void tk_stop(struct tk *k);
/* Put the magic, TYPE and TID in front of BLOCK. */
void tk_header(uint8_t *block, uint32_t type, uint32_t tid);
int tk_write(struct tk *k, uint32_t block, const void *data);
int tk_flush(struct tk *k);
/* Write the journal superblock: log begins at START (0: empty) with TID. */
int tk_superblock(struct tk *k, uint32_t start, uint32_t tid);
/* The blocks of the running transaction: a descriptor and N data blocks. */
int tk_blocks(struct tk *k, uint32_t n);
/* The commit block, then a flush; counts tk.acked and tk.tid. */
int tk_commit(struct tk *k, bool flush);
/* The whole thing, with the flush before the commit block. */
int tk_transaction(struct tk *k, uint32_t n);

/*
 * Rebuild the ring from what the sink holds, as a recovery would, and walk
 * the log. Returns the last transaction found committed (s_sequence - 1 if
 * none); *DAMAGED is set when a block of a committed transaction is wrong.
 */
uint32_t tk_recover(const struct tk *k, bool *damaged);

#endif
