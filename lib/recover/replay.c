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

/* A base segment that holds the journal's two superblocks as they are in the
 * ring (features, UUIDs, users kept), emptied, the sequence moved on. */
static int put_emptied(struct rj_recovery *r, struct rj_error *err)
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
		rc = rj_log_append(r->writer, &a, err);
	if (rc)
		return rj_fail_prefix(err,
			"%s: the log was replayed but cannot be marked empty",
			r->report->url);
	return 0;
}

/* Replay restores the logged copy of block 0 with an older extension: carry
 * ours forward together with the flag. */
static int mark_volume(
	struct rj_recovery *r, struct rj_volume *v, struct rj_error *err)
{
	const struct rj_log_tail *tail = rj_log_writer_tail(r->writer);
	struct rj_volume_patch p = {
		.set_sbx = true,
		.sbx = r->facts.sbx,
		.set_needs_recovery = true,
		.needs_recovery = false,
		.set_free_counts = true,
		/* the device number it was served at means nothing now */
		.set_journal = true,
		.has_journal = true,
		.journal_device = RJ_JOURNAL_DEVICE_REMOTE,
		.set_error_flag = r->report->plan.sb.fs_errno != 0,
		.primary_only = true,
	};

	memcpy(p.journal_uuid, r->facts.journal_uuid, RJ_UUID_BYTES);
	p.sbx.epoch = rj_log_writer_epoch(r->writer);
	p.sbx.floor = tail->sequence;
	return rj_volume_patch(v, &p, err);
}

int rj_recovery_replay(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_volume *v = NULL;
	struct rj_error close_err;
	int rc;

	rc = rj_volume_open(
		r->device, RJ_VOLUME_WRITE, r->opts->undo_file, &v, err);
	if (rc)
		return rc;
	if (!r->report->plan.empty)
		rc = rj_jbd2_replay(r->plan, r->ring_bio, rj_volume_bio(v),
			replay_progress, r, err);
	if (!rc)
		rc = put_emptied(r, err);
	if (!rc)
		rc = rj_volume_reload(v, err);
	if (!rc)
		rc = mark_volume(r, v, err);
	if (rj_volume_close(v, &close_err) && !rc) {
		rc = -(int)close_err.code;
		if (err)
			*err = close_err;
	}
	return rc;
}
