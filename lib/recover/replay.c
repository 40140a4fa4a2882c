// SPDX-License-Identifier: LGPL-2.1-or-later
/* The replay proper: blocks first, then the log, the superblock last. */
#include <string.h>

#include "recover/session.h"

static int replay_progress(void *arg, uint64_t done, uint64_t total)
{
	struct rj_recovery *r = arg;

	if (!r->opts->progress)
		return 0;
	return r->opts->progress(r->opts->arg, RJ_PHASE_REPLAY, done, total);
}

/* (Features, UUIDs, users are kept, the sequence moved on.) */
int rj_recovery_put_emptied(struct rj_recovery *r, struct rj_error *err)
{
	uint32_t bs = r->ring->block_size;
	uint32_t sb_block = rj_jbd2_device_sb_block(bs);
	struct rj_seg_run run = {.block = 0, .count = sb_block + 1};
	struct rj_log_append a = {
		.body = {.block_size = bs, .journal_blocks = r->ring->blocks},
		.runs = &run,
		.run_count = 1,
		.ring = r->ring->data,
		.base = true,
		.recovered = true,
	};
	int rc;

	rc = rj_jbd2_sb_make_empty(r->ring->data + (size_t)sb_block * bs,
		r->report->plan.next_tid, err);
	if (!rc)
		rc = rj_log_append_within(r->writer, &a, r->opts->retry_ms, err);
	if (rc)
		return rj_fail_prefix(err,
			"%s: the log was replayed but cannot be marked empty",
			r->report->url);
	return 0;
}

/*
 * The superblock last. Replay restores the logged copy of block 0 with an
 * older extension, so a remote volume's is carried forward together with the
 * flag, and the device number it was served at, which means nothing now.
 */
static int mark_volume(
	struct rj_recovery *r, struct rj_volume *v, struct rj_error *err)
{
	struct rj_volume_patch p = {
		.set_needs_recovery = true,
		.needs_recovery = false,
		/* libext2fs, which sums them up, would not open it */
		.set_free_counts =
			rj_volume_facts(v)->super == RJ_SUPER_GOOD,
		/* a cut before the check is over must not hide that it is due */
		.set_error_flag =
			r->report->plan.sb.fs_errno != 0 || r->check_all,
		.undo_unmount = r->verdict.found & RJ_FOUND(RJ_IS_SAME_UNMOUNT),
		/* e2fsck -fy may make a backup the primary: with an older epoch the volume
		 * would be taken for an older copy */
		.primary_only = !r->check_all,
	};

	if (r->writer) {
		p.set_sbx = true;
		p.sbx = r->facts.sbx;
		p.sbx.epoch = rj_log_writer_epoch(r->writer);
		p.sbx.floor = rj_log_writer_tail(r->writer)->sequence;
		p.set_journal = true;
		p.has_journal = true;
		p.journal_device = RJ_JOURNAL_DEVICE_REMOTE;
		memcpy(p.journal_uuid, r->facts.journal_uuid, RJ_UUID_BYTES);
	}
	/* from the fallback file alone: the log at the store, as it is, must not
	 * be replayed over this; the next run that reaches it begins again */
	if (r->alone) {
		p.set_sbx = true;
		p.sbx = r->facts.sbx;
		p.sbx.incompat |= RJ_SBX_INCOMPAT_LOG_VOID;
		p.set_journal = true;
		p.has_journal = true;
		p.journal_device = RJ_JOURNAL_DEVICE_REMOTE;
		memcpy(p.journal_uuid, r->facts.journal_uuid, RJ_UUID_BYTES);
	}
	return rj_volume_patch(v, &p, err);
}

/*
 * A change of the label is in the log, together with the backup superblock as the
 * kernel knew it: the mark in that is an older one, as is the place of a log that was moved.
 * Were it replayed, and the recovery cut after it, the volume would be taken for an older copy.
 */
static void keep_mark(struct rj_recovery *r)
{
	uint32_t bs = r->ring->block_size;
	uint32_t at = rj_jbd2_plan_where(r->plan, r->facts.mark_at / bs);

	if (r->facts.mark_at && at)
		rj_volume_mark_copy(&r->facts,
			r->ring->data + (size_t)at * bs +
				r->facts.mark_at % bs);
}

static int replay_into(
	struct rj_recovery *r, struct rj_volume *v, struct rj_error *err)
{
	/* nothing to replay into a clean volume, as after an error in the journal: the volume knows
	 * of it before the log forgets it, and knows the epoch of the log's end */
	bool marked = r->report->plan.empty && !r->facts.needs_recovery;
	int rc = 0;

	if (!r->ring)
		rc = rj_recovery_open_nonremote(r, v, true, err);
	if (!rc && marked)
		rc = mark_volume(r, v, err);
	if (!rc && r->ring && !r->report->plan.empty) {
		rj_recovery_prove(r);
		keep_mark(r);
	}
	if (!rc && !r->report->plan.empty)
		rc = rj_jbd2_replay(r->plan, r->log_bio, rj_volume_bio(v),
			replay_progress, r, err);
	if (!rc && !r->alone)
		rc = r->ring ? rj_recovery_put_emptied(r, err)
			     : rj_recovery_empty_nonremote(r, err);
	if (!rc)
		rc = rj_volume_reload(v, err);
	if (!rc)
		rc = mark_volume(r, v, err);
	if (!rc) {
		memcpy(r->facts.uuid, rj_volume_facts(v)->uuid, RJ_UUID_BYTES);
		r->orphans = rj_volume_facts(v)->orphans;
		r->check_all = !rj_volume_facts(v)->clean;
		rj_recovery_left(r, v);
	}
	return rc;
}

int rj_recovery_hold(struct rj_recovery *r, const char *undo_file, struct rj_error *err)
{
	uint8_t read[sizeof(r->found)];
	int rc = rj_volume_close(r->volume, err);

	r->held = true;
	r->volume = NULL;
	if (!rc)
		rc = rj_volume_open(r->device, RJ_VOLUME_WRITE | RJ_VOLUME_SALVAGE, undo_file,
			&r->volume, err);
	memcpy(read, r->found, sizeof(read));
	if (!rc)
		rc = rj_recovery_found(r, err);
	if (!rc && memcmp(read, r->found, sizeof(read)) != 0)
		rc = rj_fail(err, RJ_E_BUSY,
			"%s: the volume changed since it was read: run rjrecover again; nothing was changed",
			r->device);
	return rc;
}

int rj_recovery_replay(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_volume *v = r->volume;
	int rc = replay_into(r, v, err);

	r->volume = NULL;
	return rj_recovery_close(r, v, rc, err);
}
