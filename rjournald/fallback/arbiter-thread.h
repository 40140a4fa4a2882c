/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run the arbiter (arbiter.h) in a thread: look at link, disk and file, and tell the
 * fallback sink where to put segments. Without a policy the thread only waits for one. */
#ifndef RJ_JOURNALD_ARBITER_THREAD_H
#define RJ_JOURNALD_ARBITER_THREAD_H

#include <stdbool.h>

#include "arbiter.h"
#include "fallback-sink.h"
#include "store/energy.h"
#include "util/error.h"

struct rj_arbiter_thread;

struct rj_arbiter_thread_opts {
	/* These stay the caller's, and outlive the thread. */
	struct rj_fallback_sink *fallback_sink;
	const char *url;  /* of the store */
	const char *file; /* the fallback file */
	struct rj_energy disk_energy, link_energy; /* of prefer=power */
	/* Kept up to date: no request shall wait for the store. */
	_Atomic bool *link_down;
	enum rj_prefer prefer;
};

int rj_arbiter_thread_start(const struct rj_arbiter_thread_opts *opts,
	struct rj_arbiter_thread **out, struct rj_error *err);
/* Use another policy from now on. */
void rj_arbiter_thread_set(struct rj_arbiter_thread *c, enum rj_prefer prefer);
/* Get the policy, and the last decision (OUT). C may be NULL: no policy. */
enum rj_prefer rj_arbiter_thread_look(
	struct rj_arbiter_thread *c, struct rj_arbiter *out);
/* End the thread; the last decision and *LINK_DOWN stay in force. NULL-safe. */
void rj_arbiter_thread_stop(struct rj_arbiter_thread *c);

#endif
