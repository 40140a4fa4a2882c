// SPDX-License-Identifier: LGPL-2.1-or-later
/* The volume under a move, and its old journal. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext4/check.h"
#include "ext4/journal.h"
#include "journal/move-priv.h"
#include "os/rundir.h"
#include "util/error-class.h"

/* The extension counts only while it agrees with the standard fields. */
enum rj_placement rj_move_placement(const struct rj_volume_facts *f)
{
	if (!f->has_journal)
		return RJ_PLACE_NONE;
	if (f->journal_inode)
		return RJ_PLACE_INTERNAL;
	if (f->has_sbx && f->sbx.placement == RJ_PLACE_REMOTE &&
		rj_uuid_equal(f->sbx.journal_uuid, f->journal_uuid))
		return RJ_PLACE_REMOTE;
	return RJ_PLACE_DEVICE;
}

/* The extension as the volume has it now, made to agree. */
static void start_sbx(struct rj_move_ctx *m)
{
	struct rj_sbx *s = &m->sbx;

	memset(s, 0, sizeof(*s));
	if (m->f.has_sbx)
		*s = m->f.sbx;
	s->placement = m->from;
	if (m->from == RJ_PLACE_REMOTE)
		return;
	rj_move_forget_log(s);
	s->incompat = 0;
}

static int open_torn(
	struct rj_move_ctx *m, unsigned flags, struct rj_error *err)
{
	const struct rj_volume_facts *f;
	struct rj_error other;

	if (rj_volume_open(m->path, flags | RJ_VOLUME_FORCE, NULL, &m->v,
		    &other))
		return -(int)err->code;
	f = rj_volume_facts(m->v);
	return f->has_sbx && f->sbx.intent_op ? 0 : -(int)err->code;
}

int rj_move_open(struct rj_move_ctx *m, bool resume, struct rj_error *err)
{
	unsigned flags =
		RJ_VOLUME_MMP | (m->opts->dry_run ? 0 : RJ_VOLUME_WRITE);
	int rc;

	m->old_device.fd = m->new_device.fd = -1;
	rc = rj_volume_open(m->path, flags, m->opts->dry_run ? NULL : m->opts->undo_file, &m->v,
		err);
	if (rc == -RJ_E_CORRUPT && resume)
		rc = open_torn(m, flags, err);
	if (rc)
		return rc;
	if (m->opts->hooks.volume)
		rj_volume_set_tap(m->v, m->opts->hooks.volume);
	m->f = *rj_volume_facts(m->v);
	if (!m->f.has_sbx && m->f.sbx_error.code != RJ_E_NOTRJ) {
		*err = m->f.sbx_error;
		return rj_fail_prefix(err, "%s", m->path);
	}
	m->from = rj_move_placement(&m->f);
	m->uuid = m->opts->new_uuid ? m->opts->new_uuid : m->f.uuid;
	start_sbx(m);
	if (rj_rundir_of(m->path, m->f.uuid, NULL))
		return rj_fail(err, RJ_E_BUSY,
			"%s: an rjournald serves its journal; 'rjctl stop %s' ends it",
			m->path, m->path);
	return rj_volume_check_mmp(m->v, err);
}

static void first_failure(int *rc, int later, struct rj_error *err,
	const struct rj_error *why)
{
	if (*rc || !later)
		return;
	*rc = later;
	if (err)
		*err = *why;
}

static int close_all(struct rj_move_ctx *m, int rc, struct rj_error *err)
{
	struct rj_error why;

	rj_change_free(m->change);
	rj_log_writer_free(m->old_log);
	rj_log_writer_free(m->new_log);
	rj_log_sealing_free(&m->old_sealing);
	rj_log_sealing_free(&m->new_sealing);
	rj_store_close(m->old_store);
	rj_store_close(m->new_store);
	first_failure(&rc, rj_jdev_close(&m->new_device, &why), err, &why);
	first_failure(&rc, rj_jdev_close(&m->old_device, &why), err, &why);
	first_failure(&rc, rj_volume_close(m->v, &why), err, &why);
	return rc;
}

int rj_move_run(const char *device, const struct rj_move_opts *opts,
	struct rj_move_report *report,
	int (*steps)(struct rj_move_ctx *m, struct rj_error *err),
	struct rj_error *err)
{
	struct rj_move_ctx m = {.path = device, .opts = opts, .report = report};
	struct rj_error own;
	int rc;

	memset(report, 0, sizeof(*report));
	/* the steps read back what kind of failure it was */
	if (!err)
		err = &own;
	rc = steps(&m, err);
	return close_all(&m, rc, err);
}

int rj_move_check_settled(const char *path, const struct rj_volume_facts *f,
	struct rj_move_report *report, struct rj_error *err)
{
	struct rj_verdict_facts facts;
	struct rj_verdict v;

	rj_volume_judged(f, &facts);
	facts.device = path;
	rj_verdict_judge(&facts, &v);
	report->pending = v.kind == RJ_VERDICT_UNDER_WAY;
	report->needs_recovery = v.kind == RJ_VERDICT_REPLAY;
	if (!report->pending && !report->needs_recovery)
		return 0;
	rj_verdict_refuse(&v, &facts, err);
	if (report->needs_recovery)
		rj_fail_suffix(err, ", or give -y");
	return -(int)err->code;
}

/* What the volume says of itself; its old journal is looked at later. */
static int check_volume(struct rj_move_ctx *m, struct rj_error *err)
{
	struct rj_verdict_facts facts;
	struct rj_verdict v;

	rj_volume_judged(&m->f, &facts);
	facts.device = m->path;
	if (m->opts->abandon)
		facts.found &= ~(RJ_FOUND(RJ_IS_VOID) | RJ_FOUND(RJ_IS_PENDING) |
				 RJ_FOUND(RJ_IS_MISMATCH));
	rj_verdict_judge(&facts, &v);
	if (v.kind != RJ_VERDICT_CHECK)
		return rj_move_verdict(m, &facts, &v, err);
	/* without its log e2fsck opens no volume: rjrecover has it check this one */
	m->report->needs_recovery = m->from == RJ_PLACE_REMOTE;
	return rj_fail(err, RJ_E_REFUSED, "%s: not cleanly unmounted, or with errors; %s", m->path,
		m->from == RJ_PLACE_REMOTE ? "run rjrecover, or give -y" : "run e2fsck -f first");
}

int rj_move_check(struct rj_move_ctx *m, struct rj_error *err)
{
	int rc = rj_move_check_settled(m->path, &m->f, m->report, err);

	if (!rc)
		rc = check_volume(m, err);
	if (rc)
		return rc;
	if (m->f.orphans)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: has inodes that wait for being deleted or truncated; mount and unmount it",
			m->path);
	return 0;
}

static int check_old_device(struct rj_move_ctx *m, struct rj_error *err)
{
	/* the target may be that device, under another number */
	const char *const target[] = {m->opts->to.device, NULL};
	const char *const *named = m->opts->devices;
	char *path = NULL;
	int rc;

	if ((!named || !named[0]) && m->to == RJ_PLACE_DEVICE)
		named = target;
	rc = rj_journal_find(m->f.journal_uuid, m->f.block_size,
		m->f.journal_device, named, &path, err);
	if (rc)
		return rj_fail_prefix(err, "%s", m->path);
	rc = rj_jdev_open(&m->old_device, path, m->f.block_size,
		!m->opts->dry_run, &(struct rj_move_opts){
			.allow_files = true,
			.hooks = m->opts->hooks,
		}, err);
	free(path);
	if (!rc)
		rc = rj_jdev_check_mine(&m->old_device, m->f.uuid, err);
	if (!rc && m->old_device.sb.fs_errno)
		rc = rj_move_noted_error(m, err);
	return rc;
}

static int check_old_inode(struct rj_move_ctx *m, struct rj_error *err)
{
	uint8_t raw[RJ_JBD2_SB_BYTES];
	struct rj_bio *bio = NULL;
	struct rj_jbd2_sb sb = {0};
	int rc;

	rc = rj_volume_journal_bio(m->v, &bio, err);
	if (!rc)
		rc = bio->read(bio, raw, sizeof(raw), 0, err);
	if (!rc)
		rc = rj_jbd2_sb_decode(raw, &sb, err);
	if (!rc && sb.start)
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: says that it needs no recovery, but its journal is not empty; run rjrecover -f",
			m->path);
	if (!rc && sb.fs_errno)
		rc = rj_move_noted_error(m, err);
	if (!rc)
		m->report->from.blocks = sb.maxlen;
	rj_bio_free(bio);
	return rc;
}

/* A device that was found but cannot be written is there still. A store that does
 * not let us in may never again. */
static bool lost(const struct rj_move_ctx *m, const struct rj_error *err)
{
	if (err->code == RJ_E_DENIED && m->from == RJ_PLACE_DEVICE)
		return false;
	return !rj_error_ours(err) && m->from != RJ_PLACE_NONE;
}

int rj_move_check_old(struct rj_move_ctx *m, struct rj_error *err)
{
	int rc = 0;

	if (m->opts->abandon)
		return 0;
	switch (m->from) {
	case RJ_PLACE_NONE:
		break;
	case RJ_PLACE_INTERNAL:
		rc = check_old_inode(m, err);
		break;
	case RJ_PLACE_DEVICE:
		rc = check_old_device(m, err);
		break;
	case RJ_PLACE_REMOTE:
		rc = rj_move_check_log(m, err);
		break;
	}
	if (rc && lost(m, err))
		m->report->journal_lost = true;
	return rc;
}

void rj_move_describe(struct rj_move_ctx *m)
{
	struct rj_move_end *a = &m->report->from, *b = &m->report->to;

	a->placement = m->from;
	b->placement = m->to;
	if (m->from == RJ_PLACE_DEVICE || m->from == RJ_PLACE_REMOTE)
		memcpy(a->uuid, m->f.journal_uuid, RJ_UUID_BYTES);
	if (m->to == RJ_PLACE_DEVICE || m->to == RJ_PLACE_REMOTE)
		memcpy(b->uuid, m->new_journal, RJ_UUID_BYTES);
	if (m->from == RJ_PLACE_REMOTE) {
		snprintf(a->where, sizeof(a->where), "%s", m->f.sbx.url);
		a->blocks = m->f.sbx.journal_blocks;
	}
	if (m->old_device.path)
		snprintf(a->where, sizeof(a->where), "%s", m->old_device.path);
	if (m->old_device.sb.maxlen)
		a->blocks = m->old_device.sb.maxlen;
	if (m->to == RJ_PLACE_REMOTE && m->new_store)
		snprintf(b->where, sizeof(b->where), "%s", m->new_store->url);
	if (m->new_device.path)
		snprintf(b->where, sizeof(b->where), "%s", m->new_device.path);
	b->blocks = m->blocks + m->fc_blocks;
}

const char *rj_move_end_text(
	const struct rj_move_end *e, char *out, size_t size)
{
	char uuid[RJ_UUID_TEXT];

	switch (e->placement) {
	case RJ_PLACE_NONE:
		snprintf(out, size, "no journal");
		break;
	case RJ_PLACE_INTERNAL:
		snprintf(out, size, "internal journal");
		break;
	case RJ_PLACE_DEVICE:
		snprintf(out, size, "journal device %s",
			e->where[0] ? e->where : rj_uuid_text(e->uuid, uuid));
		break;
	case RJ_PLACE_REMOTE:
		snprintf(out, size, "remote log %s of %s",
			rj_uuid_text(e->uuid, uuid), e->where);
		break;
	}
	return out;
}

const char *rj_move_outcome_name(enum rj_move_outcome o)
{
	static const char *const names[] = {
		[RJ_MOVED_NOTHING] = "nothing",
		[RJ_MOVED_DONE] = "done",
		[RJ_MOVED_ROLLED_BACK] = "rolled-back",
		[RJ_MOVED_UNFINISHED] = "unfinished",
		[RJ_MOVED_WOULD] = "would",
	};

	return (unsigned)o < sizeof(names) / sizeof(names[0]) ? names[o]
							       : "unknown";
}
