/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The supervisor: the process that holds what must not be closed (the FUSE
 * connection and the loop device, or the pipe to ublk's warden; the ring's
 * memory, the lock, the control socket) and does nothing else. The worker, its
 * child, does all the work; when that dies, or is to be replaced by another
 * release, the next one goes on with what the supervisor holds. The supervisor
 * has one thread, touches nothing of the ring, and dies only when it is told
 * to; the worker dies with it.
 */
#ifndef RJ_JOURNALD_SUPERVISOR_H
#define RJ_JOURNALD_SUPERVISOR_H

#include <signal.h>
#include <stdbool.h>

#include "util/error.h"

/* Descriptors that the supervisor holds; -1: not there. */
enum {
	RJ_WORKER_FD_MEMORY, /* struct rj_worker_shm and the ring */
	RJ_WORKER_FD_FRONT, /* /dev/fuse, or the pipe to the warden of ublk */
	RJ_WORKER_FD_LOOP,
	RJ_WORKER_FD_LOCK,
	RJ_WORKER_FD_LISTEN,
	RJ_WORKER_FD_COUNT,
};

struct rj_worker_fds {
	int fd[RJ_WORKER_FD_COUNT];
};

/*
 * The supervisor's to the worker: it got SIGTERM or SIGINT. A signal of its own, as
 * one that goes to both processes would count twice: the worker blocks those two.
 */
#define RJ_SIGNAL_ASKED SIGUSR1

/* What a worker says to its supervisor. */
enum rj_word {
	RJ_WORD_FDS, /* hold these (RJ_WORKER_FD_COUNT descriptors follow) */
	RJ_WORD_SERVING, /* I have taken over */
	RJ_WORD_LET_GO,  /* close the loop device */
	RJ_WORD_RESTART, /* I am going to end: start the program again */
	RJ_WORD_FINAL,   /* if I die, do not start another one */
	RJ_WORD_BYE,     /* everything is over: end with my exit status */
	/* load this module of librj, for the workers after me: when they start, its file may
	 * be that of another release, or lie on the volume that waits */
	RJ_WORD_LOAD_CURL,
	RJ_WORD_LOAD_OPENSSL,
};

struct rj_supervisor_opts {
	/* A worker's life, in a process of its own. POST is where it says its
	 * words; FDS is NULL for the first one. Returns the exit status. */
	int (*work)(void *arg, int post, const struct rj_worker_fds *fds);
	void *arg;
	/* For RJ_WORD_RESTART: the program, and its arguments without the name
	 * (NULL-terminated). */
	const char *program;
	char *const *args;
	/* Called once the first worker serves: no process waits any more. */
	void (*detach)(void *arg);
	int ready_fd; /* closed when the first worker has it; -1 */
};

/* Start workers until one says RJ_WORD_BYE, or dies before it served, or too
 * many die too fast. Returns the exit status. Never in a process with threads. */
int rj_supervisor_run(const struct rj_supervisor_opts *opts);

/* ---- the worker's side ---- */

/* Send one word. If the supervisor has ended, so will this process: no error. */
void rj_supervisor_tell(int post, enum rj_word word);
/* Have the supervisor load the modules that this worker has. */
void rj_supervisor_tell_modules(int post);
/* Send RJ_WORD_FDS with the descriptors. RJ_E_IO. */
int rj_supervisor_give_fds(
	int post, const struct rj_worker_fds *fds, struct rj_error *err);
/* Parse the option's text ("POST,MEMORY,...") of a restarted program back into
 * descriptors. False: the text is not valid. */
bool rj_supervisor_parse(
	const char *text, int *post, struct rj_worker_fds *fds);

#endif
