/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue segments that are put while the kernel writes the next one: a thread of the
 * queue puts them one after the other, and the thread that queued them accounts for
 * them in that order. Memory is allocated only in rj_inflight_new().
 */
#ifndef RJ_JOURNALD_INFLIGHT_H
#define RJ_JOURNALD_INFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "log/log.h"
#include "util/error.h"

struct rj_inflight;

/* A segment in the queue. RUNS is the job's own array, with space for a run of each
 * block of the ring. */
struct rj_inflight_job {
	struct rj_log_append a;
	struct rj_seg_run *runs;
	uint32_t blocks;   /* in all runs */
	uint64_t sequence; /* of the segment */
	int rc; /* what the put returned */
};

struct rj_inflight_opts {
	unsigned depth;  /* most segments at a time */
	uint32_t blocks; /* of the ring */
	/* A thread puts them. False: rj_inflight_step() does, or the thread that waits. */
	bool thread;
	int (*put)(void *arg, const struct rj_log_append *a);
	void *arg;
};

/* RJ_E_NOMEM, RJ_E_IO (no thread). */
int rj_inflight_new(const struct rj_inflight_opts *opts,
	struct rj_inflight **out, struct rj_error *err);
/* Wait for the put that is under way, drop the segments after it, and free U.
 * NULL-safe. */
void rj_inflight_free(struct rj_inflight *u);

/* All that follows: one thread at a time. */

/* Count the segments that were given and not taken back. U may be NULL: 0. */
unsigned rj_inflight_count(const struct rj_inflight *u);
/* Get the job to be filled in and given next. NULL: the queue is full. */
struct rj_inflight_job *rj_inflight_slot(struct rj_inflight *u);
/* Queue the job that rj_inflight_slot() returned. */
void rj_inflight_give(struct rj_inflight *u);
/*
 * Get the oldest job whose put has ended; with WAIT, wait for that. NULL: the queue
 * is empty, or the put has not ended. The job is the caller's until rj_inflight_taken().
 */
const struct rj_inflight_job *rj_inflight_done(struct rj_inflight *u, bool wait);
void rj_inflight_taken(struct rj_inflight *u);
/* Does a queued segment contain one of COUNT blocks from BLOCK? */
bool rj_inflight_contains(
	const struct rj_inflight *u, uint32_t block, uint32_t count);
/* Without a thread: put the oldest segment that was not put. False: there is none. */
bool rj_inflight_step(struct rj_inflight *u);

#endif
