/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log kept in memory: read once, by a thread of its own that runs a few
 * pieces ahead of the walk, and still there when its blocks are written.
 * Pieces stand in walk order: the one where the log starts is the first, and
 * after the last one of the ring comes the first.
 */
#ifndef RJ_JBD2_LOG_CACHE_H
#define RJ_JBD2_LOG_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/bio-queue.h"

#define JBD2_PIECE_BYTES (4u << 20)
#define JBD2_AHEAD       8u /* pieces that the walk lets be read ahead */
#define JBD2_IN_FLIGHT   4u /* of those, at a time */

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
	uint32_t seen;            /* pieces that are there, as the walk knows */
	/* shared with the thread */
	pthread_t thread, toucher;
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool running, touching, quit;
	uint32_t begun, done, limit;
};

/* Keep up to BYTES of a log of END blocks that starts at START. Without
 * memory or thread nothing is kept. */
void jbd2_log_cache_start(struct jbd2_log_cache *k, struct rj_bio *bio,
	uint32_t block_size, uint32_t end, uint32_t start, uint64_t bytes);
/* Get BLOCK, read if need be; NULL if it is not kept, and then no other thread
 * reads the bio. */
const uint8_t *jbd2_log_cache_fetch(struct jbd2_log_cache *k, uint32_t block);
/* Stop reading at BLOCK: none after it, in walk order, will be asked for. */
void jbd2_log_cache_upto(struct jbd2_log_cache *k, uint32_t block);
/* BLOCK if it is here. */
const uint8_t *jbd2_log_cache_get(
	const struct jbd2_log_cache *k, uint32_t block);
/* No more is read; what is here stays. */
void jbd2_log_cache_stop(struct jbd2_log_cache *k);
void jbd2_log_cache_free(struct jbd2_log_cache *k);

#endif
