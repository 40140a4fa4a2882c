// SPDX-License-Identifier: GPL-2.0-or-later
/* Take the kernel's writes and flushes: copy into the ring, and ship if they may not wait. */
#include <stdlib.h>
#include <string.h>

#include "pipeline-priv.h"

/* May all that is pending wait? */
static bool unfinished(struct rj_pipeline *p)
{
	struct rj_rule_in in = {
		.ring = p->ring,
		.track = &p->track,
		.partial = p->partial,
		.runs = p->runs,
	};

	in.run_count = rj_pending_runs(&p->pending, p->runs, p->ring->blocks);
	return p->pending.count && !p->raw && p->rule(&in);
}

/* A note in block 0, which the kernel does not write, as if it had: it is shipped with
 * the write that comes now. */
static void put_note(struct rj_pipeline *p)
{
	if (!p->watch.note || rj_inflight_contains(p->inflight, 0, 1) ||
		!p->watch.note(p->watch.arg, p->ring->data))
		return;
	rj_pending_mark(&p->pending, 0, 1);
}

/* The write is in the ring. */
static void follow(struct rj_pipeline *p, uint32_t block, uint32_t count)
{
	bool empty = !p->track.start;

	rj_track_written(&p->track, p->ring, block, count);
	if (p->track.start && p->watch.superblock && p->sb_block - block < count)
		p->watch.superblock(p->watch.arg, empty);
	put_note(p);
}

static int take_write(struct rj_pipeline *p, const void *data, size_t len,
	uint64_t off, struct rj_error *err)
{
	uint32_t size = p->ring->block_size, block, end;
	uint64_t bytes = rj_ring_bytes(p->ring);
	int rc;

	if (p->failed)
		return rj_pl_failed(p, err);
	if (off > bytes || len > bytes - off || len > RJ_PIPELINE_WRITE_BYTES)
		return rj_fail(err, RJ_E_INVAL,
			"a write of %zu bytes at byte %llu does not fit in a "
			"journal of %llu bytes",
			len, (unsigned long long)off,
			(unsigned long long)bytes);
	if (!len)
		return 0;
	block = (uint32_t)(off / size);
	end = (uint32_t)((off + len + size - 1) / size);
	if (rj_inflight_contains(p->inflight, block, end - block)) {
		rj_pl_take_back(p, true);
		if (p->failed)
			return rj_pl_failed(p, err);
	}
	if (p->left) {
		rc = rj_pl_ship(p, err);
		if (rc)
			return rc;
	}
	if (p->shm)
		rj_worker_shm_begin(p->shm, off, len);
	memcpy(p->ring->data + off, data, len);
	if (off % size || len % size)
		p->partial = true;
	rj_pending_mark(&p->pending, block, end - block);
	if (!p->raw)
		follow(p, block, end - block);
	rj_pl_show_pending(p);
	if (p->shm)
		rj_worker_shm_end(p->shm, &p->track);
	if (!p->write_through)
		return p->pending.count < p->ship_blocks ? 0 : rj_pl_ship(p, err);
	if (!unfinished(p))
		return rj_pl_ship(p, err);
	if (p->inflight)
		rj_pl_ship_waiting(p);
	if (p->pending.count >= p->ship_blocks)
		return rj_pl_ship(p, err);
	p->ordered++;
	return 0;
}

int rj_pipeline_write(struct rj_pipeline *p, const void *data, size_t len,
	uint64_t off, struct rj_error *err)
{
	bool empty = !p->track.start;
	int rc = take_write(p, data, len, off, err);

	if (!rc && !empty && !p->track.start && p->watch.emptied)
		p->watch.emptied(p->watch.arg);
	return rc;
}

int rj_pipeline_flush(struct rj_pipeline *p, struct rj_error *err)
{
	p->flushes++;
	if (p->failed)
		return rj_pl_failed(p, err);
	if (unfinished(p)) {
		p->ordered++;
		return 0;
	}
	return rj_pl_ship(p, err);
}

int rj_pipeline_drain(struct rj_pipeline *p, struct rj_error *err)
{
	return rj_pl_ship(p, err);
}

uint64_t rj_pipeline_marked(const struct rj_pipeline *p)
{
	return p->marked;
}

void rj_pipeline_abandon(struct rj_pipeline *p)
{
	p->abandoned = true;
}

void rj_pipeline_stat(const struct rj_pipeline *p, struct rj_pipeline_stat *out)
{
	out->acked = p->acked;
	out->oldest = p->oldest;
	out->pending = p->pending_shown;
	out->segments = p->segments;
	out->bytes = p->bytes;
	out->flushes = p->flushes;
	out->flushes_ordered = p->ordered;
	out->ship_ns = p->ship_ns;
	rj_pl_remote(p, &out->remote_tid, &out->remote_ns);
	out->put_since_ns = p->put_since_ns;
	/* Last: a thread that sees "online" and trims below OLDEST must know that the store
	 * had all of it by then. */
	out->since_ns = p->live->since_ns;
	out->state = (enum rj_state)p->live->state;
}

const char *rj_pipeline_failure(const struct rj_pipeline *p)
{
	/* written before that, and never again */
	return p->failed ? p->failure.msg : NULL;
}

/* What the worker before us left. */
static void resume(struct rj_pipeline *p)
{
	struct rj_worker_shm *k = p->shm;

	rj_shm_load_track(&p->track, &k->track[k->track_turn]);
	p->acked = k->acked;
	p->oldest = k->oldest;
	p->remote_tid = p->last_tid = k->remote_tid;
	p->remote_ns = k->remote_ns;
	p->pending_shown = p->pending.count;
	/* not known: so nothing of it waits longer than the next write */
	p->partial = p->pending.count != 0;
	/*
	 * It is what was pending there and all that was under way, up to 15 MiB.
	 * With one write more for each worker that dies it would some time be
	 * larger than a segment: so it goes first, alone.
	 */
	p->left = p->pending.count != 0;
	rj_live_event(p->live, RJ_EVENT_LOST_BLOCK);
	if (k->failed) {
		rj_shm_load_error(&p->failure, &k->failure);
		rj_pl_over(p);
	}
}

static void begin(struct rj_pipeline *p, const struct rj_log_tail *tail)
{
	p->acked = tail->sequence;
	p->oldest = tail->oldest;
	if (!p->shm)
		return;
	p->shm->acked = tail->sequence;
	p->shm->oldest = tail->oldest;
}

void rj_pipeline_continue(struct rj_pipeline *p, const struct rj_log_tail *tail)
{
	begin(p, tail);
	/* or else it goes on in the fallback file */
	if (p->live->state == RJ_STATE_WAITING)
		rj_live_event(p->live, RJ_EVENT_RETURNED);
}

void rj_pipeline_fail(struct rj_pipeline *p, const struct rj_error *why)
{
	if (!p->failed)
		rj_pl_fail(p, why);
}

int rj_pipeline_new(const struct rj_pipeline_opts *opts,
	struct rj_pipeline **out, struct rj_error *err)
{
	struct rj_ring *ring = opts->ring;
	struct rj_pipeline *p = calloc(1, sizeof(*p));
	int rc = 0;

	*out = NULL;
	if (!p)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	p->ring = ring;
	p->sb_block = opts->sb_block;
	p->on_loss = opts->on_loss;
	p->rule = opts->rule;
	p->write_through = opts->write_through;
	p->raw = opts->raw;
	p->sink = opts->sink;
	p->watch = opts->watch;
	p->mark_writer = opts->mark_writer;
	p->shm = opts->map ? opts->map->shm : NULL;
	/* a small journal: ship before a batch could go round it */
	p->ship_blocks = RJ_PIPELINE_SHIP_BYTES / ring->block_size;
	if (p->ship_blocks > ring->blocks / 4 + 1)
		p->ship_blocks = ring->blocks / 4 + 1;
	p->ahead_blocks = RJ_PIPELINE_EARLY_BYTES / ring->block_size;
	if (p->ahead_blocks > ring->blocks / 16 + 1)
		p->ahead_blocks = ring->blocks / 16 + 1;
	p->however_far = opts->early_bytes;
	if (opts->early_bytes)
		p->ahead_blocks = (opts->early_bytes - 1) / ring->block_size + 1;
	p->live = opts->live ? opts->live : &p->own_live;
	if (!opts->live)
		rj_live_init(p->live);
	rj_track_init(&p->track, ring, opts->sb_block);
	if (opts->map)
		rj_pending_init_over(
			&p->pending, ring->blocks, opts->map->bits);
	else
		rc = rj_pending_init(&p->pending, ring->blocks, err);
	if (opts->resumed)
		resume(p);
	else
		begin(p, &opts->tail);
	if (p->shm && !opts->resumed)
		rj_worker_shm_end(p->shm, &p->track);
	p->runs = calloc(ring->blocks, sizeof(*p->runs));
	if (!rc && !p->runs)
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (!rc && opts->inflight && !p->raw)
		rc = rj_pl_start_inflight(p, opts, err);
	if (rc) {
		rj_pipeline_free(p);
		return rc;
	}
	*out = p;
	return 0;
}

void rj_pipeline_free(struct rj_pipeline *p)
{
	if (!p)
		return;
	rj_inflight_free(p->inflight);
	rj_pending_release(&p->pending);
	free(p->runs);
	free(p);
}
