/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What daemon.c, start.c, phases.c, helpers.c and sink.c share: for them alone. */
#ifndef RJ_JOURNALD_DAEMON_INSIDE_H
#define RJ_JOURNALD_DAEMON_INSIDE_H

#include "daemon.h"
#include "keeper.h"
#include "pipeline.h"

/* ---- sink.c ---- */

/* For the pipeline. L stays the caller's. */
struct rj_sink rj_daemon_sink(struct rj_loaded *l);
/* The last number that was acknowledged; ARG is a struct rj_loaded. */
uint64_t rj_daemon_last(void *arg);

/* ---- start.c ---- */

/* Serve a volume that nobody serves. */
int rj_daemon_start(
	struct rj_daemon *d, rj_rule_fn rule, struct rj_error *err);
/* Go on where another worker ended. */
int rj_daemon_start_again(struct rj_daemon *d, rj_rule_fn rule,
	const struct rj_held *held, struct rj_error *err);

/* ---- phases.c ---- */

/* A signal is to be read. */
void rj_daemon_signal(struct rj_daemon *d);
/* Is it time for the next phase? */
void rj_daemon_step(struct rj_daemon *d);
/* Told to stop at once: end the process. */
void rj_daemon_exit_now(struct rj_daemon *d) __attribute__((noreturn));

/* ---- helpers.c ---- */

/* Once we write. finish() in daemon.c ends them. */
void rj_daemon_start_helpers(struct rj_daemon *d);

#endif
