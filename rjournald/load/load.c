// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a volume and its log, claim an epoch, and note that in the volume. */
#include "load.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "load-fallback.h"
#include "move.h"
#include "rjournald/commit/volume-mark.h"
#include "ext4/check.h"
#include "jbd2/jbd2.h"
#include "journal/attach.h"
#include "log/floor/floor-all.h"
#include "log/seen.h"
#include "util/environ.h"
#include "util/error-class.h"
#include "util/log.h"

/* The kernel drops its journal a moment before it lets go of the volume. */
#define NS_PER_S      1000000000ULL
#define NOTE_WAIT_NS  3000000000LL
#define NOTE_RETRY_NS 5000000LL
/* A worker that takes over does the waiting itself. */
#define CLAIM_AGAIN_MS 1000

/* A volume that has it all is served, and one that the kernel is to replay: it needs recovery
 * by its own word. */
static int may_serve(const struct rj_verdict *v, const struct rj_verdict_facts *f,
	struct rj_error *err)
{
	if (v->kind == RJ_VERDICT_CLEAN || v->kind == RJ_VERDICT_REPLAY ||
		v->kind == RJ_VERDICT_CHECK)
		return 0;
	return rj_verdict_refuse(v, f, err);
}

static int check_facts(const char *device, const struct rj_volume_facts *f,
	struct rj_error *err)
{
	struct rj_verdict_facts facts;
	struct rj_verdict verdict;
	int rc;

	if (!f->has_sbx && f->sbx_error.code == RJ_E_NOTRJ)
		return rj_fail(err, RJ_E_NOTRJ,
			"%s: this volume has no remote journal; rjtune -J "
			"remote=URL gives it one",
			device);
	if (!f->has_sbx) {
		*err = f->sbx_error;
		return rj_fail_prefix(err, "%s", device);
	}
	if (f->sbx.placement != RJ_PLACE_REMOTE)
		return rj_fail(err, RJ_E_INVAL,
			"%s: the journal of this volume is not remote (%s)",
			device, rj_placement_name(f->sbx.placement));
	if (!f->has_journal ||
		!rj_uuid_equal(f->journal_uuid, f->sbx.journal_uuid))
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: the superblock does not name the remote journal "
			"that its extension names; run rjtune -l",
			device);
	rj_volume_judged(f, &facts);
	facts.device = device;
	rj_verdict_judge(&facts, &verdict);
	rc = may_serve(&verdict, &facts, err);
	/* what is in the log already the kernel may take from it */
	if (rc || verdict.found & RJ_FOUND(RJ_IS_NEEDS))
		return rc;
	return rj_attach_features(device, f, err);
}

/* What is known of the volume, opened with FLAGS, into l->facts. */
static int take_facts(struct rj_loaded *l, unsigned flags, struct rj_error *err)
{
	struct rj_volume *v = NULL;
	int rc = rj_volume_open(l->device, flags, NULL, &v, err);

	if (rc)
		return rc;
	l->facts = *rj_volume_facts(v);
	rc = rj_volume_close(v, err);
	return rc ? rc : check_facts(l->device, &l->facts, err);
}

/*
 * Opened for writing although nothing is written yet: that refuses a volume
 * that is mounted or held by another program. And only what it says then counts: before,
 * it may have been mounted, and served by a daemon that has ended since.
 */
static int look_at_volume(struct rj_loaded *l, struct rj_error *err)
{
	uint8_t uuid[RJ_UUID_BYTES];
	int rc = take_facts(l, 0, err);

	if (rc)
		return rc;
	memcpy(uuid, l->facts.uuid, RJ_UUID_BYTES);
	rc = rj_claim_dir(uuid, getppid(), l->device, &l->dir, err);
	if (rc)
		return rj_fail_prefix(err, "%s", l->device);
	rc = take_facts(l, RJ_VOLUME_WRITE, err);
	if (!rc && !rj_uuid_equal(uuid, l->facts.uuid))
		rc = rj_fail(err, RJ_E_BUSY,
			"%s: its UUID was changed just now: try again", l->device);
	return rc;
}

struct reading {
	struct rj_ring *ring;
	struct rj_log_seen seen;
};

static int take_segment(
	void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	struct reading *r = arg;

	rj_log_seen_take(&r->seen, seg);
	return rj_ring_apply(r->ring, seg, err);
}

void rj_load_spare(struct rj_loaded *l)
{
	struct rj_error err;

	if (rj_store_dup(l->store, &l->spare, &err))
		rj_log(RJ_LOG_WARNING,
			"old segments will not be deleted, nor others given way to: %s",
			err.msg);
}

/* The journal superblock as read back must be one we can serve. */
static int check_ring(struct rj_loaded *l, const struct reading *r,
	struct rj_error *err)
{
	const uint8_t *raw =
		l->ring->data + (size_t)l->sb_block * l->ring->block_size;
	struct rj_log_id id = {0};
	struct rj_verdict_facts f;
	struct rj_verdict v;
	struct rj_jbd2_sb sb;
	int rc = rj_jbd2_sb_decode(raw, &sb, err);

	if (rc)
		return rj_fail_prefix(
			err, "%s: the log of %s", l->store->url, l->device);
	if (sb.block_size != l->ring->block_size || sb.maxlen > l->ring->blocks)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: the journal in the log has %u blocks of %u bytes, "
			"the volume expects %u of %u",
			l->store->url, sb.maxlen, sb.block_size,
			l->ring->blocks, l->ring->block_size);
	rj_load_log_id(l, &id);
	rj_volume_judged(&l->facts, &f);
	f.device = l->device;
	f.log = l->store->url;
	f.found |= RJ_FOUND(RJ_IS_READ) | (sb.start ? 0 : RJ_FOUND(RJ_IS_EMPTY)) |
		   (l->writer ? RJ_FOUND(RJ_IS_TAKEN) : 0);
	rc = rj_log_judged(l->store, &id, &r->seen, 0, &f, err);
	if (rc)
		return rc;
	rj_volume_judge(l->device, &l->facts, &f, &v);
	return may_serve(&v, &f, err);
}

/* What another writer appended before our fence stopped it: after SUM, or the
 * whole log when that is not what we continue. */
static int read_rest(struct rj_loaded *l, const struct rj_log_id *id,
	struct rj_log_read_opts *read, const struct rj_log_summary *sum,
	struct reading *r, struct rj_log_summary *more, struct rj_error *err)
{
	bool holds;
	int rc;

	rc = rj_log_still_contains(
		l->store, id, &sum->tail, l->writer, 0, &holds, err);
	if (rc)
		return rc;
	if (holds) {
		read->resume = &sum->tail;
	} else {
		rj_ring_clear(l->ring);
		*r = (struct reading){.ring = l->ring};
	}
	return rj_log_read(l->store, id, read, take_segment, r, more, err);
}

/* All of the journal may be live, and as much again be written before the next trim. */
static void warn_small(const struct rj_loaded *l)
{
	uint64_t journal = rj_ring_bytes(l->ring);
	uint64_t most = l->store->max_bytes;

	if (most && most < 2 * journal)
		rj_log(RJ_LOG_WARNING,
			"%s takes %llu bytes of this volume at most, less than twice its journal (%llu bytes): commits will wait for space",
			l->store->url, (unsigned long long)most,
			(unsigned long long)journal);
}

/* As a recovery does: what the kernel takes from the log here is not asked for
 * again. */
static void ask_floors(const struct rj_loaded *l, const struct rj_log_id *id,
	struct rj_floors *f)
{
	const struct rj_sbx *sbx = &l->facts.sbx;
	struct rj_floor_answer a;
	struct rj_log_tail saw;
	char by[sizeof(f->by)];

	rj_floors_ask(f, l->device, l->facts.needs_recovery, sbx->url, id,
		sbx->epoch, 0, &a);
	if (!l->facts.needs_recovery || !l->fallback.log)
		return;
	rj_fallback_noted_tail(l->fallback.log, &saw);
	snprintf(by, sizeof(by), "the fallback file %s", l->fallback.path);
	rj_floors_take(f, &saw, sbx->epoch, by);
}

static int read_and_claim(struct rj_loaded *l, struct rj_error *err)
{
	const struct rj_sbx *sbx = &l->facts.sbx;
	struct rj_floors floors;
	struct rj_log_read_opts read = {
		.floor = sbx->floor,
		.seen = &floors.seen,
		.seen_by = floors.by,
		.epoch = sbx->epoch,
	};
	struct rj_log_claim_opts claim = {.min_epoch = sbx->epoch};
	struct reading r = {.ring = l->ring};
	struct rj_log_summary sum = {0}, more = {0};
	struct rj_log_id id = {0};
	int rc;

	rj_load_log_id(l, &id);
	ask_floors(l, &id, &floors);
	rc = rj_log_read(l->store, &id, &read, take_segment, &r, &sum, err);
	if (rc && !rj_code_away(rc) && rj_error_log_lost(err))
		rj_fail_suffix(err, "; %s", rj_way_text(RJ_WAY_RECOVER));
	if (rc)
		return rj_fail_prefix(err, "%s", l->device);
	l->memory.shm->confirmed_s = (uint32_t)(sum.tail_ns / NS_PER_S);
	rc = check_ring(l, &r, err);
	/* not for a volume that the log is not of */
	if (!rc)
		rc = rj_load_fallback_make(l, err);
	if (!rc)
		rc = rj_log_claim(l->store, &id, &claim, &l->writer, err);
	if (rc)
		return rc;
	rc = read_rest(l, &id, &read, &sum, &r, &more, err);
	if (rc)
		return rj_fail_prefix(err, "%s", l->device);
	if (more.tail.sequence != rj_log_writer_tail(l->writer)->sequence)
		return rj_fail(err, RJ_E_FENCED,
			"%s: another writer took over the log of %s",
			l->store->url, l->device);
	warn_small(l);
	rj_log(RJ_LOG_INFO, "read %llu segments of %s, epoch %llu",
		(unsigned long long)(sum.segments + more.segments),
		l->store->url,
		(unsigned long long)rj_log_writer_epoch(l->writer));
	return check_ring(l, &r, err);
}

static int write_note(struct rj_loaded *l, uint32_t journal_device,
	bool leaving, struct rj_error *err)
{
	struct rj_volume_patch patch = {
		.set_sbx = true,
		.set_journal = true,
		.has_journal = true,
		.journal_device = journal_device,
		.primary_only = true,
	};
	const struct rj_volume_facts *f;
	struct rj_volume *v = NULL;
	struct rj_error e;
	int rc, rc2;

	rc = rj_volume_open(l->device, RJ_VOLUME_WRITE, NULL, &v, err);
	if (rc)
		return rc;
	f = rj_volume_facts(v);
	/* another program may have been faster: a recovery, a new volume */
	if (f->has_sbx && !f->needs_recovery &&
		rj_uuid_equal(f->sbx.journal_uuid, l->facts.sbx.journal_uuid)) {
		memcpy(patch.journal_uuid, f->journal_uuid, RJ_UUID_BYTES);
		patch.sbx = f->sbx;
		patch.sbx.epoch = rj_log_writer_epoch(l->writer);
		patch.sbx.floor = rj_log_writer_tail(l->writer)->sequence;
		patch.sbx.fallback_empty = leaving && rj_load_fallback_idle(l);
		if (leaving)
			rj_mount_notes_leaving(l->notes, v);
		else
			rj_mount_notes_before(l->notes, v);
		rc = rj_volume_patch(v, &patch, err);
		l->left = leaving && !rc;
		if (l->left)
			rj_mount_notes_left(l->notes, v);
		else if (!rc)
			rj_mount_notes_served(l->notes, v);
	}
	rc2 = rj_volume_close(v, rc ? &e : err);
	/* a clean volume has all that is below our first segment; without a mark a copy that is
	 * made before the journal's tail moves could not be told from it, once the log is empty */
	if (!rc && !leaving)
		rj_mark_first(l->device, &l->facts, rj_log_writer_tail(l->writer)->sequence);
	return rc ? rc : rc2;
}

/* As the kernel's new_encode_dev(). */
static uint32_t encode_device(dev_t dev)
{
	uint32_t low = minor(dev);

	return (low & 0xff) | (uint32_t)major(dev) << 8 | (low & ~0xffu) << 12;
}

int rj_load_note(
	struct rj_loaded *l, const char *journal_path, struct rj_error *err)
{
	struct stat st;

	if (l->facts.needs_recovery)
		return 0;
	if (stat(journal_path, &st))
		return rj_fail_errno(err, errno, "%s", journal_path);
	return write_note(l, encode_device(st.st_rdev), false, err);
}

int rj_unload_note(struct rj_loaded *l, struct rj_error *err)
{
	int64_t deadline = rj_monotonic_ns() + NOTE_WAIT_NS;
	int rc;

	rj_mount_notes_leave(l->notes);
	while ((rc = write_note(l, RJ_JOURNAL_DEVICE_REMOTE, true, err)) ==
			-RJ_E_BUSY &&
		rj_monotonic_ns() < deadline)
		rj_sleep_ns(NOTE_RETRY_NS);
	return rc;
}

static int map_ring(struct rj_loaded *l, struct rj_error *err)
{
	const struct rj_worker_shm *k = l->memory.shm;

	return rj_ring_new_over(k->block_size, k->blocks, l->memory.data,
		l->memory.seq, &l->ring, err);
}

int rj_load_check_ack(
	const struct rj_loaded *l, struct rj_store *store, bool counted, struct rj_error *err)
{
	if (l->facts.sbx.ack_received || store->caps.durability == RJ_DURABLE)
		return 0;
	if (!counted)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: the volume wants ack=durable, and it is not known that what this store acknowledges is on stable storage: if it is, durable = yes in its section of rj.conf says so",
			store->url);
	rj_log(RJ_LOG_WARNING,
		"%s: the volume wants ack=durable, and this store counted as durable when the log was begun; now that is not known: if it is, durable = yes in its section of rj.conf says so",
		store->url);
	return 0;
}

int rj_load(const char *device, struct rj_loaded *out, struct rj_error *err)
{
	struct rj_loaded l = {.device = device, .dir.lock = -1};
	const struct rj_store_opts store = {.give_up = &out->stop_waiting};
	const struct rj_sbx *sbx = &l.facts.sbx;
	int rc;

	rc = look_at_volume(&l, err);
	if (!rc)
		rc = rj_log_sealing_load(sbx->url, NULL, sbx->key_fingerprint,
			&l.sealing, err);
	if (!rc)
		rc = rj_store_open(sbx->url, &store, &l.store, err);
	if (!rc)
		rc = rj_load_check_ack(&l, l.store, sbx->probed & RJ_SBX_PROBED_DURABLE, err);
	if (!rc)
		rc = rj_worker_shm_create(l.facts.block_size,
			sbx->journal_blocks, &l.memory, err);
	if (!rc)
		rc = map_ring(&l, err);
	l.sb_block = rj_jbd2_device_sb_block(l.facts.block_size);
	if (!rc)
		rc = rj_load_fallback_open(&l, err);
	if (!rc)
		rc = read_and_claim(&l, err);
	if (!rc)
		rc = rj_load_fallback_serve(&l, err);
	if (!rc) {
		rj_shm_save_facts(&l.memory.shm->facts, &l.facts);
		/* as it is marked before it serves */
		l.memory.shm->facts.sbx.epoch = rj_log_writer_epoch(l.writer);
		l.memory.shm->facts.sbx.floor =
			rj_log_writer_tail(l.writer)->sequence;
		l.memory.shm->epoch = rj_log_writer_epoch(l.writer);
		l.memory.shm->served_since = l.memory.shm->epoch;
	}
	if (rc) {
		rj_unload(&l);
		return rc;
	}
	*out = l;
	return 0;
}

int rj_load_again(const char *device, const struct rj_worker_fds *fds,
	struct rj_loaded *out, struct rj_error *err)
{
	struct rj_loaded l = {.device = device, .dir.lock = -1};
	int rc;

	rc = rj_worker_shm_attach(fds->fd[RJ_WORKER_FD_MEMORY], &l.memory, err);
	if (rc)
		return rc;
	rj_shm_load_facts(&l.facts, &l.memory.shm->facts);
	l.sb_block = rj_jbd2_device_sb_block(l.facts.block_size);
	rj_worker_shm_settle(&l.memory);
	rc = map_ring(&l, err);
	if (!rc)
		rc = rj_claimed_dir_again(
			l.facts.uuid, fds->fd[RJ_WORKER_FD_LOCK], &l.dir, err);
	if (rc) {
		rj_ring_free(l.ring);
		rj_worker_shm_release(&l.memory);
		return rc;
	}
	rj_move_resume(&l);
	l.memory.shm->restarts++;
	*out = l;
	return 0;
}

int rj_load_store_again(struct rj_loaded *l, struct rj_error *err)
{
	const struct rj_store_opts store = {.give_up = &l->stop_waiting};
	const struct rj_sbx *sbx = &l->facts.sbx;
	int rc;

	if (l->store)
		return 0;
	rj_log_sealing_free(&l->sealing);
	rc = rj_log_sealing_load(sbx->url, NULL,
		l->facts.has_sbx ? sbx->key_fingerprint : NULL, &l->sealing,
		err);
	return rc ? rc : rj_store_open(sbx->url, &store, &l->store, err);
}

/* From now on the nonce is that of segments: it is never used for another epoch. */
static void claimed(void *arg, uint64_t epoch)
{
	struct rj_worker_shm *k = arg;

	k->epoch = epoch;
}

int rj_load_succeed(struct rj_loaded *l, struct rj_store *store, const struct rj_log_id *id,
	struct rj_log_claim_opts *claim, struct rj_error *err)
{
	struct rj_worker_shm *k = l->memory.shm;
	bool begun = k->begun == (uint32_t)k->epoch + 1;
	int rc = rj_log_successor(
		store, id, k->epoch, k->nonce, begun, claim->retry_ms, &claim->successor_of, err);

	if (rc)
		return rc;
	/* one for all tries, until one is answered: each may arrive late */
	if (!begun) {
		k->epoch = claim->successor_of; /* of a release without BEGUN */
		if (rj_random_bytes(k->nonce, sizeof(k->nonce)))
			return rj_fail(err, RJ_E_IO, "cannot get random bytes");
		k->begun = (uint32_t)k->epoch + 1;
	}
	claim->nonce = k->nonce;
	claim->continues = k->served_since;
	claim->wrote = k->epoch;
	claim->min_epoch = claim->successor_of;
	if (!claim->claimed) {
		claim->claimed = claimed;
		claim->arg = k;
	}
	return 0;
}

int rj_load_claim_again(struct rj_loaded *l, struct rj_error *err)
{
	struct rj_worker_shm *k = l->memory.shm;
	struct rj_log_claim_opts claim = {.reaches = k->acked, .retry_ms = CLAIM_AGAIN_MS};
	struct rj_log_id id = {0};
	int rc = rj_load_store_again(l, err);

	if (rc)
		return rc;
	rj_load_log_id(l, &id);
	rc = rj_load_succeed(l, l->store, &id, &claim, err);
	if (rc)
		return rc;
	rj_log_writer_free(l->writer); /* of an attempt before this one */
	l->writer = NULL;
	rc = rj_log_claim(l->store, &id, &claim, &l->writer, err);
	if (rc)
		return rc;
	rj_load_watch(l, l->store);
	if (rj_log_writer_tail(l->writer)->sequence <= k->acked)
		return rj_fail(err, RJ_E_GAP,
			"%s: segment %llu was acknowledged, and is not there any more",
			l->store->url, (unsigned long long)k->acked);
	return 0;
}

void rj_unload(struct rj_loaded *l)
{
	rj_load_fallback_close(l);
	rj_log_writer_free(l->writer);
	rj_store_close(l->spare);
	rj_store_close(l->store);
	rj_ring_free(l->ring);
	rj_worker_shm_release(&l->memory);
	rj_log_sealing_free(&l->sealing);
	rj_release_dir(&l->dir);
	l->writer = NULL;
	l->store = l->spare = NULL;
	l->ring = NULL;
}
