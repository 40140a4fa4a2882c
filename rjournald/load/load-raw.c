// SPDX-License-Identifier: GPL-2.0-or-later
/* Before serving a raw log: of an XFS volume, or of nothing that is known here. */
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "log/floor/floor-all.h"
#include "log/raw-log.h"
#include "store/probe.h"
#include "util/log.h"
#include "xfs/xfs.h"

#define NS_PER_S   1000000000ull
#define MIB_BLOCKS ((1u << 20) / RJ_RAW_BLOCK)

/* A start. */
struct start {
	const struct rj_raw_want *want;
	struct rj_loaded *l;
	struct rj_xfs_facts xfs; /* if WANT has one */
	struct rj_floors floors; /* nothing without an XFS volume */
};

static int make_ring(void *arg, uint32_t block_size, uint32_t blocks,
	struct rj_ring **out, struct rj_error *err)
{
	struct rj_loaded *l = arg;
	int rc = rj_worker_shm_create(block_size, blocks, &l->memory, err);

	if (!rc)
		rc = rj_ring_new_over(block_size, blocks, l->memory.data,
			l->memory.seq, &l->ring, err);
	*out = l->ring;
	return rc;
}

/* The first segment of a raw log: zeros, and how long it is. */
static int put_first(struct rj_loaded *l, struct rj_error *err)
{
	static const struct rj_seg_run first = {.block = 0, .count = 1};
	const struct rj_log_append a = {
		.body = {.block_size = l->ring->block_size,
			.journal_blocks = l->ring->blocks},
		.runs = &first,
		.run_count = 1,
		.ring = l->ring->data,
		.base = true,
	};
	int rc = rj_log_append(l->writer, &a, err);

	if (!rc)
		l->ring->seq[0] = rj_log_writer_tail(l->writer)->sequence;
	return rc;
}

/* There is none: it was never begun, or the store has lost it. */
static int check_none(const struct start *s, const struct rj_log_id *id,
	struct rj_error *err)
{
	const char *url = s->want->url;
	char uuid[RJ_UUID_TEXT];

	rj_uuid_text(id->journal_uuid, uuid);
	if (s->floors.seen.sequence)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: there is no log of this volume (%s) at %s, and %s saw segment %llu of it acknowledged: it was lost, or is elsewhere; " RJ_XFS_LOST,
			s->l->device, uuid, url, s->floors.by,
			(unsigned long long)s->floors.seen.sequence);
	if (s->want->size_mb)
		return 0;
	if (s->want->xfs)
		return rj_fail(err, RJ_E_NOTFOUND,
			"%s: there is no log of this volume (%s) at %s: is that the URL that mkrjfs got? If the log was lost " RJ_XFS_LOST,
			s->l->device, uuid, url);
	return rj_fail(err, RJ_E_INVAL,
		"%s: there is no log yet; --size=MB begins one", url);
}

static int begin(struct start *s, const struct rj_log_id *id, struct rj_error *err)
{
	struct rj_loaded *l = s->l;
	struct rj_ring *ring;
	uint8_t probed;
	int rc = check_none(s, id, err);

	if (rc)
		return rc;
	rc = make_ring(l, RJ_RAW_BLOCK, s->want->size_mb * MIB_BLOCKS, &ring, err);
	if (!rc)
		rc = rj_store_probe_brief(
			l->store, id->journal_uuid, 0, &probed, err);
	if (!rc)
		rc = rj_log_claim(l->store, id, NULL, &l->writer, err);
	return rc ? rc : put_first(l, err);
}

/* Is what the ring holds the log of the volume? */
static int check_ring(const struct start *s, struct rj_error *err)
{
	const struct rj_ring *ring = s->l->ring;
	struct rj_xfs_log log;

	if (!s->want->xfs)
		return 0;
	return rj_xfs_log_check(s->l->device, &s->xfs, s->want->url, ring->data,
		rj_ring_bytes(ring), &log, err);
}

static int go_on(struct start *s, const struct rj_log_id *id,
	const struct rj_log_summary *sum, struct rj_raw_reading *r,
	struct rj_error *err)
{
	struct rj_log_read_opts read = {
		.seen = &s->floors.seen,
		.seen_by = s->floors.by,
		.seen_advice = RJ_XFS_LOST,
	};
	uint32_t size_mb = s->want->size_mb;
	struct rj_log_summary more = {0};
	struct rj_loaded *l = s->l;
	bool holds;
	int rc = check_ring(s, err);

	if (rc)
		return rc;
	l->memory.shm->confirmed_s = (uint32_t)(sum->tail_ns / NS_PER_S);
	if (size_mb && size_mb * MIB_BLOCKS != l->ring->blocks)
		return rj_fail(err, RJ_E_INVAL,
			"%s: the log there is of a device of %u MiB, not %u",
			l->device, l->ring->blocks / MIB_BLOCKS, size_mb);
	rc = rj_log_claim(l->store, id, NULL, &l->writer, err);
	if (!rc)
		rc = rj_log_still_contains(
			l->store, id, &sum->tail, l->writer, 0, &holds, err);
	if (rc)
		return rc;
	if (holds)
		read.resume = &sum->tail;
	else
		rj_ring_clear(l->ring);
	rc = rj_log_read(l->store, id, &read, rj_raw_take, r, &more, err);
	if (rc)
		return rc;
	if (more.tail.sequence != rj_log_writer_tail(l->writer)->sequence)
		return rj_fail(err, RJ_E_FENCED,
			"%s: another writer took over the log", l->device);
	return check_ring(s, err);
}

static int read_and_claim(struct start *s, struct rj_error *err)
{
	struct rj_loaded *l = s->l;
	struct rj_raw_reading r = {.make = make_ring, .arg = l};
	struct rj_log_read_opts read = {
		.seen = &s->floors.seen,
		.seen_by = s->floors.by,
		.seen_advice = RJ_XFS_LOST,
	};
	struct rj_log_summary sum = {0};
	struct rj_floor_answer answer;
	struct rj_log_id id = {0};
	int rc;

	rj_load_log_id(l, &id);
	/* XFS has no epoch of ours that could outdate a floor */
	if (s->want->xfs)
		rj_floors_ask(&s->floors, l->device, true, s->want->url, &id, 0, 0,
			&answer);
	rc = rj_log_read(l->store, &id, &read, rj_raw_take, &r, &sum, err);
	if (rc && rc != -RJ_E_NOTFOUND)
		return s->want->xfs ? rj_fail_prefix(err, "%s", l->device) : rc;
	/* also when the start before this one was cut off at its fence */
	return l->ring ? go_on(s, &id, &sum, &r, err) : begin(s, &id, err);
}

/* The UUID of the log, and of its volume. */
static int name_log(struct start *s, uint8_t uuid[RJ_UUID_BYTES], struct rj_error *err)
{
	const struct rj_raw_want *want = s->want;
	int rc;

	if (want->xfs) {
		rc = rj_xfs_look(want->xfs, &s->xfs, err);
		if (!rc)
			rc = rj_xfs_check(want->xfs, &s->xfs, err);
		memcpy(uuid, s->xfs.uuid, RJ_UUID_BYTES);
		return rc;
	}
	if (!want->uuid || !rj_uuid_parse(want->uuid, uuid))
		rj_raw_uuid(want->url, uuid);
	return 0;
}

/* In this order: a daemon that is about to end may serve a volume that is unmounted. */
static int claim_dir(struct start *s, struct rj_error *err)
{
	struct rj_loaded *l = s->l;
	int rc = rj_claim_dir(l->facts.uuid, getppid(), s->want->xfs, &l->dir, err);

	if (rc)
		return rj_fail_prefix(err, "%s", l->device);
	if (!s->want->xfs)
		return 0;
	rc = rj_xfs_check_unused(s->want->xfs, err);
	/* what was written until the volume was free for us */
	return rc ? rc : rj_xfs_look(s->want->xfs, &s->xfs, err);
}

int rj_load_raw(const struct rj_raw_want *want, struct rj_loaded *out,
	struct rj_error *err)
{
	const char *url = want->url;
	struct rj_loaded l = {.device = want->xfs ? want->xfs : url, .dir.lock = -1};
	struct start s = {.want = want, .l = &l};
	struct rj_volume_facts *f = &l.facts;
	int rc;

	if (strlen(url) >= sizeof(f->sbx.url))
		return rj_fail(err, RJ_E_INVAL,
			"%s: a URL here has at most %zu characters", url,
			sizeof(f->sbx.url) - 1);
	memcpy(f->sbx.url, url, strlen(url) + 1);
	f->block_size = RJ_RAW_BLOCK;
	f->sbx.placement = RJ_PLACE_REMOTE;
	rc = name_log(&s, f->uuid, err);
	if (rc)
		return rc;
	memcpy(f->sbx.journal_uuid, f->uuid, RJ_UUID_BYTES);
	rc = claim_dir(&s, err);
	if (!rc)
		rc = rj_log_sealing_load(url, NULL, NULL, &l.sealing, err);
	if (!rc)
		rc = rj_store_open(url, NULL, &l.store, err);
	if (!rc && l.store->caps.durability != RJ_DURABLE)
		rj_log(RJ_LOG_WARNING,
			"%s: it is not known that what this store acknowledges is on stable storage",
			url);
	if (!rc)
		rc = read_and_claim(&s, err);
	if (rc) {
		rj_unload(&l);
		return rc;
	}
	f->sbx.journal_blocks = l.ring->blocks;
	rj_shm_save_facts(&l.memory.shm->facts, &l.facts);
	l.memory.shm->epoch = rj_log_writer_epoch(l.writer);
	l.memory.shm->served_since = l.memory.shm->epoch;
	*out = l;
	return 0;
}
