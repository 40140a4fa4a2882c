// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The walk over the log, transaction by transaction: do_one_pass() of e2fsck
 * and the kernel, its three passes in one. A block with no magic or another
 * tid ends it cleanly. What is wrong inside a transaction is judged at its
 * commit block, and a transaction without one was never committed.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2-priv.h"
#include "util/crc32c.h"

/* Something wrong in the open transaction; the first counts. */
struct fault {
	enum rj_jbd2_damage damage;
	uint32_t block;
	char text[160];
};

struct walk {
	struct jbd2_scan *s;
	struct rj_error *err;
	uint32_t used; /* blocks after the start of the log */
	uint32_t tid;
	bool done;
	/* the open transaction */
	bool open;
	struct rj_jbd2_transaction txn;
	size_t first_copy;
	uint64_t descriptors, escapes, zeroed;
	uint32_t sum;          /* v1 */
	struct fault checksum; /* stale block or corruption: time tells */
	struct fault content;  /* cannot be right in any case */
	struct jbd2_copies bad;
	/* async_commit: a bad last transaction was simply not finished */
	struct fault dropped;
	uint32_t dropped_tid;
};

static void fault(struct fault *f, enum rj_jbd2_damage damage, uint32_t block,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static void fault(struct fault *f, enum rj_jbd2_damage damage, uint32_t block,
	const char *fmt, ...)
{
	va_list ap;

	if (f->damage)
		return;
	f->damage = damage;
	f->block = block;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

static void damaged(struct walk *w, const struct fault *f, uint32_t tid)
{
	jbd2_scan_damage(w->s, f->damage, f->block, tid, "%s", f->text);
	w->done = true;
}

uint32_t jbd2_scan_block(const struct jbd2_scan *s, uint32_t idx)
{
	const struct rj_jbd2_sb *sb = &s->plan->info.sb;
	uint64_t block = (uint64_t)sb->start + idx;

	return (uint32_t)(block < sb->last ? block : block - s->ring);
}

void jbd2_scan_damage(struct jbd2_scan *s, enum rj_jbd2_damage damage,
	uint64_t block, uint32_t tid, const char *fmt, ...)
{
	struct rj_jbd2_info *info = &s->plan->info;
	char text[200];
	va_list ap;

	if (info->damage)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	info->damage = damage;
	info->damage_block = block;
	info->damage_tid = tid;
	snprintf(info->damage_text, sizeof(info->damage_text),
		"log block %llu, transaction %u: %s", (unsigned long long)block,
		tid, text);
}

static void begin(struct walk *w, uint32_t block)
{
	if (w->open)
		return;
	w->open = true;
	memset(&w->txn, 0, sizeof(w->txn));
	w->txn.tid = w->tid;
	w->txn.first_block = block;
	w->first_copy = w->s->plan->copies.n;
	w->descriptors = w->escapes = w->zeroed = 0;
	w->checksum.damage = w->content.damage = RJ_JBD2_SOUND;
	w->s->pendings = 0;
	w->bad.n = 0;
}

/* The open transaction is not replayed. */
static void drop(struct walk *w)
{
	if (w->open)
		w->s->plan->copies.n = w->first_copy;
	w->open = false;
}

/* Look at the data block of a tag where a checksum covers it. */
static int check_data(struct walk *w, const struct jbd2_tag *tag, uint32_t log)
{
	const struct jbd2_dialect *d = &w->s->dialect;
	const uint8_t *data;
	int rc;

	if (!d->checksum)
		return 0;
	rc = jbd2_window_get(&w->s->window, log, &data, w->err);
	if (rc)
		return rc;
	if (d->checksum == 1)
		w->sum = rj_crc32_be(w->sum, data, d->block_size);
	else if (!jbd2_tag_good(d, tag->checksum, w->tid, data)) {
		if (!w->s->verified || data[d->block_size - 1])
			return jbd2_copies_add(
				&w->bad, tag->block, log, w->tid, w->err);
		w->zeroed++;
	}
	return 0;
}

static int tag(struct walk *w, const struct jbd2_tag *t, uint32_t log)
{
	uint64_t key = t->block;

	w->txn.tags++;
	if (t->block >= w->s->fs_blocks) {
		fault(&w->content, RJ_JBD2_BAD_BLOCKNR, log,
			"its descriptor names block %llu, but the volume has "
			"%llu",
			(unsigned long long)t->block,
			(unsigned long long)w->s->fs_blocks);
		key = 0;
	}
	if (t->escaped) {
		w->escapes++;
		key |= JBD2_COPY_ESCAPED;
	}
	return jbd2_copies_add(&w->s->plan->copies, key, log, w->tid, w->err);
}

static int descriptor(struct walk *w, const uint8_t *raw, uint32_t block)
{
	struct jbd2_scan *s = w->s;
	const struct jbd2_dialect *d = &s->dialect;
	uint32_t off = JBD2_HEADER_BYTES, log;
	struct jbd2_tag t;
	int rc;

	/* reading its data moves the window */
	memcpy(s->descriptor, raw, d->block_size);
	w->descriptors++;
	if (d->checksum == 1)
		w->sum = rj_crc32_be(w->sum, raw, d->block_size);
	if (!jbd2_tail_good(d, raw))
		fault(&w->checksum, RJ_JBD2_BAD_DESCRIPTOR, block,
			"the descriptor block fails its checksum");
	while (jbd2_tag_next(d, s->descriptor, &off, &t)) {
		if (w->used >= s->ring) {
			if (!w->checksum.damage) {
				jbd2_scan_damage(s, RJ_JBD2_BAD_DESCRIPTOR,
					block, w->tid,
					"the descriptor block describes more "
					"blocks than the log has");
				s->uncommitted = true;
			}
			w->done = true;
			return 0;
		}
		log = jbd2_scan_block(s, w->used++);
		rc = tag(w, &t, log);
		if (!rc)
			rc = check_data(w, &t, log);
		if (rc)
			return rc;
		if (t.last)
			break;
	}
	return 0;
}

static int revoke(struct walk *w, const uint8_t *raw, uint32_t block)
{
	struct jbd2_scan *s = w->s;
	uint32_t count = 0, i;
	uint64_t *more, nr;

	if (!jbd2_tail_good(&s->dialect, raw))
		fault(&w->checksum, RJ_JBD2_BAD_REVOKE, block,
			"the revoke block fails its checksum");
	else if (!jbd2_revoke_count(&s->dialect, raw, &count))
		fault(&w->content, RJ_JBD2_BAD_REVOKE, block,
			"the revoke block claims %u bytes",
			rj_get_be32(raw + JBD2_HEADER_BYTES));
	if (s->pendings + count > s->pending_cap) {
		size_t cap = (s->pendings + count) * 2;

		more = reallocarray(s->pending, cap, sizeof(*more));
		if (!more)
			return rj_fail(w->err, RJ_E_NOMEM, "out of memory");
		s->pending = more;
		s->pending_cap = cap;
	}
	for (i = 0; i < count; i++) {
		nr = jbd2_revoke_record(&s->dialect, raw, i);
		if (nr >= s->fs_blocks)
			fault(&w->content, RJ_JBD2_BAD_BLOCKNR, block,
				"it revokes block %llu, but the volume has "
				"%llu",
				(unsigned long long)nr,
				(unsigned long long)s->fs_blocks);
		s->pending[s->pendings++] = nr;
	}
	w->txn.revokes += count;
	return 0;
}

/* The open transaction is complete and good. */
static int accept(struct walk *w, const uint8_t *raw)
{
	struct jbd2_scan *s = w->s;
	struct rj_jbd2_plan *p = s->plan;
	struct rj_jbd2_transaction *more;
	size_t i, cap;
	int rc;

	for (i = 0; i < s->pendings; i++) {
		rc = jbd2_revokes_add(
			&s->revokes, s->pending[i], w->tid, w->err);
		if (rc)
			return rc;
	}
	for (i = 0; i < w->bad.n; i++) {
		rc = jbd2_revokes_add_bad(&s->revokes, w->bad.v[i].key,
			w->bad.v[i].log, w->tid, w->err);
		if (rc)
			return rc;
	}
	if (p->txns == p->txn_cap) {
		cap = p->txn_cap ? p->txn_cap * 2 : 64;
		more = reallocarray(p->txn, cap, sizeof(*more));
		if (!more)
			return rj_fail(w->err, RJ_E_NOMEM, "out of memory");
		p->txn = more;
		p->txn_cap = cap;
	}
	w->txn.commit_ns = rj_jbd2_commit_ns(raw);
	p->txn[p->txns++] = w->txn;
	p->info.transactions++;
	p->info.descriptors += w->descriptors;
	p->info.tags += w->txn.tags;
	p->info.revokes += w->txn.revokes;
	p->info.escapes += w->escapes;
	p->info.zeroed += w->zeroed;
	p->info.last_commit_ns = w->txn.commit_ns;
	if (p->txns == 1)
		p->info.first_commit_ns = w->txn.commit_ns;
	s->last_seconds = rj_get_be64(raw + JBD2_COMMIT_SECONDS);
	s->good = w->used;
	w->open = false;
	return 0;
}

/* The commit block itself, and with v1 the transaction's sum. */
static void check_commit(
	struct walk *w, const uint8_t *raw, uint32_t block, struct fault *f)
{
	const struct jbd2_dialect *d = &w->s->dialect;

	f->damage = RJ_JBD2_SOUND;
	if (d->checksum == 1 && !jbd2_commit_sum_good(raw, w->sum))
		fault(f, RJ_JBD2_BAD_DATA, block,
			"the transaction's blocks do not give the checksum of "
			"its commit block");
	if (!jbd2_commit_good(d, raw))
		fault(f, RJ_JBD2_BAD_COMMIT, block,
			"the commit block fails its checksum");
}

static int commit(struct walk *w, const uint8_t *raw, uint32_t block)
{
	struct jbd2_scan *s = w->s;
	uint64_t seconds = rj_get_be64(raw + JBD2_COMMIT_SECONDS);
	bool stale = seconds < s->last_seconds;
	struct fault f;
	int rc = 0;

	check_commit(w, raw, block, &f);
	if ((w->checksum.damage || f.damage) && stale) {
		w->done = true;
	} else if (w->dropped.damage) {
		/* a later one was committed, so this one was too */
		damaged(w, &w->dropped, w->dropped_tid);
	} else if (w->checksum.damage) {
		damaged(w, &w->checksum, w->tid);
	} else if (f.damage && s->dialect.async) {
		w->dropped = f;
		w->dropped_tid = w->tid;
		drop(w);
	} else if (f.damage) {
		damaged(w, &f, w->tid);
	} else if (w->content.damage) {
		damaged(w, &w->content, w->tid);
	} else {
		rc = accept(w, raw);
	}
	w->tid++;
	w->sum = ~0u;
	return rc;
}

static int step(struct walk *w)
{
	struct jbd2_scan *s = w->s;
	enum rj_jbd2_block_type type;
	const uint8_t *raw;
	uint32_t block = jbd2_scan_block(s, w->used), tid;
	int rc = jbd2_window_get(&s->window, block, &raw, w->err);

	if (rc)
		return rc;
	s->stopped = block;
	if (!rj_jbd2_block_header(raw, &type, &tid) || tid != w->tid ||
		(type != RJ_JBD2_DESCRIPTOR && type != RJ_JBD2_REVOKE &&
			type != RJ_JBD2_COMMIT)) {
		w->done = true;
		return 0;
	}
	w->used++;
	if (jbd2_tid_gt(tid, s->max_tid))
		s->max_tid = tid;
	begin(w, block);
	if (type == RJ_JBD2_DESCRIPTOR)
		return descriptor(w, raw, block);
	if (type == RJ_JBD2_REVOKE)
		return revoke(w, raw, block);
	return commit(w, raw, block);
}

int jbd2_walk(struct jbd2_scan *s, struct rj_error *err)
{
	struct walk w = {.s = s, .err = err, .sum = ~0u};
	const struct rj_jbd2_sb *sb = &s->plan->info.sb;
	int rc = 0;

	w.tid = sb->sequence;
	s->good = 0;
	s->last_seconds = 0;
	s->max_tid = sb->sequence;
	while (!rc && !w.done && w.used < s->ring &&
		!(s->limited && w.tid == s->limit))
		rc = step(&w);
	drop(&w);
	jbd2_copies_free(&w.bad);
	s->expected = sb->sequence + (uint32_t)s->plan->txns;
	return rc;
}
