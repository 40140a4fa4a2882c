// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A volume that says "clean", and a log that says "replay me". The kernel leaves
 * that when its unmount loses the journal (ext4/failed-unmount.c), and then the volume
 * needs recovery as after a crash. A copy that was made before the transactions, or
 * a volume that a tool changed after them, says the same, and must not get them.
 */
#include "recover/session.h"

#define NS_PER_S 1000000000ull

/* The copy of the superblock in the log, if there is one, is of the last mount. */
static int same_mount(struct rj_recovery *r, bool *same, struct rj_error *err)
{
	uint8_t raw[1024];
	int rc = rj_recovery_logged_super(r, raw, err);

	*same = rc || rj_volume_super_of_mount(r->volume, raw);
	return rc == -RJ_E_NOTFOUND ? 0 : rc;
}

/* The unmount came after all of the log (an older copy's was before some of it), and
 * in the epoch that wrote the log last. A copy that lacks what the log has dropped is
 * refused before, by its mark (older-copy.c). */
static bool after_the_log(const struct rj_recovery *r)
{
	const struct rj_volume_facts *f = &r->facts;

	return f->broken_unmount && f->super == RJ_SUPER_GOOD && r->store &&
	       r->latest_ns / NS_PER_S <= f->broken_unmount &&
	       r->newest.epoch >= f->sbx.epoch;
}

int rj_recovery_judge_clean(struct rj_recovery *r, struct rj_error *err)
{
	const struct rj_jbd2_info *info = &r->report->plan;
	bool same = false;
	int rc = 0;

	if (info->empty || (r->facts.needs_recovery && !r->broken_unmount))
		return 0;
	/* gather.c judged the age of what needs recovery only */
	if (r->opts->force)
		return r->store ? rj_recovery_judge_age(r, err) : 0;
	if (after_the_log(r))
		rc = same_mount(r, &same, err);
	if (rc)
		return rc;
	if (same) {
		if (!r->broken_unmount)
			rj_recovery_say(r,
				"the kernel could not empty the journal at the last unmount, but cleared needs_recovery: recovering as after a crash");
		r->broken_unmount = r->facts.needs_recovery = true;
		r->check_all = false; /* it set the flag; mark_volume() takes that back */
		r->report->needs_recovery = true;
		return 0;
	}
	if (r->fallback_lost)
		return 0;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: the volume says that it needs no recovery, but the log at %s holds transactions %u to %u: if this is an older copy of the volume, or another tool changed it since, they must not be replayed: put the volume itself back, or give the log up and keep the volume as it is (rjtune --accept-loss -J); if its last unmount lost the journal (I/O errors of the journal device in the kernel's log then, nothing since), rjrecover -f replays them, and e2fsck -f checks the result; nothing was changed",
		r->device, r->report->url, info->first_tid, info->last_tid);
}
