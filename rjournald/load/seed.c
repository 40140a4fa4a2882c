// SPDX-License-Identifier: GPL-2.0-or-later
/* Put the ring into a new log: the segments before are at a store that is lost, or is left. */
#include "seed.h"

#include <stdlib.h>

#include "rjournald/commit/needed.h"
#include "rjournald/commit/pending.h"

#define SEGMENT_BYTES (8u << 20)
#define RETRY_MS      10000

struct seeding {
	const struct rj_loaded *l;
	struct rj_log_writer *w;
	struct rj_pending needed, some;
	struct rj_seg_run *runs;
	uint64_t base; /* 0: nothing was appended yet */
};

/* What a replay needs, as the log has it from its oldest segment on, and what was written since.
 * The superblock and the notes before it always are. */
static void find_needed(struct seeding *s)
{
	const struct rj_ring *ring = s->l->ring;
	const uint64_t *bits = s->l->memory.bits;
	uint64_t oldest = s->l->memory.shm->oldest;
	uint32_t b;

	for (b = 0; b < ring->blocks; b++)
		if (b <= s->l->sb_block || (ring->seq[b] && ring->seq[b] >= oldest) ||
			bits[b / 64] >> b % 64 & 1)
			rj_pending_mark(&s->needed, b, 1);
}

/* Append SOME, and begin with none again. */
static int append(struct seeding *s, struct rj_error *err)
{
	const struct rj_ring *ring = s->l->ring;
	struct rj_log_append a = {
		.body = {.block_size = ring->block_size, .journal_blocks = ring->blocks},
		.runs = s->runs,
		.ring = ring->data,
		.base = !s->base,
		.oldest = s->base,
	};
	int rc;

	a.run_count = rj_pending_runs(&s->some, s->runs, ring->blocks);
	rj_needed_tids(ring, s->l->sb_block, &a);
	rc = rj_log_append_within(s->w, &a, RETRY_MS, err);
	if (!rc && !s->base)
		s->base = rj_log_writer_tail(s->w)->sequence;
	rj_pending_clear(&s->some);
	return rc;
}

static int append_all(struct seeding *s, struct rj_error *err)
{
	const struct rj_ring *ring = s->l->ring;
	uint32_t most = SEGMENT_BYTES / ring->block_size, b;
	int rc = 0;

	for (b = s->l->sb_block + 1; !rc && b < ring->blocks; b++) {
		if (!rj_pending_test(&s->needed, b))
			continue;
		rj_pending_mark(&s->some, b, 1);
		if (s->some.count == most)
			rc = append(s, err);
	}
	if (rc)
		return rc;
	rj_pending_mark(&s->some, 0, s->l->sb_block + 1);
	return append(s, err);
}

uint64_t rj_seed_bytes(const struct rj_loaded *l)
{
	struct seeding s = {.l = l};
	uint64_t bytes = rj_ring_bytes(l->ring);

	if (rj_pending_init(&s.needed, l->ring->blocks, NULL))
		return bytes;
	find_needed(&s);
	bytes = (uint64_t)s.needed.count * l->ring->block_size;
	rj_pending_release(&s.needed);
	return bytes;
}

int rj_seed_ring(const struct rj_loaded *l, struct rj_log_writer *w, uint64_t *base,
	struct rj_error *err)
{
	struct seeding s = {.l = l, .w = w};
	int rc = rj_pending_init(&s.needed, l->ring->blocks, err);

	if (!rc)
		rc = rj_pending_init(&s.some, l->ring->blocks, err);
	s.runs = calloc(l->ring->blocks, sizeof(*s.runs));
	if (!rc && !s.runs)
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (!rc) {
		find_needed(&s);
		rc = append_all(&s, err);
	}
	*base = s.base;
	free(s.runs);
	rj_pending_release(&s.some);
	rj_pending_release(&s.needed);
	return rc;
}
