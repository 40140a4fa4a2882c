// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The journal is lost for good: the volume without it. What the journal held
 * is gone; a whole-volume e2fsck mends what that leaves, and is believed only
 * when a second one finds nothing. Otherwise the undo file puts everything
 * back.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/proc.h"
#include "recover/session.h"
#include "util/environ.h"

/* No journal, and "with errors" until e2fsck has been through: a cut in
 * between leaves a volume that says what it needs. */
static int take_away(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_volume_patch p = {
		.set_journal = true,
		.set_needs_recovery = true,
		.set_error_flag = true,
		.set_sbx = r->facts.has_sbx,
	};

	p.sbx.moved_from = r->report->placement;
	p.sbx.moved_to = RJ_PLACE_NONE;
	p.sbx.moved_at = (uint64_t)(rj_realtime_ns() / 1000000000);
	return rj_recovery_patch(r, &p, err);
}

/* e2undo: as it was before take_away(). */
static int put_back(struct rj_recovery *r, struct rj_error *err)
{
	/* with -f it would mark the volume as one that needs e2fsck */
	const char *argv[] = {
		NULL, "--", r->opts->undo_file, r->device, NULL};
	struct rj_proc_result res = {0};
	struct rj_buf path = {0};
	int rc = rj_proc_find("e2undo", &path, err);

	if (!rc) {
		argv[0] = (const char *)path.data;
		rc = rj_proc_run(argv, RJ_PROC_CAPTURE | RJ_PROC_STDIN_NULL,
			&res, err);
	}
	if (!rc && rj_proc_exit_status(&res))
		rc = rj_fail(err, RJ_E_IO, "e2undo failed with status %d",
			rj_proc_exit_status(&res));
	rj_proc_release(&res);
	rj_buf_free(&path);
	return rc;
}

/* e2fsck 1.47.0 takes the orphan file away, but only its next run frees the
 * inode, and the superblock still has its number, which a new orphan file would
 * take: one run more. Whether all is well the others judge. */
static int drop_orphan_file(struct rj_recovery *r, struct rj_error *err)
{
	const char *const args[] = {"-fy", "-z", r->opts->undo_file, NULL};
	const struct rj_volume_patch p = {.clear_orphan_inode = true};
	int status, rc;

	if (!r->facts.orphan_file)
		return 0;
	rj_recovery_say(r, "taking the orphan file away with e2fsck");
	rc = rj_recovery_e2fsck(r, args, r->opts->quiet, &status, err);
	if (rc)
		return rc;
	r->report->fsck_status |= status & ~RJ_FSCK_UNCORRECTED;
	return rj_recovery_patch(r, &p, err);
}

static const char *old_fallback(const struct rj_recovery *r)
{
	return r->facts.sbx.placement == RJ_PLACE_REMOTE ? r->facts.sbx.fallback
							 : "";
}

/*
 * What the log's fallback file holds may have been acknowledged: it is kept as it
 * is, for e2undo, but under a name that no new fallback file wants. No failure:
 * the volume has no use for it.
 */
static void leave_fallback(struct rj_recovery *r)
{
	const char *path = old_fallback(r);
	char kept[RJ_FALLBACK_ASIDE_BYTES];
	struct rj_fallback_facts f;
	struct rj_error why;
	int rc;

	if (!path[0])
		return;
	rc = rj_fallback_file_open(
		path, &r->id, r->device, false, &r->fallback, &why);
	if (rc == -RJ_E_NOTFOUND)
		return;
	if (rc) {
		rj_recovery_say(r, "the fallback file is left as it is: %s",
			why.msg);
		return;
	}
	rj_fallback_facts(r->fallback.log, &f);
	if (f.state == RJ_FALLBACK_IDLE) {
		rj_fallback_file_close(&r->fallback);
		rc = rj_fallback_file_remove(path, &r->id, &why);
	} else {
		rc = rj_fallback_file_set_aside(&r->fallback, kept, &why);
		rj_fallback_file_close(&r->fallback);
		if (!rc)
			rj_recovery_say(r, "the fallback file is kept as %s",
				kept);
	}
	if (rc)
		rj_recovery_say(r, "the fallback file is left as it is: %s",
			why.msg);
}

static int drop(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_error undo;
	int rc;

	memcpy(r->id.volume_uuid, r->facts.uuid, RJ_UUID_BYTES);
	memcpy(r->id.journal_uuid, r->facts.journal_uuid, RJ_UUID_BYTES);
	rj_recovery_say(r, "the volume gives up its journal");
	rc = take_away(r, err);
	/* e2fsck shall not look for a journal any more */
	r->report->placement = RJ_PLACE_INTERNAL;
	if (!rc)
		rc = drop_orphan_file(r, err);
	if (!rc)
		rc = rj_recovery_verified_e2fsck(r, err);
	if (!rc && r->opts->dropped)
		rc = r->opts->dropped(
			r->opts->arg, &r->id, old_fallback(r), err);
	r->report->placement = RJ_PLACE_NONE;
	if (!rc) {
		r->report->outcome = RJ_OUTCOME_FSCK;
		leave_fallback(r);
		return 0;
	}
	r->report->fsck_status |= RJ_FSCK_UNCORRECTED;
	if (put_back(r, &undo))
		return rj_fail(err, RJ_E_CORRUPT,
			"%.400s; and it cannot be put back by itself (%.200s): run e2undo %.100s %.100s",
			strdupa(err->msg), undo.msg, r->opts->undo_file,
			r->device);
	rj_recovery_say(r, "everything was put back as it was");
	return rc;
}

int rj_recover_drop_journal(const char *device,
	const struct rj_recover_opts *opts, struct rj_recover_report *report,
	struct rj_error *err)
{
	struct rj_recovery r = {
		.device = device,
		.opts = opts,
		.report = report,
		.device_fd = -1,
	};
	struct rj_volume *v = NULL;
	struct rj_error own;
	int rc;

	memset(report, 0, sizeof(*report));
	if (!err)
		err = &own;
	if (!opts->undo_file || !access(opts->undo_file, F_OK))
		return rj_fail(err, RJ_E_INVAL,
			"%s: giving up a journal needs a new undo file (-z)",
			device);
	/* for writing: refuses what is mounted */
	rc = rj_volume_open(device, RJ_VOLUME_WRITE, NULL, &v, err);
	if (rc)
		return rc;
	r.facts = *rj_volume_facts(v);
	report->needs_recovery = r.facts.needs_recovery;
	report->block_size = r.facts.block_size;
	report->placement = r.facts.journal_inode ? RJ_PLACE_INTERNAL
			    : r.facts.has_sbx &&
					    r.facts.sbx.placement ==
						    RJ_PLACE_REMOTE
				    ? RJ_PLACE_REMOTE
				    : RJ_PLACE_DEVICE;
	snprintf(report->url, sizeof(report->url), "%s",
		report->placement == RJ_PLACE_REMOTE
			? r.facts.sbx.url
			: "its device, if that is found again,");
	rc = rj_volume_close(v, err);
	if (rc)
		return rc;
	if (report->placement == RJ_PLACE_INTERNAL || !r.facts.has_journal)
		return rj_fail(err, RJ_E_INVAL,
			"%s: has no journal elsewhere that could be lost",
			device);
	return drop(&r, err);
}
