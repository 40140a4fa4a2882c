// SPDX-License-Identifier: LGPL-2.1-or-later
/* Remote logs under a move: the one that it leaves, the one that it makes. */
#include <string.h>

#include "ext4/check.h"
#include "journal/move-priv.h"
#include "log/fallback/fallback-log.h"
#include "log/listing.h"
#include "log/ring.h"
#include "log/seen.h"

struct reading {
	struct rj_ring *ring;
	struct rj_log_seen seen;
};

static int apply(
	void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	struct reading *r = arg;

	rj_log_seen_take(&r->seen, seg);
	return rj_ring_apply(r->ring, seg, err);
}

static void old_id(const struct rj_move_ctx *m, struct rj_log_id *id)
{
	memset(id, 0, sizeof(*id));
	memcpy(id->volume_uuid, m->f.uuid, RJ_UUID_BYTES);
	memcpy(id->journal_uuid, m->f.journal_uuid, RJ_UUID_BYTES);
	rj_log_sealing_use(&m->old_sealing, id);
}

/* A journal is taken only from a volume that has all that is in the log: to take it from an older
 * copy would stop the writer of the volume itself. */
static int check_clean(struct rj_move_ctx *m, const struct rj_log_id *id,
	const struct reading *r, struct rj_error *err)
{
	size_t at = (size_t)rj_jbd2_device_sb_block(r->ring->block_size) *
		    r->ring->block_size;
	struct rj_verdict_facts f;
	struct rj_verdict v;
	struct rj_jbd2_sb sb;
	int rc = rj_jbd2_sb_decode(r->ring->data + at, &sb, err);

	if (rc)
		return rj_fail_prefix(err, "%s", m->old_store->url);
	rj_volume_judged(&m->f, &f);
	f.device = m->path;
	f.log = m->old_store->url;
	f.found |= RJ_FOUND(RJ_IS_READ) | (sb.start ? 0 : RJ_FOUND(RJ_IS_EMPTY)) |
		   (sb.fs_errno ? RJ_FOUND(RJ_IS_ERRNO) : 0);
	rc = rj_log_judged(m->old_store, id, &r->seen, m->opts->retry_ms, &f, err);
	if (rc)
		return rc;
	rj_volume_judge(m->path, &m->f, &f, &v);
	return rj_move_verdict(m, &f, &v, err);
}

/* Nothing of the old log may be in its fallback file alone. */
static int check_fallback(struct rj_move_ctx *m, const struct rj_log_id *id,
	struct rj_error *err)
{
	struct rj_fallback_facts facts;
	struct rj_fallback_file f;
	int rc;

	if (!m->f.sbx.fallback[0] || m->f.sbx.fallback_empty)
		return 0;
	rc = rj_fallback_file_open(
		m->f.sbx.fallback, id, m->path, true, &f, err);
	if (rc)
		return rj_fail_prefix(err, "%s: its fallback", m->path);
	rj_fallback_facts(f.log, &facts);
	rj_fallback_file_close(&f);
	if (facts.state == RJ_FALLBACK_IDLE)
		return 0;
	m->report->needs_recovery = true;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: the fallback file holds what the store at %s does not have; run rjrecover, or give -y, when that is back (if it is lost for good, --accept-loss)",
		m->path, m->old_store->url);
}

int rj_move_check_log(struct rj_move_ctx *m, struct rj_error *err)
{
	struct rj_log_read_opts o = {
		.floor = m->f.sbx.floor, .retry_ms = m->opts->retry_ms};
	struct rj_log_summary sum;
	struct reading r = {0};
	struct rj_log_id id;
	int rc;

	rc = rj_move_open_store(m->opts, m->f.sbx.url, &m->old_store, err);
	if (!rc)
		rc = rj_log_sealing_load(m->f.sbx.url, m->opts->old_key,
			m->f.sbx.key_fingerprint, &m->old_sealing, err);
	if (rc)
		return rc;
	old_id(m, &id);
	rc = check_fallback(m, &id, err);
	if (rc)
		return rc;
	rc = rj_ring_new(
		m->f.block_size, m->f.sbx.journal_blocks, &r.ring, err);
	if (!rc)
		rc = rj_log_read(m->old_store, &id, &o, apply, &r, &sum, err);
	if (!rc)
		rc = check_clean(m, &id, &r, err);
	if (!rc)
		rj_log_other_writer(m->old_store, &id, r.seen.newest.epoch,
			r.seen.newest.time_ns, m->other_host);
	/* with a new UUID this one may be a copy of a volume that others write on */
	m->leaves_clean = !m->opts->journal_stays;
	rj_ring_free(r.ring);
	return rc;
}

/* The volume knows the epoch of its last fence in the old log before the log does: a copy that was
 * made before does not, and is told from the volume if the move is cut off, or taken back. */
static int note_epoch(struct rj_move_ctx *m, const struct rj_log_id *id, struct rj_error *err)
{
	struct rj_volume_patch p = {.set_sbx = true, .primary_only = true};
	uint64_t highest;
	int rc = rj_listing_epoch(m->old_store, id, m->opts->retry_ms, &highest, err);

	if (rc)
		return rc;
	m->sbx.epoch = (highest > m->f.sbx.epoch ? highest : m->f.sbx.epoch) + 1;
	p.sbx = m->sbx;
	return rj_volume_patch(m->v, &p, err);
}

int rj_move_close_log(struct rj_move_ctx *m, struct rj_error *err)
{
	struct rj_log_claim_opts o = {
		.min_epoch = m->f.sbx.epoch,
		.retry_ms = m->opts->retry_ms,
		.clean = m->leaves_clean,
	};
	struct rj_log_id id;
	int rc = 0;

	if (m->from != RJ_PLACE_REMOTE || !m->old_store)
		return 0;
	rj_move_say(m, "fence every other writer of the old log at %s%s%s%s",
		m->old_store->url, m->other_host[0] ? " (last written " : "",
		m->other_host, m->other_host[0] ? ")" : "");
	if (m->opts->dry_run)
		return 0;
	old_id(m, &id);
	if (m->leaves_clean)
		rc = note_epoch(m, &id, err);
	if (!rc)
		rc = rj_log_claim(m->old_store, &id, &o, &m->old_log, err);
	/* another writer was faster, for the last time */
	if (!rc && m->leaves_clean)
		m->sbx.epoch = rj_log_writer_epoch(m->old_log);
	return rc;
}

int rj_move_make_log(struct rj_move_ctx *m, struct rj_error *err)
{
	struct rj_log_id id = {0};

	memcpy(id.volume_uuid, m->uuid, RJ_UUID_BYTES);
	memcpy(id.journal_uuid, m->new_journal, RJ_UUID_BYTES);
	rj_log_sealing_use(&m->new_sealing, &id);
	return rj_attach_begin_log(m->new_store, &id, m->f.block_size,
		m->blocks, m->opts->retry_ms, &m->new_log, err);
}

static const char *new_fallback(const struct rj_move_ctx *m)
{
	if (m->to != RJ_PLACE_REMOTE)
		return "";
	return m->opts->journal_stays ? m->f.sbx.fallback
				      : m->opts->to.fallback;
}

static void new_id(const struct rj_move_ctx *m, bool switched, struct rj_log_id *id)
{
	memset(id, 0, sizeof(*id));
	memcpy(id->volume_uuid, m->uuid, RJ_UUID_BYTES);
	memcpy(id->journal_uuid, switched ? m->f.journal_uuid : m->new_journal,
		RJ_UUID_BYTES);
}

int rj_move_check_fallback(const struct rj_move_ctx *m, bool switched,
	struct rj_error *err)
{
	const char *path = new_fallback(m), *gone = m->opts->given_up_fallback;
	struct rj_log_id id;

	/* the old log's own was looked at with that */
	if (!path[0] || !strcmp(path, m->f.sbx.fallback))
		return 0;
	new_id(m, switched, &id);
	return rj_fallback_check(path, &id,
		gone && !strcmp(path, gone) ? m->opts->given_up : NULL, m->path,
		rj_attach_fallback_bytes(
			&m->opts->to, m->f.block_size, m->blocks),
		err);
}

int rj_move_make_fallback(struct rj_move_ctx *m, bool switched,
	struct rj_error *err)
{
	const struct rj_log_id *given_up = m->opts->given_up;
	const char *path = new_fallback(m);
	struct rj_log_id id, old;
	int rc = 0;

	if (!path[0])
		return 0;
	rj_move_say(m, "make the fallback file at %s", path);
	if (m->opts->dry_run)
		return 0;
	new_id(m, switched, &id);
	old_id(m, &old);
	/* the old log's own, in the same place: it was seen to be empty */
	if (!switched && !strcmp(path, m->f.sbx.fallback))
		rc = rj_fallback_file_remove(path, &old, err);
	return rc ? rc
		  : rj_fallback_make(path, &id, given_up ? given_up : &old, m->path,
			    rj_attach_fallback_bytes(&m->opts->to,
				    m->f.block_size, m->blocks),
			    err);
}

void rj_move_unmake_fallback(struct rj_move_ctx *m)
{
	const char *path = m->sbx.fallback;
	bool back = m->sbx.placement == RJ_PLACE_REMOTE;
	struct rj_log_id id = {0}, old = {0};
	struct rj_error err;
	bool gone;

	if (!path[0] || m->opts->dry_run)
		return;
	memcpy(id.journal_uuid, m->sbx.intent_uuid, RJ_UUID_BYTES);
	memcpy(old.volume_uuid, m->f.uuid, RJ_UUID_BYTES);
	memcpy(old.journal_uuid, m->sbx.journal_uuid, RJ_UUID_BYTES);
	if (rj_fallback_file_unmake(path, &id, back ? &old : NULL, &gone, &err))
		rj_move_warn(m, "%s", err.msg);
	else if (gone && back)
		m->sbx.fallback_empty = true; /* the next start makes it again */
}

void rj_move_drop_fallback(struct rj_move_ctx *m)
{
	const char *path = m->f.sbx.fallback;
	struct rj_log_id id;
	struct rj_error err;

	if (m->from != RJ_PLACE_REMOTE || !path[0] ||
		!strcmp(path, new_fallback(m)))
		return;
	rj_move_say(m, "remove the old fallback file %s", path);
	if (m->opts->dry_run)
		return;
	old_id(m, &id);
	if (rj_fallback_file_remove(path, &id, &err))
		rj_move_warn(m, "%s", err.msg);
}
