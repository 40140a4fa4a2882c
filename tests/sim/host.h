/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hosts of the simulator. Each runs the real pipeline, fallback_sink, fallback
 * file and log writer under a toy JBD2 (tests/rjournald/commit/kernel.h), and recovers
 * with the real calls of lib/log in the order of lib/recover. A model knows
 * what each was told to be durable.
 */
#ifndef RJ_SIM_HOST_H
#define RJ_SIM_HOST_H

#include "tests/rjournald/commit/kernel.h"
#include "log/fallback/fallback-log.h"
#include "rjournald/fallback/fallback-sink.h"
#include "world.h"

#define SIM_LIVES 256
#define SIM_LIVE_TRANSACTIONS 7

/* From a mount to its end: transactions FIRST, ... in order. */
struct sim_life {
	int host;
	uint32_t first, issued;
	uint32_t acked;        /* the kernel was told */
	uint32_t acked_remote; /* of these, certainly in the store */
	uint32_t applied;      /* in the volume */
	bool given_up;	       /* somebody said --accept-loss */
};

struct sim_host {
	int n;
	bool up;
	bool busy; /* in a call: it can not be asked for another */
	bool over;	 /* another host has taken the log over since */
	bool challenged; /* one tried to: its fence may be there */
	int64_t busy_since, turn_ns;
	struct rj_store *store, *store2;
	struct rj_bio *disk;
	struct rj_fallback *fallback;
	struct rj_log_writer *writer;
	uint64_t fence;
	struct rj_fallback_sink *fallback_sink;
	struct rj_live live;
	struct rj_ring *ring;
	struct rj_worker_map
		map;             /* what outlives a worker; the ring is in it */
	void *frozen;		 /* its content when the worker was killed */
	struct rj_pipeline *p;
	struct tk k;
	unsigned life;
	uint32_t begins[SIM_LIVE_TRANSACTIONS], tids[SIM_LIVE_TRANSACTIONS];
	unsigned transactions; /* in the log */
};

/* The volume and the log, which the hosts share. */
struct sim_shared {
	struct rj_log_id id;
	enum rj_on_loss on_loss;
	uint64_t epoch, floor; /* of the superblock extension */
	int last_host;	       /* that served it */
	uint32_t next_tid;
	struct sim_life lives[SIM_LIVES]; /* [0] is unused */
	unsigned life_count;
	unsigned long acks, local_acks, recoveries, refusals;
};

extern struct sim_shared shared;
extern struct sim_host hosts[SIM_HOSTS];

/* A new volume with an empty log, and empty fallback files. */
void hosts_begin(enum rj_on_loss on_loss);
void hosts_end(void);
/* Recover, check the model, and serve. ACCEPT: --accept-loss. */
int host_start(struct sim_host *h, bool accept, struct rj_error *err);
/* One transaction of the kernel, perhaps with a checkpoint before it. */
void host_transact(struct sim_host *h);
void host_crash(struct sim_host *h);
/* world.dead: its power is gone, or the worker, and then there is a new one. */
void host_died(struct sim_host *h);
/* The host's pieces, given back. But for the MEMORY, if the worker alone died. */
void host_release(struct sim_host *h, bool memory);
int host_pipeline(struct sim_host *h, bool resumed, struct rj_error *err);
int host_fallback_sink(struct sim_host *h, struct rj_error *err);
/* worker.c: the ring moves into memory that outlives workers. */
int worker_first(struct sim_host *h, struct rj_error *err);
/* Kill it at once, between two requests. */
void worker_kill(struct sim_host *h);
void worker_killed(int host);
/* The next worker, until one lives. */
void worker_next(struct sim_host *h);
void host_stop(struct sim_host *h);

#endif
