/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commit pipeline: writes of the journal device go into the ring, flushes
 * become segments. Knows neither FUSE nor the network: it ships into a sink.
 *
 * One thread at a time, but for rj_pipeline_abandon() and rj_pipeline_stat().
 * A large commit is shipped in pieces while it is still being written
 * (inflight.h).
 */
#ifndef RJ_JOURNALD_PIPELINE_H
#define RJ_JOURNALD_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/sbx.h"
#include "log/log.h"
#include "log/ring.h"
#include "volume-mark.h"
#include "rjournald/fallback/state.h"
#include "rjournald/handover/segment-size.h"
#include "rjournald/handover/worker-shm.h"
#include "rule.h"
#include "util/error.h"

/* Where segments go: the writer of lib/log, or a test. The calls are those of
 * rj_log_append() and rj_log_retry(), with the same errors. */
struct rj_sink {
	int (*append)(
		void *arg, const struct rj_log_append *a, struct rj_error *err);
	int (*retry)(void *arg, struct rj_error *err);
	void *arg;
	/* rj_log_seal_next(); NULL: it is not done */
	bool (*seal_next)(void *arg, const struct rj_log_append *a);
};

struct rj_pipeline_opts {
	struct rj_ring *ring;    /* stays the caller's */
	uint32_t sb_block;       /* the journal superblock's block */
	/* What to do when the sink says RJ_E_UNREACHABLE, or RJ_E_NOSPACE.
	 * LOCAL is the sink's business (fallback-sink.h): if it still says so it is
	 * to be waited for, as with BLOCK. */
	enum rj_on_loss on_loss;
	struct rj_live *live; /* the caller's; NULL: the pipeline has its own */
	rj_rule_fn rule;
	struct rj_sink sink;
	struct rj_log_tail tail; /* what the sink appends after */
	struct rj_mark_writer *mark_writer; /* the caller's; NULL: the volume has no mark */
	/* The device has no write cache to flush: a write that is answered must
	 * be durable, but for what the commit rule lets wait. */
	bool write_through;
	/*
	 * Where to keep what the next worker needs; RING lies in it. NULL:
	 * nowhere. RESUMED: it is another worker's, after rj_worker_shm_settle(); TAIL
	 * is not looked at, and nothing may be shipped before
	 * rj_pipeline_continue().
	 */
	struct rj_worker_map *map;
	bool resumed;
	/* The device is no JBD2 journal: every write is shipped, RULE and
	 * SB_BLOCK are not looked at, and what was not written for long is
	 * shipped again, so that the log can be trimmed below it. */
	bool raw;
	/*
	 * How many segments may be under way while writes are answered that may
	 * wait; 0: none. THREAD: one of the pipeline's own puts them, and calls
	 * the sink while others call the pipeline; without, rj_pipeline_step()
	 * does.
	 */
	unsigned inflight;
	bool thread;
	/* Put the bytes that may wait into their own segment from this many on; 0:
	 * RJ_PIPELINE_EARLY_BYTES at least, and more if the store is far. */
	uint32_t early_bytes;
};

struct rj_pipeline;

struct rj_pipeline_stat {
	enum rj_state state;
	uint64_t acked;           /* last segment that the sink acknowledged */
	uint64_t oldest;          /* first segment that a replay needs */
	uint32_t pending;         /* blocks written and not acknowledged */
	uint64_t segments, bytes; /* shipped by this daemon; journal bytes */
	uint64_t flushes;         /* asked for */
	uint64_t flushes_ordered; /* answered without shipping (commit rule) */
	uint64_t ship_ns;         /* spent in the sink */
	int64_t since_ns;         /* realtime: of the state */
	/* The last transaction of which the store (not a fallback) acknowledged
	 * something, and when (realtime); 0: none yet. */
	uint64_t remote_tid;
	int64_t remote_ns;
	int64_t put_since_ns; /* monotonic: a segment waits for the sink; 0: none */
};

/* RJ_E_NOMEM. */
int rj_pipeline_new(const struct rj_pipeline_opts *opts,
	struct rj_pipeline **out, struct rj_error *err);
/* A resumed pipeline: the sink is there, and appends after TAIL. */
void rj_pipeline_continue(struct rj_pipeline *p, const struct rj_log_tail *tail);
/* A resumed pipeline: there will be no sink, because of WHY. */
void rj_pipeline_fail(struct rj_pipeline *p, const struct rj_error *why);
/* NULL-safe. */
void rj_pipeline_free(struct rj_pipeline *p);

/* Offsets and lengths in bytes; beyond the ring is RJ_E_INVAL. A write may
 * ship (always with write_through, unless the commit rule lets it wait), and
 * then fail as a flush does. */
int rj_pipeline_write(struct rj_pipeline *p, const void *data, size_t len,
	uint64_t off, struct rj_error *err);
/* After a write was answered: seal a segment that waits for the put of another.
 * Costs the time to hash it; nothing depends on it. */
void rj_pipeline_seal_next(struct rj_pipeline *p);
/*
 * A flush of the device: 0 when everything written before is acknowledged by
 * the store, or need not be by the commit rule. Waits as long as the store is
 * lost with RJ_LOSS_BLOCK. On failure the pipeline has failed for good:
 * each later write and flush reports the same error.
 */
int rj_pipeline_flush(struct rj_pipeline *p, struct rj_error *err);
/* Ship all that is pending, whatever the commit rule says. */
int rj_pipeline_drain(struct rj_pipeline *p, struct rj_error *err);
/* Without a thread: put the oldest segment that is under way. False: none is. */
bool rj_pipeline_step(struct rj_pipeline *p);
/* From any thread: stop waiting for the store, fail everything from now on. */
void rj_pipeline_abandon(struct rj_pipeline *p);
/* From any thread; the numbers are each right, but not of one instant. */
void rj_pipeline_stat(
	const struct rj_pipeline *p, struct rj_pipeline_stat *out);
/* From any thread: why it has failed, one line; NULL when it has not. */
const char *rj_pipeline_failure(const struct rj_pipeline *p);

#endif
