/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Delay the puts of a writer for a moment after another host has claimed a newer epoch, so
 * that the new writer's fence gets in: a writer at full speed can outrun it. Safety does
 * not depend on this: the fence decides (doc/log-format.md, "One writer").
 */
#ifndef RJ_LOG_YIELD_H
#define RJ_LOG_YIELD_H

#include "log/log.h"
#include "store/put-throttle.h"

struct rj_log_yield;

struct rj_log_yield_opts {
	struct rj_store *store; /* only to make a handle from */
	struct rj_log_id id;
	uint64_t epoch;	      /* the writer's */
	struct rj_put_throttle *throttle; /* in the handles that it puts by */
	unsigned interval_ms; /* between two looks for a claim; 0: 500 */
	unsigned pause_ms;    /* of the delay, plus ten times what the look took,
			       * at most 20 s; 0: 2000 */
};

/*
 * Start the thread. It sends one small request for each interval in which something was
 * put, none for a writer at rest. Each claim delays the writer once only: a claim whose
 * owner died must not stop a healthy writer. In mode B *OUT is NULL: a claim ends the writer.
 * RJ_E_UNSUPPORTED: the store has but one handle. RJ_E_NOMEM, RJ_E_IO.
 */
int rj_log_yield_start(const struct rj_log_yield_opts *opts,
	struct rj_log_yield **out, struct rj_error *err);
/* End the thread, after a request that is under way, and let puts go on at once.
 * NULL-safe. */
void rj_log_yield_stop(struct rj_log_yield *g);

#endif
