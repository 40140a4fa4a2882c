// SPDX-License-Identifier: LGPL-2.1-or-later
/* Gather the remote log into a ring, verify it, plan its replay. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/listing.h"
#include "recover/session.h"
#include "store/store.h"

#define AFRESH_MOST 10 /* readings of a log that is trimmed at the same time */

int rj_recovery_open_store(struct rj_recovery *r, struct rj_error *err)
{
	const char *from = r->opts->from;
	const char *url = from ? from : r->opts->url ? r->opts->url : r->facts.sbx.url;
	int rc;

	snprintf(r->report->url, sizeof(r->report->url), "%s", url);
	rc = rj_log_sealing_load(from ? r->facts.sbx.url : url, r->opts->keyfile,
		r->facts.sbx.key_fingerprint, &r->sealing, err);
	if (rc)
		return rc;
	rj_log_sealing_use(&r->sealing, &r->id);
	rj_recovery_floors(r);
	memcpy(r->origin, r->facts.sbx.url, sizeof(r->origin));
	if (from)
		snprintf(r->facts.sbx.url, sizeof(r->facts.sbx.url), "%s", from);
	rc = rj_store_open(url, NULL, &r->store, err);
	/* a directory that is not there: what holds it is not mounted */
	if (rc == -RJ_E_NOTFOUND && err)
		err->code = RJ_E_UNREACHABLE;
	return rc == -RJ_E_NOTFOUND ? -RJ_E_UNREACHABLE : rc;
}

void rj_recovery_drop_ring(struct rj_recovery *r)
{
	rj_jbd2_plan_free(r->plan);
	r->plan = NULL;
	rj_bio_free(r->log_bio);
	r->log_bio = NULL;
	rj_ring_free(r->ring);
	r->ring = NULL;
	r->seen = (struct rj_log_seen){0};
}

static bool may_need_log(const struct rj_recovery *r)
{
	return r->facts.needs_recovery || r->facts.broken_unmount;
}

/*
 * A base that a recovery put, and whose end this copy of the volume has not
 * seen: the recovery was cut before the superblock said so, or was undone
 * with e2undo. What the log held before it is still needed.
 */
static bool unseen_recovery(
	const struct rj_recovery *r, const struct rj_seghdr *h)
{
	return may_need_log(r) && (h->flags & RJ_SEG_F_RECOVERED) &&
	       h->epoch > r->volume_says.epoch;
}

static int take_segment(
	void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	struct rj_recovery *r = arg;
	int rc;

	if (r->ring && unseen_recovery(r, &seg->header))
		return 0;
	rj_log_seen_take(&r->seen, seg);
	memcpy(r->last_nonce, seg->header.nonce, sizeof(r->last_nonce));
	if (!seg->body.run_count)
		return 0;
	if (!r->ring) {
		if (seg->body.block_size != r->facts.block_size)
			return rj_fail(err, RJ_E_FOREIGN,
				"segment %llu has blocks of %u bytes, the volume's have %u",
				(unsigned long long)seg->header.sequence,
				seg->body.block_size, r->facts.block_size);
		/* a segment of another size is refused when it is applied */
		rc = rj_ring_new_bounded(r->facts.block_size,
			r->facts.sbx.journal_blocks, rj_recovery_memory(r),
			&r->ring, err);
		if (rc)
			return rc;
	}
	r->ring_changed = true;
	return rj_ring_apply(r->ring, seg, err);
}

static int gather_progress(void *arg, uint64_t done, uint64_t total)
{
	struct rj_recovery *r = arg;

	if (!r->opts->progress)
		return 0;
	return r->opts->progress(r->opts->arg, RJ_PHASE_GATHER, done, total);
}

/* --accept-loss: what volume and host say of the log need not be true of it. */
static bool loss_accepted(const struct rj_recovery *r)
{
	return r->fallback_lost || (r->opts->accept_loss && r->store);
}

static void say_lost(struct rj_recovery *r, const struct rj_log_tail *tail)
{
	const struct rj_sbx *sbx = &r->facts.sbx;
	struct rj_log_tail saw = {.sequence = sbx->floor, .epoch = sbx->epoch};
	bool by = r->floors.seen.sequence > saw.sequence;

	if (by)
		saw = r->floors.seen;
	if (r->fallback_lost ||
		(tail->sequence >= saw.sequence && tail->epoch >= saw.epoch))
		return;
	r->gave_up = true;
	rj_recovery_say(r,
		"the log ends with segment %llu of epoch %llu, and %s saw segment %llu of epoch %llu; giving that up (--accept-loss)",
		(unsigned long long)tail->sequence,
		(unsigned long long)tail->epoch, by ? r->floors.by : "the volume",
		(unsigned long long)saw.sequence,
		(unsigned long long)saw.epoch);
}

static int read_log(struct rj_recovery *r, const struct rj_log_tail *resume,
	uint64_t upto, struct rj_error *err)
{
	bool accepted = loss_accepted(r);
	/* of the fallback file alone the judge says whether it is enough; what is read up to a
	 * base only was read whole before; what was written after the log was left is elsewhere */
	bool unasked = accepted || r->alone || r->forked ||
		       r->verdict.found & RJ_FOUND(RJ_IS_LEFT);
	const char *advice = r->opts->from    ? "run rjrecover without --from"
			     : r->opts->force ? "rjrecover -f --accept-loss goes on without"
					      : NULL;
	struct rj_log_read_opts o = {
		.floor = accepted ? 0 : r->facts.sbx.floor,
		.seen = unasked || upto ? NULL : &r->floors.seen,
		.seen_by = r->floors.by,
		.seen_cause = r->opts->from ? "it was saved before that" : NULL,
		.seen_advice = advice,
		.epoch = r->facts.sbx.epoch,
		.resume = resume,
		.upto = upto,
		.progress = gather_progress,
		.progress_arg = r,
		.retry_ms = r->opts->retry_ms,
	};
	struct rj_log_summary before = r->report->log;
	int rc;

	rc = rj_log_read(r->merged ? r->merged : r->store, &r->id, &o,
		take_segment, r, &r->report->log, err);
	if (resume) { /* the report is about the whole reading */
		r->report->log.start = before.start;
		r->report->log.first = before.first;
		r->report->log.segments += before.segments;
		r->report->log.bytes += before.bytes;
	}
	if (rc == -RJ_E_GAP && r->opts->from) {
		rj_fail_suffix(err, ": it was saved before that, or is not whole: run rjrecover without --from");
		err->code = RJ_E_REFUSED; /* the log itself is not lost by that */
		return -RJ_E_REFUSED;
	}
	if (rc == -RJ_E_NOTFOUND)
		return rj_fail(err, RJ_E_GAP,
			"%s: there is no log of this volume's journal at all",
			r->report->url);
	if (!rc && !r->ring)
		rc = rj_fail(err, RJ_E_CORRUPT,
			"%s: the log holds no journal blocks", r->report->url);
	if (!rc && accepted && !resume && !upto)
		say_lost(r, &r->report->log.tail);
	return rc;
}

/* Has a writer that is at work moved the log's tail over the segment that is missing? */
static bool moved_on(struct rj_recovery *r)
{
	struct rj_store *store = r->merged ? r->merged : r->store;
	struct rj_listing l = {0};
	struct rj_seghdr h;
	bool moved = !rj_listing_end(store, &r->id, false, r->opts->retry_ms, &l, NULL) && l.last &&
		     !rj_log_fetch_header(store, &r->id, l.last, &h, NULL) &&
		     h.oldest > r->report->log.bad_sequence;

	rj_listing_free(&l);
	return moved;
}

int rj_recovery_gather(struct rj_recovery *r, bool resume, struct rj_error *err)
{
	struct rj_log_tail tail = r->report->log.tail;
	unsigned tries;
	int rc;

	rc = read_log(r, resume ? &tail : NULL, 0, err);
	if (rc == -RJ_E_FOREIGN && rj_log_renamed(r->store, &r->id, r->opts->retry_ms)) {
		rj_recovery_drop_ring(r);
		rc = read_log(r, NULL, 0, err);
	}
	for (tries = 0; rc == -RJ_E_GAP && tries < AFRESH_MOST && moved_on(r); tries++) {
		rj_recovery_drop_ring(r);
		rc = read_log(r, NULL, 0, err);
	}
	while (!rc && unseen_recovery(r, &r->seen.newest)) {
		uint64_t before = r->seen.newest.sequence - 1, clean = r->seen.clean_epoch;

		rj_recovery_drop_ring(r);
		rc = read_log(r, NULL, before, err);
		if (r->seen.clean_epoch < clean) /* a fence after the base counts */
			r->seen.clean_epoch = clean;
	}
	return rj_recovery_not_alone(r, rc, err);
}

/* The journal must be the one that the superblock names, and the volume its
 * user: facts page, "replays the other volume's log into it". An internal
 * journal has neither. */
static int check_owner(struct rj_recovery *r, const struct rj_jbd2_sb *sb,
	struct rj_error *err)
{
	char a[RJ_UUID_TEXT], b[RJ_UUID_TEXT];
	uint32_t i;

	if (sb->block_size != r->facts.block_size)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: the journal's blocks have %u bytes, the volume's %u",
			r->report->url, sb->block_size, r->facts.block_size);
	if (r->report->placement == RJ_PLACE_INTERNAL)
		return 0;
	if (!rj_uuid_equal(sb->uuid, r->facts.journal_uuid))
		return rj_fail(err, RJ_E_FOREIGN,
			"%s: the log is of journal %s, the volume's is %s",
			r->report->url, rj_uuid_text(sb->uuid, a),
			rj_uuid_text(r->facts.journal_uuid, b));
	for (i = 0; i < sb->nr_users && i < 48; i++)
		if (rj_uuid_equal(sb->users[i], r->id.volume_uuid))
			return 0;
	/* one that names no volume, as another program may leave it: the user knows it */
	if (!sb->nr_users && r->opts->journal_device)
		return 0;
	return rj_fail(err, RJ_E_FOREIGN,
		"%s: the journal does not name volume %s as its user%s",
		r->report->url, rj_uuid_text(r->id.volume_uuid, a),
		sb->nr_users ? "" : ", nor any other; if it is this one, say so with -J device=");
}

static int ring_bio(struct rj_recovery *r, struct rj_error *err)
{
	if (!r->ring || r->log_bio)
		return 0;
	r->log_bio = rj_ring_bio(r->ring, r->report->url);
	if (!r->log_bio)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	r->sb_block = rj_jbd2_device_sb_block(r->ring->block_size);
	return 0;
}

int rj_recovery_plan(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_jbd2_scan_opts o = {
		.fs_blocks = r->facts.blocks,
		.device_blocks = r->facts.space,
		.verified = r->ring != NULL, /* by the remote log's chain */
		.born = r->facts.born,
		/* the ring may have taken its quarter: a quarter of what is left */
		.keep_bytes = rj_recovery_memory(r) / 4 * 3,
		.copies_of = 1024 / r->facts.block_size,
		.each_copy = r->store ? rj_recovery_logged : NULL,
		.arg = r,
	};
	int rc;

	if (!r->facts.meta_bg)
		o.groups = (struct rj_jbd2_groups){
			.first = r->facts.first_block,
			.group_blocks = r->facts.group_blocks,
			.cluster_bits = r->facts.cluster_bits,
			.desc_bytes = r->facts.desc_bytes,
			.descs = r->facts.desc_block,
		};
	if (r->plan && !r->ring_changed)
		return 0;
	rj_jbd2_plan_free(r->plan);
	r->plan = NULL;
	r->report->have_plan = r->found_logged = false;
	rc = ring_bio(r, err);
	if (rc)
		return rc;
	o.sb_block = r->sb_block;
	rc = rj_jbd2_scan(r->log_bio, &o, &r->plan, err);
	if (rc)
		return rc;
	r->report->plan = *rj_jbd2_plan_info(r->plan);
	r->report->have_plan = true;
	r->ring_changed = false;
	if (r->opts->planned)
		r->opts->planned(r->opts->arg, r->plan);
	return check_owner(r, &r->report->plan.sb, err);
}
