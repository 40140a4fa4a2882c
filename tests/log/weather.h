/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network between a handle and a store in memory: a store can be away, one
 * call can fail, its answer can be lost, and a put that nobody waited for can
 * arrive later. All of it from a seed.
 */
#ifndef RJ_TEST_WEATHER_H
#define RJ_TEST_WEATHER_H

#include "store/store.h"

/* Of one place; any number of handles. */
struct weather {
	bool away;
	unsigned bad; /* so many calls of 100 go wrong */
	struct rj_store *late; /* a handle of its own, for late puts */
	struct {
		struct rj_key key;
		void *data;
		size_t len;
	} put[64];
	unsigned puts;
};

enum weather_fate { WEATHER_DONE, WEATHER_FAILS, WEATHER_LOST, WEATHER_LATE };

/* What becomes of the next call, for a store that has weather inside. */
enum weather_fate weather_judge(const struct weather *w, const bool *cut);
void weather_seed(uint64_t seed);
uint32_t weather_rnd(uint32_t below);
/*
 * INNER belongs to the new store. While *CUT is true (it may be NULL) this
 * handle's host cannot reach it, whoever else can. Ends the program when memory
 * is short.
 */
struct rj_store *weather_open(
	struct weather *w, const bool *cut, struct rj_store *inner);
/* Call FN now and then, before a call of any handle: somebody else acts. NULL:
 * nobody does. */
void weather_meanwhile(void (*fn)(void *arg), void *arg);
/* Call FN once, before the N-th call of any handle from now. */
void weather_at(unsigned n, void (*fn)(void *arg), void *arg);
/* Whoever calls is dead by now: nothing is done, until it is taken back. */
void weather_silence(bool on);
/* Are there handles to spare? Not while a log is read: by threads, who would
 * share the seed. */
void weather_spare(bool on);
/* What was late never arrives. */
void weather_drop(struct weather *w);
/* One put that was late arrives; all of them with ALL. */
void weather_deliver(struct weather *w, bool all);

#endif
