/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follow, fold and promote: a base that is changed in place. */
#ifndef RJBACKUP_FOLLOW_H
#define RJBACKUP_FOLLOW_H

#include "history/follow/promote.h"
#include "options.h"

/*
 * Apply the log to the base O->base in place: once, or as it comes until SIGINT, SIGTERM or
 * SIGHUP, which is success. Prints what it did. Returns 0 or a negative rj_code; RJ_E_REFUSED:
 * the history of the base ends.
 */
int follow(const struct options *o);

/* One pass, and what came of it. */
struct followed {
	const struct options *o;
	struct rj_follow_state state;
	const struct rj_hold *hold;
	uint64_t told_hold; /* the number of the one that was printed last */
	bool told_wait;	    /* that it waits */
	int64_t told_ns;    /* monotonic: when a step was printed last; 0: not yet */
	int64_t good_ns; /* realtime, of the last pass that succeeded; 0: none */
	int rc;		 /* with its error */
	struct rj_error err;
};

/* A line on stdout, text or JSON, one more in text for a hold that is new, and the error, if any,
 * on stderr. With O->quiet, the first step of each day, and what is no step, alone. */
void follow_print(struct followed *p);
/* Say once, in text, that P waits now. */
void follow_print_wait(struct followed *p);
/* Write O->metrics for Prometheus, by a rename. RJ_E_IO. */
int follow_metrics(const struct followed *p, struct rj_error *err);

/* Make the base O->base the volume that it is a copy of, and print what came of it. Returns 0 or a
 * negative rj_code, as of rj_promote(). */
int promote(const struct options *o);
void promote_print(const struct options *o, const struct rj_promote_report *r, int rc,
	const struct rj_error *err);

#endif
