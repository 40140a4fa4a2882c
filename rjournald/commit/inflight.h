/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Segments that are under way while the kernel writes the next: a queue of a
 * few, put one after the other by a thread of its own, and accounted for in that
 * order by the thread that queued them. Allocates only when it is made.
 */
#ifndef RJ_JOURNALD_INFLIGHT_H
#define RJ_JOURNALD_INFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "log/log.h"
#include "util/error.h"

struct rj_inflight;

/* One of them. Its runs are the job's own: an array with space for a run of each
 * block of the ring. */
struct rj_inflight_job {
	struct rj_log_append a;
	struct rj_seg_run *runs;
	uint32_t blocks;   /* in all runs */
	uint64_t sequence; /* of the segment */
	bool sealed; /* in advance; the giver's alone */
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
/* NULL-safe. What is in a put is waited for, what is not begun is left. */
void rj_inflight_free(struct rj_inflight *u);

/* All that follows: one thread at a time. */

/* How many were given and not taken back. NULL: none. */
unsigned rj_inflight_count(const struct rj_inflight *u);
/* The job to be filled in and given next; NULL: there are enough. */
struct rj_inflight_job *rj_inflight_slot(struct rj_inflight *u);
void rj_inflight_give(struct rj_inflight *u);
/* The one that comes next while another is in its put; NULL: none waits. */
struct rj_inflight_job *rj_inflight_second(struct rj_inflight *u);
/*
 * The oldest, once it was put; with WAIT that is waited for. NULL: there is
 * none, or it is not done yet. It is the caller's until rj_inflight_taken().
 */
const struct rj_inflight_job *rj_inflight_done(struct rj_inflight *u, bool wait);
void rj_inflight_taken(struct rj_inflight *u);
/* Does any hold one of COUNT blocks from BLOCK? */
bool rj_inflight_contains(
	const struct rj_inflight *u, uint32_t block, uint32_t count);
/* Without a thread: put the oldest that was not yet. False: there is none. */
bool rj_inflight_step(struct rj_inflight *u);

#endif
