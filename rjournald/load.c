// SPDX-License-Identifier: GPL-2.0-or-later
#include "load.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "fallback.h"
#include "jbd2/jbd2.h"
#include "journal/attach.h"
#include "util/environ.h"
#include "util/log.h"

/* The kernel drops its journal a moment before it lets go of the volume. */
#define NOTE_WAIT_NS  3000000000LL
#define NOTE_RETRY_NS 5000000LL
/* A worker that takes over does the waiting itself. */
#define CLAIM_AGAIN_MS 1000

static int check_facts(const char *device, const struct rj_volume_facts *f,
	struct rj_error *err)
{
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
	if (f->sbx.intent_op)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: a move of the journal was cut off; run rjtune "
			"--resume first",
			device);
	if (f->sbx.incompat & RJ_SBX_INCOMPAT_LOG_VOID)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: the remote log was replaced by a check of the "
			"whole volume; run rjrecover first",
			device);
	if (!f->has_journal ||
		!rj_uuid_equal(f->journal_uuid, f->sbx.journal_uuid))
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: the superblock does not name the remote journal "
			"that its extension names; run rjtune -l",
			device);
	/* what is in the log already the kernel may take from it */
	return f->needs_recovery ? 0 : rj_attach_features(device, f, err);
}

/* Opened for writing although nothing is written yet: that refuses a volume
 * that is mounted or held by another program. */
static int look_at_volume(struct rj_loaded *l, struct rj_error *err)
{
	struct rj_volume *v = NULL;
	int rc;

	rc = rj_volume_open(l->device, 0, NULL, &v, err);
	if (rc)
		return rc;
	l->facts = *rj_volume_facts(v);
	rc = rj_volume_close(v, err);
	if (!rc)
		rc = check_facts(l->device, &l->facts, err);
	if (rc)
		return rc;
	rc = rj_claim_dir(l->facts.uuid, getppid(), &l->dir, err);
	if (rc)
		return rj_fail_prefix(err, "%s", l->device);
	rc = rj_volume_open(l->device, RJ_VOLUME_WRITE, NULL, &v, err);
	return rc ? rc : rj_volume_close(v, err);
}

struct reading {
	struct rj_ring *ring;
	bool recovered; /* the last base was put by a recovery */
	uint64_t epoch; /* of the last segment with blocks */
	uint64_t clean_epoch; /* of the last fence with RJ_SEG_F_CLEAN */
};

static int take_segment(
	void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	struct reading *r = arg;

	if (seg->header.flags & RJ_SEG_F_BASE)
		r->recovered = seg->header.flags & RJ_SEG_F_RECOVERED;
	if (seg->header.flags & RJ_SEG_F_CLEAN)
		r->clean_epoch = seg->header.epoch;
	if (seg->body.run_count)
		r->epoch = seg->header.epoch;
	return rj_ring_apply(r->ring, seg, err);
}

void rj_load_log_id(const struct rj_loaded *l, struct rj_log_id *id)
{
	memcpy(id->volume_uuid, l->facts.uuid, RJ_UUID_BYTES);
	memcpy(id->journal_uuid, l->facts.sbx.journal_uuid, RJ_UUID_BYTES);
	rj_log_sealing_use(&l->sealing, id);
}

void rj_load_watch(struct rj_loaded *l, struct rj_store *s)
{
	s->meter = &l->meter;
	s->gate = &l->gate;
}

static int check_history(const struct rj_loaded *l, const struct reading *r,
	struct rj_error *err)
{
	struct rj_log_id id = {0};
	uint64_t since;
	int rc;

	if (r->epoch <= l->facts.sbx.epoch)
		return 0;
	/* a worker that took over from another cannot mark what is mounted */
	rj_load_log_id(l, &id);
	rc = rj_log_served_since(l->store, &id, r->epoch, 0, &since, err);
	if (rc || since <= l->facts.sbx.epoch)
		return rc;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: the log was written on in epoch %llu, this copy of the volume was last marked in epoch %llu: an older copy; see rjrecover -f",
		l->device, (unsigned long long)r->epoch,
		(unsigned long long)l->facts.sbx.epoch);
}

/* The journal superblock as read back must be one we can serve. */
static int check_ring(const struct rj_loaded *l, const struct reading *r,
	struct rj_error *err)
{
	const uint8_t *raw =
		l->ring->data + (size_t)l->sb_block * l->ring->block_size;
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
	if (l->facts.needs_recovery && r->clean_epoch > l->facts.sbx.epoch)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: the volume was clean when its journal was taken from the log at %s, and this copy of it crashed before that: an older copy, or an older superblock; run rjrecover, which says more",
			l->device, l->store->url);
	if (l->facts.needs_recovery && r->recovered && !sb.start)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: a recovery of this volume was not finished; run "
			"rjrecover first",
			l->device);
	if (l->facts.needs_recovery && sb.start)
		rc = check_history(l, r, err);
	if (rc)
		return rc;
	if (!l->facts.needs_recovery && sb.start)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: the volume says that it needs no recovery, but the log holds transactions: an older copy, or another tool changed it; see rjrecover -f",
			l->device);
	return 0;
}

/* What another writer appended before our fence stopped it: behind SUM, or the
 * whole log when that is not what we stand behind. */
static int read_rest(struct rj_loaded *l, const struct rj_log_id *id,
	struct rj_log_read_opts *read, const struct rj_log_summary *sum,
	struct reading *r, struct rj_log_summary *more, struct rj_error *err)
{
	bool holds;
	int rc;

	rc = rj_log_holds(l->store, id, &sum->tail, l->writer, 0, &holds, err);
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

static int read_and_claim(struct rj_loaded *l, struct rj_error *err)
{
	const struct rj_sbx *sbx = &l->facts.sbx;
	struct rj_log_read_opts read = {.floor = sbx->floor};
	struct rj_log_claim_opts claim = {.min_epoch = sbx->epoch};
	struct reading r = {.ring = l->ring};
	struct rj_log_summary sum = {0}, more = {0};
	struct rj_log_id id = {0};
	int rc;

	rj_load_log_id(l, &id);
	rc = rj_log_read(l->store, &id, &read, take_segment, &r, &sum, err);
	if (rc)
		return rj_fail_prefix(err, "%s", l->device);
	rc = check_ring(l, &r, err);
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
	/* somebody may have been faster: a recovery, a new volume */
	if (f->has_sbx && !f->needs_recovery &&
		rj_uuid_equal(f->uuid, l->facts.uuid) &&
		rj_uuid_equal(f->sbx.journal_uuid, l->facts.sbx.journal_uuid)) {
		memcpy(patch.journal_uuid, f->journal_uuid, RJ_UUID_BYTES);
		patch.sbx = f->sbx;
		patch.sbx.epoch = rj_log_writer_epoch(l->writer);
		patch.sbx.floor = rj_log_writer_tail(l->writer)->sequence;
		patch.sbx.fallback_empty = leaving && rj_fallback_idle(l);
		rc = rj_volume_patch(v, &patch, err);
	}
	rc2 = rj_volume_close(v, rc ? &e : err);
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

	while ((rc = write_note(l, RJ_JOURNAL_DEVICE_REMOTE, true, err)) ==
			-RJ_E_BUSY &&
		rj_monotonic_ns() < deadline)
		rj_sleep_ns(NOTE_RETRY_NS);
	return rc;
}

static int map_ring(struct rj_loaded *l, struct rj_error *err)
{
	const struct rj_kept *k = l->memory.kept;

	return rj_ring_new_over(k->block_size, k->blocks, l->memory.data,
		l->memory.seq, &l->ring, err);
}

int rj_load(const char *device, struct rj_loaded *out, struct rj_error *err)
{
	struct rj_loaded l = {.device = device, .dir.lock = -1};
	const struct rj_sbx *sbx = &l.facts.sbx;
	struct rj_store_opts o = {0};
	int rc;

	rc = look_at_volume(&l, err);
	if (!rc)
		rc = rj_log_sealing_load(sbx->url, NULL, sbx->key_fingerprint,
			&l.sealing, err);
	o.marked_epoch = sbx->epoch;
	o.floor = sbx->floor;
	if (!rc)
		rc = rj_store_open(sbx->url, &o, &l.store, err);
	if (!rc && !sbx->ack_received && l.store->caps.durability != RJ_DURABLE)
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: the volume wants ack=durable, which this store "
			"cannot give",
			sbx->url);
	if (!rc)
		rc = rj_kept_create(l.facts.block_size, sbx->journal_blocks,
			&l.memory, err);
	if (!rc)
		rc = map_ring(&l, err);
	l.sb_block = rj_jbd2_device_sb_block(l.facts.block_size);
	if (!rc)
		rc = rj_fallback_open(&l, err);
	if (!rc)
		rc = read_and_claim(&l, err);
	if (!rc)
		rc = rj_fallback_serve(&l, err);
	if (!rc) {
		l.memory.kept->facts = l.facts;
		/* as it is marked before it serves */
		l.memory.kept->facts.sbx.epoch = rj_log_writer_epoch(l.writer);
		l.memory.kept->facts.sbx.floor =
			rj_log_writer_tail(l.writer)->sequence;
		l.memory.kept->epoch = rj_log_writer_epoch(l.writer);
		l.memory.kept->served_since = l.memory.kept->epoch;
	}
	if (rc) {
		rj_unload(&l);
		return rc;
	}
	*out = l;
	return 0;
}

int rj_load_again(const char *device, const struct rj_held *held,
	struct rj_loaded *out, struct rj_error *err)
{
	struct rj_loaded l = {.device = device, .dir.lock = -1};
	int rc;

	rc = rj_kept_attach(held->fd[RJ_HELD_MEMORY], &l.memory, err);
	if (rc)
		return rc;
	l.facts = l.memory.kept->facts;
	l.sb_block = rj_jbd2_device_sb_block(l.facts.block_size);
	rj_kept_settle(&l.memory);
	rc = map_ring(&l, err);
	if (!rc)
		rc = rj_claimed_dir_again(
			l.facts.uuid, held->fd[RJ_HELD_LOCK], &l.dir, err);
	if (rc) {
		rj_ring_free(l.ring);
		rj_kept_release(&l.memory);
		return rc;
	}
	l.memory.kept->restarts++;
	*out = l;
	return 0;
}

int rj_load_store_again(struct rj_loaded *l, struct rj_error *err)
{
	const struct rj_sbx *sbx = &l->facts.sbx;
	struct rj_store_opts o = {
		.marked_epoch = sbx->epoch, .floor = sbx->floor};
	int rc;

	if (l->store)
		return 0;
	rj_log_sealing_free(&l->sealing);
	rc = rj_log_sealing_load(sbx->url, NULL,
		l->facts.has_sbx ? sbx->key_fingerprint : NULL, &l->sealing,
		err);
	return rc ? rc : rj_store_open(sbx->url, &o, &l->store, err);
}

int rj_load_claim_again(struct rj_loaded *l, struct rj_error *err)
{
	struct rj_kept *k = l->memory.kept;
	struct rj_log_claim_opts claim = {
		.nonce = k->nonce,
		.continues = k->served_since,
		.reaches = k->acked,
		.retry_ms = CLAIM_AGAIN_MS,
	};
	struct rj_log_id id = {0};
	int rc = rj_load_store_again(l, err);

	if (rc)
		return rc;
	rj_load_log_id(l, &id);
	rc = rj_log_heir(l->store, &id, k->epoch, k->nonce, CLAIM_AGAIN_MS,
		&claim.heir_of, err);
	if (rc)
		return rc;
	/* in this order: if we die now, the next one can tell whose it was */
	k->epoch = claim.min_epoch = claim.heir_of;
	if (rj_random_bytes(k->nonce, sizeof(k->nonce)))
		return rj_fail(err, RJ_E_IO, "no random bytes to be had");
	rc = rj_log_claim(l->store, &id, &claim, &l->writer, err);
	if (rc)
		return rc;
	rj_load_watch(l, l->store);
	k->epoch = rj_log_writer_epoch(l->writer);
	if (rj_log_writer_tail(l->writer)->sequence <= k->acked)
		return rj_fail(err, RJ_E_GAP,
			"%s: segment %llu was acknowledged, and is not there any more",
			l->store->url, (unsigned long long)k->acked);
	return 0;
}

void rj_unload(struct rj_loaded *l)
{
	rj_fallback_close(l);
	rj_log_writer_free(l->writer);
	rj_store_close(l->store);
	rj_ring_free(l->ring);
	rj_kept_release(&l->memory);
	rj_log_sealing_free(&l->sealing);
	rj_release_dir(&l->dir);
	l->writer = NULL;
	l->store = NULL;
	l->ring = NULL;
}
