// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a history (rjbackup) needs to go on over a crash: notes in the log that the volume was
 * found as the crashed mount had left it, that nothing but the replay changed it, and how it
 * was left. Where that is not certain no note is put, and the history ends. Why it is enough
 * is in doc/remount.md, "Over a crash".
 */
#include <string.h>

#include "ext4/mounted.h"
#include "format/mount-note.h"
#include "log/hold.h"
#include "recover/session.h"
#include "segment/digest.h"
#include "store/conf.h"

static bool read_super(struct rj_volume *v, uint8_t raw[RJ_RAW_SUPER_BYTES])
{
	struct rj_bio *b = rj_volume_bio(v);

	return !b->read(b, raw, RJ_RAW_SUPER_BYTES, RJ_RAW_SUPER_BYTES, NULL);
}

static bool hash(const uint8_t raw[RJ_RAW_SUPER_BYTES], uint8_t out[RJ_MOUNT_NOTE_HASH])
{
	return !rj_digest(raw, RJ_RAW_SUPER_BYTES, NULL, 0, out, NULL);
}

int rj_recovery_found(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_bio *b = rj_volume_bio(r->volume);

	return b->read(b, r->found, sizeof(r->found), RJ_RAW_SUPER_BYTES, err);
}

void rj_recovery_logged(void *arg, const uint8_t *block)
{
	struct rj_recovery *r = arg;

	if (!memcmp(block + RJ_RAW_SUPER_BYTES % r->facts.block_size, r->found,
		    sizeof(r->found)))
		r->found_logged = true;
}

/* rjournald's note of the mount that crashed: it was by mount.rj, with data=journal. */
static bool running(const struct rj_recovery *r, struct rj_mount_note *out)
{
	return r->ring &&
	       rj_mount_note_decode(r->ring->data + RJ_MOUNT_NOTE_RUNNING, out) &&
	       out->kind == RJ_NOTE_RUNNING && out->epoch == r->facts.sbx.epoch;
}

/* Is what the log has last of that mount? */
static bool of_mount(const struct rj_recovery *r, uint64_t epoch)
{
	uint64_t since = r->seen.newest.epoch;

	return since == epoch ||
	       (!rj_log_served_since(r->store, &r->id, since, r->opts->retry_ms, &since, NULL) &&
		       since == epoch);
}

/* Does the replay make of the volume what the log says, and nothing else? */
static bool whole(const struct rj_recovery *r)
{
	const struct rj_jbd2_info *plan = &r->report->plan;

	return r->facts.needs_recovery && r->facts.super == RJ_SUPER_GOOD && !plan->empty &&
	       plan->damage == RJ_JBD2_SOUND && !plan->sb.fs_errno && !r->check_all &&
	       !(r->verdict.found & RJ_FOUND(RJ_IS_SAME_UNMOUNT)) && !r->gave_up &&
	       !r->fallback_lost && !r->opts->accept_loss;
}

/* Is the log kept, so that there may be a base with a history? In doubt it is. */
static bool kept(const struct rj_recovery *r)
{
	uint64_t first = UINT64_MAX;
	struct rj_conf *conf = NULL;
	struct rj_hold by;
	bool yes;

	if (rj_conf_load(r->report->url, &conf, NULL))
		return true;
	yes = conf->retain_s != 0;
	rj_conf_release(conf);
	return yes ||
	       rj_hold_lowest(r->store, &r->id, r->opts->retry_ms, 0, &first, &by, NULL) ||
	       first != UINT64_MAX;
}

void rj_recovery_history_ends(struct rj_recovery *r, const char *why)
{
	r->proven = false;
	if (kept(r))
		rj_recovery_say(r,
			"a history of the volume ends with this recovery (make a new base when it is mounted): %s",
			why);
}

static void put_note(struct rj_recovery *r, enum rj_mount_note_kind kind,
	const uint8_t super[RJ_RAW_SUPER_BYTES])
{
	struct rj_mount_note n = {.kind = kind, .epoch = r->facts.sbx.epoch};
	struct rj_super_marks m;
	uint8_t *raw = r->ring->data;

	r->proven = hash(super, n.super);
	if (!r->proven)
		return;
	rj_super_marks(super, &m);
	n.mounts = m.mounts;
	n.checked = m.checked;
	rj_mount_note_encode(&n, raw);
	memset(raw + RJ_MOUNT_NOTE_RUNNING, 0, RJ_MOUNT_NOTE_BYTES);
}

void rj_recovery_prove(struct rj_recovery *r)
{
	uint8_t sum[RJ_MOUNT_NOTE_HASH];
	struct rj_mount_note n;

	if (!r->writer || !running(r, &n))
		return;
	if (!whole(r) || !of_mount(r, n.epoch))
		rj_recovery_history_ends(r,
			"it has to do more than to replay the whole log of the last mount");
	else if (!hash(r->found, sum) ||
		 (memcmp(sum, n.super, sizeof(sum)) != 0 && !r->found_logged))
		rj_recovery_history_ends(r,
			"the superblock is not as the mount had left it: something else wrote to the volume since the crash, or the crash came right after a freeze or an error");
	else
		put_note(r, RJ_NOTE_CRASHED, r->found);
}

void rj_recovery_left(struct rj_recovery *r, struct rj_volume *v)
{
	if (r->proven)
		r->proven = read_super(v, r->left);
}

void rj_recovery_leaves_again(struct rj_recovery *r, struct rj_volume *v)
{
	uint8_t now[RJ_RAW_SUPER_BYTES];

	if (r->proven)
		r->proven = read_super(v, now) && !memcmp(now, r->left, sizeof(now));
}

/* There was nothing to do: is the volume as a recovery before has noted that it left it? */
static bool left_before(const struct rj_recovery *r)
{
	uint8_t sum[RJ_MOUNT_NOTE_HASH];
	struct rj_mount_note n;

	return r->report->outcome == RJ_OUTCOME_CLEAN && r->ring &&
	       rj_mount_note_decode(r->ring->data, &n) && n.kind == RJ_NOTE_RECOVERED &&
	       hash(r->found, sum) && !memcmp(sum, n.super, sizeof(sum));
}

bool rj_recovery_leaves_orphans(struct rj_recovery *r)
{
	bool before = left_before(r);

	if (!r->proven && !before)
		return false;
	if (r->opts->verify == RJ_VERIFY_FULL)
		rj_recovery_history_ends(r,
			"orphan inodes are released for e2fsck -fn (without --verify=full the next mount does that, and the history goes on)");
	else if (before)
		return kept(r);
	else
		r->proven = kept(r);
	return r->proven;
}

bool rj_recovery_note_end(struct rj_recovery *r)
{
	if (r->proven)
		put_note(r, RJ_NOTE_RECOVERED, r->left);
	return r->proven;
}
