// SPDX-License-Identifier: LGPL-2.1-or-later
/* The order of a recovery's steps, and which failures may fall back. */
#include "recover/recover.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext4/check.h"
#include "journal/move.h"
#include "os/rundir.h"
#include "recover/judge.h"
#include "recover/saved.h"
#include "util/log.h"

const char *rj_outcome_name(enum rj_outcome outcome)
{
	static const char *const names[] = {
		[RJ_OUTCOME_FAILED] = "failed",
		[RJ_OUTCOME_CLEAN] = "clean",
		[RJ_OUTCOME_REPLAYED] = "replayed",
		[RJ_OUTCOME_RESET] = "reset",
		[RJ_OUTCOME_FSCK] = "fsck",
		[RJ_OUTCOME_WOULD_REPLAY] = "would-replay",
		[RJ_OUTCOME_WOULD_RESET] = "would-reset",
		[RJ_OUTCOME_WOULD_REFUSE] = "would-refuse",
	};

	if ((unsigned)outcome >= sizeof(names) / sizeof(names[0]))
		return "unknown";
	return names[outcome];
}

/* Where the journal is. The extension counts only while it agrees with the
 * standard fields: any other tool may have changed the journal since. */
static int find_placement(struct rj_recovery *r, struct rj_error *err)
{
	const struct rj_volume_facts *f = &r->facts;

	memcpy(r->id.volume_uuid, f->uuid, RJ_UUID_BYTES);
	if (!f->has_journal && !f->needs_recovery)
		return rj_fail(err, RJ_E_NOTRJ,
			"%s: the volume has no journal; use e2fsck", r->device);
	if (f->journal_inode) {
		r->report->placement = RJ_PLACE_INTERNAL;
		return 0;
	}
	if (f->has_sbx && f->sbx.placement == RJ_PLACE_REMOTE &&
		rj_uuid_equal(f->sbx.journal_uuid, f->journal_uuid)) {
		memcpy(r->id.journal_uuid, f->journal_uuid, RJ_UUID_BYTES);
		r->report->placement = RJ_PLACE_REMOTE;
		r->report->log_void = (r->volume_says.found & RJ_FOUND(RJ_IS_VOID)) != 0;
		return 0;
	}
	if (!f->has_sbx && f->sbx_error.code != RJ_E_NOTRJ)
		return rj_fail(err, f->sbx_error.code, "%s: %s", r->device,
			f->sbx_error.msg);
	r->report->placement = RJ_PLACE_DEVICE;
	return 0;
}

static int open_volume(struct rj_recovery *r, struct rj_error *err)
{
	int rc;

	/* Opening for writing once, without writing, finds out early whether
	 * the volume is mounted or held; a dry run may look at a busy one. */
	if (!r->opts->dry_run) {
		struct rj_volume *probe = NULL;

		rc = rj_volume_open(
			r->device, RJ_VOLUME_WRITE | RJ_VOLUME_SALVAGE, NULL,
			&probe, err);
		if (rc)
			return rc;
		rc = rj_volume_close(probe, err);
		if (rc)
			return rc;
	}
	rc = rj_volume_open(
		r->device, RJ_VOLUME_SALVAGE, NULL, &r->volume, err);
	if (rc)
		return rc;
	r->facts = *rj_volume_facts(r->volume);
	rc = rj_recovery_found(r, err);
	if (rc)
		return rc;
	rj_volume_judged(&r->facts, &r->volume_says);
	r->report->needs_recovery = r->facts.needs_recovery;
	r->orphans = r->facts.orphans;
	r->report->block_size = r->facts.block_size;
	return find_placement(r, err);
}

static int claim(struct rj_recovery *r, bool allow_break, struct rj_error *err)
{
	struct rj_log_claim_opts o = {
		.min_epoch = rj_recovery_min_epoch(r),
		.allow_break = allow_break,
		.retry_ms = r->opts->retry_ms,
	};
	int rc;

	rc = rj_log_claim(r->store, &r->id, &o, &r->writer, err);
	return rc ? rc : rj_recovery_claimed(r, err);
}

/* Read and judge the log without changing anything anywhere. */
static int inspect(struct rj_recovery *r, struct rj_error *err)
{
	int rc = 0;

	if (!r->report->log_void)
		rc = r->store ? rj_recovery_gather(r, false, err)
			      : rj_recovery_open_nonremote(r, r->volume, false, err);
	if (!rc && !r->report->log_void)
		rc = rj_recovery_plan(r, err);
	return rc ? rc : rj_recovery_judge_log(r, err);
}

static int take_over(struct rj_recovery *r, struct rj_error *err)
{
	bool holds = true;
	int rc = claim(r, false, err);

	if (!rc)
		rc = rj_log_still_contains(r->store, &r->id,
			&r->report->log.tail, r->writer, r->opts->retry_ms,
			&holds, err);
	if (!rc && !holds) /* what was read was never acknowledged: afresh */
		rj_recovery_drop_ring(r);
	if (!rc)
		rc = rj_recovery_gather(r, holds, err);
	if (!rc)
		rc = rj_recovery_plan(r, err);
	return rc;
}

/* The log is good: take it over, read what arrived since, replay. */
static int replay(struct rj_recovery *r, struct rj_error *err)
{
	int rc = r->store ? 0 : rj_recovery_close_nonremote(r, err);

	if (!rc)
		rc = rj_recovery_hold(r, r->opts->undo_file, err);
	if (!rc && r->store && !r->alone)
		rc = take_over(r, err);
	if (!rc && r->store)
		rc = rj_recovery_judge_log(r, err);
	if (!rc)
		rc = rj_recovery_replay(r, err);
	if (rc)
		return rc;
	if (r->report->plan.damage != RJ_JBD2_SOUND)
		r->report->fsck_status |= RJ_FSCK_CORRECTED;
	r->report->outcome = r->report->plan.empty ? RJ_OUTCOME_RESET
						   : RJ_OUTCOME_REPLAYED;
	if (r->alone)
		rj_recovery_say(r,
			"recovered from the fallback file alone: run rjrecover again when the store is back, before the volume is mounted");
	else if (r->fallback_lost || r->gave_up)
		rj_recovery_say(r,
			"segments that were acknowledged may be missing: run e2fsck -f on the volume");
	return 0;
}

/* Give up the log as it is, with a BREAK if ALLOW_BREAK: it begins again, and
 * nothing is replayed. */
static int begin_anew(
	struct rj_recovery *r, bool allow_break, struct rj_error *err)
{
	int rc;

	if (r->opts->dry_run) {
		r->report->outcome = RJ_OUTCOME_WOULD_RESET;
		return 0;
	}
	rc = rj_recovery_hold(r, r->opts->undo_file, err);
	if (!rc)
		rc = claim(r, allow_break, err);
	if (!rc)
		rc = rj_recovery_renew_log(r, err);
	if (rc)
		return rc;
	r->report->outcome = RJ_OUTCOME_RESET;
	if (allow_break)
		rj_recovery_history_ends(r, "its log begins again");
	return 0;
}

/*
 * The log was emptied by the kernel that had the volume in use in the epoch that
 * its superblock names. Either the power went right then, and all is there; or the
 * volume was copied while it was mounted, and its blocks are of many moments.
 */
static void say_emptied(struct rj_recovery *r)
{
	if (r->store && !r->alone && r->facts.needs_recovery &&
		r->report->plan.empty &&
		r->seen.newest.epoch == r->facts.sbx.epoch)
		rj_recovery_say(r,
			"the volume was in use, but its log was emptied by an unmount or a freeze since; if this is a copy that was made while it was mounted, it is not whole: rjrecover -f --verify=full checks it");
}

/* A volume is marked with its epoch before it is mounted, and the log has no
 * block of that epoch: no commit came, or the store has lost all that did. */
static void say_nothing(struct rj_recovery *r)
{
	if (r->store && !r->alone && r->facts.needs_recovery &&
		r->facts.super == RJ_SUPER_GOOD &&
		r->seen.newest.epoch < r->facts.sbx.epoch)
		rj_recovery_say(r,
			"the log holds nothing of the last mount (epoch %llu); if anything was written then, the store has lost it",
			(unsigned long long)r->facts.sbx.epoch);
}

/* Nothing here tells a host that is no more from one that still has the volume,
 * or the original of this copy, in use: say which writer this stops. */
static void say_other_host(struct rj_recovery *r)
{
	char who[RJ_LOG_OTHER_BYTES];

	if (r->store && !r->alone &&
		rj_log_other_writer(r->store, &r->id, r->seen.newest.epoch,
			r->seen.newest.time_ns, who)[0])
		rj_recovery_say(r,
			"the log was last written %s: if that still has the volume in use, or the original of this copy, it loses its journal to this recovery",
			who);
}

static int replay_log(struct rj_recovery *r, struct rj_error *err)
{
	say_emptied(r);
	say_nothing(r);
	say_other_host(r);
	if (!r->opts->dry_run)
		return replay(r, err);
	r->report->outcome = r->report->plan.empty ? RJ_OUTCOME_WOULD_RESET
						   : RJ_OUTCOME_WOULD_REPLAY;
	return 0;
}

static void say_clean(struct rj_recovery *r)
{
	r->report->outcome = RJ_OUTCOME_CLEAN;
	if (r->alone)
		rj_recovery_say(r,
			"the fallback file %s keeps what the store lacks until that is back (if it is lost for good, rjtune --accept-loss gives this journal up)",
			r->facts.sbx.fallback);
}

/* The log can be used, or begins again: do what the judge said. */
static int act(struct rj_recovery *r, struct rj_error *err)
{
	switch (r->verdict.kind) {
	case RJ_VERDICT_CLEAN:
		say_clean(r);
		return 0;
	case RJ_VERDICT_RENEW:
		return begin_anew(r, r->report->log_void, err);
	case RJ_VERDICT_PART:
		return rj_recovery_part(r, err);
	default:
		return replay_log(r, err);
	}
}

/* What failed is not the log. */
static int say_unchanged(struct rj_recovery *r, int rc, struct rj_error *err)
{
	if (err->cause == RJ_CAUSE_SETTINGS && !r->held)
		rj_fail_suffix(err, "; nothing was changed");
	return rc;
}

/* e2fsck may make a backup the primary, and with the backup's epoch the volume would be taken for
 * an older copy: give the extension to all copies first. A replay has done that. */
static int keep_epoch(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_volume_patch p = {.set_sbx = true};
	struct rj_volume *v = NULL;
	int rc, rc2;

	if (!r->check_all || r->report->outcome != RJ_OUTCOME_CLEAN || !r->store || r->alone)
		return 0;
	rc = rj_volume_open(r->device, RJ_VOLUME_WRITE, r->opts->undo_file, &v, err);
	if (!rc) {
		p.sbx = rj_volume_facts(v)->sbx;
		rc = rj_volume_patch(v, &p, err);
	}
	rc2 = rj_volume_close(v, rc ? NULL : err);
	return rc ? rc : rc2;
}

static int check_result(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_error orphans;
	int rc;

	if (r->opts->dry_run && r->check_all)
		rj_recovery_say(r, "%s: e2fsck is to check the whole volume",
			rj_recovery_why_check(r));
	if (r->opts->dry_run || r->report->outcome == RJ_OUTCOME_FSCK)
		return 0;
	if (r->check_all) {
		if (r->proven)
			rj_recovery_history_ends(r, "e2fsck checks the whole volume");
	} else if (r->orphans && rj_recovery_leaves_orphans(r)) {
		r->report->orphans_left = true;
		rj_recovery_say(r,
			"orphan inodes are left to the next mount, so that a history of the volume goes on");
	} else if (r->orphans && rj_recovery_orphans(r, NULL, &orphans)) {
		/* the next mount does what fails here */
		rj_recovery_say(r, "%s", orphans.msg);
	}
	if (r->report->outcome == RJ_OUTCOME_CLEAN && !r->opts->check_clean && !r->check_all)
		return 0;
	rc = keep_epoch(r, err);
	if (rc)
		return rc;
	rc = r->check_all && r->opts->yes ? rj_recovery_verified_e2fsck(r, err)
					  : rj_recovery_check(r, err);
	if (rc == -RJ_E_CORRUPT)
		rj_recovery_damaged(r);
	if (rc)
		rj_fail_prefix(err, "the check afterwards failed%s",
			rc == -RJ_E_CORRUPT && !r->opts->yes ? " (rjrecover -y repairs)" : "");
	return rc;
}

static void release(struct rj_recovery *r)
{
	rj_log_writer_free(r->writer);
	rj_recovery_drop_ring(r);
	rj_recovery_close_nonremote(r, NULL);
	free(r->device_path);
	rj_recovery_close_fallback(r);
	rj_store_close(r->store);
	rj_log_sealing_free(&r->sealing);
	rj_volume_close(r->volume, NULL);
}

static void tell_move(void *arg, const char *line)
{
	rj_recovery_say(arg, "a move of the journal was cut off: %s", line);
}

/* A dry run may look at a volume in use; what it says then is no advice. */
static void say_in_use(struct rj_recovery *r)
{
	if (r->opts->dry_run && rj_rundir_of(r->device, r->facts.uuid, NULL))
		rj_recovery_say(r,
			"an rjournald serves its journal now: this is what a crash at this moment would need");
}

/* A move of the journal that was cut off is finished, or taken back, first:
 * until then it may not even be known where the journal is. */
static int resume_move(struct rj_recovery *r, struct rj_error *err)
{
	const char *devices[] = {r->opts->journal_device, NULL};
	struct rj_move_opts o = {
		.dry_run = r->opts->dry_run,
		.devices = devices,
		.retry_ms = r->opts->retry_ms,
		.say = tell_move,
		.arg = r,
	};
	struct rj_move_report report;
	int rc;

	if (!rj_move_pending(r->device))
		return 0;
	r->proven = false;
	rc = rj_move_resume(r->device, &o, &report, err);
	if (!rc && report.outcome != RJ_MOVED_NOTHING && !o.dry_run)
		r->report->fsck_status |= RJ_FSCK_CORRECTED;
	if (!rc && report.warning[0])
		rj_recovery_say(r, "%s", report.warning);
	return rc;
}

static int open_log(struct rj_recovery *r, struct rj_error *err)
{
	int rc = 0;

	if (r->report->placement == RJ_PLACE_REMOTE) {
		rc = rj_recovery_open_store(r, err);
		if (!rc)
			rc = rj_recovery_open_fallback(r, err);
	}
	return rc;
}

/* The volume is as it is to be: look at it, and note how it was left. */
static int finish(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_error why;
	int rc = 0;

	/* replay brings back the superblock of before: with the intent */
	if (r->report->outcome == RJ_OUTCOME_REPLAYED)
		rc = resume_move(r, err);
	if (!rc && r->report->placement == RJ_PLACE_REMOTE) {
		rj_volume_close(r->volume, NULL);
		r->volume = NULL;
		rc = rj_recovery_settle_fallback(r, err);
	}
	if (!rc)
		rc = check_result(r, err);
	if (!rc && rj_recovery_note_end(r) && rj_recovery_put_emptied(r, &why))
		rj_recovery_history_ends(r, why.msg);
	return rc;
}

/* The log cannot be used, as ERR says, and the user gives it up. */
static int give_up(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_error cause = *err;
	int rc;

	rj_recovery_close_nonremote(r, NULL);
	rc = rj_recovery_hold(r, r->opts->undo_file, err);
	if (rc)
		return rc;
	if (r->report->placement == RJ_PLACE_REMOTE)
		return rj_recovery_fsck(r, &cause, err);
	return rj_recovery_fsck_nonremote(r, &cause, err);
}

/* A step failed with ERR before the volume was changed, or on the way. */
static int fail(struct rj_recovery *r, int rc, struct rj_error *err)
{
	bool unreadable = rj_recovery_unreadable(r, err);

	if (unreadable)
		rc = rj_recovery_judge_failure(r, err);
	if (!rc)
		return give_up(r, err);
	if (unreadable && r->opts->dry_run)
		r->report->outcome = RJ_OUTCOME_WOULD_REFUSE;
	if (unreadable || rc == -RJ_E_REFUSED)
		r->report->fsck_status |= RJ_FSCK_UNCORRECTED;
	return unreadable ? rc : say_unchanged(r, rc, err);
}

static int run(struct rj_recovery *r, struct rj_error *err)
{
	int rc = resume_move(r, err);
	bool opened = false;

	if (!rc)
		rc = open_volume(r, err);
	opened = !rc;
	if (!rc)
		say_in_use(r);
	if (!rc)
		rc = rj_recovery_judge_volume(r, err);
	if (!rc)
		rc = open_log(r, err);
	if (!rc)
		rc = inspect(r, err);
	if (!rc)
		rc = act(r, err);
	if (rc && opened)
		return fail(r, rc, err);
	if (rc)
		return say_unchanged(r, rc, err);
	return finish(r, err);
}

static int recover(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_recover_report *report = r->report;
	int rc = run(r, err);

	if (r->floors.seen.sequence && !r->alone &&
		(report->outcome == RJ_OUTCOME_REPLAYED ||
			report->outcome == RJ_OUTCOME_RESET ||
			report->outcome == RJ_OUTCOME_FSCK))
		rj_floor_forget(r->id.journal_uuid);
	if (rc == -RJ_E_CANCELLED)
		report->fsck_status |= RJ_FSCK_CANCELLED;
	else if (rc && !(report->fsck_status & RJ_FSCK_UNCORRECTED))
		report->fsck_status |= RJ_FSCK_ERROR;
	release(r);
	return rc;
}

/* A daemon that was stopped while its store was away has saved the journal: that is not lost. */
static void tell_saved(const struct rj_recovery *r)
{
	char saved[RJ_SAVE_DIR_BYTES + 1];

	if (!r->opts->from && rj_recover_saved(&r->facts, saved))
		rj_log(RJ_LOG_WARNING,
			"%s: its journal was saved to %s when its daemon was stopped: rjrecover -p --from=%s %s brings it into the volume",
			r->device, saved, saved, r->device);
}

int rj_recover(const char *device, const struct rj_recover_opts *opts,
	struct rj_recover_report *report, struct rj_error *err)
{
	struct rj_recover_report parted = {0};
	struct rj_recovery r = {
		.device = device,
		.opts = opts,
		.report = report,
		.device_fd = -1,
	}, again = r;
	struct rj_error own, later;
	bool renamed;
	int rc, rc2;

	memset(report, 0, sizeof(*report));
	/* the steps read back what kind of failure it was */
	if (!err)
		err = &own;
	rc = recover(&r, err);
	if (rc && report->placement == RJ_PLACE_REMOTE && r.facts.needs_recovery)
		tell_saved(&r);
	renamed = !rj_uuid_equal(r.facts.uuid, r.id.volume_uuid);
	again.forked = r.verdict.found & RJ_FOUND(RJ_IS_LEFT) &&
		       (report->outcome == RJ_OUTCOME_REPLAYED ||
			       report->outcome == RJ_OUTCOME_RESET);
	if (opts->dry_run || r.report->placement != RJ_PLACE_REMOTE || r.alone ||
		!((renamed && !rc) || again.forked))
		return rc;
	/* it has all that is in the log of its old UUID, or that its volume left, and is parted
	 * from that log; from the latter also if the check afterwards failed, as the next recovery
	 * would not know of it */
	again.report = &parted;
	again.said = r.said;
	rc2 = recover(&again, rc ? &later : err);
	report->fsck_status |= parted.fsck_status;
	report->epoch = parted.epoch;
	return rc ? rc : rc2;
}
