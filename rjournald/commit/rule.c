// SPDX-License-Identifier: GPL-2.0-or-later
/* The commit rule: is all that is pending provably part of an unfinished transaction? */
#include "rule.h"

#include "jbd2/jbd2.h"

enum content {
	DATA, /* no JBD2 magic */
	HEAD, /* descriptor or revoke block of the running transaction */
	OTHER,
};

static enum content content_of(const struct rj_rule_in *in, uint32_t block)
{
	const struct rj_ring *ring = in->ring;
	enum rj_jbd2_block_type type;
	uint32_t tid;

	if (!rj_jbd2_block_header(
		    ring->data + (size_t)block * ring->block_size, &type, &tid))
		return DATA;
	if ((type == RJ_JBD2_DESCRIPTOR || type == RJ_JBD2_REVOKE) &&
		tid == in->track->running_tid)
		return HEAD;
	return OTHER;
}

static bool run_unfinished(const struct rj_rule_in *in,
	const struct rj_seg_run *run, uint32_t space)
{
	const struct rj_track *t = in->track;
	uint32_t b, end = run->block + run->count;

	if (run->block < t->first || end > t->last)
		return false;
	for (b = run->block; b < end; b++)
		if (rj_track_distance(t, t->commit_end, b) >= space ||
			content_of(in, b) == OTHER)
			return false;
	return true;
}

bool rj_rule_unfinished(const struct rj_rule_in *in)
{
	const struct rj_track *t = in->track;
	uint32_t i, space;

	if (in->partial || !t->sb_good || !t->known)
		return false;
	if (content_of(in, t->commit_end) != HEAD)
		return false;
	space = rj_track_space(t);
	for (i = 0; i < in->run_count; i++)
		if (!run_unfinished(in, &in->runs[i], space))
			return false;
	return true;
}
