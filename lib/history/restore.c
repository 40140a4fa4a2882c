// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The base is copied, the log is applied to the copy, and the copy becomes a volume of its
 * own.
 */
#include "history/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ext4/renew.h"
#include "history/base/target.h"
#include "history/base/copy.h"
#include "history/download.h"
#include "history/new-volume.h"
#include "history/overlay.h"
#include "journal/move.h"
#include "os/fileio.h"

#define SUPER_AT 1024u
#define HEAD	 4096u /* the superblock is in it */

struct restoring {
	const struct rj_restore_opts *opts;
	const struct rj_base_facts *facts;
	const char *out; /* the new volume */
	int from, to; /* descriptors; -1 */
	struct rj_bio *fs; /* what the log is applied to; NULL: it is only read */
	struct rj_download *down; /* the base is at a store; NULL: FROM */
	bool made, device; /* OUT was changed; it is a block device */
	bool whole; /* it is a volume, without a journal */
	uint8_t super[1024]; /* the last one in the log */
	bool have_super;
};

static int copy_progress(void *arg, uint64_t done, uint64_t total)
{
	struct restoring *r = arg;

	if (!r->opts->progress)
		return 0;
	return r->opts->progress(r->opts->arg, 1, done, total);
}

static int log_progress(void *arg, uint64_t done, uint64_t total)
{
	struct restoring *r = arg;

	if (!r->opts->progress)
		return 0;
	return r->opts->progress(r->opts->arg, 2, done, total);
}

/* What comes before the rest; its superblock is that of an unfinished base. */
static int put_head(struct restoring *r, struct rj_error *err)
{
	uint8_t head[HEAD], sbx[RJ_SBX_BYTES];
	int rc = 0;

	if (r->down)
		memcpy(head, rj_download_head(r->down), sizeof(head));
	else
		rc = rj_pread_all(r->from, head, sizeof(head), 0, r->opts->base, err);
	if (rc)
		return rc;
	memcpy(sbx, head + SUPER_AT + RJ_SBX_OFFSET, sizeof(sbx));
	rj_sbx_base_put(sbx, &RJ_BASE_UNFINISHED);
	rj_super_extend(head + SUPER_AT, sbx);
	rc = rj_pwrite_all(r->to, head, sizeof(head), 0, r->out, err);
	return rc ? rc : rj_fsync(r->to, r->out, err);
}

static int copy_base(struct restoring *r, struct rj_error *err)
{
	const struct rj_restore_opts *o = r->opts;
	struct rj_copy c = {
		.from = o->base,
		.to = o->out,
		.begin = HEAD,
		.bytes = r->facts->blocks * r->facts->block_size,
		.progress = copy_progress,
		.arg = r,
	};
	int rc = rj_base_create(o->out, c.bytes, &r->to, err);

	r->device = rj_target_is_device(o->out);
	r->made = r->to >= 0 && (!rc || !r->device);
	if (rc)
		return rc;
	c.from_fd = r->from;
	c.to_fd = r->to;
	rc = put_head(r, err);
	if (rc)
		return rc;
	if (r->down)
		return rj_download_copy(r->down, r->to, o->out, copy_progress, r, err);
	return rj_copy_share(&c) ? 0 : rj_copy_sparse(&c, NULL, err);
}

static int grow(void *arg, uint64_t end, uint64_t to, struct rj_error *err)
{
	struct restoring *r = arg;
	uint64_t bs = r->facts->block_size;

	if (!r->opts->serve)
		return r->out ? rj_target_grow(r->fs, r->to, r->out, end * bs, to * bs, err) : 0;
	return r->down ? rj_target_grow(r->fs, r->opts->scratch, RJ_SCRATCH_NAME, end * bs,
				 to * bs, err)
		       : rj_overlay_grow(r->fs, end, to, err);
}

static int walk(struct restoring *r, struct rj_history_report *report, struct rj_error *err)
{
	const struct rj_restore_opts *o = r->opts;
	const struct rj_history_opts h = {
		.base = r->facts->record,
		.fs_blocks = r->facts->blocks,
		.at = o->at,
		.until_break = o->until_break,
		.fs = r->fs,
		.super = r->super,
		.have_super = &r->have_super,
		.grow = grow,
		.progress = log_progress,
		.arg = r,
	};
	struct rj_base_log log;
	int rc;

	r->have_super = false;
	rc = rj_base_log_open(r->facts, o->url, o->keyfile, &log, err);
	if (!rc && o->at.kind == RJ_AT_LATEST)
		rc = rj_base_log_check_end(r->facts, &log,
			"; --at=TIME or --at=segment:NUMBER restores what is there", err);
	if (!rc)
		rc = rj_history_walk(log.store, &log.id, &h, report, err);
	rj_base_log_close(&log);
	return rc;
}

static int open_target(struct restoring *r, struct rj_error *err)
{
	const struct rj_restore_opts *o = r->opts;
	int rc;

	if (o->serve && r->down) {
		rc = rj_download_scratch(
			r->down, r->facts, o->scratch, copy_progress, r, err);
		if (rc)
			return rc;
		r->fs = rj_bio_new_fd(o->scratch, RJ_SCRATCH_NAME, err);
	} else if (o->serve) {
		r->fs = rj_overlay_new(r->from, o->scratch, r->facts->block_size,
			r->facts->blocks, o->base, err);
	} else {
		rc = copy_base(r, err);
		if (rc)
			return rc;
		r->fs = rj_bio_new_fd(r->to, r->out, err);
		if (r->fs)
			rj_bio_use_direct(r->fs);
	}
	return r->fs ? 0 : err ? -(int)err->code : -RJ_E_NOMEM;
}

/* A file ends where the volume does in this moment: a resize may have set up groups that its
 * superblock does not have yet. */
static int cut_to(struct restoring *r, uint64_t bytes, struct rj_error *err)
{
	if (r->opts->serve)
		r->fs->size_bytes = bytes;
	else if (!r->device && ftruncate(r->to, (off_t)bytes))
		return rj_fail_errno(err, errno, "%s: cannot size", r->out);
	return 0;
}

static int serve(struct restoring *r, struct rj_error *err)
{
	int rc = r->opts->serve(r->opts->arg, r->fs, &r->out, err);

	if (rc)
		return rc;
	r->to = open(r->out, O_RDWR | O_CLOEXEC);
	return r->to < 0 ? rj_fail_errno(err, errno, "%s: cannot open", r->out) : 0;
}

/* What can be known before the work. */
static int check_journal(const struct restoring *r, struct rj_error *err)
{
	const struct rj_journal_opts *j = r->opts->journal;
	const struct rj_base_facts *f = r->facts;
	uint32_t blocks;
	int rc;

	if (!j || j->placement == RJ_PLACE_NONE)
		return 0;
	rc = rj_attach_blocks(j, f->block_size, f->blocks, &blocks, err);
	if (!rc && j->placement == RJ_PLACE_INTERNAL && blocks >= f->blocks)
		rc = rj_fail(err, RJ_E_INVAL,
			"-J: a journal of %u blocks in a volume of %llu: give a smaller size=",
			blocks, (unsigned long long)f->blocks);
	if (rc || j->placement != RJ_PLACE_REMOTE)
		return rc;
	rc = rj_attach_check(j, true, err);
	return rc ? rc : rj_attach_check_fallback(j, f->block_size, blocks, err);
}

static int give_journal(struct restoring *r, struct rj_error *err)
{
	struct rj_move_opts to = {0};
	struct rj_move_report report;
	int rc;

	if (!r->opts->journal || r->opts->journal->placement == RJ_PLACE_NONE)
		return 0;
	to.to = *r->opts->journal;
	rc = rj_move(r->out, &to, &report, err);
	return rc ? rj_fail_prefix(err,
			    "%s: restored, and left there, but without the journal that -J asks for (rjtune -J gives it one)",
			    r->out)
		  : 0;
}

static int restore(struct restoring *r, struct rj_history_report *report,
	struct rj_error *err)
{
	int rc = open_target(r, err);

	if (!rc)
		rc = walk(r, report, err);
	if (!rc)
		rc = cut_to(r, report->blocks * r->facts->block_size, err);
	if (!rc && r->opts->serve)
		rc = serve(r, err);
	rj_bio_free(r->fs);
	if (!rc)
		rc = rj_new_volume(r->facts, r->out, &r->to, r->have_super ? r->super : NULL,
			r->opts->verify, err);
	r->whole = !rc;
	if (!rc)
		rc = give_journal(r, err);
	return rc;
}

static bool on_device(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISBLK(st.st_mode);
}

int rj_history_restore(const struct rj_restore_opts *opts,
	struct rj_base_facts *facts, struct rj_history_report *report,
	struct rj_error *err)
{
	struct restoring r = {
		.opts = opts, .facts = facts, .out = opts->out, .from = -1, .to = -1};
	int rc, rc2;

	memset(report, 0, sizeof(*report));
	memset(facts, 0, sizeof(*facts));
	rc = rj_base_or_download(opts->base, opts->keyfile, facts, &r.from, &r.down, err);
	if (!rc)
		rc = check_journal(&r, err);
	/* what is on a device is not given up for a moment that cannot be reached */
	if (!rc && opts->out && on_device(opts->out))
		rc = walk(&r, report, err);
	if (!rc)
		rc = opts->out || opts->serve ? restore(&r, report, err)
			       : walk(&r, report, err);
	rc2 = rj_close(&r.to, r.out, rc ? NULL : err);
	rj_close(&r.from, opts->base, NULL); /* only read */
	rj_download_free(r.down);
	if (!rc)
		rc = rc2;
	if (rc && r.made && !r.whole)
		rj_base_discard(opts->out, err);
	return rc;
}
