/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper: the process that holds what must not be closed (the FUSE
 * connection, the loop device, the ring's memory, the lock, the control socket)
 * and does nothing else. The worker, its child, does all the work; when that
 * dies, or is to be replaced by another release, the next one goes on with what
 * the keeper holds. The keeper has one thread, touches nothing of the ring, and
 * dies only when it is told to; the worker dies with it.
 */
#ifndef RJ_JOURNALD_KEEPER_H
#define RJ_JOURNALD_KEEPER_H

#include <stdbool.h>

#include "util/error.h"

/* Descriptors that the keeper holds; -1: not there. */
enum {
	RJ_HELD_MEMORY, /* struct rj_kept and the ring */
	RJ_HELD_FUSE,
	RJ_HELD_LOOP,
	RJ_HELD_LOCK,
	RJ_HELD_LISTEN,
	RJ_HELD_COUNT,
};

struct rj_held {
	int fd[RJ_HELD_COUNT];
};

/* What a worker says to its keeper. */
enum rj_word {
	RJ_WORD_HOLD,	 /* hold these (RJ_HELD_COUNT descriptors follow) */
	RJ_WORD_SERVING, /* I have taken over */
	RJ_WORD_LET_GO,	 /* close the loop device */
	RJ_WORD_RESTART, /* I am going to end: start the program anew */
	RJ_WORD_FINAL,	 /* if I die, do not start another one */
	RJ_WORD_BYE,	 /* everything is over: end with my exit status */
};

struct rj_keeper_opts {
	/* A worker's life, in a process of its own. POST is where it says its
	 * words; HELD is NULL for the first one. Returns the exit status. */
	int (*work)(void *arg, int post, const struct rj_held *held);
	void *arg;
	/* For RJ_WORD_RESTART: the program, and its arguments without the name
	 * (NULL-terminated). */
	const char *program;
	char *const *args;
	/* Called once the first worker serves: nobody waits any more. */
	void (*detach)(void *arg);
	int ready_fd; /* closed when the first worker has it; -1 */
};

/* Start workers until one says RJ_WORD_BYE, or dies before it served, or too
 * many die too fast. Returns the exit status. Never in a process with threads. */
int rj_keeper_run(const struct rj_keeper_opts *opts);

/* ---- the worker's side ---- */

/* Say one word; a keeper that is gone does not matter, as we die with it. */
void rj_keeper_say(int post, enum rj_word word);
/* RJ_WORD_HOLD. RJ_E_IO. */
int rj_keeper_hold(
	int post, const struct rj_held *held, struct rj_error *err);
/* A program started anew: the option's text ("POST,MEMORY,...") back into
 * descriptors. False: it makes no sense. */
bool rj_keeper_parse(const char *text, int *post, struct rj_held *held);

#endif
