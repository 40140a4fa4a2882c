// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The order of a move's writes. Each step but the switch leaves the volume
 * with its old journal or its new one, or shut until a resume goes on:
 * doc/moving.md.
 */
#include "journal/move.h"

#include <stdio.h>
#include <string.h>

#include "journal/move-priv.h"

static bool dry(const struct rj_move_ctx *m)
{
	return m->opts->dry_run;
}

static const char *name_of(const struct rj_move_ctx *m)
{
	return m->to == RJ_PLACE_REMOTE ? m->new_store->url
	       : m->new_device.path	? m->new_device.path
	       : m->to == RJ_PLACE_NONE ? "none"
					: "internal";
}

/* The standard fields of the volume at the end. */
static void set_journal(const struct rj_move_ctx *m, struct rj_volume_patch *p)
{
	/* for an internal journal the change brings all of it, and a journal
	 * that stays says what it said */
	if (m->to == RJ_PLACE_INTERNAL ||
		(m->opts->journal_stays && m->to != RJ_PLACE_REMOTE))
		return;
	p->set_journal = true;
	if (m->to == RJ_PLACE_NONE)
		return;
	p->has_journal = true;
	p->journal_device = m->to == RJ_PLACE_DEVICE
				    ? m->new_device.number
				    : RJ_JOURNAL_DEVICE_REMOTE;
	memcpy(p->journal_uuid, m->new_journal, RJ_UUID_BYTES);
}

static void set_fingerprint(const struct rj_move_ctx *m, struct rj_sbx *s)
{
	memset(s->key_fingerprint, 0, sizeof(s->key_fingerprint));
	if (m->new_sealing.key)
		memcpy(s->key_fingerprint,
			rj_sealkey_fingerprint(m->new_sealing.key),
			sizeof(s->key_fingerprint));
}

/* The extension as it is to be after the switch. */
static void final_sbx(const struct rj_move_ctx *m, struct rj_sbx *s)
{
	const struct rj_journal_opts *to = &m->opts->to;

	*s = m->sbx;
	rj_move_settle(s, m->to, m->opts->journal_stays);
	if (m->to == RJ_PLACE_REMOTE) {
		s->epoch = rj_log_writer_epoch(m->new_log);
		s->floor = rj_log_writer_tail(m->new_log)->sequence;
		memcpy(s->journal_uuid, m->new_journal, RJ_UUID_BYTES);
		s->journal_blocks = m->blocks;
		s->probed = m->seen.probed;
		s->probed_day = m->seen.probed_day;
		set_fingerprint(m, s);
	}
	if (m->to == RJ_PLACE_REMOTE && !m->opts->journal_stays) {
		memcpy(s->url, to->url, sizeof(s->url) - 1);
		s->on_loss = to->on_loss;
		s->ack_received = to->ack_received;
		memcpy(s->fallback, to->fallback, sizeof(s->fallback));
	}
	if (m->to == RJ_PLACE_REMOTE && m->opts->journal_stays)
		memcpy(s->fallback, m->f.sbx.fallback, sizeof(s->fallback));
	s->fallback_empty = true;
	/* the old one is still to be released, or told the new UUID */
	if (m->old_device.bio)
		rj_move_set_release(s,
			m->opts->journal_stays ? RJ_MOVE_UUID : RJ_MOVE_JOURNAL,
			m->opts->journal_stays ? m->f.uuid : m->f.journal_uuid);
}

/* The extension while the move is under way. */
static int set_intent(
	struct rj_move_ctx *m, enum rj_move_state state, struct rj_error *err)
{
	struct rj_sbx *s = &m->sbx;
	bool stays = m->opts->journal_stays;

	s->intent_op = stays ? RJ_MOVE_UUID : RJ_MOVE_JOURNAL;
	s->intent_state = (uint8_t)state;
	s->intent_placement = (uint8_t)m->to;
	/* not 0: all of the device is ours to take back */
	s->intent_blocks = m->to == RJ_PLACE_DEVICE && !m->create ? 0
								   : m->blocks;
	if (stays && m->to != RJ_PLACE_REMOTE)
		memcpy(s->intent_uuid, m->uuid, RJ_UUID_BYTES);
	else if (m->to == RJ_PLACE_DEVICE || m->to == RJ_PLACE_REMOTE)
		memcpy(s->intent_uuid, m->new_journal, RJ_UUID_BYTES);
	else if (rj_uuid_random(s->intent_uuid))
		return rj_fail(err, RJ_E_IO, "cannot get random bytes");
	/* what a resume needs after the switch: see doc/moving.md */
	if (m->from == RJ_PLACE_DEVICE)
		memcpy(s->journal_uuid, stays ? m->f.uuid : m->f.journal_uuid,
			RJ_UUID_BYTES);
	/* the fields for these are taken while there is an old log */
	if (m->to == RJ_PLACE_REMOTE && m->from != RJ_PLACE_REMOTE) {
		memcpy(s->url, m->opts->to.url, sizeof(s->url) - 1);
		s->on_loss = m->opts->to.on_loss;
		s->ack_received = m->opts->to.ack_received;
		memcpy(s->fallback, m->opts->to.fallback, sizeof(s->fallback));
		set_fingerprint(m, s);
	}
	return 0;
}

/* The intent: before anything outside the volume's free blocks is touched. */
static int prepare(struct rj_move_ctx *m, struct rj_error *err)
{
	struct rj_volume_patch p = {.set_sbx = true,
		.primary_only = true,
		.set_checksum_seed = m->opts->new_uuid != NULL};
	bool outside = (m->to == RJ_PLACE_DEVICE && !m->opts->journal_stays) ||
		       m->to == RJ_PLACE_REMOTE;
	int rc;

	/* with blocks to change the intent comes with their record */
	if (!outside && rj_change_blocks(m->change) && !m->opts->journal_stays)
		return 0;
	rj_move_say(m, "note in the superblock what is about to be done");
	if (dry(m))
		return 0;
	m->create = m->to == RJ_PLACE_DEVICE && m->new_device.blank;
	if (m->create && rj_uuid_random(m->new_journal))
		return rj_fail(err, RJ_E_IO, "cannot get random bytes");
	rc = set_intent(m, RJ_MOVE_PREPARE, err);
	if (rc)
		return rc;
	p.sbx = m->sbx;
	m->changed = true;
	return rj_volume_patch(m->v, &p, err);
}

static int make_device(struct rj_move_ctx *m, struct rj_error *err)
{
	if (m->opts->journal_stays)
		return 0;
	rj_move_say(m,
		m->new_device.blank
			? "make a journal of %u blocks on %s"
			: "become the user of the journal (%u blocks) on %s",
		m->blocks, m->new_device.path);
	if (dry(m))
		return 0;
	return m->new_device.blank
		       ? rj_jdev_format(&m->new_device, m->new_journal,
				 m->uuid, m->fc_blocks, err)
		       : rj_jdev_change_user(&m->new_device, NULL, m->uuid,
				 err);
}

/* The new journal, complete and durable (an internal one with the redo
 * record's flush). */
static int make_new(struct rj_move_ctx *m, struct rj_error *err)
{
	int rc;

	switch (m->to) {
	case RJ_PLACE_NONE:
		if (m->f.orphan_file && !m->opts->journal_stays)
			rj_move_say(m, "take the orphan file away too, which is for volumes with a journal");
		return 0;
	case RJ_PLACE_INTERNAL:
		if (m->opts->journal_stays)
			return 0;
		rj_move_say(m, "write an empty journal of %u blocks into free blocks",
			m->blocks + m->fc_blocks);
		return dry(m) ? 0
			      : rj_change_make_journal(m->v, m->change, err);
	case RJ_PLACE_DEVICE:
		return make_device(m, err);
	case RJ_PLACE_REMOTE:
		rj_move_say(m, "begin a new log with an empty journal of %u blocks at %s",
			m->blocks, m->new_store->url);
		rc = dry(m) ? 0 : rj_move_make_log(m, err);
		return rc ? rc : rj_move_make_fallback(m, false, err);
	}
	return 0;
}

/*
 * Blocks of the volume change: the record of them, then keep every program out.
 * The two halves of a superblock can be torn from each other, so the first of
 * these writes changes only the half with the extension, the second (the
 * checksum aside) only the other.
 */
static int lock(struct rj_move_ctx *m, struct rj_error *err)
{
	struct rj_volume_patch p = {.set_sbx = true, .primary_only = true};
	uint64_t block;
	int rc;

	rj_move_say(m, "keep a record of the %u blocks that change, and prevent mounts of the volume until they have",
		rj_change_blocks(m->change));
	if (dry(m))
		return 0;
	rc = set_intent(m, RJ_MOVE_APPLY, err);
	if (!rc)
		rc = rj_change_write_redo(
			m->v, m->change, m->sbx.intent_uuid, &block, err);
	if (rc)
		return rc;
	m->sbx.redo_block = block;
	p.sbx = m->sbx;
	m->changed = true;
	/* its flush is that of the new journal and the record too */
	rc = rj_volume_patch(m->v, &p, err);
	if (rc)
		return rc;
	p.set_sbx = false;
	p.set_journal = true;
	p.has_journal = true;
	p.journal_device = RJ_JOURNAL_DEVICE_REMOTE;
	rj_move_lock_uuid(&m->sbx, p.journal_uuid);
	return rj_volume_patch(m->v, &p, err);
}

static void say_switch(struct rj_move_ctx *m)
{
	rj_move_say(m, m->opts->journal_stays
			? "write the superblocks: the volume has its new UUID"
			: "write the superblocks: the volume's journal is %s",
		name_of(m));
}

/* From the write of the primary superblock in here the volume has its new
 * journal. */
static int switch_over(struct rj_move_ctx *m, struct rj_error *err)
{
	struct rj_volume_patch p = {.set_sbx = true};
	struct rj_sbx after;
	int rc;

	if (dry(m)) {
		say_switch(m);
		return 0;
	}
	final_sbx(m, &p.sbx);
	after = p.sbx;
	rj_move_settle(&p.sbx, m->to, true);
	set_journal(m, &p);
	rc = rj_change_finish_super(m->v, m->change, &p, err);
	if (!rc && rj_change_blocks(m->change))
		rc = lock(m, err);
	m->changed = true;
	if (!rc) {
		say_switch(m);
		rc = rj_change_apply(m->v, m->change, err);
	}
	if (!rc)
		m->sbx = after;
	return rc;
}

static int release_old(struct rj_move_ctx *m, struct rj_error *err)
{
	const char *url = m->f.sbx.url;
	char uuid[RJ_UUID_TEXT];
	int rc = 0;

	if (m->from == RJ_PLACE_REMOTE && url[0] && m->opts->new_uuid)
		/* it is not this volume's any more, for rjlog rm --volume; and
		 * where this one is a copy it is still the other one's */
		rj_move_say(m,
			"leave the old log at %s (unless a copy of the volume has it, rjlog rm --force %s %s/%s removes it)",
			url, rj_uuid_text(m->f.journal_uuid, uuid), url, uuid);
	else if (m->from == RJ_PLACE_REMOTE && url[0])
		rj_move_say(m,
			"leave the old log at %s, out of use (rjlog rm --volume=%s %s/%s removes it)",
			url, m->path, url,
			rj_uuid_text(m->f.journal_uuid, uuid));
	if (m->old_device.bio)
		rj_move_say(m, m->opts->journal_stays
			? "tell the journal on %s the new UUID"
			: "take this volume out of the users of the journal on %s",
		m->old_device.path);
	rj_move_drop_fallback(m);
	rj_move_say(m, "note in the superblock that the move is done");
	if (dry(m))
		return 0;
	if (m->old_device.bio)
		rc = rj_move_release(m, err);
	return rc ? rc : rj_move_clear_intent(m, err);
}

static int do_steps(struct rj_move_ctx *m, struct rj_error *err)
{
	int rc;

	rc = rj_move_close_log(m, err);
	if (!rc)
		rc = prepare(m, err);
	if (!rc)
		rc = make_new(m, err);
	/* a dry run tells it here; otherwise it is part of the switch, since
	 * only now is it known what the superblock will say */
	if (!rc && dry(m) && rj_change_blocks(m->change))
		rc = lock(m, err);
	if (!rc)
		rc = switch_over(m, err);
	if (!rc)
		rc = release_old(m, err);
	return rc;
}

/* The volume has this journal: at most a word in a superblock changes. */
static int adjust(struct rj_move_ctx *m, struct rj_error *err)
{
	static const char *const loss[] = {
		[RJ_LOSS_BLOCK] = "block",
		[RJ_LOSS_ERROR] = "error",
		[RJ_LOSS_LOCAL] = "local",
	};
	const struct rj_journal_opts *to = &m->opts->to;
	struct rj_volume_patch p = {.sbx = m->sbx};
	int rc = 0;

	if (m->to == RJ_PLACE_REMOTE && to->on_loss_given &&
		strcmp(to->fallback, m->sbx.fallback)) {
		p.set_sbx = true;
		memcpy(p.sbx.fallback, to->fallback, sizeof(p.sbx.fallback));
		p.sbx.fallback_empty = true;
		rc = rj_move_make_fallback(m, true, err);
	}
	if (rc)
		return rc;
	if (m->to == RJ_PLACE_REMOTE &&
		((to->on_loss_given && to->on_loss != m->sbx.on_loss) ||
			(to->ack_given &&
				to->ack_received != m->sbx.ack_received))) {
		p.set_sbx = true;
		if (to->on_loss_given)
			p.sbx.on_loss = to->on_loss;
		if (to->ack_given)
			p.sbx.ack_received = to->ack_received;
	}
	if (m->to == RJ_PLACE_DEVICE &&
		m->old_device.number != m->f.journal_device) {
		p.set_journal = true;
		p.has_journal = true;
		p.journal_device = m->old_device.number;
		memcpy(p.journal_uuid, m->f.journal_uuid, RJ_UUID_BYTES);
	}
	if (!p.set_sbx && !p.set_journal)
		return 0;
	if (p.set_sbx)
		rj_move_say(m, "write the superblocks: on_loss=%s, ack=%s",
			loss[p.sbx.on_loss],
			p.sbx.ack_received ? "received" : "durable");
	else
		rj_move_say(m,
			"write the superblocks: the journal device's number");
	m->report->outcome = dry(m) ? RJ_MOVED_WOULD : RJ_MOVED_DONE;
	if (!dry(m))
		rc = rj_volume_patch(m->v, &p, err);
	if (!rc && p.set_sbx && strcmp(p.sbx.fallback, m->f.sbx.fallback))
		rj_move_drop_fallback(m);
	return rc;
}

static int run(struct rj_move_ctx *m, struct rj_error *err)
{
	bool same = false;
	int rc;

	rc = rj_move_open(m, false, err);
	if (rc)
		return rc;
	m->to = m->opts->journal_stays ? m->from : m->opts->to.placement;
	rj_move_describe(m);
	rc = rj_move_check(m, err);
	if (!rc && m->opts->journal_stays && rj_uuid_equal(m->uuid, m->f.uuid))
		return 0;
	if (!rc)
		rc = rj_move_check_old(m, err);
	if (!rc)
		rc = rj_move_check_new(m, &same, err);
	if (!rc)
		rc = rj_move_check_fallback(m, same, err);
	rj_move_describe(m);
	if (rc)
		return rc;
	if (same)
		return adjust(m, err);
	rc = do_steps(m, err);
	if (rc) {
		m->report->outcome =
			m->changed ? RJ_MOVED_UNFINISHED : RJ_MOVED_NOTHING;
		return rc;
	}
	rj_move_describe(m);
	m->report->outcome = dry(m) ? RJ_MOVED_WOULD : RJ_MOVED_DONE;
	return 0;
}

int rj_move(const char *device, const struct rj_move_opts *opts,
	struct rj_move_report *report, struct rj_error *err)
{
	return rj_move_run(device, opts, report, run, err);
}
