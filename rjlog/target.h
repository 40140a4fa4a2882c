/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log that a URL means, and a walk over its segments. */
#ifndef RJLOG_TARGET_H
#define RJLOG_TARGET_H

#include "log/listing.h"
#include "log/log.h"
#include "log/sealing.h"
#include "options.h"

struct target {
	struct rj_store *store;
	struct rj_log_sealing sealing;
	bool key_of_conf; /* the key is rj.conf's, not --key's */
	bool named;          /* the URL holds a journal's UUID */
	struct rj_log_id id; /* target_choose() */
	char text[600];      /* "URL/<uuid>", for messages and results */
};

/* Open the store at URL, with the key of O or else of rj.conf; zero T before,
 * target_close() in any case. */
int target_open(struct target *t, const struct options *o, const char *url,
	struct rj_error *err);
/*
 * Find out which log is meant, and whose it is. Without a name it is the only one,
 * or the only one that holds more than fences. RJ_E_INVAL: there are several;
 * RJ_E_NOTFOUND: there is none.
 */
int target_choose(struct target *t, struct rj_error *err);
void target_close(struct target *t);
/* Append the UUIDs of all logs at T's store, RJ_UUID_BYTES each. */
int list_logs(struct target *t, struct rj_buf *uuids, struct rj_error *err);

struct segment_seen {
	uint64_t number;
	uint64_t bytes;
	int fetch_rc, open_rc; /* with their errors */
	const struct rj_error *fetch_err, *open_err;
	struct rj_segment *seg; /* if both are 0; released by the walk */
	const struct rj_buf *raw; /* its bytes, if fetch_rc is 0 */
};

/*
 * Fetch and open each segment that L lists, in order, each by itself, and call
 * FN. A non-zero return of FN ends the walk with that.
 */
int walk_segments(struct target *t, const struct rj_listing *l,
	int (*fn)(void *arg, const struct segment_seen *s), void *arg);

#endif
