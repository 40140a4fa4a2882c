// SPDX-License-Identifier: LGPL-2.1-or-later
/* The copies of volume blocks that the log holds. */
#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2-priv.h"

#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)

_Static_assert(sizeof(struct jbd2_copy) == 16, "doc/jbd2-replay.md says so");

int jbd2_copies_add(struct jbd2_copies *c, uint64_t key, uint32_t log,
	uint32_t tid, struct rj_error *err)
{
	struct jbd2_copy *v;
	size_t cap;

	if (c->n == c->cap) {
		cap = c->cap ? c->cap + c->cap / 2 : 256;
		v = reallocarray(c->v, cap, sizeof(*v));
		if (!v)
			return rj_fail(err, RJ_E_NOMEM,
				"out of memory: %zu blocks in the log", c->n);
		c->v = v;
		c->cap = cap;
	}
	c->v[c->n].key = key;
	c->v[c->n].log = log;
	c->v[c->n].tid = tid;
	c->n++;
	return 0;
}

/* One stable counting pass by the digit at SHIFT. */
static void pass(const struct jbd2_copy *from, struct jbd2_copy *to, size_t n,
	unsigned shift)
{
	size_t at[DIGITS] = {0}, i, sum = 0, count;

	for (i = 0; i < n; i++)
		at[(from[i].key >> shift) & (DIGITS - 1)]++;
	for (i = 0; i < DIGITS; i++) {
		count = at[i];
		at[i] = sum;
		sum += count;
	}
	for (i = 0; i < n; i++)
		to[at[(from[i].key >> shift) & (DIGITS - 1)]++] = from[i];
}

int jbd2_copies_sort(struct jbd2_copies *c, struct rj_error *err)
{
	struct jbd2_copy *other, *swap;
	uint64_t max = 0;
	unsigned shift;
	size_t i;

	for (i = 0; i < c->n; i++)
		if ((c->v[i].key & JBD2_COPY_BLOCK) > max)
			max = c->v[i].key & JBD2_COPY_BLOCK;
	if (c->n < 2)
		return 0;
	other = reallocarray(NULL, c->n, sizeof(*other));
	if (!other)
		return rj_fail(err, RJ_E_NOMEM,
			"out of memory: %zu blocks in the log to sort", c->n);
	/* block numbers end below bit 54, so no pass sees the flags */
	for (shift = 0; max >> shift; shift += DIGIT_BITS) {
		pass(c->v, other, c->n, shift);
		swap = c->v;
		c->v = other;
		other = swap;
		c->cap = c->n;
	}
	free(other);
	return 0;
}

void jbd2_copies_free(struct jbd2_copies *c)
{
	free(c->v);
	memset(c, 0, sizeof(*c));
}
