// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Revokes: open addressing, at most two thirds full. Transactions come in log
 * order, so the one that is added last is the latest. A slot can also hold no
 * revoke yet but a chain of bad copies that wait for one.
 */
#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2-priv.h"

_Static_assert(
	sizeof(struct jbd2_revoke_slot) == 16, "doc/jbd2-replay.md says so");

/* Marks a slot made for a bad copy: it has no tid of its own. */
#define NO_REVOKE (1ull << 63)
#define BLOCK(s)  ((s)->block & ~NO_REVOKE)

static size_t place(uint64_t block, size_t cap)
{
	block ^= block >> 31;
	block *= 0x9E3779B97F4A7C15ull;
	block ^= block >> 29;
	block *= 0xBF58476D1CE4E5B9ull;
	return (block ^ (block >> 32)) & (cap - 1);
}

static struct jbd2_revoke_slot *find(
	struct jbd2_revoke_slot *slot, size_t cap, uint64_t block)
{
	size_t i = place(block, cap);

	while (slot[i].block && BLOCK(&slot[i]) != block + 1)
		i = (i + 1) & (cap - 1);
	return &slot[i];
}

static int nomem(const struct jbd2_revokes *r, struct rj_error *err)
{
	return rj_fail(err, RJ_E_NOMEM,
		"out of memory: %zu revoked blocks in the log", r->n);
}

static int grow(struct jbd2_revokes *r, struct rj_error *err)
{
	size_t cap = r->cap ? r->cap * 2 : 256, i;
	struct jbd2_revoke_slot *slot;

	if (r->n + 1 <= r->cap / 3 * 2)
		return 0;
	slot = calloc(cap, sizeof(*slot));
	if (!slot)
		return nomem(r, err);
	for (i = 0; i < r->cap; i++)
		if (r->slot[i].block)
			*find(slot, cap, BLOCK(&r->slot[i]) - 1) = r->slot[i];
	free(r->slot);
	r->slot = slot;
	r->cap = cap;
	return 0;
}

int jbd2_revokes_add(struct jbd2_revokes *r, uint64_t block, uint32_t tid,
	struct rj_error *err)
{
	struct jbd2_revoke_slot *s;
	struct jbd2_bad *b;
	uint32_t i;
	int rc = grow(r, err);

	if (rc)
		return rc;
	s = find(r->slot, r->cap, block);
	if (!s->block)
		r->n++;
	for (i = s->bad; i; i = b->next) {
		b = &r->bad[i - 1];
		b->healed = true;
		b->healed_by = tid;
	}
	s->block = block + 1;
	s->tid = tid;
	s->bad = 0;
	return 0;
}

int jbd2_revokes_add_bad(struct jbd2_revokes *r, uint64_t block, uint32_t log,
	uint32_t tid, struct rj_error *err)
{
	struct jbd2_revoke_slot *s;
	struct jbd2_bad *b;
	size_t cap;
	int rc;

	if (jbd2_revokes_test(r, block, tid))
		return 0;
	rc = grow(r, err);
	if (rc)
		return rc;
	if (r->bads == r->bad_cap) {
		cap = r->bad_cap ? r->bad_cap * 2 : 64;
		b = reallocarray(r->bad, cap, sizeof(*b));
		if (!b)
			return nomem(r, err);
		r->bad = b;
		r->bad_cap = cap;
	}
	s = find(r->slot, r->cap, block);
	if (!s->block) {
		s->block = (block + 1) | NO_REVOKE;
		r->n++;
	}
	b = &r->bad[r->bads++];
	memset(b, 0, sizeof(*b));
	b->block = block;
	b->log = log;
	b->tid = tid;
	b->next = s->bad;
	s->bad = (uint32_t)r->bads;
	return 0;
}

bool jbd2_revokes_test(
	const struct jbd2_revokes *r, uint64_t block, uint32_t tid)
{
	struct jbd2_revoke_slot *s;

	if (!r->n)
		return false;
	s = find(r->slot, r->cap, block);
	return s->block && !(s->block & NO_REVOKE) && !jbd2_tid_gt(tid, s->tid);
}

const struct jbd2_bad *jbd2_revokes_cut(
	const struct jbd2_revokes *r, uint32_t end)
{
	const struct jbd2_bad *cut = NULL, *b;
	size_t i;

	/*
	 * From the latest to the earliest: a bad copy is harmless only if the
	 * transaction that revokes it is itself before the cut.
	 */
	for (i = r->bads; i-- > 0;) {
		b = &r->bad[i];
		if (b->healed && jbd2_tid_gt(end, b->healed_by))
			continue;
		cut = b;
		end = b->tid;
	}
	return cut;
}

void jbd2_revokes_free(struct jbd2_revokes *r)
{
	free(r->slot);
	free(r->bad);
	memset(r, 0, sizeof(*r));
}
