// SPDX-License-Identifier: GPL-2.0-or-later
/* The bitmap of blocks that were written and not shipped. */
#include "pending.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BITS 64

int rj_pending_init(struct rj_pending *p, uint32_t blocks, struct rj_error *err)
{
	memset(p, 0, sizeof(*p));
	p->bits = calloc(
		((size_t)blocks + WORD_BITS - 1) / WORD_BITS, sizeof(*p->bits));
	if (!p->bits)
		return rj_fail(err, RJ_E_NOMEM,
			"out of memory for a journal of %u blocks", blocks);
	p->blocks = blocks;
	p->low = blocks;
	return 0;
}

void rj_pending_init_over(struct rj_pending *p, uint32_t blocks, uint64_t *bits)
{
	uint32_t b;

	memset(p, 0, sizeof(*p));
	p->bits = bits;
	p->blocks = blocks;
	p->low = blocks;
	p->borrowed = true;
	for (b = 0; b < blocks; b++) {
		if (!rj_pending_test(p, b))
			continue;
		p->count++;
		p->low = b < p->low ? b : p->low;
		p->end = b + 1;
	}
}

void rj_pending_release(struct rj_pending *p)
{
	if (!p->borrowed)
		free(p->bits);
	memset(p, 0, sizeof(*p));
}

void rj_pending_mark(struct rj_pending *p, uint32_t block, uint32_t count)
{
	uint32_t b, end = block + count;
	uint64_t bit, *word;

	if (!count)
		return;
	for (b = block; b < end; b++) {
		word = &p->bits[b / WORD_BITS];
		bit = 1ULL << (b % WORD_BITS);
		p->count += !(*word & bit);
		*word |= bit;
	}
	if (block < p->low)
		p->low = block;
	if (end > p->end)
		p->end = end;
}

bool rj_pending_test(const struct rj_pending *p, uint32_t block)
{
	return p->bits[block / WORD_BITS] >> (block % WORD_BITS) & 1;
}

/* The first block at or after B whose mark is WANT; p->end if none. */
static uint32_t next(const struct rj_pending *p, uint32_t b, bool want)
{
	uint64_t flip = want ? 0 : ~0ULL, word;

	while (b < p->end) {
		word = (p->bits[b / WORD_BITS] ^ flip) >> (b % WORD_BITS);
		if (word) {
			b += (uint32_t)__builtin_ctzll(word);
			break;
		}
		b = (b / WORD_BITS + 1) * WORD_BITS;
	}
	return b < p->end ? b : p->end;
}

uint32_t rj_pending_runs(
	const struct rj_pending *p, struct rj_seg_run *runs, uint32_t max)
{
	uint32_t b, end, n = 0;

	for (b = next(p, p->low, true); b < p->end && n < max;
		b = next(p, end, true)) {
		end = next(p, b, false);
		runs[n].block = b;
		runs[n++].count = end - b;
	}
	return n;
}

void rj_pending_clear(struct rj_pending *p)
{
	uint32_t from = p->low / WORD_BITS;
	uint32_t to = (p->end + WORD_BITS - 1) / WORD_BITS;

	if (from < to)
		memset(p->bits + from, 0, (to - from) * sizeof(*p->bits));
	p->count = 0;
	p->low = p->blocks;
	p->end = 0;
}
