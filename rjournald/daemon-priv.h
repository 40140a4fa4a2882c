/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What daemon.c, start.c, phases.c, background.c and daemon-sink.c share: for them alone. */
#ifndef RJ_JOURNALD_DAEMON_PRIV_H
#define RJ_JOURNALD_DAEMON_PRIV_H

#include "daemon.h"
#include "rjournald/commit/pipeline.h"
#include "rjournald/handover/supervisor.h"

/* ---- daemon-sink.c ---- */

/* For the pipeline. L stays the caller's. */
struct rj_sink rj_daemon_sink(struct rj_loaded *l);
/* The last number that was acknowledged; ARG is a struct rj_loaded. */

/* ---- start.c ---- */

/* Serve a volume that no other process serves. */
int rj_daemon_start(
	struct rj_daemon *d, rj_rule_fn rule, struct rj_error *err);
/* Continue where another worker ended. */
int rj_daemon_start_again(struct rj_daemon *d, rj_rule_fn rule,
	const struct rj_worker_fds *fds, struct rj_error *err);

/* ---- phases.c ---- */

/* A signal is to be read. */
void rj_daemon_signal(struct rj_daemon *d);
/* Is it time for the next phase? */
void rj_daemon_step(struct rj_daemon *d);
/* Told to stop at once: end the process. */
void rj_daemon_exit_now(struct rj_daemon *d) __attribute__((noreturn));

/* ---- background.c ---- */

/* Once we write. finish() in daemon.c ends them. */
void rj_daemon_start_background(struct rj_daemon *d);

#endif
