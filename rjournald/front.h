/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The front end: a FUSE file system with one file, "journal", whose bytes are
 * the ring. One thread reads the requests and runs the pipeline itself: a
 * hand-over to another thread would cost more than it gains.
 */
#ifndef RJ_JOURNALD_FRONT_H
#define RJ_JOURNALD_FRONT_H

#include <stdbool.h>
#include <stdint.h>

#include "log/ring.h"
#include "pipeline.h"
#include "util/error.h"

#define RJ_FRONT_FILE "journal"

struct rj_front;

struct rj_front_opts {
	const char *mountpoint;
	const char *source;           /* shown in the mount table */
	struct rj_ring *ring;         /* read from; stays the caller's */
	struct rj_pipeline *pipeline; /* stays the caller's */
	int event_fd; /* an eventfd, written to when the file was closed by its
		       * last user, and when the session has ended */
};

/* Mount, and start the thread. RJ_E_IO, RJ_E_NOMEM. */
int rj_front_start(const struct rj_front_opts *opts, struct rj_front **out,
	struct rj_error *err);
/* How many have the file open. */
unsigned rj_front_users(const struct rj_front *f);
/* The session has ended: unmounted or aborted by somebody else. */
bool rj_front_ended(const struct rj_front *f);
/* Ship all that is pending, from another thread. */
int rj_front_drain(struct rj_front *f, struct rj_error *err);
/* Unmount, wait for the thread to end, free. NULL-safe. */
void rj_front_stop(struct rj_front *f);

#endif
