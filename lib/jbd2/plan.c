// SPDX-License-Identifier: LGPL-2.1-or-later
/* The plan: one copy per block, the last that no revoke, told or implied, cancels. */
#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2-priv.h"

static uint64_t block_of(const struct jbd2_copy *c)
{
	return c->key & JBD2_COPY_BLOCK;
}

/* The transaction of a copy: they are numbered without gaps. */
static struct rj_jbd2_transaction *txn_of(
	struct rj_jbd2_plan *p, const struct jbd2_copy *c)
{
	return &p->txn[c->tid - p->txn[0].tid];
}

void jbd2_plan_build(struct rj_jbd2_plan *p, const struct jbd2_revokes *r)
{
	struct jbd2_copies *c = &p->copies;
	struct jbd2_copy *less;
	size_t i, n = 0;

	for (i = 0; i < c->n; i++) {
		if (c->v[i].key & JBD2_COPY_FREED) {
			p->info.freed++;
			txn_of(p, &c->v[i])->freed++;
			continue;
		}
		if (jbd2_revokes_test(r, block_of(&c->v[i]), c->v[i].tid)) {
			p->info.suppressed++;
			txn_of(p, &c->v[i])->suppressed++;
			continue;
		}
		/* in log order: a later copy of the same block wins */
		if (n && block_of(&c->v[n - 1]) == block_of(&c->v[i])) {
			p->info.duplicates++;
			txn_of(p, &c->v[--n])->blocks--;
		}
		txn_of(p, &c->v[i])->blocks++;
		c->v[n++] = c->v[i];
	}
	c->n = n;
	p->info.blocks = n;
	p->info.fs_end = n ? block_of(&c->v[n - 1]) + 1 : 0;
	less = n ? reallocarray(c->v, n, sizeof(*less)) : NULL;
	if (less) {
		c->v = less;
		c->cap = n;
	}
}

const struct rj_jbd2_info *rj_jbd2_plan_info(const struct rj_jbd2_plan *p)
{
	return &p->info;
}

void rj_jbd2_plan_each(const struct rj_jbd2_plan *p,
	void (*fn)(void *arg, const struct rj_jbd2_transaction *t), void *arg)
{
	size_t i;

	for (i = 0; i < p->txns; i++)
		fn(arg, &p->txn[i]);
}

int jbd2_plan_copy(const struct rj_jbd2_plan *p, struct rj_bio *log,
	const struct jbd2_copy *c, uint8_t *out, struct rj_error *err)
{
	const uint8_t *kept = jbd2_log_cache_get(&p->cache, c->log);
	uint32_t bs = p->info.sb.block_size;
	int rc = 0;

	if (kept)
		memcpy(out, kept, bs);
	else
		rc = log->read(log, out, bs, (uint64_t)c->log * bs, err);
	if (!rc && c->key & JBD2_COPY_ESCAPED)
		rj_put_be32(out, RJ_JBD2_MAGIC);
	return rc;
}

static const struct jbd2_copy *find(
	const struct rj_jbd2_plan *p, uint64_t block)
{
	size_t low = 0, high = p->copies.n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (block_of(&p->copies.v[mid]) < block)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->copies.n && block_of(&p->copies.v[low]) == block
		       ? &p->copies.v[low]
		       : NULL;
}

int rj_jbd2_plan_read(const struct rj_jbd2_plan *p, struct rj_bio *log,
	uint64_t block, uint8_t *out, struct rj_error *err)
{
	const struct jbd2_copy *c = find(p, block);

	if (!c)
		return rj_fail(err, RJ_E_NOTFOUND,
			"the log has no copy of block %llu",
			(unsigned long long)block);
	return jbd2_plan_copy(p, log, c, out, err);
}

uint32_t rj_jbd2_plan_where(const struct rj_jbd2_plan *p, uint64_t block)
{
	const struct jbd2_copy *c = find(p, block);

	return c ? c->log : 0;
}

void rj_jbd2_plan_free(struct rj_jbd2_plan *p)
{
	if (!p)
		return;
	jbd2_copies_free(&p->copies);
	jbd2_log_cache_free(&p->cache);
	free(p->txn);
	free(p);
}
