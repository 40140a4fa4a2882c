// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The place of the walk in the journal, and what is complete from there on. The walk
 * waits at its place until the transaction there is complete, in whatever order its
 * pieces come; only an emptied journal lets it look elsewhere.
 */
#include <string.h>

#include "ext4/renew.h"
#include "history/history-priv.h"

#define SUPER_AT    1024u /* the volume's primary superblock, in bytes */
#define SUPER_BYTES 1024u

static const uint8_t *ring_at(const struct rj_hist *h, uint32_t block)
{
	return h->ring->data + (size_t)block * h->ring->block_size;
}

/* The journal is empty by SB. In a mounted volume a freeze or a resize does that, and
 * the next transaction has the next number; an unmount skips one. */
static void emptied(struct rj_hist *h, const struct rj_jbd2_sb *sb)
{
	if (!h->placed) {
		h->tid = sb->sequence;
		h->fresh = true;
	} else if (sb->sequence != h->tid && !h->ended) {
		h->ended = true;
		h->ended_segment = h->segment;
	}
	h->block = 0;
}

static int begun(struct rj_hist *h, const struct rj_jbd2_sb *sb,
	struct rj_error *err)
{
	if (h->ended)
		return rj_hist_broken(h, h->ended_segment, err,
			"the volume was unmounted and mounted again by hand while rjournald went on, so nothing says that it was not changed then: make a new base, and mount it as type rj");
	if (!h->placed || (h->fresh && sb->sequence == h->tid + 1)) {
		h->block = sb->start;
		h->tid = sb->sequence;
	} else if (h->block ? (int32_t)(sb->sequence - h->tid) > 0
			    : sb->sequence != h->tid) {
		return rj_hist_broken(h, h->report->reached.segment, err,
			"the journal goes on with a later transaction: another program, or another mount, wrote there");
	} else if (!h->block) {
		h->block = sb->start;
	}
	h->fresh = false;
	return 0;
}

/* What the journal's superblock says about the place. */
static int look(struct rj_hist *h, struct rj_error *err)
{
	struct rj_jbd2_sb sb;
	int rc = rj_jbd2_sb_decode(ring_at(h, h->sb_block), &sb, err);

	if (rc)
		return rj_fail_prefix(err, "%s: segment %llu", h->store->url,
			(unsigned long long)h->segment);
	if (!rj_uuid_equal(sb.uuid, h->id->journal_uuid))
		return rj_fail(err, RJ_E_FOREIGN,
			"%s: the journal in segment %llu is another one",
			h->store->url, (unsigned long long)h->segment);
	if (sb.start)
		rc = begun(h, &sb, err);
	else
		emptied(h, &sb);
	h->placed = true;
	return rc;
}

static int scan(struct rj_hist *h, const uint32_t *until,
	struct rj_jbd2_plan **out, struct rj_error *err)
{
	struct rj_jbd2_scan_opts o = {
		.sb_block = h->sb_block,
		.fs_blocks = UINT64_MAX, /* a resize logs blocks beyond the end */
		.born = (uint64_t)h->report->reached.time_ns / 1000000000,
		.from_block = h->block,
		.from_tid = h->tid,
		.verified = true, /* by the log's chain */
		.limited = until != NULL,
		.until_tid = until ? *until : 0,
	};

	rj_jbd2_plan_free(*out);
	*out = NULL;
	return rj_jbd2_scan(h->bio, &o, out, err);
}

/* The primary superblock's copy that PLAN has, in the ring; NULL: it has none. */
static uint8_t *super_in(const struct rj_hist *h, const struct rj_jbd2_plan *plan)
{
	uint32_t bs = h->ring->block_size;
	uint32_t at = rj_jbd2_plan_where(plan, SUPER_AT / bs);

	return at ? h->ring->data + (size_t)at * bs + SUPER_AT % bs : NULL;
}

/* Is all of PLAN a part of this history? */
static int check(struct rj_hist *h, const struct rj_jbd2_plan *plan,
	struct rj_error *err)
{
	const struct rj_jbd2_info *info = rj_jbd2_plan_info(plan);
	const uint8_t *super = super_in(h, plan);

	if (super && rj_super_blocks(super) < h->report->blocks)
		return rj_hist_broken(h, h->report->reached.segment, err,
			"the volume was made smaller, which no kernel does: make a new base");
	if (info->damage)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: up to segment %llu: %s", h->store->url,
			(unsigned long long)h->segment, info->damage_text);
	if (info->revokes)
		return rj_hist_broken(h, h->report->reached.segment, err,
			"revoke records, which data=journal does not write: file data did not pass the log");
	return 0;
}

struct search {
	int64_t time_ns;
	bool found;
	uint32_t tid;
};

static void find_later(void *arg, const struct rj_jbd2_transaction *t)
{
	struct search *s = arg;

	if (s->found || t->commit_ns <= s->time_ns)
		return;
	s->found = true;
	s->tid = t->tid;
}

/* The primary superblock's copy is kept aside, and the one that the volume has is put in
 * its place in the ring. */
static int keep_super(struct rj_hist *h, const struct rj_jbd2_plan *plan,
	struct rj_error *err)
{
	const struct rj_history_opts *o = h->opts;
	uint8_t *copy = super_in(h, plan);

	if (!copy)
		return 0;
	memcpy(o->super, copy, SUPER_BYTES);
	*o->have_super = true;
	return o->fs ? o->fs->read(o->fs, copy, SUPER_BYTES, SUPER_AT, err) : 0;
}

/*
 * Space for what PLAN has beyond the end: a resize sets new groups up, which it logs, and logs
 * the superblock that has them in the same transaction or in a later one.
 */
static int make_room(struct rj_hist *h, const struct rj_jbd2_plan *plan, struct rj_error *err)
{
	const uint8_t *super = super_in(h, plan);
	uint64_t blocks = super ? rj_super_blocks(super) : 0, to = blocks;
	int rc = 0;

	if (rj_jbd2_plan_info(plan)->fs_end > to)
		to = rj_jbd2_plan_info(plan)->fs_end;
	if (to > h->end) {
		if (h->opts->grow)
			rc = h->opts->grow(h->opts->arg, h->end, to, err);
		h->end = to;
	}
	if (blocks)
		h->report->blocks = blocks;
	return rc;
}

/* With encryption not all passes the log: what is before that still does. */
static int check_super(struct rj_hist *h, const struct rj_jbd2_plan *plan,
	struct rj_error *err)
{
	uint32_t at = rj_jbd2_plan_where(plan, SUPER_AT / h->ring->block_size);

	if (!at || !rj_super_encrypts(ring_at(h, at) + SUPER_AT % h->ring->block_size))
		return 0;
	return rj_hist_broken(h, h->report->reached.segment, err,
		"the volume got the feature encrypt: what is in encrypted files does not pass the log");
}

static void note_commit(void *arg, const struct rj_jbd2_transaction *t)
{
	struct rj_history_report *r = arg;

	r->settled_ns = r->reached.time_ns;
	r->reached.time_ns = t->commit_ns;
}

static int apply(struct rj_hist *h, struct rj_jbd2_plan *plan,
	struct rj_error *err)
{
	const struct rj_jbd2_info *info = rj_jbd2_plan_info(plan);
	struct rj_history_place *p = &h->report->reached;
	int rc = 0;

	if (info->transactions) {
		rc = check_super(h, plan, err);
		if (!rc)
			rc = make_room(h, plan, err);
		if (!rc && h->opts->will_apply)
			rc = h->opts->will_apply(h->opts->arg, h->segment, err);
		if (!rc && h->opts->super)
			rc = keep_super(h, plan, err);
		if (!rc && h->opts->fs)
			rc = rj_jbd2_replay(
				plan, h->bio, h->opts->fs, NULL, NULL, err);
		if (rc)
			return rc;
		h->block = info->end_block;
		h->tid = info->last_tid + 1;
		if (h->whole)
			h->report->transactions += info->transactions;
		p->tid = info->last_tid;
		rj_jbd2_plan_each(plan, note_commit, h->report);
	}
	p->segment = h->segment;
	p->sealed_ns = h->sealed_ns;
	return 0;
}

const uint8_t *rj_hist_next_commit(
	const struct rj_segment *s, const uint8_t *after, uint32_t *tid)
{
	const uint8_t *end = s->blocks + s->block_count * s->body.block_size;
	const uint8_t *block = after ? after + s->body.block_size : s->blocks;
	enum rj_jbd2_block_type type;

	for (; block < end; block += s->body.block_size)
		if (rj_jbd2_block_header(block, &type, tid) && type == RJ_JBD2_COMMIT)
			return block;
	return NULL;
}

int rj_hist_note_commits(struct rj_hist *h, const struct rj_segment *s, struct rj_error *err)
{
	struct rj_hist_commit c = {
		.segment = s->header.sequence,
		.sealed_ns = (int64_t)s->header.time_ns,
	};
	const uint8_t *block = NULL;

	while ((block = rj_hist_next_commit(s, block, &c.tid)))
		if (rj_buf_append(&h->commits, &c, sizeof(c)))
			return rj_fail(err, RJ_E_NOMEM, "out of memory");
	return 0;
}

/* Keep which segment has the commit of the place, and those after it; all others were passed. */
static void settle_commits(struct rj_hist *h)
{
	const struct rj_history_report *r = h->report;
	struct rj_hist_commit c;
	size_t i, kept = 0;

	for (i = 0; i < h->commits.len; i += sizeof(c)) {
		memcpy(&c, h->commits.data + i, sizeof(c));
		if (c.tid == r->reached.tid)
			h->commit = c;
		if ((int32_t)(c.tid - r->reached.tid) <= 0)
			continue;
		memcpy(h->commits.data + kept, &c, sizeof(c));
		kept += sizeof(c);
	}
	h->commits.len = kept;
}

/* The place is before the end of what was read: name the segment of its commit. */
static void name_segment(struct rj_hist *h)
{
	struct rj_history_report *r = h->report;

	if (h->commit.tid == r->reached.tid && h->commit.segment >= r->earliest.segment) {
		r->reached.segment = h->commit.segment;
		r->reached.sealed_ns = h->commit.sealed_ns;
	} else if (r->earliest.tid == r->reached.tid) {
		r->reached = r->earliest;
	}
}

/* The first moment can be found after more was read: is there a commit after the segment of the
 * second one? Which transaction, *TID. */
static bool read_beyond(const struct rj_hist *h, uint32_t *tid)
{
	struct rj_hist_commit c;
	size_t i;

	if (!h->then || h->opts->at.kind != RJ_AT_SEGMENT)
		return false;
	for (i = 0; i < h->commits.len; i += sizeof(c)) {
		memcpy(&c, h->commits.data + i, sizeof(c));
		*tid = c.tid;
		if (c.segment > h->opts->at.segment && (int32_t)(c.tid - h->tid) >= 0)
			return true;
	}
	return false;
}

static int consume(struct rj_hist *h, struct rj_jbd2_plan **plan,
	struct rj_error *err)
{
	struct search s = {.time_ns = h->opts->at.time_ns};
	const uint32_t next = h->tid + 1;
	bool each = h->then && h->opts->each;
	int rc = scan(h, each ? &next : NULL, plan, err);

	s.found = !rc && read_beyond(h, &s.tid) && (!each || s.tid == h->tid);
	if (s.found)
		rc = scan(h, &s.tid, plan, err);
	if (!rc && h->opts->at.kind == RJ_AT_TIME) {
		rj_jbd2_plan_each(*plan, find_later, &s);
		if (s.found)
			rc = scan(h, &s.tid, plan, err);
	}
	if (!rc)
		rc = check(h, *plan, err);
	if (!rc)
		rc = apply(h, *plan, err);
	if (rc)
		return rc;
	settle_commits(h);
	if (s.found)
		h->found = h->stop = true;
	if (s.found || each)
		name_segment(h);
	if (each && rj_jbd2_plan_info(*plan)->transactions)
		rc = h->opts->each(h->opts->arg, h->report, err);
	return rc;
}

/* What is complete; with opts->each one by one. */
static int consume_all(struct rj_hist *h, struct rj_jbd2_plan **plan, struct rj_error *err)
{
	int rc;

	do
		rc = consume(h, plan, err);
	while (!rc && !h->stop && h->then && h->opts->each &&
		rj_jbd2_plan_info(*plan)->transactions);
	return rc;
}

/* What is complete is of a mount of which nothing is known yet. */
static int hold(struct rj_hist *h, struct rj_jbd2_plan **plan,
	struct rj_error *err)
{
	int rc = scan(h, NULL, plan, err);

	if (!rc)
		rc = check(h, *plan, err);
	if (rc || !rj_jbd2_plan_info(*plan)->transactions)
		return rc;
	return rj_hist_look_ahead(h, err);
}

/* Would a walk that begins with h->segment know as much? Not while the journal is empty: only
 * after a mount may a number be skipped, and not after a freeze. And not what a note of this
 * mount's unmount says; a mount by hand leaves that of an earlier one where it is. */
static bool settled(const struct rj_hist *h)
{
	bool unmounted = h->note_segment && h->note.kind == RJ_NOTE_UNMOUNTED &&
			 h->note.epoch == h->since && h->note_segment <= h->segment;

	return h->block && !h->held && !unmounted;
}

int rj_hist_consume(struct rj_hist *h, struct rj_error *err)
{
	struct rj_jbd2_plan *plan = NULL;
	int rc;

	rc = look(h, err);
	if (!rc && h->block) {
		if (h->held)
			rc = hold(h, &plan, err);
		if (!rc && !h->held)
			rc = consume_all(h, &plan, err);
		rj_jbd2_plan_free(plan);
	} else if (!rc && !h->held) {
		h->report->reached.segment = h->segment;
		h->report->reached.sealed_ns = h->sealed_ns;
	}
	if (!rc && !h->stop && !h->whole && h->segment >= h->opts->base.whole) {
		h->whole = true;
		h->report->earliest = h->report->reached;
	}
	if (!rc && !h->stop && settled(h) && h->opts->settled)
		rc = h->opts->settled(h->opts->arg, h->segment, err);
	/* what ends the reading here is no failure */
	return !rc && h->stop ? -RJ_E_CANCELLED : rc;
}
