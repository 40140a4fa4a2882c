/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What probe.c and probe-run.c share. Private to them. */
#ifndef RJ_STORE_PROBE_RUN_H
#define RJ_STORE_PROBE_RUN_H

#include "store/probe.h"

#define PROBE_ROUNDS   1000u
#define PROBE_MAX      (4u << 20)
#define PROBE_RETRY_NS 10000000000LL
#define PROBE_PAUSE_NS 50000000LL /* before the second attempt; doubled for each one after */

struct probe_run {
	const char *url; /* NULL: in brief, on dups of STORE */
	struct rj_probe_opts opts;
	struct rj_probe *out;
	struct rj_store *store, *other; /* two handles */
	uint64_t epochs;		/* claimed in races so far */
	uint64_t objects;		/* put into the log so far */
	int64_t budget_ns;		/* for the race; 0: no limit */
};

struct rj_key probe_key(
	const struct probe_run *r, enum rj_key_kind kind, uint64_t number);
/* Say why no journal can be kept there; the first reason stays. */
void probe_not(struct probe_run *r, const char *why, const char *detail);
int probe_put(struct rj_store *s, const struct rj_key *key, const void *data,
	size_t len, bool *doubt, struct rj_error *err);

/* Does KEY hold the LEN bytes of DATA? */
bool probe_holds(
	struct rj_store *s, const struct rj_key *key, const void *data, size_t len);
/* Race for objects of the epochs after r->epochs, and judge each round. */
int probe_race(struct probe_run *r, struct rj_error *err);
/* Measure puts one after the other; look for each in a list, and read it back. */
int probe_measure(struct probe_run *r, struct rj_error *err);
/* Check that a reader of large objects that are just being put gets all or nothing. */
int probe_watch(struct probe_run *r, struct rj_error *err);

#endif
