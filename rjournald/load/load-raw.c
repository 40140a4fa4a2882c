// SPDX-License-Identifier: GPL-2.0-or-later
/* Before serving a raw log: there is no volume to look at. */
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "log/raw-log.h"
#include "store/probe.h"
#include "util/log.h"

#define MIB_BLOCKS ((1u << 20) / RJ_RAW_BLOCK)

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

static int begin(struct rj_loaded *l, const struct rj_log_id *id,
	uint32_t size_mb, struct rj_error *err)
{
	struct rj_ring *ring;
	uint8_t probed;
	int rc;

	if (!size_mb)
		return rj_fail(err, RJ_E_INVAL,
			"%s: there is no log yet; --size=MB begins one",
			l->device);
	rc = make_ring(l, RJ_RAW_BLOCK, size_mb * MIB_BLOCKS, &ring, err);
	if (!rc)
		rc = rj_store_probe_brief(
			l->store, id->journal_uuid, &probed, err);
	if (!rc)
		rc = rj_log_claim(l->store, id, NULL, &l->writer, err);
	return rc ? rc : put_first(l, err);
}

static int go_on(struct rj_loaded *l, const struct rj_log_id *id,
	uint32_t size_mb, const struct rj_log_summary *sum,
	struct rj_raw_reading *r, struct rj_error *err)
{
	struct rj_log_read_opts read = {0};
	struct rj_log_summary more = {0};
	bool holds;
	int rc;

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
	return 0;
}

static int read_and_claim(
	struct rj_loaded *l, uint32_t size_mb, struct rj_error *err)
{
	struct rj_raw_reading r = {.make = make_ring, .arg = l};
	struct rj_log_read_opts read = {0};
	struct rj_log_summary sum = {0};
	struct rj_log_id id = {0};
	int rc;

	rj_load_log_id(l, &id);
	rc = rj_log_read(l->store, &id, &read, rj_raw_take, &r, &sum, err);
	if (rc && rc != -RJ_E_NOTFOUND)
		return rc;
	/* also when the start before this one was cut off at its fence */
	return l->ring ? go_on(l, &id, size_mb, &sum, &r, err)
		       : begin(l, &id, size_mb, err);
}

int rj_load_raw(const char *url, uint32_t size_mb, struct rj_loaded *out,
	struct rj_error *err)
{
	struct rj_loaded l = {.device = url, .dir.lock = -1};
	struct rj_volume_facts *f = &l.facts;
	int rc;

	if (strlen(url) >= sizeof(f->sbx.url))
		return rj_fail(err, RJ_E_INVAL,
			"%s: a URL here has at most %zu characters", url,
			sizeof(f->sbx.url) - 1);
	memcpy(f->sbx.url, url, strlen(url) + 1);
	rj_raw_uuid(url, f->uuid);
	memcpy(f->sbx.journal_uuid, f->uuid, RJ_UUID_BYTES);
	f->block_size = RJ_RAW_BLOCK;
	f->sbx.placement = RJ_PLACE_REMOTE;
	rc = rj_claim_dir(f->uuid, getppid(), NULL, &l.dir, err);
	if (!rc)
		rc = rj_log_sealing_load(url, NULL, NULL, &l.sealing, err);
	if (!rc)
		rc = rj_store_open(url, NULL, &l.store, err);
	if (!rc && l.store->caps.durability != RJ_DURABLE)
		rj_log(RJ_LOG_WARNING,
			"%s: this store has what it acknowledges in memory only",
			url);
	if (!rc)
		rc = read_and_claim(&l, size_mb, err);
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
