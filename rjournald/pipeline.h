/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commit pipeline: writes of the journal device go into the ring, flushes
 * become segments. Knows neither FUSE nor the network: it ships into a sink.
 *
 * One thread at a time, but for rj_pipeline_abandon() and rj_pipeline_stat().
 * A large commit is shipped in pieces while it is still being written
 * (underway.h).
 */
#ifndef RJ_JOURNALD_PIPELINE_H
#define RJ_JOURNALD_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/sbx.h"
#include "kept.h"
#include "log/log.h"
#include "log/ring.h"
#include "rule.h"
#include "state.h"
#include "util/error.h"

/* Where segments go: the writer of lib/log, or a test. The calls are those of
 * rj_log_append() and rj_log_retry(), with the same errors. */
struct rj_sink {
	int (*append)(
		void *arg, const struct rj_log_append *a, struct rj_error *err);
	int (*retry)(void *arg, struct rj_error *err);
	/* rj_log_seal_begin(), while nobody waits; NULL: it would not help */
	void (*begin)(void *arg, const struct rj_log_append *a);
	void *arg;
	/* rj_log_seal_next(); NULL: it is not done */
	bool (*seal_next)(void *arg, const struct rj_log_append *a);
	/* As rj_log_rejoin(); NULL: there is never anything to say. */
	int (*rejoin)(void *arg, const struct rj_segbody *geometry,
		struct rj_error *err);
	/* Is one of two stores alone now? NULL: there are no two. */
	bool (*alone)(void *arg);
};

struct rj_pipeline_opts {
	struct rj_ring *ring;    /* stays the caller's */
	uint32_t sb_block;       /* the journal superblock's block */
	/* What to do when the sink says RJ_E_UNREACHABLE, or RJ_E_NOSPACE.
	 * LOCAL is the sink's business (shipper.h): if it still says so it is
	 * to be waited for, as with BLOCK. */
	enum rj_on_loss on_loss;
	struct rj_live *live; /* the caller's; NULL: the pipeline has its own */
	rj_rule_fn rule;
	struct rj_sink sink;
	/* With the sink's ARG: the last number that was acknowledged. Of two
	 * stores a mark may have taken one more than was appended. NULL: each
	 * append takes one. */
	uint64_t (*last)(void *arg);
	struct rj_log_tail tail; /* what the sink appends behind */
	/* The device has no write cache to flush: a write that is answered must
	 * be durable, but for what the commit rule lets wait. */
	bool write_through;
	/*
	 * Where to keep what the next worker needs; RING lies in it. NULL:
	 * nowhere. RESUMED: it is another worker's, after rj_kept_settle(); TAIL
	 * is not looked at, and nothing may be shipped before
	 * rj_pipeline_continue().
	 */
	struct rj_kept_map *kept;
	bool resumed;
	/* The device is no JBD2 journal: every write is shipped, RULE and
	 * SB_BLOCK are not looked at, and what was not written for long is
	 * shipped again, so that the log can be trimmed behind it. */
	bool raw;
	/*
	 * So many segments may be under way while writes are answered that may
	 * wait; 0: none. More than one only where each append takes one number
	 * (LAST). THREAD: one of the pipeline's own puts them, and calls the
	 * sink while others call the pipeline; without, rj_pipeline_step() does.
	 */
	unsigned under_way;
	bool thread;
	/* Of what may wait, so many bytes are worth a segment of their own; 0:
	 * RJ_PIPELINE_AHEAD_BYTES at least, and more if the store is far. */
	uint32_t ahead_bytes;
};

/* Ship before a flush asks for it when so much is pending: keeps segments well
 * below RJ_SEG_MAX_BYTES and the last flush of a large commit short. */
#define RJ_PIPELINE_SHIP_BYTES (4u << 20)
/* No single write is larger. */
#define RJ_PIPELINE_WRITE_BYTES (1u << 20)
/* Of what may wait, so much makes a segment of its own, which is shipped while
 * the kernel writes the rest. */
#define RJ_PIPELINE_AHEAD_BYTES (256u << 10)
/* rj_pipeline_foresee() has so much begun at most. */
#define RJ_PIPELINE_FORESEE_BYTES (256u << 10)

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
/* A resumed pipeline: the sink is there, and appends behind TAIL. */
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
/*
 * After a write was answered: have the segment that the next one will probably
 * complete begun, or one sealed that waits for the put of another. Costs the time
 * to hash it; nothing depends on it.
 */
void rj_pipeline_foresee(struct rj_pipeline *p);
/*
 * A flush of the device: 0 when everything written before is acknowledged by
 * the store, or need not be by the commit rule. Waits as long as the store is
 * lost with RJ_LOSS_BLOCK. On failure the pipeline has failed for good:
 * each later write and flush reports the same error.
 */
int rj_pipeline_flush(struct rj_pipeline *p, struct rj_error *err);
/* Ship all that is pending, whatever the commit rule says. */
int rj_pipeline_drain(struct rj_pipeline *p, struct rj_error *err);
/* Of two stores the one that was away is caught up: say so in the log, though
 * nothing is written. What fails for want of the store is tried again with what
 * is shipped next. */
void rj_pipeline_rejoin(struct rj_pipeline *p);
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
