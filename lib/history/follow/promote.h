/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A base becomes the volume that it is a copy of, with the log that this has. */
#ifndef RJ_HISTORY_PROMOTE_H
#define RJ_HISTORY_PROMOTE_H

#include "history/follow/follow.h"
#include "recover/recover.h"

struct rj_promote_opts {
	const char *base;    /* a file or a block device */
	const char *keyfile; /* NULL: rj.conf's */
	bool dry_run;	     /* only look: neither the base nor the log is changed */
	bool accept_loss;    /* go on without what the old host's fallback file holds, or the log
			      * has lost; what that is goes to say() */
	/* May be NULL: non-zero cancels, until the log is taken over; a line for the user. */
	int (*stop)(void *arg);
	void (*say)(void *arg, const char *line);
	void *arg;
};

struct rj_promote_report {
	struct rj_follow_state state; /* where the base was whole last */
	uint64_t fence; /* segment that ended the old writer's log; 0: none was put */
	bool volume;	/* the base is a volume now; recovered, unless there is an error */
	struct rj_recover_report recovery;
};

/*
 * Apply all that the log holds to opts->base, take the log over, apply what came until then,
 * make the base the volume itself, and recover it. The writer that had the log is fenced: its
 * next commit fails. A cut leaves a base, for which this can be called again, or a volume that
 * needs recovery (rj_recover()).
 *
 * RJ_E_BUSY: an rjournald of this host serves the volume, or rj_follow_pass() says so.
 * RJ_E_REFUSED: the history of the base ends before the log does, so that it is not the volume;
 * or a loss was not accepted.
 * Errors as of rj_follow_open(), rj_follow_pass(), rj_fallback_ship(), rj_log_claim(),
 * rj_recover().
 */
int rj_promote(const struct rj_promote_opts *opts, struct rj_promote_report *report,
	struct rj_error *err);

#endif
