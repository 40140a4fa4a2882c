/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arbiter at work: a thread that looks at link, disk and file, and tells the
 * fallback_sink which way to go. Without a policy it does nothing but wait for one. */
#ifndef RJ_JOURNALD_ARBITER_THREAD_H
#define RJ_JOURNALD_ARBITER_THREAD_H

#include <stdbool.h>

#include "arbiter.h"
#include "fallback-sink.h"
#include "util/error.h"

struct rj_arbiter_thread;

struct rj_arbiter_thread_opts {
	/* These stay the caller's, and outlive the thread. */
	struct rj_fallback_sink *fallback_sink;
	const char *url;  /* of the store */
	const char *file; /* the fallback file */
	/* Kept up to date: no request shall wait for the store. */
	_Atomic bool *link_down;
	enum rj_prefer prefer;
};

int rj_arbiter_thread_start(const struct rj_arbiter_thread_opts *opts,
	struct rj_arbiter_thread **out, struct rj_error *err);
/* Another policy, from now on. */
void rj_arbiter_thread_set(struct rj_arbiter_thread *c, enum rj_prefer prefer);
/* The policy, and what was decided last (OUT). NULL: no policy. */
enum rj_prefer rj_arbiter_thread_look(
	struct rj_arbiter_thread *c, struct rj_arbiter *out);
/* End the thread; the way stays as it is, and *LINK_DOWN as it was last seen.
 * NULL-safe. */
void rj_arbiter_thread_stop(struct rj_arbiter_thread *c);

#endif
