// SPDX-License-Identifier: LGPL-2.1-or-later
/* Gather the facts of a recovery, one function for each source, and ask the judge. */
#include "recover/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext4/check.h"
#include "log/listing.h"
#include "util/error-class.h"

#define NS_PER_S    1000000000ull
#define SUPER_BYTES 1024

static void set(struct rj_verdict_facts *f, enum rj_found bit, bool yes)
{
	if (yes)
		f->found |= RJ_FOUND(bit);
}

/* What the user said, and what the volume says. */
static void find_volume(const struct rj_recovery *r, struct rj_verdict_facts *f)
{
	const struct rj_recover_opts *o = r->opts;

	*f = r->volume_says;
	/* rj_move_resume() has finished it, or says in a dry run that it would */
	f->found &= ~RJ_FOUND(RJ_IS_MOVE_CUT);
	set(f, RJ_IS_YES, o->yes);
	set(f, RJ_IS_FORCE, o->force);
	set(f, RJ_IS_ACCEPT_LOSS, o->accept_loss);
	set(f, RJ_IS_UNATTENDED, o->preen || o->dry_run);
	set(f, RJ_IS_TAKEN, r->held);
	set(f, RJ_IS_FORKED, r->forked);
	set(f, RJ_IS_FALLBACK_LOST, r->fallback_lost || r->gave_up);
	f->device = r->device;
	f->log = r->report->url;
	f->why = r->facts.sbx_error.msg; /* of an older superblock */
}

/* Read the last primary superblock in the log. -RJ_E_NOTFOUND, without a message: none. */
static int logged_super(struct rj_recovery *r, uint8_t raw[SUPER_BYTES], struct rj_error *err)
{
	uint32_t bs = r->facts.block_size, off = SUPER_BYTES % bs;
	uint8_t *block;
	int rc;

	if (r->report->plan.empty || r->report->plan.sb.block_size != bs)
		return -RJ_E_NOTFOUND;
	block = malloc(bs);
	if (!block)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", r->device);
	rc = rj_jbd2_plan_read(r->plan, r->log_bio, SUPER_BYTES / bs, block, err);
	if (!rc)
		memcpy(raw, block + off, SUPER_BYTES);
	free(block);
	return rc;
}

/* Replay brings a good superblock in the place of a torn one. */
static int find_logged(struct rj_recovery *r, struct rj_verdict_facts *f, struct rj_error *err)
{
	uint8_t raw[SUPER_BYTES];
	int rc;

	if (r->facts.super != RJ_SUPER_TORN)
		return 0;
	rc = logged_super(r, raw, err);
	set(f, RJ_IS_LOGGED, !rc && rj_volume_super_agrees(r->volume, raw));
	return rc == -RJ_E_NOTFOUND ? 0 : rc;
}

/*
 * The kernel's unmount lost the journal, and cleared needs_recovery (ext4/mounted.c): was that
 * after all of the log (an older copy's was before some of it), in the epoch that wrote the
 * log last, and is the superblock in the log, if there is one, of the same mount?
 */
static int find_unmount(struct rj_recovery *r, struct rj_verdict_facts *f, struct rj_error *err)
{
	const struct rj_volume_facts *v = &r->facts;
	uint8_t raw[SUPER_BYTES];
	int rc;

	set(f, RJ_IS_MATCHED, true);
	if (!v->broken_unmount || v->super != RJ_SUPER_GOOD || !r->store ||
		r->seen.latest_ns / NS_PER_S > v->broken_unmount ||
		r->seen.newest.epoch < v->sbx.epoch)
		return 0;
	rc = logged_super(r, raw, err);
	set(f, RJ_IS_SAME_UNMOUNT, rc || rj_volume_super_of_mount(r->volume, raw));
	return rc == -RJ_E_NOTFOUND ? 0 : rc;
}

/* The UUID of a volume that is to be replayed is what the replay makes it: a change that was made
 * while it was mounted, or after the crash, may be in the log, or be taken back by it. */
static int find_renamed(struct rj_recovery *r, struct rj_verdict_facts *f, char was[RJ_UUID_TEXT],
	struct rj_error *err)
{
	uint8_t raw[SUPER_BYTES];
	int rc = f->found & RJ_FOUND(RJ_IS_NEEDS) ? logged_super(r, raw, err) : -RJ_E_NOTFOUND;

	set(f, RJ_IS_RENAMED,
		!rj_uuid_equal(r->id.volume_uuid, rc ? r->facts.uuid : rj_volume_super_uuid(raw)));
	f->was = rj_uuid_text(r->id.volume_uuid, was);
	return rc == -RJ_E_NOTFOUND ? 0 : rc;
}

/* Of a log that was read and scanned. WAS is for f->was. */
static int find_log(struct rj_recovery *r, struct rj_verdict_facts *f, char was[RJ_UUID_TEXT],
	struct rj_error *err)
{
	const struct rj_jbd2_info *plan = &r->report->plan;
	bool damaged = plan->damage != RJ_JBD2_SOUND;
	int rc = 0;

	set(f, RJ_IS_READ, true);
	set(f, RJ_IS_EMPTY, plan->empty);
	set(f, RJ_IS_DAMAGED, damaged && plan->damage_committed);
	set(f, RJ_IS_DAMAGED_END, damaged && !plan->damage_committed);
	set(f, RJ_IS_ERRNO, plan->sb.fs_errno != 0);
	if (damaged)
		f->why = plan->damage_text;
	f->first_tid = plan->first_tid;
	f->last_tid = plan->last_tid;
	if (r->store) {
		rc = find_renamed(r, f, was, err);
		if (!rc)
			rc = rj_log_judged(
				r->store, &r->id, &r->seen, r->opts->retry_ms, f, err);
		if (!rc)
			rj_recovery_find_origin(r, f);
		set(f, RJ_IS_ALONE, r->alone);
		f->file_last = rj_recovery_file_last(r);
		f->floor_seen = r->floors.seen.sequence;
		f->file = r->fallback.path;
	}
	if (!rc)
		rc = find_logged(r, f, err);
	return rc ? rc : find_unmount(r, f, err);
}

/* The log was given up, maybe while the store was away: did another host go on with it? */
static int find_written_on(
	struct rj_recovery *r, struct rj_verdict_facts *f, struct rj_error *err)
{
	struct rj_listing l = {0};
	struct rj_seghdr h = {0};
	uint64_t n;
	int rc;

	/* a check that is not over goes first */
	if (f->found & RJ_FOUND(RJ_IS_PENDING))
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
	} while (h.epoch > f->epoch && (h.kind == RJ_SEG_FENCE || (h.flags & RJ_SEG_F_RECOVERED)));
	f->newest_epoch = f->newest_since = h.epoch;
	if (h.epoch > f->epoch)
		rc = rj_log_served_since(r->store, &r->id, h.epoch, r->opts->retry_ms,
			&f->newest_since, err);
	set(f, RJ_IS_WRITTEN_ON, f->newest_since > f->epoch);
	return rc;
}

/* Each line once: the judge is asked again when more of the log was read. */
static void say_notes(struct rj_recovery *r, const struct rj_verdict_facts *f)
{
	uint64_t notes = r->verdict.notes & ~r->said;
	char text[RJ_VERDICT_BYTES];
	unsigned i, count;
	const struct rj_verdict_row *rows = rj_verdict_rows(&count);

	r->said |= notes;
	for (i = 0; notes >> i; i++)
		if (notes >> i & 1)
			rj_recovery_say(r, "%s", rj_verdict_words(&rows[i], f, text));
}

/* A refusal gets its words; and its ways on, unless a failure of the log is still judged. */
static int judge(struct rj_recovery *r, struct rj_verdict_facts *f, struct rj_error *err)
{
	char who[RJ_LOG_OTHER_BYTES], last[RJ_LOG_OTHER_BYTES + 8] = "";

	rj_volume_judge(r->device, &r->facts, f, &r->verdict);
	if (rj_verdict_refuses(r->verdict.kind)) {
		if (r->verdict.kind == RJ_VERDICT_STALE && r->store && !r->alone &&
			rj_log_other_writer(r->store, &r->id, r->seen.newest.epoch,
				r->seen.newest.time_ns, who)[0])
			snprintf(last, sizeof(last), ", last %s", who);
		f->who = last;
		return rj_verdict_why(&r->verdict, f, err);
	}
	say_notes(r, f);
	r->check_all = r->verdict.check;
	if (r->verdict.found & RJ_FOUND(RJ_IS_SAME_UNMOUNT) && !r->report->plan.empty)
		r->facts.needs_recovery = r->report->needs_recovery = true;
	return 0;
}

int rj_recovery_judge_volume(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_verdict_facts f;

	find_volume(r, &f);
	rj_verdict_judge(&f, &r->verdict);
	r->check_all = r->verdict.check;
	if (r->verdict.kind != RJ_VERDICT_FOREIGN && r->verdict.kind != RJ_VERDICT_SUPER)
		return 0; /* the rest is for when the log was looked at */
	return rj_verdict_refuse(&r->verdict, &f, err);
}

int rj_recovery_judge_log(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_verdict_facts f;
	char was[RJ_UUID_TEXT];
	int rc;

	find_volume(r, &f);
	rc = r->report->log_void ? find_written_on(r, &f, err) : find_log(r, &f, was, err);
	if (!rc)
		rc = judge(r, &f, err);
	/* a failure of the log is judged once more, when it is known what becomes of it */
	if (!rc || !rj_verdict_refuses(r->verdict.kind) || rj_recovery_unreadable(r, err))
		return rc;
	return rj_verdict_ways(&r->verdict, &f, err);
}

/* Failures of the log itself, for which a whole-volume check is the answer. Anything else (no
 * memory, rj.conf, a key, the volume's own I/O, busy) is not cured by that. */
bool rj_recovery_unreadable(const struct rj_recovery *r, const struct rj_error *err)
{
	if (err->code == RJ_E_NOTFOUND) /* the external journal device */
		return r->report->placement == RJ_PLACE_DEVICE;
	return rj_error_log_lost(err);
}

int rj_recovery_judge_failure(struct rj_recovery *r, struct rj_error *err)
{
	enum rj_code code = err->code;
	bool away = rj_code_away(-(int)code) || code == RJ_E_NOTFOUND || code == RJ_E_PROTOCOL;
	char known[RJ_KNOWN_END_BYTES];
	struct rj_verdict_facts f;

	find_volume(r, &f);
	set(&f, RJ_IS_UNREADABLE, true);
	set(&f, RJ_IS_AWAY, away);
	set(&f, RJ_IS_UNKNOWN, code == RJ_E_UNSUPPORTED && r->store);
	set(&f, RJ_IS_DAMAGED_END, r->report->plan.damage != RJ_JBD2_SOUND &&
					   !r->report->plan.damage_committed);
	f.known_end = rj_recovery_known_end(r, known);
	rj_verdict_judge(&f, &r->verdict);
	if (r->verdict.kind == RJ_VERDICT_GIVE_UP)
		return judge(r, &f, err);
	if (away)
		r->report->fsck_status |= RJ_FSCK_ERROR;
	return r->verdict.row->code == RJ_OK ? rj_verdict_ways(&r->verdict, &f, err)
					     : rj_verdict_refuse(&r->verdict, &f, err);
}
