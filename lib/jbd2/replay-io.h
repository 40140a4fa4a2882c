/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copy blocks from the log to the volume. A copy whose log block is in memory (the
 * plan kept it, or the log's bio is memory) is written from there. The others are
 * read in batches: from the log in log order into a buffer in volume order, which
 * is then written in long runs.
 */
#ifndef RJ_JBD2_REPLAY_IO_H
#define RJ_JBD2_REPLAY_IO_H

#include "jbd2/jbd2-priv.h"
#include "os/bio-queue.h"

#define JBD2_BATCH_BYTES (16u << 20)
#define JBD2_READ_BYTES  (1u << 20)
#define JBD2_RUN_BYTES   (1u << 20)
#define JBD2_RUNS        32u /* written at a time */
#define JBD2_RUN_PIECES  1024u /* IOV_MAX */
/* Blocks of the log between two wanted ones that are cheaper to read than to
 * skip. */
#define JBD2_GAP_BYTES (64u << 10)

struct jbd2_engine {
	struct rj_bio *log, *fs;
	const struct jbd2_log_cache *cache;
	uint32_t block_size;
	uint32_t batch; /* copies that fit the buffer */
	uint8_t *data;  /* of the batch, in volume order */
	uint8_t *bounce;
	uint64_t *order; /* log block << 32 | place in the batch */
	struct iovec *iov;
	struct rj_queue *queue; /* of writes; NULL: the volume has no writev */
	bool used; /* writes under way may need DATA */
};

int jbd2_engine_init(struct jbd2_engine *e, struct rj_bio *log,
	struct rj_bio *fs, const struct jbd2_log_cache *cache,
	uint32_t block_size, size_t copies, struct rj_error *err);
void jbd2_engine_free(struct jbd2_engine *e);
/* Read those of the N (<= batch) copies at C that are not in memory. */
int jbd2_engine_load(struct jbd2_engine *e, const struct jbd2_copy *c,
	uint32_t n, struct rj_error *err);
/* Write the loaded copies from AT on, as many as make one run; their number
 * in *WRITTEN. The write may still be under way, and fail in a later call. */
int jbd2_engine_store(struct jbd2_engine *e, const struct jbd2_copy *c,
	uint32_t at, uint32_t n, uint32_t *written, struct rj_error *err);
/* Wait until all are written; the first error of a write. */
int jbd2_engine_finish(struct jbd2_engine *e, struct rj_error *err);

#endif
