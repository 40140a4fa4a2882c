// SPDX-License-Identifier: GPL-2.0-or-later
/* Ship pieces of a large transaction while the kernel still writes it. */
#include "pipeline-priv.h"

#define BYTES_PER_NS 1 /* of a large put: the bytes that it seals and sends in a nanosecond */

void rj_pl_take_back(struct rj_pipeline *p, bool wait)
{
	const struct rj_inflight_job *j;

	while ((j = rj_inflight_done(p->inflight, wait))) {
		p->away -= j->blocks;
		if (!j->rc)
			rj_pl_account(p, &j->a, j->blocks, j->sequence,
				p->oldest);
		rj_inflight_taken(p->inflight);
		rj_pl_show_pending(p);
	}
}

/* What rj_pl_put() is for the thread of what is under way. */
static int put_away(void *arg, const struct rj_log_append *a)
{
	struct rj_pipeline *p = arg;
	struct rj_error unseen;

	return p->failed ? rj_pl_failed(p, &unseen) : rj_pl_put(p, a, &unseen);
}

/*
 * Is it worth a put of its own? A commit that comes in pieces takes one put after
 * the other: with a store far away more time would go into that than what is
 * done in that time can save. The least piece is what is sent in twice the time of a
 * small put. In the fallback file each segment costs a flush of the disk.
 */
static bool enough(const struct rj_pipeline *p)
{
	uint64_t bytes = 2 * p->small_put_ns * BYTES_PER_NS;
	uint32_t least = p->ahead_blocks;

	if (p->live->state != RJ_STATE_ONLINE)
		return false;
	if (!p->however_far && bytes / p->ring->block_size > least)
		least = bytes / p->ring->block_size < p->ship_blocks
				? (uint32_t)(bytes / p->ring->block_size)
				: p->ship_blocks;
	return p->pending.count >= least;
}

/*
 * Queue all that is pending as a segment, if the queue has space, while the kernel goes
 * on writing. None of those blocks is written again before the segment is
 * acknowledged, so the ring stays true: a worker that takes over finds them by their
 * segment's number, which is above what was acknowledged.
 */
static void ship_early(struct rj_pipeline *p)
{
	struct rj_inflight_job *j;

	rj_pl_take_back(p, false);
	j = rj_inflight_slot(p->inflight);
	if (!j || p->failed || p->abandoned)
		return;
	j->blocks = p->pending.count;
	j->sequence = p->acked + rj_inflight_count(p->inflight) + 1;
	j->a = rj_pl_gather(p, j->runs, j->sequence);
	atomic_thread_fence(memory_order_seq_cst); /* worker-shm.h: first the number */
	p->away += j->blocks;
	rj_pl_nothing_pending(p);
	rj_inflight_give(p->inflight);
}

void rj_pl_ship_waiting(struct rj_pipeline *p)
{
	if (enough(p))
		ship_early(p);
}

int rj_pl_start_inflight(struct rj_pipeline *p,
	const struct rj_pipeline_opts *opts, struct rj_error *err)
{
	const struct rj_inflight_opts o = {
		.depth = opts->inflight,
		.blocks = p->ring->blocks,
		.thread = opts->thread,
		.put = put_away,
		.arg = p,
	};

	return rj_inflight_new(&o, &p->inflight, err);
}

bool rj_pipeline_step(struct rj_pipeline *p)
{
	return rj_inflight_step(p->inflight);
}
