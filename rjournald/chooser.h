/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arbiter at work: a thread that looks at link, disk and file, and tells the
 * shipper which way to go. Without a policy it does nothing but wait for one. */
#ifndef RJ_JOURNALD_CHOOSER_H
#define RJ_JOURNALD_CHOOSER_H

#include <stdbool.h>

#include "arbiter.h"
#include "shipper.h"
#include "util/error.h"

struct rj_chooser;

struct rj_chooser_opts {
	/* These stay the caller's, and outlive the chooser. */
	struct rj_shipper *shipper;
	const char *url;  /* of the store */
	const char *file; /* the fallback file */
	/* Kept up to date: no request shall wait for the store. */
	_Atomic bool *link_down;
	enum rj_prefer prefer;
};

int rj_chooser_start(const struct rj_chooser_opts *opts,
	struct rj_chooser **out, struct rj_error *err);
/* Another policy, from now on. */
void rj_chooser_set(struct rj_chooser *c, enum rj_prefer prefer);
/* The policy, and what was decided last (OUT). NULL: no policy. */
enum rj_prefer rj_chooser_look(struct rj_chooser *c, struct rj_arbiter *out);
/* End the thread; the way stays as it is, and *LINK_DOWN as it was last seen.
 * NULL-safe. */
void rj_chooser_stop(struct rj_chooser *c);

#endif
