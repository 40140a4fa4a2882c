// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A worker's death, and the next one: the power stays on, the kernel waits.
 * What is left of it is the memory that the supervisor holds, as it was at that
 * instant: in here the dead one's code runs on for a while, and nothing that it
 * does counts.
 */
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "rjournald/handover/saved-writer.h"
#include "rjournald/load/resume.h"
#include "util/environ.h"

#define RETRY_NS (200 * SIM_MS)

/* Up to what the outbox holds. */
static size_t used_bytes(const struct rj_worker_map *m)
{
	const struct rj_worker_shm_log *l = &m->shm->log;
	size_t most = l->bytes[0] > l->bytes[1] ? l->bytes[0] : l->bytes[1];

	return (size_t)(m->outbox - (uint8_t *)m->shm) + most;
}

int worker_first(struct sim_host *h, struct rj_error *err)
{
	struct rj_ring *old = h->ring;
	int rc = rj_worker_shm_create(TK_SIZE, TK_BLOCKS, &h->map, err);

	if (rc)
		return rc;
	memcpy(h->map.data, old->data, (size_t)TK_BLOCKS * TK_SIZE);
	memcpy(h->map.seq, old->seq, TK_BLOCKS * sizeof(*old->seq));
	h->ring = NULL;
	rj_ring_free(old);
	h->map.shm->log.fence = h->fence;
	rj_saved_writer_note(&h->map, h->writer);
	return rj_ring_new_over(TK_SIZE, TK_BLOCKS, h->map.data, h->map.seq,
		&h->ring, err);
}

/* This is what the next one finds. */
void worker_killed(int host)
{
	struct sim_host *h = &hosts[host];
	size_t bytes = used_bytes(&h->map);

	free(h->frozen);
	h->frozen = malloc(bytes);
	if (!h->frozen)
		abort();
	memcpy(h->frozen, h->map.shm, bytes);
	world.kills++;
}

static void thaw(struct sim_host *h)
{
	struct rj_worker_map was = h->map;
	struct rj_worker_shm_log *l;

	was.shm = h->frozen;
	was.outbox = (uint8_t *)h->frozen +
		     (h->map.outbox - (uint8_t *)h->map.shm);
	memcpy(h->map.shm, h->frozen, used_bytes(&was));
	l = &h->map.shm->log;
	if (world.broken == SIM_NO_OUTBOX)
		l->at[l->turn - 1].pending = false;
}

/* As rj_load_again() and rj_resume() do it. */
static int again(struct sim_host *h, struct rj_error *err)
{
	int rc;

	rj_worker_shm_settle(&h->map);
	h->store = sim_store(h->n);
	h->store2 = sim_store(h->n);
	h->disk = sim_disk(h->n);
	rc = rj_ring_new_over(TK_SIZE, TK_BLOCKS, h->map.data, h->map.seq,
		&h->ring, err);
	if (!rc)
		rc = host_pipeline(h, true, err);
	h->k.p = h->p;
	h->k.ring = h->ring;
	if (!rc && h->map.shm->failed) {
		rj_shm_load_error(err, &h->map.shm->failure);
		return -(int)err->code;
	}
	if (!rc)
		rc = rj_fallback_open(h->disk, &shared.id, &h->fallback, err);
	if (!rc)
		rc = rj_resume_writer(&h->map, h->fallback, h->store,
			&shared.id, &h->writer, err);
	if (!rc)
		rc = host_fallback_sink(h, err);
	if (rc)
		return rc;
	rj_fallback_sink_resume(h->fallback_sink);
	while ((rc = rj_fallback_sink_retry(h->fallback_sink, err)) ==
			-RJ_E_UNREACHABLE &&
		!world.dead[h->n])
		rj_sleep_ns(RETRY_NS);
	return rc;
}

void worker_next(struct sim_host *h)
{
	struct rj_error err = {0};
	uint64_t fence = h->fence;
	int rc;

	do {
		host_release(h, false);
		thaw(h);
		world.dead[h->n] = world.worker_only[h->n] = false;
		world.cut_in[h->n] = 0;
		if (sim_chance(15)) {
			world.cut_in[h->n] = 1 + sim_rnd(6);
			world.worker_only[h->n] = sim_chance(80);
		}
		h->fence = fence;
		rc = again(h, &err);
	} while (world.dead[h->n] && world.worker_only[h->n]);
	if (world.dead[h->n]) { /* the power, meanwhile */
		rj_pipeline_abandon(h->p);
		return;
	}
	if (rc)
		rj_pipeline_fail(h->p, &err);
	else
		rj_pipeline_continue(h->p, rj_log_writer_tail(h->writer));
	sim_say("host %d: the next worker: %s%s", h->n,
		rj_state_name((enum rj_state)h->live.state), rc ? err.msg : "");
}

void worker_kill(struct sim_host *h)
{
	sim_say("host %d: the worker is killed, %s", h->n,
		rj_state_name((enum rj_state)h->live.state));
	world.worker_only[h->n] = world.dead[h->n] = true;
	worker_killed(h->n);
	worker_next(h);
}
