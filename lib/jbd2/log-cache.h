/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keep the log in memory: a thread reads it once, a few pieces ahead of the walk,
 * and replay writes its blocks from there. Pieces are in walk order: the first is
 * the one where the log starts, and the ring's first piece follows its last.
 */
#ifndef RJ_JBD2_LOG_CACHE_H
#define RJ_JBD2_LOG_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/bio-queue.h"

#define JBD2_PIECE_BYTES (4u << 20)
#define JBD2_AHEAD       8u /* pieces that are read ahead of the walk */
#define JBD2_IN_FLIGHT   4u /* of those, reads at a time */

struct jbd2_log_cache {
	struct rj_queue *queue;   /* while reading; the thread's */
	uint8_t *data;            /* mapped; NULL: nothing is kept */
	uint8_t *bad;             /* per piece: it could not be read */
	uint32_t block_size, end; /* blocks of the log that may be read */
	uint32_t piece;           /* blocks in one */
	uint32_t pieces;          /* in the whole log */
	uint32_t first;           /* the piece that is read first */
	uint32_t capacity;            /* pieces that may be kept */
	uint32_t most;            /* pieces that may be asked for */
	uint32_t seen;            /* pieces that the walk knows to be read */
	/* shared with the thread */
	pthread_t thread, toucher;
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool running, touching, quit;
	uint32_t begun, done, limit;
};

/* Keep up to BYTES of a log of END blocks that starts at block START. If there is
 * no memory or no thread, nothing is kept. */
void jbd2_log_cache_start(struct jbd2_log_cache *k, struct rj_bio *bio,
	uint32_t block_size, uint32_t end, uint32_t start, uint64_t bytes);
/* Get BLOCK, after waiting for its read; NULL if it is not kept, and then no other
 * thread reads the bio. */
const uint8_t *jbd2_log_cache_fetch(struct jbd2_log_cache *k, uint32_t block);
/* Stop reading at BLOCK: no later one, in walk order, will be asked for. */
void jbd2_log_cache_upto(struct jbd2_log_cache *k, uint32_t block);
/* Get BLOCK if it is in memory; NULL if not. */
const uint8_t *jbd2_log_cache_get(
	const struct jbd2_log_cache *k, uint32_t block);
/* Stop reading; what was read stays. */
void jbd2_log_cache_stop(struct jbd2_log_cache *k);
void jbd2_log_cache_free(struct jbd2_log_cache *k);

#endif
