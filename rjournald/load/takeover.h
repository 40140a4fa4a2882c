/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Become the log's writer after the worker before died, in a thread, while reads of the
 * device are answered already.
 */
#ifndef RJ_JOURNALD_TAKEOVER_H
#define RJ_JOURNALD_TAKEOVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "load.h"
#include "rjournald/commit/pipeline.h"
#include "rjournald/front/front.h"

struct rj_takeover {
	struct rj_loaded *loaded;
	struct rj_pipeline *pipeline;
	struct rj_front *front;
	int post; /* the supervisor is told there when it is done */
	int event_fd; /* an eventfd, written to then */
	pthread_t thread;
	bool running; /* the thread is to be joined */
	atomic_bool cancelled, done;
};

/* Start the thread; all of T but the flags is filled in. However the thread ends, the
 * kernel's writes go on: with a log to append to, or with a pipeline that has failed.
 * RJ_E_IO. */
int rj_takeover_start(struct rj_takeover *t, struct rj_error *err);
/* Stop waiting for the store. From any thread. */
void rj_takeover_cancel(struct rj_takeover *t);
/* Wait until the thread has ended. */
void rj_takeover_finish(struct rj_takeover *t);

#endif
