// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The log cannot be used: e2fsck on the whole volume, believed only when a
 * second, read-only e2fsck finds nothing. The log itself is kept.
 *
 * A log that was given up must never be replayed later, over a volume that
 * has moved on. So the extension says "void" before e2fsck starts, and stays
 * so until a base segment with an empty journal is the end of the log.
 */
#include <string.h>

#include "journal/attach.h"
#include "recover/session.h"

enum fallback_state {
	FSCK_CHECKING, /* the log is void, e2fsck has not been confirmed */
	FSCK_CHECKED,  /* the volume is good, the log is still void */
	FSCK_DONE,	   /* the log ends with a fresh journal */
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
		.set_journal = state == FSCK_DONE,
		.has_journal = true,
		.journal_device = RJ_JOURNAL_DEVICE_REMOTE,
	};
	int rc = 0;

	memcpy(p.journal_uuid, r->id.journal_uuid, RJ_UUID_BYTES);
	memcpy(p.sbx.journal_uuid,
		state == FSCK_DONE ? r->id.journal_uuid
				       : r->facts.journal_uuid,
		RJ_UUID_BYTES);
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
	if (!rc)
		r->facts.sbx = p.sbx;
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

	if (r->writer || !r->store || cause->code == RJ_E_UNREACHABLE ||
		cause->code == RJ_E_FOREIGN)
		return;
	if (rj_log_claim(r->store, &r->id, &o, &r->writer, &err)) {
		rj_recovery_say(r, "cannot take over the log: %s", err.msg);
		r->writer = NULL;
	} else if (rj_recovery_claimed(r, &err)) {
		rj_recovery_say(r, "%s", err.msg);
	}
}

/* A log of our own beside the foreign one: a new journal UUID. */
static int claim_new_log(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_log_claim_opts o = {
		.new_log = true,
		.retry_ms = r->opts->retry_ms,
	};
	int rc = rj_uuid_random(r->id.journal_uuid);

	if (rc)
		return rj_fail(err, -rc, "cannot make a random UUID");
	rc = rj_log_claim(r->store, &r->id, &o, &r->writer, err);
	if (!rc)
		r->report->epoch = rj_log_writer_epoch(r->writer);
	return rc;
}

int rj_recovery_renew_log(struct rj_recovery *r, struct rj_error *err)
{
	uint32_t next = r->report->have_plan ? r->report->plan.next_tid : 1;
	uint32_t blocks = r->facts.sbx.journal_blocks;
	int rc;

	rc = rj_journal_put_empty(r->writer, r->facts.block_size, blocks,
		r->id.journal_uuid, r->facts.uuid, next, err);
	if (rc)
		return rc;
	return patch_extension(r, FSCK_DONE, err);
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
	int rc;

	rj_recovery_say(r, "the log is not used: %s", cause->msg);
	fence_old_writer(r, cause);
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
	if (!r->writer && cause->code == RJ_E_FOREIGN)
		rc = claim_new_log(r, err);
	if (!rc && r->writer)
		return rj_recovery_renew_log(r, err);
	if (!rc)
		rj_recovery_say(r,
			"the journal server was not reached: run rjrecover again when it is back, before the volume is mounted; if it is gone for good: rjtune -f -J size=MB");
	return rc;
}
