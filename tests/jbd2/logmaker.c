// SPDX-License-Identifier: GPL-2.0-or-later
#include "jbd2/logmaker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bytes.h"
#include "util/crc32c.h"

#define MAGIC      0xC03B3998u
#define T_DESC     1
#define T_COMMIT   2
#define T_REVOKE   5
#define F_ESCAPE   1
#define F_SAME     2
#define F_LAST     8

struct maker {
	struct lm_log *l;
	const struct lm_params *p;
	uint64_t rng;
	uint32_t end;  /* of the ring */
	uint32_t at;   /* next block */
	uint32_t v1;   /* running sum */
	uint32_t seed; /* of v2, v3 */
	uint32_t time;
	bool live;
	enum lm_state *state; /* of each target, in groups */
};

uint64_t lm_rand(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15ull);

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
	return z ^ (z >> 31);
}

static uint32_t below(struct maker *m, uint32_t n)
{
	return (uint32_t)(lm_rand(&m->rng) % n);
}

static void *need(void *p)
{
	if (!p)
		abort();
	return p;
}

/* Changes of the groups in one transaction, and the parts that log them. */
#define CHANGES 8u
static uint32_t most_writes(const struct lm_params *p)
{
	return p->tags + (p->groups ? CHANGES + 1 + p->groups->n : 0);
}

static uint8_t *block_at(struct maker *m, uint32_t block)
{
	return m->l->bytes + (size_t)block * m->p->block_size;
}

/* Claim the next block of the ring. */
static uint8_t *next(struct maker *m, uint32_t *number)
{
	uint8_t *b = block_at(m, m->at);

	*number = m->at++;
	if (m->live)
		m->l->used++;
	if (m->at == m->end) {
		m->at = m->p->first;
		if (m->live)
			m->l->wrapped = true;
	}
	return b;
}

static uint8_t *header(
	struct maker *m, uint32_t type, uint32_t tid, uint32_t *number)
{
	uint8_t *b = next(m, number);

	memset(b, 0, m->p->block_size);
	rj_put_be32(b, MAGIC);
	rj_put_be32(b + 4, type);
	rj_put_be32(b + 8, tid);
	return b;
}

static uint32_t tag_size(const struct lm_params *p)
{
	static const uint32_t narrow[] = {8, 8, 10, 16};
	static const uint32_t wide[] = {12, 12, 14, 16};

	return p->wide ? wide[p->csum] : narrow[p->csum];
}

static void seal_tail(struct maker *m, uint8_t *b)
{
	uint32_t bs = m->p->block_size;

	if (m->p->csum >= 2)
		rj_put_be32(b + bs - 4, rj_crc32c(m->seed, b, bs));
}

/* What a write puts into its block. One in six begins with the magic. */
static void content(uint8_t *b, uint32_t bs, const struct lm_write *w)
{
	uint64_t r = w->seed, v;
	uint32_t i;

	if (w->bytes) {
		memcpy(b, w->bytes, bs);
		return;
	}
	for (i = 0; i < bs; i += 8) {
		v = lm_rand(&r);
		memcpy(b + i, &v, 8);
	}
	if (w->seed % 6 == 0)
		rj_put_be32(b, MAGIC);
}

static void put_tag(struct maker *m, uint8_t *t, const struct lm_write *w,
	uint32_t tid, uint16_t flags, const uint8_t *data)
{
	const struct lm_params *p = m->p;
	uint64_t nr = w->target < p->targets
			      ? p->target + w->target
			      : lm_groups_block(
					p->groups, w->target - p->targets);
	uint8_t seq[4];
	uint32_t crc;

	rj_put_be32(t, (uint32_t)nr);
	rj_put_be16(t + 6, flags);
	if (p->wide)
		rj_put_be32(t + 8, (uint32_t)(nr >> 32));
	if (p->csum < 2)
		return;
	rj_put_be32(seq, tid);
	crc = rj_crc32c(rj_crc32c(m->seed, seq, 4), data, p->block_size);
	if (p->csum == 2)
		rj_put_be16(t + 4, (uint16_t)crc);
	else
		rj_put_be32(t + 12, crc);
}

/* One descriptor with as many of the writes as fit; returns their number. */
static uint32_t descriptor(
	struct maker *m, struct lm_write *w, uint32_t n, uint32_t tid)
{
	uint32_t bs = m->p->block_size, size = tag_size(m->p), off = 12, i, no;
	uint32_t end = bs - (m->p->csum >= 2 ? 4 : 0);
	uint8_t *d = header(m, T_DESC, tid, &no), *data;
	uint32_t first = no, many = 1 + below(m, 40);
	uint16_t flags;

	for (i = 0; i < n; i++) {
		bool own = i == 0 || (m->p->own_uuids && below(m, 5) == 0);

		data = next(m, &w[i].log);
		content(data, bs, &w[i]);
		flags = own ? 0 : F_SAME;
		if (rj_get_be32(data) == MAGIC) {
			flags |= F_ESCAPE;
			memset(data, 0, 4);
		}
		/* last: no more writes, or perhaps no room for another */
		if (i + 1 == n || i + 1 == many || off + 2 * (size + 16) > end)
			flags |= F_LAST;
		put_tag(m, d + off, &w[i], tid, flags, data);
		off += size;
		if (own) {
			memcpy(d + off, m->p->uuid, 16);
			off += 16;
		}
		if (flags & F_LAST) {
			i++;
			break;
		}
	}
	seal_tail(m, d);
	/* v1: the descriptor, then its data, in log order */
	m->v1 = rj_crc32_be(m->v1, block_at(m, first), bs);
	for (no = 0; no < i; no++)
		m->v1 = rj_crc32_be(m->v1, block_at(m, w[no].log), bs);
	m->l->descriptors += m->live;
	return i;
}

static void revoke_blocks(struct maker *m, struct lm_txn *t)
{
	uint32_t bs = m->p->block_size, size = m->p->wide ? 8 : 4, no, i = 0;
	uint32_t end = bs - (m->p->csum >= 2 ? 4 : 0), off, many;
	uint8_t *b;

	t->revoke_block = t->revokes ? m->at : 0;
	while (i < t->revokes) {
		b = header(m, T_REVOKE, t->tid, &no);
		many = 1 + below(m, 60);
		for (off = 16; i < t->revokes && many-- && off + size <= end;
			off += size) {
			uint64_t nr = m->p->target + t->revoke[i++];

			if (size == 8)
				rj_put_be64(b + off, nr);
			else
				rj_put_be32(b + off, (uint32_t)nr);
		}
		rj_put_be32(b + 12, off);
		seal_tail(m, b);
	}
}

static bool commit_block(struct maker *m, uint32_t tid, uint64_t sec)
{
	uint32_t bs = m->p->block_size, no, i, ns = below(m, 1000000000);
	uint8_t *b = header(m, T_COMMIT, tid, &no);
	bool partial = false;

	rj_put_be64(b + 48, sec);
	rj_put_be32(b + 56, ns);
	if (m->p->csum == 1 && below(m, 4)) {
		b[12] = 1;
		b[13] = 4;
		rj_put_be32(b + 16, m->v1);
	}
	if (m->p->csum >= 2)
		rj_put_be32(b + 16, rj_crc32c(m->seed, b, bs));
	if (m->p->csum >= 2 && m->p->partial_commits && below(m, 2)) {
		partial = true;
		for (i = 64; i < bs; i++)
			b[i] = (uint8_t)below(m, 256);
	}
	m->v1 = ~0u;
	m->l->last_commit_ns = (int64_t)(sec * 1000000000ull + ns);
	return partial;
}

static void descriptors(struct maker *m, struct lm_txn *t)
{
	uint32_t i = 0;

	t->descriptor_block = t->writes ? m->at : 0;
	while (i < t->writes)
		i += descriptor(m, t->write + i, t->writes - i, t->tid);
}

static void add_write(struct maker *m, struct lm_txn *t, uint32_t target)
{
	struct lm_write *w = &t->write[t->writes++];

	w->target = target;
	w->seed = lm_rand(&m->rng);
}

/* Log part I of the groups as it is now. */
static void log_part(struct maker *m, struct lm_txn *t, uint32_t i)
{
	uint32_t bs = m->p->block_size;
	struct lm_write *w = &t->write[t->writes], swap;

	add_write(m, t, m->p->targets + i);
	w->seed = 1; /* no magic: not escaped */
	w->bytes = need(malloc(bs));
	memcpy(w->bytes, m->p->groups->bytes + (size_t)i * bs, bs);
	i = below(m, t->writes);
	swap = t->write[i];
	t->write[i] = *w;
	*w = swap;
}

/*
 * Free and allocate some blocks. What is allocated is logged, or written to the
 * device (no copy in the log until it is free again). SETTLE: the log has the
 * groups' latest; otherwise a part is left out now and then.
 */
static void change_groups(struct maker *m, struct lm_txn *t, bool settle)
{
	const struct lm_params *p = m->p;
	struct lm_groups *g = p->groups;
	uint32_t n = below(m, 3) ? below(m, CHANGES + 1) : 0, i, x;
	bool desc = settle || (n && below(m, 8)), *bitmap;

	bitmap = need(calloc(g->n, sizeof(*bitmap)));
	for (i = 0; i < n; i++) {
		x = below(m, p->targets);
		bitmap[lm_groups_of(g, x)] = below(m, 8);
		lm_groups_toggle(g, x);
		m->state[x] = lm_groups_free(g, x) ? LM_FREE
			      : below(m, 2)	   ? LM_DIRECT
						   : LM_LOGGED;
		if (m->state[x] == LM_LOGGED)
			add_write(m, t, x);
	}
	if (desc)
		log_part(m, t, 0);
	for (i = 0; i < g->n; i++) {
		bitmap[i] |= settle;
		if (bitmap[i])
			log_part(m, t, 1 + i);
	}
	t->shows_free = need(calloc(p->targets, sizeof(*t->shows_free)));
	for (x = 0; desc && x < p->targets; x++)
		t->shows_free[x] =
			bitmap[lm_groups_of(g, x)] && lm_groups_free(g, x);
	free(bitmap);
}

static void random_txn(
	struct maker *m, struct lm_txn *t, uint32_t tid, bool settle)
{
	const struct lm_params *p = m->p;
	uint32_t i, n, x;

	memset(t, 0, sizeof(*t));
	t->tid = tid;
	n = below(m, p->tags + 1);
	t->write = need(calloc(most_writes(p) + 1, sizeof(*t->write)));
	for (i = 0; i < n; i++) {
		x = below(m, p->targets);
		if (!m->state || m->state[x] != LM_DIRECT)
			add_write(m, t, x);
	}
	if (p->groups)
		change_groups(m, t, settle);
	if (!p->no_revokes && below(m, 3) == 0)
		t->revokes = below(m, below(m, 4) ? 4 : p->targets);
	t->revoke = need(calloc(t->revokes + 1, sizeof(*t->revoke)));
	for (i = 0; i < t->revokes; i++)
		t->revoke[i] = below(m, p->targets);
}

static void write_txn(struct maker *m, struct lm_txn *t)
{
	bool revokes_last = below(m, 4) == 0;

	m->v1 = ~0u;
	if (!revokes_last)
		revoke_blocks(m, t);
	descriptors(m, t);
	if (revokes_last)
		revoke_blocks(m, t);
	m->time += below(m, 3);
	t->commit_block = m->at;
	t->partial = commit_block(m, t->tid, m->time);
	t->round = m->live && m->l->used > m->end - m->l->start;
}

/* More blocks than a transaction can need. */
static uint32_t most_blocks(const struct lm_params *p)
{
	return 2 * most_writes(p) + p->targets + 4;
}

static void free_txn(struct lm_txn *t)
{
	uint32_t i;

	for (i = 0; i < t->writes; i++)
		free(t->write[i].bytes);
	free(t->shows_free);
	free(t->write);
	free(t->revoke);
}

static void stale_txns(struct maker *m)
{
	uint32_t i;
	struct lm_txn t;
	uint32_t tid;

	m->time = LM_STALE_TIME;
	for (i = m->p->stale; i > 0; i--) {
		tid = m->p->first_tid - i;
		if (m->p->stale_ahead)
			tid += m->p->stale + m->p->live + 5;
		random_txn(m, &t, tid, false);
		write_txn(m, &t);
		free_txn(&t);
	}
}

static void live_txns(struct maker *m)
{
	struct lm_log *l = m->l;
	uint32_t ring = m->end - m->p->first, most = most_blocks(m->p), i;
	struct lm_txn *t;
	uint64_t j;
	bool settle;

	m->live = true;
	m->time = LM_BASE_TIME;
	l->start = m->at;
	l->txn = need(calloc(m->p->live + 1, sizeof(*l->txn)));
	for (i = 0; i < m->p->live; i++) {
		/* room for this one and for the tail */
		if (l->used + 2 * most >= ring)
			break;
		t = &l->txn[i];
		settle = i + 1 == m->p->live || l->used + 3 * most >= ring;
		random_txn(m, t, m->p->first_tid + i, settle);
		l->last_txn = m->at;
		write_txn(m, t);
		l->tags += t->writes;
		l->revokes += t->revokes;
		for (j = 0; j < t->writes; j++)
			l->escapes += t->write[j].seed % 6 == 0;
		l->transactions++;
		if (i == 0)
			l->first_commit_ns = l->last_commit_ns;
	}
	l->last_tid = m->p->first_tid + l->transactions - 1;
	l->end = m->at;
	m->live = false;
	if (m->state)
		memcpy(l->state, m->state, m->p->targets * sizeof(*l->state));
}

static void tail(struct maker *m)
{
	uint32_t tid = m->l->last_tid + 1, was = m->at, no;
	int64_t ns = m->l->last_commit_ns;
	struct lm_txn t;

	random_txn(m, &t, tid, false);
	switch (m->p->tail) {
	case LM_TAIL_OPEN:
		revoke_blocks(m, &t);
		descriptors(m, &t);
		break;
	case LM_TAIL_REVOKE:
		revoke_blocks(m, &t);
		break;
	case LM_TAIL_STALE:
		if (!m->l->transactions)
			break; /* older than what? readers call it corrupt */
		m->seed ^= 0x5555; /* as if of another journal */
		revoke_blocks(m, &t);
		descriptors(m, &t);
		commit_block(m, tid, LM_STALE_TIME);
		break;
	case LM_TAIL_BAD_COMMIT:
		descriptors(m, &t);
		commit_block(m, tid, m->time);
		no = (m->at == m->p->first ? m->end : m->at) - 1;
		block_at(m, no)[12] = 1; /* v1: the sum is in use */
		block_at(m, no)[17] ^= 0x40;
		break;
	case LM_TAIL_TYPE:
		header(m, 7, tid, &no);
		break;
	default:
		break;
	}
	m->l->last_commit_ns = ns;
	m->at = was;
	free_txn(&t);
}

bool lm_cancelled(
	const struct lm_log *l, uint32_t from, uint32_t target, uint32_t n)
{
	uint32_t i, j;

	for (i = from; i < n; i++)
		for (j = 0; j < l->txn[i].revokes; j++)
			if (l->txn[i].revoke[j] == target)
				return true;
	return false;
}

/* Does one of the transactions from I on show TARGET as free, in a log without
 * revokes? */
static bool freed(const struct lm_log *l, uint32_t i, uint32_t target)
{
	if (l->revokes || !l->p.groups || target >= l->p.targets)
		return false;
	for (; i < l->transactions; i++)
		if (l->txn[i].shows_free[target])
			return true;
	return false;
}

static void spoil_revoked(struct maker *m)
{
	struct lm_log *l = m->l;
	uint32_t i, j;
	const struct lm_write *w;

	for (i = 0; i < l->transactions; i++)
		for (j = 0; j < l->txn[i].writes; j++) {
			w = &l->txn[i].write[j];
			if (!lm_cancelled(l, i, w->target, l->transactions) ||
				below(m, 3))
				continue;
			block_at(m, w->log)[100] ^= 1;
			l->spoilt++;
		}
}

void lm_seal_block(struct lm_log *l, uint32_t block)
{
	uint32_t bs = l->p.block_size, seed = rj_crc32c(~0u, l->p.uuid, 16);
	uint8_t *b = l->bytes + (size_t)block * bs, *at;

	at = rj_get_be32(b + 4) == T_COMMIT ? b + 16 : b + bs - 4;
	rj_put_be32(at, 0);
	rj_put_be32(at, rj_crc32c(seed, b, bs));
}

static void superblock(struct maker *m)
{
	const struct lm_params *p = m->p;
	uint8_t *s = block_at(m, p->sb_block);
	uint32_t incompat = 0;

	memset(s, 0, p->block_size);
	rj_put_be32(s, MAGIC);
	rj_put_be32(s + 4, p->version_1 ? 3 : 4);
	rj_put_be32(s + 0xC, p->block_size);
	rj_put_be32(s + 0x10, p->maxlen);
	rj_put_be32(s + 0x14, p->first);
	rj_put_be32(s + 0x18, p->first_tid);
	rj_put_be32(s + 0x1C, m->l->start);
	if (p->version_1)
		return;
	incompat |= p->revoke_bit ? 1 : 0;
	incompat |= p->wide ? 2 : 0;
	incompat |= p->async ? 4 : 0;
	incompat |= p->csum == 2 ? 8 : 0;
	incompat |= p->csum == 3 ? 0x10 : 0;
	incompat |= p->fast_commit ? 0x20 : 0;
	rj_put_be32(s + 0x24, p->csum == 1);
	rj_put_be32(s + 0x28, incompat);
	memcpy(s + 0x30, p->uuid, 16);
	rj_put_be32(s + 0x40, 1);
	rj_put_be32(s + 0x54, p->fc_blocks);
	lm_seal_superblock(m->l);
}

void lm_seal_superblock(struct lm_log *l)
{
	uint8_t *s = l->bytes + (size_t)l->p.sb_block * l->p.block_size;

	if (l->p.csum < 2)
		return;
	s[0x50] = 4;
	rj_put_be32(s + 0xFC, 0);
	rj_put_be32(s + 0xFC, rj_crc32c(~0u, s, 1024));
}

void lm_shuffle(struct lm_params *p)
{
	struct maker m = {.p = p, .rng = p->seed};
	uint32_t ring = p->maxlen - p->first;

	p->csum = (int)below(&m, 4);
	p->wide = below(&m, 2);
	p->async = below(&m, 4) == 0;
	p->revoke_bit = below(&m, 2);
	p->version_1 =
		p->csum == 0 && !p->wide && !p->async && below(&m, 3) == 0;
	p->fast_commit = !p->version_1 && below(&m, 4) == 0;
	p->fc_blocks = p->fast_commit ? 3 + below(&m, ring / 4) : 0;
	p->first_tid = (uint32_t)lm_rand(&m.rng);
	if (below(&m, 4) == 0)
		p->first_tid = 0u - below(&m, 10);
	if (below(&m, 8) == 0)
		p->first_tid = 0x80000000u - below(&m, 10);
	p->tags = 1 + below(&m, below(&m, 3) ? 8 : ring / 8 + 1);
	p->stale = below(&m, 3) ? below(&m, ring) : 0;
	p->live = below(&m, below(&m, 2) ? 6 : ring);
	p->tail = (enum lm_tail)below(&m, LM_TAILS);
	if (p->tail == LM_TAIL_BAD_COMMIT && (!p->async || p->csum == 0))
		p->tail = LM_TAIL_OPEN;
	if (p->tail == LM_TAIL_STALE && p->csum < 2)
		p->tail = LM_TAIL_NONE;
	p->bad_but_revoked = p->csum >= 2 && below(&m, 3) == 0;
	p->own_uuids = below(&m, 4) == 0;
	p->stale_ahead = below(&m, 8) == 0;
}

void lm_make(const struct lm_params *p, struct lm_log *out)
{
	struct maker m = {.l = out, .rng = p->seed ^ 0x1234567};
	size_t i;

	memset(out, 0, sizeof(*out));
	out->p = *p;
	m.p = &out->p;
	out->len = (size_t)p->maxlen * p->block_size;
	out->bytes = need(calloc(1, out->len));
	m.end = p->maxlen - p->fc_blocks;
	m.seed = rj_crc32c(~0u, p->uuid, 16);
	if (p->stale == 0 && below(&m, 2)) /* the disk was used before */
		for (i = 0; i < out->len; i += 4)
			rj_put_be32(out->bytes + i, (uint32_t)lm_rand(&m.rng));
	m.at = p->first + below(&m, m.end - p->first);
	if (p->groups) {
		m.state = need(calloc(p->targets, sizeof(*m.state)));
		out->state = need(calloc(p->targets, sizeof(*m.state)));
	}
	stale_txns(&m);
	live_txns(&m);
	if (p->bad_but_revoked)
		spoil_revoked(&m);
	tail(&m);
	free(m.state);
	superblock(&m);
}

uint32_t lm_apply(const struct lm_log *l, uint32_t n, uint8_t *region)
{
	uint32_t i, j, bs = l->p.block_size, count = 0;
	uint32_t blocks = l->p.targets + (l->p.groups ? 1 + l->p.groups->n : 0);
	uint8_t *written = need(calloc(1, blocks));
	const struct lm_write *w;

	for (i = 0; i < n; i++)
		for (j = 0; j < l->txn[i].writes; j++) {
			w = &l->txn[i].write[j];
			if (lm_cancelled(l, i, w->target, n))
				continue;
			content(region + (size_t)w->target * bs, bs, w);
			written[w->target] = 1;
		}
	for (i = 0; i < blocks; i++)
		count += written[i];
	free(written);
	return count;
}

uint32_t lm_apply_freed(const struct lm_log *l, uint8_t *region)
{
	uint32_t i, j, bs = l->p.block_size, dropped = 0;
	const struct lm_write *w;

	for (i = 0; i < l->transactions; i++)
		for (j = 0; j < l->txn[i].writes; j++) {
			w = &l->txn[i].write[j];
			if (freed(l, i, w->target))
				dropped++;
			else if (!lm_cancelled(l, i, w->target, l->transactions))
				content(region + (size_t)w->target * bs, bs, w);
		}
	return dropped;
}

void lm_free(struct lm_log *l)
{
	uint32_t i;

	for (i = 0; i < l->transactions; i++)
		free_txn(&l->txn[i]);
	free(l->txn);
	free(l->state);
	free(l->bytes);
	memset(l, 0, sizeof(*l));
}

const char *lm_describe(const struct lm_params *p, char out[256])
{
	snprintf(out, 256,
		"seed %llu: block size %u, maxlen %u, csum %d%s%s%s%s, tid %u, "
		"stale %u, live %u, tags %u, tail %d%s%s%s",
		(unsigned long long)p->seed, p->block_size, p->maxlen, p->csum,
		p->wide ? " 64bit" : "", p->async ? " async" : "",
		p->fast_commit ? " fast_commit" : "",
		p->version_1 ? " version 1" : "", p->first_tid, p->stale,
		p->live, p->tags, p->tail,
		p->bad_but_revoked ? ", spoilt revoked copies" : "",
		p->own_uuids ? ", own uuids" : "",
		p->stale_ahead ? ", stale ahead" : "");
	return out;
}
