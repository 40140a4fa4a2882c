/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole log, segment by segment: what verify reports, and copy demands. */
#ifndef RJLOG_CHECK_H
#define RJLOG_CHECK_H

#include <json-c/json.h>

#include "journal.h"
#include "log/verify.h"
#include "print.h"

/* Zero it, and set the first four. */
struct check {
	struct target *t;
	struct progress *progress;
	/* Called for each segment that is sound. A failure is a problem of that
	 * segment. NULL: not called. */
	int (*each)(void *arg, const struct segment_seen *s,
		struct rj_error *err);
	void *arg;

	struct rj_verify verify;
	struct journal journal;
	struct json_object *problems;
	struct rj_listing listing;
	uint64_t oldest; /* a replay begins here; 0: not known */
	uint64_t done, total, bytes, epochs, last_epoch;
	uint64_t headers; /* encrypted, and no key: only their headers were seen */
	uint64_t count;   /* problems */
	uint64_t trimmed; /* segments that are rightly gone */
	bool data_seen;	  /* more than fences came so far */
	bool removed;	  /* nothing but fences is there */
	bool live_bad;	  /* a replay needs one of them */
	bool have_plan;
	bool failed; /* it could not be read to its end: ERR says why */
	enum status status;
};

/*
 * Check S as the next segment of V, whatever is wrong with it. Without the key of an encrypted
 * log only by its header, which *HEADERS counts (may be NULL).
 */
int check_seen(struct rj_verify *v, const struct segment_seen *s, uint64_t *headers,
	struct rj_error *err);
/*
 * Read and check the log of C->t; complains of each problem. STATUS_KEY: it is
 * encrypted, there is no key, and what can be seen without one is sound. ERR is
 * set if C->failed.
 */
enum status check_log(struct check *c, struct rj_error *err);
void check_free(struct check *c);

#endif
