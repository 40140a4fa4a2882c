/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Serve one volume, from start to stop. */
#ifndef RJ_JOURNALD_DAEMON_H
#define RJ_JOURNALD_DAEMON_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "log/write/yield.h"
#include "options.h"
#include "os/thread.h"
#include "rjournald/commit/pipeline.h"
#include "rjournald/commit/rule.h"
#include "rjournald/front/front.h"
#include "rjournald/front/zeroout.h"
#include "rjournald/load/load.h"
#include "rjournald/load/takeover.h"
#include "rjournald/upkeep/floor.h"
#include "rjournald/upkeep/place-keeper.h"
#include "rjournald/upkeep/poweroff.h"
#include "rjournald/upkeep/trim.h"

enum rj_phase {
	RJ_PHASE_ATTACHED,  /* the device stays */
	RJ_PHASE_LEAVING,  /* it goes away with its last user */
	RJ_PHASE_DRAINING, /* no more writes can come; the rest is shipped */
	RJ_PHASE_DONE,
};

struct rj_daemon {
	struct rj_options opts;
	struct rj_loaded loaded;
	struct rj_pipeline *pipeline;
	struct rj_mark_writer *mark_writer; /* the pipeline's; NULL: none */
	const struct rj_front_ops *front_ops;
	int front_held; /* of rj_front_prepare() */
	struct rj_front *front;
	struct rj_trimmer *trimmer; /* NULL: nothing is trimmed */
	struct rj_log_yield *yield;
	struct rj_floor_recorder *floor; /* NULL: none is kept */
	struct rj_zeroout *zeroout; /* NULL: not needed */
	struct rj_place_keeper *place_keeper; /* NULL: not needed */
	bool trimming;		    /* it was started, or that was tried */
	struct rj_takeover takeover;
	enum rj_phase phase;
	int post;    /* to the supervisor */
	int event_fd, signal_fd, listen_fd;
	int helper_fd; /* struct rj_options */
	int metrics_fd;		/* -1: no metrics */
	const char *metrics_at; /* its address */
	struct rj_poweroff poweroff;
	bool forced;        /* stop --force: do not wait for anything */
	int status;         /* exit status */
	/* A drain by a thread of its own, as it may take long: */
	pthread_t drainer;
	bool draining;       /* the thread exists */
	atomic_bool drained; /* it has finished, */
	int drain_rc;        /* with that */
	int drain_client;    /* and this connection wants to know; -1: none */
};

/*
 * Serve until told to stop. RULE is the commit rule. Returns the exit status; errors
 * are logged.
 */
int rj_daemon_run(const struct rj_options *opts, rj_rule_fn rule);

/* Start a drain in its thread; CLIENT (or -1) gets the answer and is closed.
 * False: one is under way already. */
bool rj_daemon_drain(struct rj_daemon *d, int client);
/* Is the volume mounted, so that rj_daemon_stop() has to wait? */
bool rj_daemon_in_use(struct rj_daemon *d);
/* End the daemon, after the unmount if the volume is mounted. */
void rj_daemon_stop(struct rj_daemon *d);
/* Are we the log's writer (or else still about to take over)? */
static inline bool rj_daemon_writing(const struct rj_daemon *d)
{
	return d->takeover.running ? d->takeover.done && d->loaded.writer
				   : d->loaded.writer != NULL;
}
/* Note that mount.rj has mounted the volume; with --until-unmount let go of the device. */
void rj_daemon_mounted(struct rj_daemon *d);
/* End this worker, and have the supervisor start the program that is installed now.
 * False: this kernel cannot send requests again. Else it does not return. */
bool rj_daemon_restart(struct rj_daemon *d, int client);
/* Fail what the kernel waits for, and end. */
void rj_daemon_force(struct rj_daemon *d);
/* Do that, and save the journal in memory if the store lacks a part of it (save.h). */
void rj_daemon_give_up(struct rj_daemon *d);

/* ---- control.c ---- */

/* Listen at PATH. Returns the socket in *FD. */
int rj_control_listen(const char *path, int *fd, struct rj_error *err);
/* Take one connection and answer its request. */
void rj_control_serve(struct rj_daemon *d);

/* ---- control-answer.c ---- */

/* Send LINE and a newline to CLIENT, and close it. */
void rj_control_answer(int client, const char *line);
/* Send LEN bytes of TEXT to CLIENT; a client that has gone away is logged. */
void rj_control_send(int client, const char *text, size_t len);

#endif
