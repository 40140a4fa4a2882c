/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pipeline's inside: pipeline.c takes the kernel's requests, ship.c makes segments
 * of what is pending, ship-early.c does what need not wait for a commit block, put-wait.c
 * puts and accounts for both.
 */
#ifndef RJ_JOURNALD_PIPELINE_PRIV_H
#define RJ_JOURNALD_PIPELINE_PRIV_H

#include <stdatomic.h>

#include "inflight.h"
#include "needed.h"
#include "pending.h"
#include "pipeline.h"
#include "rjournald/handover/journal-track.h"

struct rj_pipeline {
	struct rj_ring *ring;
	uint32_t sb_block, ship_blocks, ahead_blocks; /* the least to send ahead */
	enum rj_on_loss on_loss;
	rj_rule_fn rule;
	struct rj_sink sink;
	struct rj_journal_watch watch;
	struct rj_mark_writer *mark_writer; /* NULL: none */
	int64_t mark_due_ns; /* before that the mark is raised for an empty journal only */
	uint64_t marked; /* the volume's mark is that; 0: not known */
	bool write_through, raw;
	bool however_far; /* ahead_blocks are enough to send ahead */
	struct rj_worker_shm *shm; /* NULL: nothing outlives us */
	struct rj_track track;
	struct rj_pending pending;
	struct rj_inflight *inflight; /* NULL: nothing is sent ahead */
	uint32_t away;                 /* blocks in there */
	bool partial; /* some pending write did not cover whole blocks */
	bool left;    /* what is pending is another worker's: its size is anything */
	struct rj_seg_run *runs;
	struct rj_live *live, own_live;
	struct rj_error failure; /* why, once it has FAILED */
	atomic_bool failed;
	atomic_bool abandoned;
	/* what rj_pipeline_stat() shows */
	_Atomic uint64_t acked, oldest, segments, bytes, flushes, ordered;
	_Atomic uint64_t ship_ns, remote_tid;
	_Atomic uint64_t last_tid;  /* the last that was acknowledged anywhere */
	_Atomic int64_t online_ns; /* the LIVE one, when remote_tid was set */
	_Atomic uint64_t small_put_ns; /* what a small put takes, of late */
	_Atomic int64_t remote_ns, put_since_ns;
	_Atomic uint32_t pending_shown;
};

/* ---- put-wait.c ---- */

/* Fail P for good with p->failure. */
void rj_pl_over(struct rj_pipeline *p);
/* Fail P for good because of WHY, log that, and return its code. */
int rj_pl_fail(struct rj_pipeline *p, const struct rj_error *why);
/* Return the code of the failure of P, which has failed, and copy it to ERR (may be
 * NULL). */
int rj_pl_failed(struct rj_pipeline *p, struct rj_error *err);
/* Put a segment with all the patience that the policy asks for. After an error
 * the pipeline has failed for good. */
int rj_pl_put(struct rj_pipeline *p, const struct rj_log_append *a,
	struct rj_error *err);
/* Publish the number of pending blocks for rj_pipeline_stat(). */
void rj_pl_show_pending(struct rj_pipeline *p);
/* Get the last transaction that the store has, and when (realtime). A state that became
 * ONLINE after the last segment means that the store has all that was acknowledged. */
void rj_pl_remote(const struct rj_pipeline *p, uint64_t *tid, int64_t *ns);
/* Account for a segment that was acknowledged. */
void rj_pl_account(struct rj_pipeline *p, const struct rj_log_append *a,
	uint32_t blocks, uint64_t sequence, uint64_t oldest);
/* Clear all pending marks: the blocks are in a segment. */
void rj_pl_nothing_pending(struct rj_pipeline *p);
/* Make an append of all that is pending, as segment SEQUENCE, whose number is noted in the
 * ring. RUNS has space for a run of each block. */
struct rj_log_append rj_pl_gather(
	struct rj_pipeline *p, struct rj_seg_run *runs, uint64_t sequence);

/* ---- ship.c ---- */

/* Ship all that is pending, and wait for all that is under way. */
int rj_pl_ship(struct rj_pipeline *p, struct rj_error *err);

/* ---- ship-early.c ---- */

/* Account for the segments whose put has ended; with WAIT, wait for all that are under
 * way. Does nothing after a failure, which rj_pl_put() has reported. */
void rj_pl_take_back(struct rj_pipeline *p, bool wait);
/* Queue the blocks that may wait, if they are worth a segment of their own. */
void rj_pl_ship_waiting(struct rj_pipeline *p);
/* RJ_E_NOMEM, RJ_E_IO. */
int rj_pl_start_inflight(struct rj_pipeline *p,
	const struct rj_pipeline_opts *opts, struct rj_error *err);

#endif
