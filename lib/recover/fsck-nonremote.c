// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An internal or external log that cannot be used: save it as it is, give it
 * up, and let e2fsck see to the volume, verified.
 *
 * The volume has no extension of ours to remember that a check is under way,
 * so the superblock's own error flag does: set, together with clearing
 * needs_recovery, before the log is emptied; e2fsck clears it at its end. The
 * other order would leave, after a cut, a volume that needs recovery with a
 * log that says there is nothing to replay.
 */
#include "recover/session.h"

static int give_up_log(
	struct rj_recovery *r, struct rj_volume *v, struct rj_error *err)
{
	struct rj_volume_patch p = {
		.set_needs_recovery = true,
		.needs_recovery = false,
		.set_error_flag = true,
		.primary_only = true,
	};
	int rc;

	rc = rj_recovery_open_nonremote(r, v, true, err);
	/* gone for good, or not ours: there is nothing to save or to empty */
	if ((rc == -RJ_E_NOTFOUND || rc == -RJ_E_FOREIGN) &&
		r->report->placement == RJ_PLACE_DEVICE)
		return rj_volume_patch(v, &p, err);
	if (rc && rc != -RJ_E_CORRUPT)
		return rc;
	if (r->log_bio) {
		rc = rj_recovery_save_nonremote(r, err);
		if (rc)
			return rc;
	}
	rc = rj_volume_patch(v, &p, err);
	if (rc || !r->log_bio || !r->report->have_plan)
		return rc; /* e2fsck makes a new journal superblock itself */
	return rj_recovery_empty_nonremote(r, err);
}

int rj_recovery_fsck_nonremote(struct rj_recovery *r,
	const struct rj_error *cause, struct rj_error *err)
{
	struct rj_volume *v = r->volume;
	int rc;

	rj_recovery_say(r, "the log is not used: %s", cause->msg);
	rc = give_up_log(r, v, err);
	r->volume = NULL;
	rc = rj_recovery_close(r, v, rc, err);
	if (rc) {
		r->report->fsck_status |= RJ_FSCK_UNCORRECTED;
		return rc;
	}
	rc = rj_recovery_verified_e2fsck(r, err);
	if (rc) /* the first e2fsck may have cleared the flag */
		rj_recovery_damaged(r);
	else
		r->report->outcome = RJ_OUTCOME_FSCK;
	return rc;
}
