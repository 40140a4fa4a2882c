// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finish a recovery whose log the caller applied: release orphans, check the volume. */
#include "recover/settle.h"

#include <stdlib.h>

#include "ext4/change/orphans.h"
#include "recover/session.h"

/* The totals, which are not in the log, then the orphans. */
static int count(struct rj_recovery *r, struct rj_error *err)
{
	const struct rj_volume_patch p = {
		.set_free_counts = true, .primary_only = true};
	struct rj_volume *v = NULL;
	int rc, rc2;

	rc = rj_volume_open(r->device, RJ_VOLUME_WRITE, NULL, &v, err);
	if (!rc)
		rc = rj_volume_patch(v, &p, err);
	if (!rc)
		r->facts = *rj_volume_facts(v);
	rc2 = rj_volume_close(v, rc ? NULL : err);
	return rc ? rc : rc2;
}

int rj_recover_settle(const char *device, uint32_t journal_blocks,
	enum rj_verify_level verify, struct rj_error *err)
{
	const struct rj_recover_opts opts = {.verify = verify, .quiet = true};
	struct rj_recover_report report = {.placement = RJ_PLACE_REMOTE};
	struct rj_recovery r = {
		.device = device, .opts = &opts, .report = &report};
	struct rj_orphan_attrs hidden = {0};
	int rc = count(&r, err);

	r.facts.sbx.journal_blocks = journal_blocks;
	if (!rc && r.facts.orphans && !r.facts.has_errors) /* or e2fsck would forget them */
		rc = rj_recovery_orphans(&r, &hidden, err);
	free(hidden.inodes);
	return rc ? rc : rj_recovery_check(&r, err);
}
