/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outside world of the simulator, all made of one seed: time, randomness, a
 * store behind a network that loses, delays and forgets, and disks that lose
 * and tear what was not flushed. One thread; time passes only when somebody
 * sleeps or waits for an answer.
 */
#ifndef RJ_SIM_WORLD_H
#define RJ_SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "os/bio.h"
#include "store/store.h"

#define SIM_HOSTS 2
#define SIM_MS	  1000000LL

/* Rules that a run may leave out, to see that it is found. */
enum sim_rule {
	SIM_ALL_KEPT,
	SIM_NO_FLUSH,	 /* the disk says that it flushed, and did not */
	SIM_NO_MARK,	 /* only the fallback file's headers are not flushed */
	SIM_NO_SHIP,	 /* recovery does not look into the fallback file */
	SIM_NO_REFUSAL,	 /* nor is it missed on a host that lacks it */
	SIM_NO_REREAD,	 /* what came before the fence is not read again */
	SIM_NO_ABSENT,	 /* the store's put-if-absent overwrites */
	SIM_NO_STORE,	 /* the store acknowledges, and sometimes keeps nothing */
	SIM_NO_ORDER,	 /* the commit rule lets everything wait */
	SIM_NO_OUTBOX,	 /* a new worker does not know what was under way */
	SIM_RULES,
};

struct sim_net {
	bool down, full;
	unsigned lost, dropped, late; /* percent of the requests */
	int64_t heal_ns;	      /* all of that ends then */
};

struct sim_world {
	int64_t now_ns;
	enum sim_rule broken;
	bool verbose;
	unsigned bad;	       /* what must not be */
	unsigned long requests, faults, late, torn, cuts, kills;
	struct sim_net net[SIM_HOSTS];
	bool dead[SIM_HOSTS];  /* its power is gone: it changes nothing */
	long cut_in[SIM_HOSTS]; /* power is cut at that request; 0: not */
	/* Then it is only the worker that dies: what the disk has it keeps. */
	bool calm; /* in the end nothing more goes wrong */
	bool worker_only[SIM_HOSTS];
	void (*killed)(int host); /* at that very moment */
	/* What is to be done while time passes; never inside itself. */
	void (*meanwhile)(void);
	/* Somebody else's chance, in the middle of a request of HOST. */
	void (*between)(int host);
};

extern struct sim_world world;

void world_begin(uint64_t seed, enum sim_rule broken, bool verbose);
void world_end(void);
/* 0 .. BELOW - 1 */
uint32_t sim_rnd(uint32_t below);
bool sim_chance(unsigned percent);
/* Shown with -v, after the time. */
void sim_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Something that must not be. */
void sim_bad(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Time passes, and what is due happens. */
void sim_pass(int64_t ns);
/* All is well from now on. */
void sim_heal(int host);

struct rj_store *sim_store(int host);
/* HOST's disk for the fallback file, as it is now; the bio is the caller's. */
struct rj_bio *sim_disk(int host);
/* The power was cut: what was not flushed is there, or not, or in part. */
void sim_disk_cut(int host);

#endif
