// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The volume's primary superblock is damaged. What replay writes over it makes
 * it good again, as it does with every block that a power cut tore; without
 * that it takes a yes, and a check of the whole volume.
 */
#include <stdlib.h>
#include <string.h>

#include "recover/session.h"

#define SUPER_BYTES 1024

int rj_recovery_logged_super(
	struct rj_recovery *r, uint8_t raw[SUPER_BYTES], struct rj_error *err)
{
	uint32_t bs = r->facts.block_size, off = SUPER_BYTES % bs;
	uint8_t *block;
	int rc;

	/* given up, or none that is this volume's */
	if (!r->plan || r->report->plan.empty || r->report->log_void ||
		r->report->plan.sb.block_size != bs)
		return -RJ_E_NOTFOUND;
	block = malloc(bs);
	if (!block)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", r->device);
	rc = rj_jbd2_plan_read(
		r->plan, r->log_bio, SUPER_BYTES / bs, block, err);
	if (!rc)
		memcpy(raw, block + off, SUPER_BYTES);
	free(block);
	return rc;
}

/* 0: replay writes a good superblock. */
static int in_log(struct rj_recovery *r, struct rj_error *err)
{
	uint8_t raw[SUPER_BYTES];
	int rc = rj_recovery_logged_super(r, raw, err);

	if (!rc && !rj_volume_super_agrees(r->volume, raw))
		rc = -RJ_E_NOTFOUND;
	return rc;
}

int rj_recovery_need_backup(struct rj_recovery *r, struct rj_error *err)
{
	const struct rj_volume_facts *f = &r->facts;
	bool force = f->super == RJ_SUPER_GONE || f->super == RJ_SUPER_STALE;

	if (f->super == RJ_SUPER_GOOD)
		return 0;
	if (f->super == RJ_SUPER_STALE &&
		!(r->opts->yes && r->opts->force))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: an older superblock was put back: %s; rjrecover -y -f uses the backup, replays its log and checks the whole volume with e2fsck; nothing was changed",
			r->device, f->sbx_error.msg);
	if (!f->super_group)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: superblock damaged (wrong checksum), with no copy in the log and no backup: put back the volume's first 4096 bytes, or all of it, from elsewhere; nothing was changed",
			r->device);
	if (!r->opts->yes || (force && !r->opts->force))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: superblock damaged, with no copy in the log: rjrecover %s uses the backup of group %u, replays the log and checks the whole volume with e2fsck; nothing was changed",
			r->device, force ? "-y -f" : "-y", f->super_group);
	if (!r->check_all)
		rj_recovery_say(r,
			f->super == RJ_SUPER_TORN
				? "superblock damaged, but all that never changes agrees with the backup of group %u"
			: f->super == RJ_SUPER_STALE
				? "an older superblock was put back; going by the backup of group %u"
				: "superblock damaged; restored from the backup of group %u",
			f->super_group);
	r->check_all = true;
	return 0;
}

int rj_recovery_judge_super(struct rj_recovery *r, struct rj_error *err)
{
	int rc;

	if (r->facts.super != RJ_SUPER_TORN)
		return rj_recovery_need_backup(r, err);
	rc = in_log(r, err);
	if (rc == -RJ_E_NOTFOUND)
		return rj_recovery_need_backup(r, err);
	if (!rc && !r->super_said)
		rj_recovery_say(r,
			"superblock damaged, as by a torn write; the log has a whole one");
	r->super_said = true;
	return rc;
}
