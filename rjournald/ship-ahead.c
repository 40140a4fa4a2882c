// SPDX-License-Identifier: GPL-2.0-or-later
#include "pipeline-inside.h"

/* When a commit came otherwise than foreseen: none for the next so many. */
#define FORESEE_AFTER 16
#define HASHED_PER_NS 1 /* bytes, by one processor */

void rj_pl_take_back(struct rj_pipeline *p, bool wait)
{
	const struct rj_underway_job *j;
	uint64_t sequence;

	while ((j = rj_underway_done(p->under_way, wait))) {
		p->away -= j->blocks;
		sequence = j->sequence;
		/* nobody else asks the log's writer now */
		if (rj_underway_count(p->under_way) == 1 && !j->rc)
			sequence = rj_pl_come_to(p, sequence);
		if (!j->rc)
			rj_pl_account(p, &j->a, j->blocks, sequence, p->oldest);
		rj_underway_taken(p->under_way);
		rj_pl_show_pending(p);
	}
}

void rj_pl_judge_foreseen(struct rj_pipeline *p)
{
	if (p->foreseen && p->foreseen != p->pending.count)
		p->distrust = FORESEE_AFTER;
	else if (p->distrust)
		p->distrust--;
	p->foreseen = 0;
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
 * done meanwhile can save. So much is hashed in the time that a small put takes,
 * twice over. In the fallback file each segment costs a flush of the disk.
 */
static bool enough(const struct rj_pipeline *p)
{
	uint64_t bytes = 2 * p->small_put_ns * HASHED_PER_NS;
	uint32_t least = p->ahead_blocks;

	if (p->live->state != RJ_STATE_ONLINE &&
		p->live->state != RJ_STATE_ALONE)
		return false;
	if (!p->however_far && bytes / p->ring->block_size > least)
		least = bytes / p->ring->block_size < p->ship_blocks
				? (uint32_t)(bytes / p->ring->block_size)
				: p->ship_blocks;
	return p->pending.count >= least;
}

void rj_pl_send_ahead(struct rj_pipeline *p)
{
	struct rj_underway_job *j;

	rj_pl_take_back(p, false);
	j = rj_underway_room(p->under_way);
	if (!j || p->failed || p->abandoned || p->rejoining)
		return;
	j->blocks = p->pending.count;
	j->sequence = p->acked + rj_underway_count(p->under_way) + 1;
	j->a = rj_pl_gather(p, j->runs, j->sequence);
	j->a.sequence = j->sequence;
	j->sealed = false;
	atomic_thread_fence(memory_order_seq_cst); /* kept.h: first the number */
	p->away += j->blocks;
	rj_pl_nothing_pending(p);
	rj_underway_give(p->under_way);
}

void rj_pl_send_enough(struct rj_pipeline *p)
{
	if (enough(p))
		rj_pl_send_ahead(p);
}

void rj_pl_seal_second(struct rj_pipeline *p)
{
	struct rj_underway_job *j = rj_underway_second(p->under_way);

	if (j && !j->sealed && !p->failed && p->sink.seal_next)
		j->sealed = p->sink.seal_next(p->sink.arg, &j->a);
}

/*
 * What waits is a transaction without its commit block, and the kernel flushes
 * the volume now. The commit block will be the next block of the log: all that
 * comes before it can be hashed meanwhile. (Where the log goes round the block
 * is elsewhere: once in a lap.) A transaction that comes in several writes is
 * foreseen once, wrongly, and then not for some time.
 */
void rj_pipeline_foresee(struct rj_pipeline *p)
{
	struct rj_log_append a = rj_pl_draft(p, p->runs);

	rj_pl_seal_second(p);
	if (!p->sink.begin || !p->waits || p->failed || p->foreseen ||
		p->distrust || !p->pending.count ||
		rj_underway_count(p->under_way) ||
		p->pending.count >= RJ_PIPELINE_FORESEE_BYTES / p->ring->block_size ||
		p->live->state != RJ_STATE_ONLINE ||
		rj_pending_runs(&p->pending, p->runs, p->ring->blocks) != 1 ||
		p->runs[0].block + p->runs[0].count >= p->track.last)
		return;
	a.run_count = 1;
	rj_needed_tids(p->ring, p->sb_block, &a);
	p->runs[0].count++;
	p->foreseen = p->pending.count + 1;
	p->sink.begin(p->sink.arg, &a);
}

int rj_pl_start_under_way(struct rj_pipeline *p,
	const struct rj_pipeline_opts *opts, struct rj_error *err)
{
	const struct rj_underway_opts o = {
		.depth = opts->under_way,
		.blocks = p->ring->blocks,
		.thread = opts->thread,
		.put = put_away,
		.arg = p,
	};

	return rj_underway_new(&o, &p->under_way, err);
}

bool rj_pipeline_step(struct rj_pipeline *p)
{
	return rj_underway_step(p->under_way);
}
