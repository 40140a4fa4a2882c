/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commit pipeline: copy writes of the journal device into the ring, and make
 * segments of them. Knows neither FUSE nor the network: it ships into a sink.
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

#include "format/mount-note.h"
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
};

/* Calls for whom the kernel's use of the journal tells of mounts; each may be NULL. */
struct rj_journal_watch {
	/* A write of the journal's superblock, of one with transactions; it is not shipped
	 * yet, and the kernel waits for it. BEGINS: the journal was empty (s_start 0). */
	void (*superblock)(void *arg, bool begins);
	/* A write that empties the journal was shipped; the kernel waits for the answer. */
	void (*emptied)(void *arg);
	/* Is there a note to go with the write that comes now, in block 0? RAW: the notes in
	 * it. */
	bool (*note)(void *arg, uint8_t raw[RJ_MOUNT_NOTES_BYTES]);
	void *arg;
};

struct rj_pipeline_opts {
	struct rj_ring *ring;    /* stays the caller's */
	uint32_t sb_block;       /* the journal superblock's block */
	/* What to do when the sink returns RJ_E_UNREACHABLE or RJ_E_NOSPACE. LOCAL is
	 * done by the sink (fallback-sink.h): if it returns one of these nevertheless, the
	 * pipeline waits, as with BLOCK. */
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
	 * Memory for what the next worker needs, with RING in it; NULL: none. RESUMED:
	 * another worker left it, and rj_worker_shm_settle() was called; TAIL is not
	 * read, and nothing may be shipped before rj_pipeline_continue().
	 */
	struct rj_worker_map *map;
	bool resumed;
	/* The device is no JBD2 journal: every write is shipped, RULE and SB_BLOCK are
	 * not read, and blocks that were not written for long are shipped again, so
	 * that the log can be trimmed below them. */
	bool raw;
	/*
	 * How many segments may be under way while writes that may wait are answered;
	 * 0: none. THREAD: a thread of the pipeline puts them, and calls the sink while
	 * other threads call the pipeline; else rj_pipeline_step() puts them.
	 */
	unsigned inflight;
	bool thread;
	struct rj_journal_watch watch; /* not of a raw device */
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
/* Let a resumed pipeline ship: its sink is there, and appends after TAIL. */
void rj_pipeline_continue(struct rj_pipeline *p, const struct rj_log_tail *tail);
/* Fail a resumed pipeline for good: there will be no sink, because of WHY. */
void rj_pipeline_fail(struct rj_pipeline *p, const struct rj_error *why);
/* NULL-safe. */
void rj_pipeline_free(struct rj_pipeline *p);

/* Copy LEN bytes to byte OFF of the ring. RJ_E_INVAL: beyond the ring. May ship
 * (always with write_through, unless the commit rule lets the write wait), and then
 * fail as a flush does. */
int rj_pipeline_write(struct rj_pipeline *p, const void *data, size_t len,
	uint64_t off, struct rj_error *err);
/*
 * Flush the device: 0 when the store has acknowledged everything written before, or
 * need not by the commit rule. With RJ_LOSS_BLOCK waits as long as the store is lost.
 * On failure the pipeline has failed for good: each later write and flush reports the
 * same error.
 */
int rj_pipeline_flush(struct rj_pipeline *p, struct rj_error *err);
/* Ship all that is pending, whatever the commit rule says. */
int rj_pipeline_drain(struct rj_pipeline *p, struct rj_error *err);
/* Without a thread: put the oldest segment that is under way. False: none is. */
bool rj_pipeline_step(struct rj_pipeline *p);
/* Stop waiting for the store, and fail every request from now on. From any thread. */
void rj_pipeline_abandon(struct rj_pipeline *p);
/* Read the counters, from any thread; each is right, but they are not of one instant. */
void rj_pipeline_stat(
	const struct rj_pipeline *p, struct rj_pipeline_stat *out);
/* Get the volume's mark (volume-mark.h); 0: not known. Not while writes are under way. */
uint64_t rj_pipeline_marked(const struct rj_pipeline *p);
/* Get the reason why P has failed, one line, from any thread. NULL: it has not. */
const char *rj_pipeline_failure(const struct rj_pipeline *p);

#endif
