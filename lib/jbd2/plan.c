// SPDX-License-Identifier: LGPL-2.1-or-later
/* The plan: one copy per block, the last that no revoke cancels. */
#include <stdlib.h>

#include "jbd2/private.h"

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

int jbd2_plan_build(struct rj_jbd2_plan *p, const struct jbd2_revokes *r,
	struct rj_error *err)
{
	struct jbd2_copies *c = &p->copies;
	struct jbd2_copy *less;
	size_t i, n = 0;
	int rc = jbd2_copies_sort(c, err);

	if (rc)
		return rc;
	for (i = 0; i < c->n; i++) {
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
	less = n ? reallocarray(c->v, n, sizeof(*less)) : NULL;
	if (less) {
		c->v = less;
		c->cap = n;
	}
	return 0;
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

int rj_jbd2_plan_read(const struct rj_jbd2_plan *p, struct rj_bio *log,
	uint64_t block, uint8_t *out, struct rj_error *err)
{
	uint32_t bs = p->info.sb.block_size;
	size_t i = 0;
	int rc;

	while (i < p->copies.n && block_of(&p->copies.v[i]) < block)
		i++;
	if (i == p->copies.n || block_of(&p->copies.v[i]) != block)
		return rj_fail(err, RJ_E_NOTFOUND,
			"the log has no copy of block %llu",
			(unsigned long long)block);
	rc = log->read(
		log, out, bs, (uint64_t)p->copies.v[i].log * bs, err);
	if (!rc && p->copies.v[i].key & JBD2_COPY_ESCAPED)
		rj_put_be32(out, RJ_JBD2_MAGIC);
	return rc;
}

void rj_jbd2_plan_free(struct rj_jbd2_plan *p)
{
	if (!p)
		return;
	jbd2_copies_free(&p->copies);
	jbd2_keep_free(&p->keep);
	free(p->txn);
	free(p);
}
