// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The log cannot be used: e2fsck on the whole volume, believed only when a
 * second, read-only e2fsck finds nothing. The log itself is kept.
 *
 * A log that was given up must never be replayed later, over a volume that
 * has moved on. So the volume gets another journal UUID before e2fsck starts, and its extension
 * says "void" until the store has a log of that journal. The old log stays at the store as it
 * is, with a fence at its end if the store could be reached.
 */
#include <string.h>

#include "journal/attach.h"
#include "recover/session.h"

enum fallback_state {
	FSCK_CHECKING, /* the journal has no log, e2fsck has not been confirmed */
	FSCK_CHECKED,  /* the volume is good, the journal has no log yet */
	FSCK_DONE,	   /* the log holds a fresh journal */
};

/* Patch the extension, and close the volume: e2fsck must not find it open for writing. */
static int patch_extension(
	struct rj_recovery *r, enum fallback_state state, struct rj_error *err)
{
	struct rj_volume *v = r->volume; /* held, before e2fsck */
	struct rj_volume_patch p = {
		.set_sbx = true,
		.sbx = r->facts.sbx,
		/* from now on VOID says it; and e2fsck -z of 1.47 fails on a
		 * volume whose journal it believes it must recover */
		.set_needs_recovery = true,
		.needs_recovery = false,
		/* a cut must not hide that the check is due */
		.set_error_flag = r->check_all,
		.set_journal = true,
		.has_journal = true,
		.journal_device = RJ_JOURNAL_DEVICE_REMOTE,
	};
	int rc = 0;

	memcpy(p.journal_uuid, r->id.journal_uuid, RJ_UUID_BYTES);
	memcpy(p.sbx.journal_uuid, r->id.journal_uuid, RJ_UUID_BYTES);
	p.sbx.incompat &=
		~(RJ_SBX_INCOMPAT_LOG_VOID | RJ_SBX_INCOMPAT_CHECK_PENDING);
	if (state == FSCK_CHECKING)
		p.sbx.incompat |= RJ_SBX_INCOMPAT_CHECK_PENDING;
	if (state != FSCK_DONE)
		p.sbx.incompat |= RJ_SBX_INCOMPAT_LOG_VOID;

	if (!v)
		rc = rj_volume_open(r->device, RJ_VOLUME_WRITE | RJ_VOLUME_SALVAGE,
			r->opts->undo_file, &v, err);
	r->volume = NULL;
	if (rc)
		return rc;
	if (r->writer) {
		p.sbx.epoch = rj_log_writer_epoch(r->writer);
		p.sbx.floor = rj_log_writer_tail(r->writer)->sequence;
	}
	rc = rj_volume_patch(v, &p, err);
	if (!rc) {
		r->facts.sbx = p.sbx;
		memcpy(r->facts.journal_uuid, p.journal_uuid, RJ_UUID_BYTES);
	}
	return rj_recovery_close(r, v, rc, err);
}

/*
 * Shut out the old writer before anything is repaired, if the log can be
 * reached at all. A log that turned out to be another volume's is left alone:
 * its writer may be alive and right (a restored snapshot of this volume whose
 * journal serves another one now).
 */
static void fence_old_writer(
	struct rj_recovery *r, const struct rj_error *cause)
{
	struct rj_log_claim_opts o = {
		.min_epoch = rj_recovery_min_epoch(r),
		.allow_break = true,
		.retry_ms = r->opts->retry_ms,
	};
	struct rj_error err;

	if (!r->store || cause->code == RJ_E_UNREACHABLE || cause->code == RJ_E_FOREIGN)
		return;
	if (rj_log_claim(r->store, &r->id, &o, &r->writer, &err))
		rj_recovery_say(r, "cannot take over the log: %s", err.msg);
	else if (rj_recovery_claimed(r, &err))
		rj_recovery_say(r, "%s", err.msg);
	rj_log_writer_free(r->writer);
	r->writer = NULL;
}

/* The fallback file is of the journal OLD, which is left. OURS: no other volume has that journal;
 * what the file holds is kept under another name, and the next rjournald makes another file.
 * What stays in its place is not the volume's any more. */
static void leave_fallback(struct rj_recovery *r, const struct rj_log_id *old, bool ours)
{
	struct rj_sbx *sbx = &r->facts.sbx;
	char kept[RJ_FALLBACK_ASIDE_BYTES];
	struct rj_fallback_facts f = {0};
	struct rj_error err;

	if (!sbx->fallback[0])
		return;
	if (r->fallback.log)
		rj_fallback_facts(r->fallback.log, &f);
	if (ours && r->fallback.log && f.state != RJ_FALLBACK_IDLE) {
		if (rj_fallback_file_give_up(&r->fallback, kept, &err))
			rj_recovery_say(r, "%s", err.msg);
		else
			rj_recovery_say(r, "segments %llu to %llu are kept in %s",
				(unsigned long long)f.next, (unsigned long long)f.last, kept);
	}
	rj_recovery_close_fallback(r);
	if (ours && rj_fallback_file_remove(sbx->fallback, old, &err))
		rj_recovery_say(r, "%s", err.msg);
	sbx->fallback_empty = true;
	if (rj_fallback_check(sbx->fallback, &r->id, NULL, r->device, 0, &err)) {
		rj_recovery_say(r, "the volume has no fallback file now: %s", err.msg);
		memset(sbx->fallback, 0, sizeof(sbx->fallback));
		sbx->incompat &= ~(uint32_t)RJ_SBX_INCOMPAT_FALLBACK;
		sbx->fallback_empty = false;
		if (sbx->on_loss == RJ_LOSS_LOCAL)
			sbx->on_loss = RJ_LOSS_BLOCK;
	}
}

/* Is the volume parted from a log of which it has all? */
static bool has_all(const struct rj_recovery *r)
{
	return r->verdict.kind == RJ_VERDICT_PART &&
	       !(r->verdict.found & (RJ_FOUND(RJ_IS_AHEAD) | RJ_FOUND(RJ_IS_LEFT)));
}

/* Leave the log: the journal gets another UUID, and no log yet. OURS: as in leave_fallback(). */
static int leave_log(struct rj_recovery *r, bool ours, struct rj_error *err)
{
	struct rj_log_id old = r->id;
	char uuid[RJ_UUID_TEXT], known[RJ_KNOWN_END_BYTES];
	int rc = rj_uuid_random(r->id.journal_uuid);

	if (rc)
		return rj_fail(err, -rc, "cannot make a random UUID");
	rj_uuid_text(old.journal_uuid, uuid);
	if (!has_all(r))
		rj_recovery_say(r,
			"given up (--accept-loss): what was fsynced and is only in the log of journal %s at %s%s; that log stays until rjlog rm removes it",
			uuid, r->report->url, rj_recovery_known_end(r, known));
	else
		rj_recovery_say(r, "the log of journal %s at %s stays until rjlog rm removes it",
			uuid, r->report->url);
	memcpy(r->id.volume_uuid, r->facts.uuid, RJ_UUID_BYTES);
	leave_fallback(r, &old, ours);
	return 0;
}

/* A log of the journal that the volume has now. */
static int claim_new_log(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_log_claim_opts o = {
		.new_log = true,
		.retry_ms = r->opts->retry_ms,
	};
	int rc = rj_log_claim(r->store, &r->id, &o, &r->writer, err);

	if (!rc)
		r->report->epoch = rj_log_writer_epoch(r->writer);
	return rc;
}

int rj_recovery_renew_log(struct rj_recovery *r, struct rj_error *err)
{
	uint32_t next = r->report->have_plan ? r->report->plan.next_tid : 1;
	uint32_t blocks = r->facts.sbx.journal_blocks;
	int rc = 0;

	/* a cut must not leave a clean volume that does not know the epoch of its log's end */
	if (!(r->facts.sbx.incompat & RJ_SBX_INCOMPAT_LOG_VOID))
		rc = patch_extension(r, FSCK_CHECKED, err);
	if (rc)
		return rc;
	rc = rj_journal_put_empty(r->writer, r->facts.block_size, blocks,
		r->id.journal_uuid, r->facts.uuid, next, err);
	if (rc)
		return rc;
	return patch_extension(r, FSCK_DONE, err);
}

int rj_recovery_part(struct rj_recovery *r, struct rj_error *err)
{
	int rc;

	if (r->opts->dry_run) {
		r->report->outcome = RJ_OUTCOME_WOULD_RESET;
		return 0;
	}
	rc = rj_recovery_hold(r, r->opts->undo_file, err);
	if (!rc)
		rc = leave_log(r, false, err);
	if (!rc)
		rc = patch_extension(r, FSCK_CHECKED, err);
	if (!rc)
		rc = claim_new_log(r, err);
	if (!rc)
		rc = rj_recovery_renew_log(r, err);
	if (rc)
		return rc;
	r->report->outcome = RJ_OUTCOME_RESET;
	rj_recovery_history_ends(r, "the volume has a log of its own now");
	return 0;
}

int rj_recovery_verified_e2fsck(struct rj_recovery *r, struct rj_error *err)
{
	const char *const repair[] = {"-fy", NULL};
	const char *const repair_undo[] = {
		"-fy", "-z", r->opts->undo_file, NULL};
	const char *const verify[] = {"-fn", NULL};
	int status, rc;

	rj_recovery_say(r, "checking the whole volume with e2fsck");
	rc = rj_recovery_e2fsck(r, r->opts->undo_file ? repair_undo : repair,
		r->opts->quiet, &status, err);
	if (rc)
		return rc;
	r->report->fsck_status |= status & ~RJ_FSCK_UNCORRECTED;
	if (status & ~(RJ_FSCK_CORRECTED | RJ_FSCK_REBOOT |
			     RJ_FSCK_UNCORRECTED))
		return rj_fail(err, RJ_E_IO,
			"%s: e2fsck -fy failed with status %d", r->device,
			status);
	rj_recovery_say(r, "verifying with a second, read-only e2fsck");
	rc = rj_recovery_e2fsck(r, verify, true, &status, err);
	if (!rc)
		rc = rj_recovery_judge(r, "a second e2fsck", status, err);
	if (rc)
		return rj_fail_suffix(err, "; run e2fsck -f by hand, the log at %s is kept",
			r->report->url);
	r->check_all = false;
	r->report->fsck_status |= RJ_FSCK_CORRECTED;
	return 0;
}

int rj_recovery_fsck(struct rj_recovery *r, const struct rj_error *cause,
	struct rj_error *err)
{
	struct rj_error why = {0};
	int rc = 0;

	rj_recovery_say(r, "the log is not used: %s", cause->msg);
	if (!r->report->log_void) {
		fence_old_writer(r, cause);
		rc = leave_log(r, cause->code != RJ_E_FOREIGN, err);
	}
	if (!rc)
		rc = patch_extension(r, FSCK_CHECKING, err);
	if (!rc)
		rc = rj_recovery_verified_e2fsck(r, err);
	if (!rc)
		rc = patch_extension(r, FSCK_CHECKED, err);
	if (rc) {
		r->report->fsck_status |= RJ_FSCK_UNCORRECTED;
		return rc;
	}
	r->report->outcome = RJ_OUTCOME_FSCK;
	if (r->store && !claim_new_log(r, &why))
		return rj_recovery_renew_log(r, err);
	if (why.msg[0])
		rj_recovery_say(r, "%s", why.msg);
	rj_recovery_say(r,
		"the journal has no log yet: run rjrecover again when the store is back, before the volume is mounted; if the store is gone for good: rjtune --accept-loss -J size=MB");
	return 0;
}
