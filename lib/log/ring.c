// SPDX-License-Identifier: LGPL-2.1-or-later
/* Map the image of the journal device, and apply segments to it. */
#include "log/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log/spill.h"
#include "util/log.h"

static size_t seq_bytes(const struct rj_ring *r)
{
	return (size_t)r->blocks * sizeof(*r->seq);
}

#define HUGE_FROM (1u << 20) /* bytes of segments */

/* Zero pages that cost nothing until written, nor count as committed. */
static void *map_zero(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Where the data is: in a file, or in memory. */
static uint8_t *map_bounded(struct rj_ring *r, uint64_t memory)
{
	uint8_t *p;

	if (rj_ring_bytes(r) > memory) {
		p = rj_spill_map(rj_ring_bytes(r), &r->spill_fd);
		if (p)
			return p;
		rj_log(RJ_LOG_WARNING,
			"no file of %zu bytes in $TMPDIR or /var/tmp (%s): the log is kept in memory",
			rj_ring_bytes(r), strerror(errno));
	}
	r->bounded = true;
	return map_zero(rj_ring_bytes(r));
}

/* Have the data in huge pages once much of a log was read: its blocks are written in order, so
 * they cost less time and no more space. Of a clean volume's log a few blocks are written, and
 * to clear a huge page for them takes longer than the rest. */
static void choose_pages(struct rj_ring *r, size_t more)
{
	bool few = r->written < HUGE_FROM;

	r->written += more;
	if (r->bounded && few && r->written >= HUGE_FROM) /* only for speed */
		(void)madvise(r->data, rj_ring_bytes(r), MADV_HUGEPAGE);
}

static int check_size(
	uint32_t block_size, uint32_t blocks, struct rj_error *err)
{
	if (block_size < 1024 || block_size > 65536 ||
		(block_size & (block_size - 1)))
		return rj_fail(err, RJ_E_INVAL,
			"a journal cannot have blocks of %u bytes", block_size);
	if (!blocks)
		return rj_fail(
			err, RJ_E_INVAL, "a journal cannot have no blocks");
	if (blocks > SIZE_MAX / 2 / block_size)
		return rj_fail(err, RJ_E_INVAL,
			"a journal of %u blocks of %u bytes is too large "
			"for this machine",
			blocks, block_size);
	return 0;
}

static int ring_new(uint32_t block_size, uint32_t blocks,
	const uint64_t *memory, struct rj_ring **out, struct rj_error *err)
{
	struct rj_ring *r = NULL;
	int rc = check_size(block_size, blocks, err);

	*out = NULL;
	if (rc)
		return rc;
	r = calloc(1, sizeof(*r));
	if (!r)
		goto no_memory;
	r->block_size = block_size;
	r->blocks = blocks;
	r->spill_fd = -1;
	r->data = memory ? map_bounded(r, *memory) : map_zero(rj_ring_bytes(r));
	r->seq = map_zero(seq_bytes(r));
	if (!r->data || !r->seq)
		goto no_memory;
	*out = r;
	return 0;
no_memory:
	rj_ring_free(r);
	return rj_fail(err, RJ_E_NOMEM,
		"out of memory for a journal of %u blocks of %u bytes", blocks,
		block_size);
}

int rj_ring_new(uint32_t block_size, uint32_t blocks, struct rj_ring **out,
	struct rj_error *err)
{
	return ring_new(block_size, blocks, NULL, out, err);
}

int rj_ring_new_bounded(uint32_t block_size, uint32_t blocks, uint64_t memory,
	struct rj_ring **out, struct rj_error *err)
{
	return ring_new(block_size, blocks, &memory, out, err);
}

int rj_ring_new_over(uint32_t block_size, uint32_t blocks, uint8_t *data,
	uint64_t *seq, struct rj_ring **out, struct rj_error *err)
{
	struct rj_ring *r;
	int rc = check_size(block_size, blocks, err);

	*out = NULL;
	if (rc)
		return rc;
	r = calloc(1, sizeof(*r));
	if (!r)
		return rj_fail(err, RJ_E_NOMEM, "out of memory for a journal");
	r->block_size = block_size;
	r->blocks = blocks;
	r->data = data;
	r->seq = seq;
	r->spill_fd = -1;
	r->borrowed = true;
	*out = r;
	return 0;
}

void rj_ring_free(struct rj_ring *ring)
{
	if (!ring)
		return;
	if (ring->data && !ring->borrowed)
		munmap(ring->data, rj_ring_bytes(ring));
	if (ring->seq && !ring->borrowed)
		munmap(ring->seq, seq_bytes(ring));
	if (ring->spill_fd >= 0)
		close(ring->spill_fd); /* it has no name: nothing to lose */
	free(ring);
}

/* Shared memory keeps what it holds when a mapping lets go of it. */
static int drop_advice(const struct rj_ring *ring)
{
	return ring->borrowed ? MADV_REMOVE : MADV_DONTNEED;
}

/* All zeros again, without touching it. */
static int drop_data(struct rj_ring *ring)
{
	if (ring->spill_fd >= 0)
		return rj_spill_clear(ring->spill_fd, rj_ring_bytes(ring));
	return madvise(ring->data, rj_ring_bytes(ring), drop_advice(ring));
}

/* A base needs nothing of what was read before it, which counts no more: so
 * that reading on and reading afresh give the same ring. */
void rj_ring_clear(struct rj_ring *ring)
{
	if (drop_data(ring) ||
		madvise(ring->seq, seq_bytes(ring), drop_advice(ring))) {
		/* locked memory refuses: do it by hand */
		memset(ring->data, 0, rj_ring_bytes(ring));
		memset(ring->seq, 0, seq_bytes(ring));
	}
}

int rj_ring_apply(struct rj_ring *ring, const struct rj_segment *seg,
	struct rj_error *err)
{
	const uint8_t *from = seg->blocks;
	const struct rj_seg_run *run;
	uint32_t i, b;
	size_t bytes;

	if (seg->header.kind == RJ_SEG_FENCE)
		return 0;
	if (seg->body.block_size != ring->block_size ||
		seg->body.journal_blocks != ring->blocks)
		return rj_fail(err, RJ_E_CORRUPT,
			"segment %llu is of a journal of %u blocks of %u "
			"bytes, not of %u blocks of %u bytes",
			(unsigned long long)seg->header.sequence,
			seg->body.journal_blocks, seg->body.block_size,
			ring->blocks, ring->block_size);
	if (seg->header.flags & RJ_SEG_F_BASE)
		rj_ring_clear(ring);
	for (i = 0; i < seg->body.run_count; i++) {
		run = &seg->runs[i];
		bytes = (size_t)run->count * ring->block_size;
		choose_pages(ring, bytes);
		memcpy(ring->data + (size_t)run->block * ring->block_size, from,
			bytes);
		from += bytes;
		for (b = 0; b < run->count; b++)
			ring->seq[run->block + b] = seg->header.sequence;
	}
	return 0;
}

/* The smallest number among blocks [FROM, TO), not above OLDEST. */
static uint64_t oldest_in(
	const struct rj_ring *ring, uint32_t from, uint32_t to, uint64_t oldest)
{
	uint32_t b;

	for (b = from; b < to && b < ring->blocks; b++)
		if (ring->seq[b] && (!oldest || ring->seq[b] < oldest))
			oldest = ring->seq[b];
	return oldest;
}

uint64_t rj_ring_oldest(const struct rj_ring *ring, uint32_t sb_block,
	uint32_t first, uint32_t last, uint32_t start, uint32_t end)
{
	uint64_t oldest = oldest_in(ring, 0, sb_block + 1, 0);

	if (!start)
		return oldest;
	if (start < first || start >= last || end < first || end > last)
		return oldest_in(ring, 0, ring->blocks, 0);
	if (start <= end)
		return oldest_in(ring, start, end, oldest);
	oldest = oldest_in(ring, start, last, oldest);
	return oldest_in(ring, first, end, oldest);
}

struct rj_bio *rj_ring_bio(struct rj_ring *ring, const char *name)
{
	return rj_bio_new_mem(ring->data, rj_ring_bytes(ring), name);
}
