// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What was cut off: taken back while the volume still had its old journal,
 * finished from the moment that its blocks began to change.
 */
#include <stdlib.h>
#include <string.h>

#include "ext4/journal.h"
#include "journal/move-priv.h"

int rj_move_release(struct rj_move_ctx *m, struct rj_error *err)
{
	const struct rj_volume_facts *f = rj_volume_facts(m->v);

	if (m->sbx.intent_op == RJ_MOVE_UUID)
		return rj_jdev_change_user(
			&m->old_device, m->sbx.intent_uuid, f->uuid, err);
	return rj_jdev_change_user(&m->old_device, f->uuid, NULL, err);
}

int rj_move_clear_intent(struct rj_move_ctx *m, struct rj_error *err)
{
	struct rj_volume_patch p = {.set_sbx = true, .primary_only = true};
	enum rj_placement to = m->sbx.placement;

	rj_move_settle(&m->sbx, to, true);
	p.sbx = m->sbx;
	return rj_volume_patch(m->v, &p, err);
}

/* The journal device UUID into m->old_device. 0 and no bio: it is not there. */
static int find_device(struct rj_move_ctx *m, const uint8_t *uuid,
	struct rj_error *err)
{
	const struct rj_move_opts opts = {
		.allow_files = true, .hooks = m->opts->hooks};
	char *path = NULL;
	int rc;

	rc = rj_journal_find(uuid, m->f.block_size,
		rj_uuid_equal(uuid, m->f.journal_uuid) ? m->f.journal_device : 0,
		m->opts->devices, &path, err);
	if (rc)
		return rc == -RJ_E_REFUSED ? rc : 0;
	rc = rj_jdev_open(&m->old_device, path, m->f.block_size,
		!m->opts->dry_run, &opts, err);
	free(path);
	return rc;
}

/* PREPARE: the new journal is taken back. */
static int roll_back(struct rj_move_ctx *m, struct rj_error *err)
{
	char uuid[RJ_UUID_TEXT];
	int rc = 0;

	rj_uuid_text(m->sbx.intent_uuid, uuid);
	m->report->outcome = RJ_MOVED_ROLLED_BACK;
	if (m->sbx.intent_op == RJ_MOVE_UUID &&
		m->sbx.intent_placement != RJ_PLACE_REMOTE)
		return 0;
	if (m->sbx.intent_placement == RJ_PLACE_NONE ||
		m->sbx.intent_placement == RJ_PLACE_INTERNAL)
		return 0;
	if (m->sbx.intent_placement == RJ_PLACE_REMOTE) {
		rj_move_say(m, "the volume keeps its journal; a new, empty log %s may be left at its store",
			uuid);
		rj_move_unmake_fallback(m);
		return 0;
	}
	rc = find_device(m, m->sbx.intent_uuid, err);
	if (rc)
		return rc;
	if (!m->old_device.bio) {
		/* a device that was blank is blank still, or not there */
		if (!m->sbx.intent_blocks)
			rj_move_warn(m, "%s: journal device %s was not found; this volume may be left among its users",
				m->path, uuid);
		return 0;
	}
	rj_move_say(m, m->sbx.intent_blocks
			? "make %s blank again"
			: "take this volume out of the users of the journal on %s",
		m->old_device.path);
	if (m->opts->dry_run)
		return 0;
	if (m->sbx.intent_blocks)
		return rj_jdev_wipe(&m->old_device, err);
	return m->old_device.half_made ? 0 : rj_move_release(m, err);
}

/* RELEASE: the volume has its new journal. */
static int release(struct rj_move_ctx *m, struct rj_error *err)
{
	bool uuid_change = m->sbx.intent_op == RJ_MOVE_UUID;
	const uint8_t *journal =
		uuid_change ? m->f.journal_uuid : m->sbx.intent_uuid;
	char uuid[RJ_UUID_TEXT];
	int rc = find_device(m, journal, err);

	m->report->outcome = RJ_MOVED_DONE;
	if (rc)
		return rc;
	rj_uuid_text(journal, uuid);
	if (!m->old_device.bio && uuid_change) {
		m->report->journal_lost = true;
		return rj_fail(err, RJ_E_NOTFOUND,
			"%s: its journal device %s is not there, and does not know the volume's new UUID yet; try again when it is",
			m->path, uuid);
	}
	if (!m->old_device.bio || m->old_device.half_made) {
		rj_move_warn(m, "%s: the old journal device %s was not found; this volume may be left among its users",
			m->path, uuid);
		return 0;
	}
	rj_move_say(m, uuid_change
			? "tell the journal on %s the new UUID"
			: "take this volume out of the users of the journal on %s",
		m->old_device.path);
	return m->opts->dry_run ? 0 : rj_move_release(m, err);
}

/* Locked: write again what the redo record says. */
static int apply_again(struct rj_move_ctx *m, struct rj_error *err)
{
	int rc;

	rc = rj_change_load(m->v, m->sbx.redo_block, m->sbx.intent_uuid,
		&m->change, err);
	if (rc == -RJ_E_CORRUPT) {
		/* what an earlier version left half done may have overwritten it */
		m->report->journal_lost = true;
		return rj_fail_suffix(err,
			"; it holds nothing of the files, and rjtune --accept-loss -J size=MB goes on without it: e2fsck checks the whole volume, which then gets a new journal");
	}
	if (rc)
		return rc;
	rj_move_say(m, "write the %u blocks and the superblocks that the move changes",
		rj_change_blocks(m->change));
	m->report->outcome = RJ_MOVED_DONE;
	return m->opts->dry_run ? 0 : rj_change_apply(m->v, m->change, err);
}

/* The standard fields of the primary into the backups, some of which a cut may
 * have left out. An internal journal's came with the redo record. */
static void repeat_journal(
	const struct rj_move_ctx *m, struct rj_volume_patch *p)
{
	const struct rj_volume_facts *f = rj_volume_facts(m->v);

	if (f->journal_inode)
		return;
	p->set_journal = true;
	p->has_journal = f->has_journal;
	p->journal_device = f->journal_device;
	memcpy(p->journal_uuid, f->journal_uuid, RJ_UUID_BYTES);
}

/*
 * The write that switches, which changes the sector with the standard fields
 * alone, was done, and the next, which changes the one with the extension, was
 * not. Make the extension fit.
 */
static int go_on(struct rj_move_ctx *m, struct rj_error *err)
{
	struct rj_volume_patch p = {.set_sbx = true, .sbx = m->sbx};
	bool stays = m->sbx.intent_op == RJ_MOVE_UUID;
	enum rj_placement to = m->sbx.intent_placement;

	rj_move_say(m, "the volume has its new journal: write that into the superblocks' extension");
	m->report->outcome = RJ_MOVED_DONE;
	if (m->opts->dry_run)
		return 0;
	rj_move_settle(&p.sbx, to, stays);
	if (to == RJ_PLACE_REMOTE) {
		/* a new log: its fence and its empty journal */
		p.sbx.epoch = 1;
		p.sbx.floor = 1;
		p.sbx.probed = 0; /* the run that saw it did not write it down */
		p.sbx.probed_day = 0;
		p.sbx.journal_blocks = m->sbx.intent_blocks;
		memcpy(p.sbx.journal_uuid, m->sbx.intent_uuid, RJ_UUID_BYTES);
		memcpy(p.sbx.url, m->sbx.url, sizeof(p.sbx.url));
		memcpy(p.sbx.fallback, m->sbx.fallback,
			sizeof(p.sbx.fallback));
		/* if it was not made any more, the next start makes it */
		p.sbx.fallback_empty = true;
		memcpy(p.sbx.key_fingerprint, m->sbx.key_fingerprint,
			sizeof(p.sbx.key_fingerprint));
	}
	if (m->sbx.placement == RJ_PLACE_DEVICE)
		rj_move_set_release(
			&p.sbx, m->sbx.intent_op, m->sbx.journal_uuid);
	repeat_journal(m, &p);
	return rj_volume_patch(m->v, &p, err);
}

/* The same for a move from one log to another: where the new one is does not
 * stand in the extension, so the standard fields go back. */
static int go_back(struct rj_move_ctx *m, struct rj_error *err)
{
	struct rj_volume_patch p = {.set_journal = true,
		.has_journal = true,
		.journal_device = RJ_JOURNAL_DEVICE_REMOTE,
		.primary_only = true};

	memcpy(p.journal_uuid, m->sbx.journal_uuid, RJ_UUID_BYTES);
	rj_move_say(m, "the move was not yet over: the volume keeps its old log");
	return m->opts->dry_run ? 0 : rj_volume_patch(m->v, &p, err);
}

static int finish(struct rj_move_ctx *m, struct rj_error *err)
{
	bool logs = m->sbx.placement == RJ_PLACE_REMOTE &&
		    m->sbx.intent_placement == RJ_PLACE_REMOTE &&
		    m->sbx.intent_op == RJ_MOVE_JOURNAL;
	int rc = 0;

	if (rj_move_locked(&m->f)) {
		rc = apply_again(m, err);
		if (!rc)
			rc = go_on(m, err);
	} else if (m->sbx.intent_state == RJ_MOVE_RELEASE)
		return release(m, err);
	else if (!rj_move_switched(&m->f))
		return roll_back(m, err);
	else if (logs)
		rc = go_back(m, err);
	else
		rc = go_on(m, err);
	if (rc || m->opts->dry_run)
		return rc;
	if (logs)
		return roll_back(m, err);
	m->f = *rj_volume_facts(m->v);
	m->sbx = m->f.sbx;
	return m->sbx.intent_op ? release(m, err) : 0;
}

/* The last write of a resume. Backups are written before the switch, so those of a
 * move that was taken back may say what is not to be. */
static int note_end(struct rj_move_ctx *m, struct rj_error *err)
{
	struct rj_volume_patch p = {.set_sbx = true};

	if (m->report->outcome != RJ_MOVED_ROLLED_BACK)
		return rj_move_clear_intent(m, err);
	rj_move_settle(&m->sbx, m->sbx.placement, true);
	p.sbx = m->sbx;
	repeat_journal(m, &p);
	return rj_volume_patch(m->v, &p, err);
}

/* What the volume has now. A device that was opened for this is another one. */
static void tell_result(struct rj_move_ctx *m)
{
	struct rj_move_end *now = &m->report->from;

	m->f = *rj_volume_facts(m->v);
	m->from = m->to = rj_move_placement(&m->f);
	rj_move_describe(m);
	if (m->from != RJ_PLACE_REMOTE) {
		now->where[0] = '\0';
		now->blocks = 0;
	}
	m->report->to = *now;
}

static int run(struct rj_move_ctx *m, struct rj_error *err)
{
	int rc;

	rc = rj_move_open(m, true, err);
	if (rc)
		return rc;
	m->to = m->from;
	if (!m->f.has_sbx || !m->f.sbx.intent_op) {
		rj_move_describe(m);
		return 0;
	}
	/* unchanged, but with the intent's own URL */
	m->sbx = m->f.sbx;
	if (m->sbx.intent_op > RJ_MOVE_UUID)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: something begun by a newer version is under way; finish it with that",
			m->path);
	m->report->pending = true;
	if (m->sbx.intent_state < RJ_MOVE_PREPARE ||
		m->sbx.intent_state > RJ_MOVE_RELEASE)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: superblock extension: unknown state %u of the move under way",
			m->path, m->sbx.intent_state);
	rc = finish(m, err);
	if (!rc && m->sbx.intent_op) {
		rj_move_say(m, "note in the superblock that the move is over");
		if (!m->opts->dry_run)
			rc = note_end(m, err);
	}
	if (rc) {
		m->report->outcome = RJ_MOVED_UNFINISHED;
		return rc;
	}
	m->report->pending = m->opts->dry_run;
	tell_result(m);
	return 0;
}

int rj_move_resume(const char *device, const struct rj_move_opts *opts,
	struct rj_move_report *report, struct rj_error *err)
{
	return rj_move_run(device, opts, report, run, err);
}

bool rj_move_pending(const char *device)
{
	struct rj_volume *v = NULL;
	struct rj_error err;
	bool pending = false;

	if (!rj_volume_open(device, RJ_VOLUME_FORCE, NULL, &v, &err))
		pending = rj_volume_facts(v)->has_sbx &&
			  rj_volume_facts(v)->sbx.intent_op;
	rj_volume_close(v, NULL); /* opened for reading */
	return pending;
}
