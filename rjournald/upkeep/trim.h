/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that looks at the log at the store every so often: it deletes what no replay
 * needs any more, and sees to it that nothing is put while what a replay needs is missing
 * there, of what the store acknowledged (struct rj_put_throttle). A store that is emptied
 * or put back to an older state does not say so.
 */
#ifndef RJ_JOURNALD_TRIM_H
#define RJ_JOURNALD_TRIM_H

#include "format/hold.h"
#include "log/log.h"
#include "rjournald/commit/pipeline.h"
#include "store/put-throttle.h"
#include "util/error.h"

struct rj_trimmer;

struct rj_trimmer_opts {
	struct rj_store *store; /* only to make a second handle from */
	struct rj_log_id id;
	uint64_t epoch; /* this writer's */
	/* The mount before sealed its last segment at CONFIRMED_S, seconds since 1970 (0: not
	 * known), and this mount began at STARTED_NS, monotonic. */
	uint32_t confirmed_s;
	int64_t started_ns;
	const struct rj_pipeline *pipeline; /* knows the oldest needed */
	struct rj_live *live;		    /* of it: wakes us when it is full */
	struct rj_put_throttle *throttle;   /* of the puts */
	unsigned long long retain_s;	    /* keep that long in any case */
	unsigned interval_s;		    /* trim so often */
};

/* RJ_E_UNSUPPORTED: the store has but one handle. RJ_E_NOMEM, RJ_E_IO. */
int rj_trimmer_start(const struct rj_trimmer_opts *opts,
	struct rj_trimmer **out, struct rj_error *err);
enum rj_store_lost {
	RJ_STORE_THERE,
	RJ_STORE_LOST,	/* away, or it lacks something: a write would not be acknowledged */
	RJ_STORE_TAKEN, /* another host has the log: a write would fail */
};

/* As of the last look at the store. */
struct rj_trimmer_stat {
	struct rj_hold hold;  /* keeps most of what else would go; its number is 0: none does */
	uint64_t failing_s;   /* since when the log cannot be looked at or trimmed; 0: it can */
	enum rj_store_lost lost;
	char why[RJ_ERROR_BYTES]; /* of both; "" */
	uint64_t cert_until_s; /* when the store's certificate ends, since 1970; 0: not known */
	uint64_t seen_s; /* since 1970: when it was seen to be whole last; 0: not yet */
};

/* From any thread. T may be NULL: all 0. */
void rj_trimmer_stat(struct rj_trimmer *t, struct rj_trimmer_stat *out);
/* Ends the thread; waits for a request under way. NULL-safe. */
void rj_trimmer_stop(struct rj_trimmer *t);

#endif
