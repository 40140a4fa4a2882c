// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An older copy of a volume. A log holds what its own volume does not have yet,
 * and no more: for a copy that was made before the log's oldest segment moved,
 * what lies between is nowhere. Judged before anything is touched or claimed.
 *
 * Here the whole volume is old. A primary superblock that was put back alone, into a
 * volume that is not, is found in lib/ext4/super-stale.c.
 */
#include "format/mark.h"
#include "log/listing.h"
#include "recover/session.h"

/* The mark speaks for the volume only where the log holds something for it: of a log
 * that was emptied it tells that it was replayed, and e2undo(8) takes
 * back what e2fsck replayed, and not the mark. */
static bool vouched_for(const struct rj_recovery *r)
{
	return r->facts.mark && (r->newest.flags & RJ_SEG_F_MARKED) &&
	       r->newest.oldest < r->newest.sequence;
}

/* Every block that the log would replay was written after the last epoch that
 * the volume knows: of that epoch nothing is left. Its own mark may know better.
 * (A backup that is used as the superblock has an old epoch.) */
static int overtaken(struct rj_recovery *r, bool *yes, struct rj_error *err)
{
	uint64_t since;
	int rc;

	*yes = false;
	if (vouched_for(r) || r->facts.super != RJ_SUPER_GOOD ||
		r->first_epoch <= r->facts.sbx.epoch)
		return 0;
	/* a worker that took over from another cannot mark what is mounted */
	rc = rj_log_served_since(
		r->store, &r->id, r->first_epoch, 0, &since, err);
	*yes = since > r->facts.sbx.epoch;
	return rc;
}

static int refuse(const struct rj_recovery *r, bool older, struct rj_error *err)
{
	const struct rj_sbx *sbx = &r->facts.sbx;

	if (!older)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: the log at %s no longer holds what epoch %llu wrote, in which this copy of the volume was in use: it begins in epoch %llu; files that were fsynced then may be missing: -f --accept-loss goes on without, then run e2fsck -f; nothing was changed",
			r->device, r->report->url,
			(unsigned long long)sbx->epoch,
			(unsigned long long)r->first_epoch);
	return rj_fail(err, RJ_E_REFUSED,
		"%s: an older copy of the volume: it has what stood in the log at %s below segment %llu, and the log now begins with segment %llu; what lies between is in the volume that this is a copy of; copy that again, whole, at one moment; -f --accept-loss replays what there is, then run e2fsck -f; nothing was changed",
		r->device, r->report->url, (unsigned long long)r->facts.mark,
		(unsigned long long)r->newest.oldest);
}

int rj_recovery_judge_age(struct rj_recovery *r, struct rj_error *err)
{
	bool older = rj_mark_is_older_copy(r->facts.mark, &r->newest), other = false;
	int rc = 0;

	if (older) { /* or it was moved while the log was read */
		rj_volume_mark_again(r->device, &r->facts);
		older = rj_mark_is_older_copy(r->facts.mark, &r->newest);
	}
	/* without -f the epochs alone are judged in gather.c */
	if (!older && r->opts->force)
		rc = overtaken(r, &other, err);
	if (rc || (!older && !other))
		return rc;
	if (!r->opts->force || !r->opts->accept_loss)
		return refuse(r, older, err);
	if (r->age_said)
		return 0;
	r->age_said = true;
	rj_recovery_say(r,
		"replaying into an older copy of the volume (-f --accept-loss): the log at %s begins with segment %llu of epoch %llu, and what this copy lacks below that is lost; run e2fsck -f",
		r->report->url, (unsigned long long)r->report->log.start,
		(unsigned long long)r->first_epoch);
	return 0;
}

int rj_recovery_judge_left(struct rj_recovery *r, bool *parts, struct rj_error *err)
{
	char who[RJ_LOG_OTHER_BYTES];
	bool behind = false;
	int rc = 0;

	if (r->store && !r->alone)
		rc = rj_log_left_behind(r->store, &r->id, r->facts.sbx.epoch, &r->newest,
			r->opts->retry_ms, &behind, err);
	if (rc || !behind)
		return rc;
	*parts = r->opts->force && r->opts->accept_loss;
	if (*parts)
		return 0;
	rj_log_other_writer(
		r->store, &r->id, r->newest.epoch, r->newest.time_ns, who);
	return rj_fail(err, RJ_E_REFUSED,
		"%s: an older copy of the volume: it was left clean in epoch %llu, and another copy of it wrote the log at %s on in epoch %llu%s%s: use that one; if this copy is wanted as it is, rjrecover -f --accept-loss gives it a log of its own, without what was written since (with all of it, if rjournald served this copy itself, without rjrecover); nothing was changed",
		r->device, (unsigned long long)r->facts.sbx.epoch, r->report->url,
		(unsigned long long)r->newest.epoch, who[0] ? ", last " : "", who);
}

/* Its log was given up, maybe while the store was away: did another host go on with it? */
int rj_recovery_judge_void(struct rj_recovery *r, struct rj_error *err)
{
	uint64_t since = r->facts.sbx.epoch, n;
	struct rj_listing l = {0};
	struct rj_seghdr h = {0};
	int rc;

	if (r->opts->accept_loss)
		return 0;
	rc = rj_listing_end(r->store, &r->id, false, r->opts->retry_ms, &l, err);
	n = l.last;
	rj_listing_free(&l);
	if (rc)
		return rc;
	do { /* a recovery that was cut off leaves a fence, or its base */
		h.epoch = 0;
		if (n && rj_log_fetch_header(r->store, &r->id, n--, &h, err))
			break; /* damaged: that may be why it was given up */
	} while (h.epoch > since && (h.kind == RJ_SEG_FENCE || (h.flags & RJ_SEG_F_RECOVERED)));
	if (h.epoch > since)
		rc = rj_log_served_since(
			r->store, &r->id, h.epoch, r->opts->retry_ms, &since, err);
	if (rc || since <= r->facts.sbx.epoch)
		return rc;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: this volume went on without its log in epoch %llu, and another host with the log at %s in epoch %llu: use that host's copy, or --accept-loss gives up what it wrote; nothing was changed",
		r->device, (unsigned long long)r->facts.sbx.epoch, r->report->url,
		(unsigned long long)h.epoch);
}
