// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal.h"

#include <stdio.h>

int journal_take(void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	struct journal *j = arg;
	int rc;

	if (!seg->body.run_count)
		return 0;
	if (!j->ring) {
		rc = rj_ring_new(seg->body.block_size, seg->body.journal_blocks,
			&j->ring, err);
		if (rc)
			return rc;
	}
	return rj_ring_apply(j->ring, seg, err);
}

static int check_owner(const struct rj_jbd2_sb *sb, const struct target *t,
	struct rj_error *err)
{
	char a[RJ_UUID_TEXT];
	uint32_t i;

	if (!rj_uuid_equal(sb->uuid, t->id.journal_uuid))
		return rj_fail(err, RJ_E_FOREIGN,
			"%s: the journal in it is another one, %s", t->text,
			rj_uuid_text(sb->uuid, a));
	for (i = 0; i < sb->nr_users && i < 48; i++)
		if (rj_uuid_equal(sb->users[i], t->id.volume_uuid))
			return 0;
	return rj_fail(err, RJ_E_FOREIGN,
		"%s: the journal in it does not name volume %s as its user",
		t->text, rj_uuid_text(t->id.volume_uuid, a));
}

bool journal_is_raw(const struct target *t)
{
	return !rj_uuid_is_null(t->id.volume_uuid) &&
	       rj_uuid_equal(t->id.volume_uuid, t->id.journal_uuid);
}

int journal_scan(
	struct journal *j, const struct target *t, struct rj_error *err)
{
	/* how large the volume is only the volume knows */
	struct rj_jbd2_scan_opts o = {.fs_blocks = UINT64_MAX};
	int rc;

	if (journal_is_raw(t))
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: the log of a raw device or an XFS volume; rjlog reads only its segments (ls, verify)",
			t->text);
	if (!j->ring)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: the log holds no journal blocks", t->text);
	j->bio = rj_ring_bio(j->ring, t->text);
	if (!j->bio)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	o.sb_block = rj_jbd2_device_sb_block(j->ring->block_size);
	rc = rj_jbd2_scan(j->bio, &o, &j->plan, err);
	if (rc)
		return rc;
	return check_owner(&rj_jbd2_plan_info(j->plan)->sb, t, err);
}

void journal_free(struct journal *j)
{
	rj_jbd2_plan_free(j->plan);
	rj_bio_free(j->bio);
	rj_ring_free(j->ring);
	*j = (struct journal){0};
}
