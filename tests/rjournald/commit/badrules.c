// SPDX-License-Identifier: GPL-2.0-or-later
/* Commit rules that are wrong, for daemons that lose what they acknowledged. */
#include "jbd2/jbd2.h"
#include "rjournald/commit/rule.h"

bool rj_rule_always(const struct rj_rule_in *in);
bool rj_rule_commit_waits(const struct rj_rule_in *in);

bool rj_rule_always(const struct rj_rule_in *in)
{
	return true;
}

/* Descriptors and data are shipped; a commit block waits for what is after it. */
bool rj_rule_commit_waits(const struct rj_rule_in *in)
{
	const struct rj_ring *ring = in->ring;
	enum rj_jbd2_block_type type;
	uint32_t i, b, tid;

	for (i = 0; i < in->run_count; i++)
		for (b = in->runs[i].block;
			b < in->runs[i].block + in->runs[i].count; b++)
			if (!rj_jbd2_block_header(
				    ring->data + (size_t)b * ring->block_size,
				    &type, &tid) ||
				type != RJ_JBD2_COMMIT)
				return false;
	return true;
}
