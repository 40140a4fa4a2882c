/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker died and we are the next one: become the log's writer in its place,
 * in a thread, while reads of the device are answered already.
 */
#ifndef RJ_JOURNALD_TAKEOVER_H
#define RJ_JOURNALD_TAKEOVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "load.h"
#include "rjournald/commit/pipeline.h"
#include "rjournald/fuse/fuse-fs.h"

struct rj_takeover {
	struct rj_loaded *loaded;
	struct rj_pipeline *pipeline;
	struct rj_fuse *fuse;
	int post; /* the supervisor is told there when it is done */
	int event_fd; /* an eventfd, written to then */
	pthread_t thread;
	bool running; /* the thread is to be joined */
	atomic_bool cancelled, done;
};

/* All but the flags is filled in. Each way it ends lets the kernel's writes go
 * on: with a log to append to, or with a pipeline that has failed. RJ_E_IO. */
int rj_takeover_start(struct rj_takeover *t, struct rj_error *err);
/* Do not wait for the store any longer; from any thread. */
void rj_takeover_cancel(struct rj_takeover *t);
/* Wait for its end. */
void rj_takeover_finish(struct rj_takeover *t);

#endif
