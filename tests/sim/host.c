// SPDX-License-Identifier: GPL-2.0-or-later
#include "host.h"

#include <stdlib.h>
#include <string.h>

#include "format/fallback-hdr.h"
#include "jbd2/jbd2.h"
#include "recovery.h"
#include "util/environ.h"

/* Longer than any fault lasts: what takes so long never ends. */
#define HANGS_NS (3600000 * SIM_MS)

struct sim_shared shared;
struct sim_host hosts[SIM_HOSTS];

static bool rule_always(const struct rj_rule_in *in)
{
	return true;
}

static int sink_append(
	void *arg, const struct rj_log_append *a, struct rj_error *err)
{
	struct sim_host *h = arg;

	return h->fallback_sink
		       ? rj_fallback_sink_append(h->fallback_sink, a, err)
		       : rj_log_append(h->writer, a, err);
}

static int sink_retry(void *arg, struct rj_error *err)
{
	struct sim_host *h = arg;

	return h->fallback_sink ? rj_fallback_sink_retry(h->fallback_sink, err)
			  : rj_log_retry(h->writer, err);
}

/* ---- what the kernel was told ---- */

static void acknowledged(struct sim_host *h)
{
	struct sim_life *l = &shared.lives[h->life];
	bool local = h->fallback_sink && rj_state_local(h->live.state);

	l->acked = h->k.acked;
	shared.acks++;
	if (local)
		shared.local_acks++;
	else
		l->acked_remote = l->acked;
	if (h->over && !(local && l->given_up))
		sim_bad("host %d: transaction %u is acknowledged, and another host has taken over",
			h->n, l->acked);
}

/* The journal failed. May it, under this policy? */
static void journal_failed(struct sim_host *h)
{
	const char *why = rj_pipeline_failure(h->p);

	if (world.dead[h->n])
		return;
	sim_say("host %d: the journal failed: %s", h->n, why ? why : "?");
	if (!h->challenged && shared.on_loss != RJ_LOSS_ERROR)
		sim_bad("host %d: an I/O error that the policy does not know: %s",
			h->n, why ? why : "?");
	host_crash(h);
}

static void begin_call(struct sim_host *h)
{
	h->busy = true;
	h->busy_since = world.now_ns;
}

/* ---- transactions ---- */

/* The oldest transactions are in the volume now; their log space is free. */
static void checkpoint(struct sim_host *h)
{
	struct sim_life *l = &shared.lives[h->life];
	unsigned keep = 1 + sim_rnd(3), gone = h->transactions - keep;

	if (h->transactions <= keep)
		return;
	/* another host may have replayed more */
	if (h->tids[gone] - 1 > l->applied)
		l->applied = h->tids[gone] - 1;
	memmove(h->begins, h->begins + gone, keep * sizeof(h->begins[0]));
	memmove(h->tids, h->tids + gone, keep * sizeof(h->tids[0]));
	h->transactions = keep;
	sim_say("host %d: checkpoint up to transaction %u", h->n, l->applied);
	tk_superblock(&h->k, h->begins[0], h->tids[0]);
}

/* How many blocks of the log hold what is live. */
static uint32_t blocks_live(const struct sim_host *h)
{
	const uint32_t lap = TK_BLOCKS - TK_FIRST;

	return h->transactions ? (h->k.head + lap - h->begins[0]) % lap : 0;
}

void host_transact(struct sim_host *h)
{
	struct sim_life *l = &shared.lives[h->life];
	uint32_t n = sim_chance(75) ? sim_rnd(12) : sim_rnd(80);
	struct tk *k = &h->k;

	begin_call(h);
	if (h->transactions == SIM_LIVE_TRANSACTIONS || sim_chance(20))
		checkpoint(h);
	if (sim_chance(20) && blocks_live(h) < TK_BLOCKS / 4)
		n = sim_rnd(TK_BLOCKS / 4); /* comes in pieces */
	if (!k->start)
		tk_superblock(k, k->head, k->tid);
	h->begins[h->transactions] = k->head;
	h->tids[h->transactions++] = k->tid;
	l->issued = k->tid;
	if (k->tid >= shared.next_tid)
		shared.next_tid = k->tid + 1;
	tk_blocks(k, n);
	if (k->good)
		tk_commit(k, true);
	h->busy = false;
	if (!k->good) {
		journal_failed(h);
		return;
	}
	if (world.dead[h->n])
		return;
	acknowledged(h);
	sim_say("host %d: transaction %u of life %u, %u blocks: acknowledged, %s",
		h->n, k->acked, h->life, n,
		rj_state_name((enum rj_state)h->live.state));
}

/* ---- life and death ---- */

void host_release(struct sim_host *h, bool memory)
{
	rj_pipeline_free(h->p);
	rj_fallback_sink_free(h->fallback_sink);
	rj_log_writer_free(h->writer);
	rj_fallback_close(h->fallback);
	rj_bio_free(h->disk);
	rj_ring_free(h->ring);
	rj_store_close(h->store);
	rj_store_close(h->store2);
	h->p = NULL;
	h->fallback_sink = NULL;
	h->writer = NULL;
	h->fallback = NULL;
	h->disk = NULL;
	h->ring = NULL;
	h->store = h->store2 = NULL;
	if (!memory)
		return;
	rj_worker_shm_release(&h->map);
	free(h->frozen);
	*h = (struct sim_host){.n = h->n};
}

void host_died(struct sim_host *h)
{
	if (world.worker_only[h->n])
		worker_next(h);
	else
		host_crash(h);
}

void host_crash(struct sim_host *h)
{
	sim_say("host %d: stops dead, %s", h->n,
		rj_state_name((enum rj_state)h->live.state));
	world.dead[h->n] = true;
	host_release(h, true);
	sim_disk_cut(h->n);
	world.dead[h->n] = false;
	world.worker_only[h->n] = false;
	world.cut_in[h->n] = 0;
}

void host_stop(struct sim_host *h)
{
	struct rj_error err = {0};
	int rc;

	begin_call(h);
	rc = rj_pipeline_drain(h->p, &err);
	if (!rc && h->fallback_sink)
		rc = rj_fallback_sink_stop(h->fallback_sink, &err);
	h->busy = false;
	if (world.dead[h->n] && world.worker_only[h->n]) {
		worker_next(h); /* which is not told to stop */
		return;
	}
	if (rc) {
		journal_failed(h);
		return;
	}
	sim_say("host %d: stops in order", h->n);
	world.worker_only[h->n] = false;
	world.cut_in[h->n] = 0;
	host_release(h, true);
}

/* What the threads in the background do while time passes. */
static void hosts_meanwhile(void)
{
	struct sim_host *h;
	int64_t wait;

	for (h = hosts; h < hosts + SIM_HOSTS; h++) {
		if (h->busy && h->p && world.dead[h->n])
			rj_pipeline_abandon(h->p);
		if (h->busy && h->p &&
			world.now_ns - h->busy_since > HANGS_NS) {
			sim_bad("host %d: hangs, %s", h->n,
				rj_state_name((enum rj_state)h->live.state));
			rj_pipeline_abandon(h->p);
		}
		if (!h->up || !h->fallback_sink || world.dead[h->n] ||
			!rj_state_local(h->live.state) ||
			world.now_ns < h->turn_ns)
			continue;
		wait = rj_fallback_sink_step(h->fallback_sink);
		h->turn_ns = world.now_ns + (wait < 0 ? SIM_MS : wait);
		sim_say("host %d: a turn in the background: %s", h->n,
			rj_state_name((enum rj_state)h->live.state));
	}
}

/* ---- start ---- */

/* In the middle of a write: the kernel sends it again. */
static bool worker_died(struct tk *k)
{
	struct sim_host *h = k->arg;

	if (!world.dead[h->n] || !world.worker_only[h->n])
		return false;
	worker_next(h);
	return true;
}

/* Between two writes of the kernel: what is under way arrives, or the worker
 * dies with it. */
static void between_writes(struct tk *k)
{
	struct sim_host *h = k->arg;

	if (world.dead[h->n])
		return;
	if (sim_chance(5) && rj_pipeline_step(h->p))
		sim_say("host %d: a segment that was sent ahead is there", h->n);
	if (!world.dead[h->n] && !world.calm &&
		shared.on_loss == RJ_LOSS_LOCAL && sim_rnd(1000) == 0)
		worker_kill(h);
	else
		worker_died(k);
}

static void start_life(struct sim_host *h)
{
	struct sim_life *l;

	if (shared.life_count + 1 >= SIM_LIVES)
		abort();
	h->life = ++shared.life_count;
	l = &shared.lives[h->life];
	*l = (struct sim_life){.host = h->n, .first = shared.next_tid};
	l->acked = l->acked_remote = l->applied = l->issued =
		shared.next_tid - 1;
	h->k = (struct tk){
		.ring = h->ring,
		.p = h->p,
		.good = true,
		.through = true,
		.head = TK_FIRST,
		.tid = shared.next_tid,
		.acked = shared.next_tid - 1,
		.life = h->life,
		.died = worker_died,
		.meanwhile = between_writes,
		.arg = h,
	};
}

int host_pipeline(struct sim_host *h, bool resumed, struct rj_error *err)
{
	struct rj_pipeline_opts o = {
		.ring = h->ring,
		.sb_block = TK_SB,
		.on_loss = shared.on_loss,
		.live = &h->live,
		.rule = world.broken == SIM_NO_ORDER ? rule_always
						     : rj_rule_unfinished,
		.sink = {.append = sink_append,
			.retry = sink_retry,
			.arg = h},
		.write_through = true,
		.map = h->map.shm ? &h->map : NULL,
		.resumed = resumed,
		.inflight = 2,
	};

	if (!resumed)
		o.tail = *rj_log_writer_tail(h->writer);
	rj_live_init(&h->live);
	return rj_pipeline_new(&o, &h->p, err);
}

int host_fallback_sink(struct sim_host *h, struct rj_error *err)
{
	struct rj_fallback_sink_opts s = {
		.writer = h->writer,
		.fence = h->fence,
		.store = h->store2,
		.id = &shared.id,
		.fallback = h->fallback,
		.live = &h->live,
		.map = &h->map,
	};

	return rj_fallback_sink_new(&s, &h->fallback_sink, err);
}

int host_start(struct sim_host *h, bool accept, struct rj_error *err)
{
	int rc;

	sim_say("host %d: recovers%s", h->n, accept ? " --accept-loss" : "");
	begin_call(h);
	h->store = sim_store(h->n);
	h->store2 = sim_store(h->n);
	h->disk = sim_disk(h->n);
	rc = sim_recover(h, accept, err);
	if (!rc && shared.on_loss == RJ_LOSS_LOCAL)
		rc = worker_first(h, err);
	if (!rc)
		rc = host_pipeline(h, false, err);
	if (!rc && shared.on_loss == RJ_LOSS_LOCAL)
		rc = host_fallback_sink(h, err);
	h->busy = false;
	if (rc) {
		sim_say("host %d: no: %s", h->n, err->msg);
		if (world.dead[h->n])
			host_crash(h);
		else
			host_release(h, true);
		return rc;
	}
	shared.recoveries++;
	shared.last_host = h->n;
	start_life(h);
	h->up = true;
	return 0;
}

void hosts_begin(enum rj_on_loss on_loss)
{
	struct rj_error err = {0};
	int i;

	memset(&shared, 0, sizeof(shared));
	memset(hosts, 0, sizeof(hosts));
	shared.on_loss = on_loss;
	shared.next_tid = 5;
	rj_random_bytes(shared.id.volume_uuid, RJ_UUID_BYTES);
	rj_random_bytes(shared.id.journal_uuid, RJ_UUID_BYTES);
	for (i = 0; i < SIM_HOSTS; i++) {
		hosts[i].n = i;
		sim_new_fallback(i);
	}
	if (sim_new_log(&err)) {
		sim_bad("a new log: %s", err.msg);
		return;
	}
	world.meanwhile = hosts_meanwhile;
	world.killed = worker_killed;
}

void hosts_end(void)
{
	int i;

	world.meanwhile = NULL;
	world.between = NULL;
	for (i = 0; i < SIM_HOSTS; i++)
		host_release(&hosts[i], true);
}
