/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Test what a store can do, instead of believing what it says: several shipped
 * servers accept "If-None-Match: *" and overwrite nevertheless.
 */
#ifndef RJ_STORE_PROBE_H
#define RJ_STORE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"
#include "util/error.h"

#define RJ_PROBE_RACERS 32 /* at most */

enum rj_probe_mode {
	RJ_PROBE_NONE, /* nothing is exclusive: no journal may be kept there */
	RJ_PROBE_A,    /* put-if-absent has one winner */
	RJ_PROBE_B,    /* making a folder has one winner */
};

struct rj_probe_opts {
	unsigned racers;   /* 0: 8 */
	unsigned rounds;   /* of the race; 0: 20 */
	unsigned puts;	   /* to measure; 0: 50 */
	uint32_t put_bytes; /* 0: 8192 */
	/* Called between steps with what comes next. May be NULL. */
	void (*progress)(void *arg, const char *step);
	void *arg;
};

struct rj_probe {
	struct rj_store_caps says; /* what the backend claims */
	enum rj_probe_mode mode;   /* what was seen */
	char why[RJ_ERROR_BYTES];  /* the reason of RJ_PROBE_NONE, one line; else "" */
	/* the race for one key */
	unsigned racers, rounds;
	unsigned one_winner; /* rounds with exactly one */
	unsigned several;    /* rounds with more than one: fatal */
	unsigned undecided;  /* rounds whose result is not known: answers were lost */
	/* puts one after the other, and gets, in microseconds */
	unsigned puts;
	uint32_t put_bytes;
	uint64_t put_p50_us, put_p99_us, put_max_us, get_p50_us;
	/* seen while others were put: */
	unsigned looks, partial; /* gets; those that returned a part: fatal */
	unsigned lists, stale;	 /* lists; those without an acknowledged object */
	bool left_behind; /* some objects could not be removed again */
	uint8_t journal_uuid[RJ_UUID_BYTES];
};

/*
 * Probe the store at URL. 0: OUT has the results, good or bad. An error: the store
 * does not answer, refuses access, or fails for a reason that the probe is not about.
 */
int rj_store_probe(const char *url, const struct rj_probe_opts *opts,
	struct rj_probe *out, struct rj_error *err);

/*
 * Probe STORE in brief, before a new log is begun there: put one object twice, and
 * make a short race, for epochs of the log JOURNAL_UUID itself, so that on a store that
 * removes nothing no other objects remain. Nothing is put if the log has an epoch
 * already (an earlier attempt got further), or if the store has only one handle.
 * RACE_MS is the time after which the race has no more rounds, but for the first three; 0: as long
 * as it takes to find a server that looks first and stores then, 6 seconds at most. SEEN (may be
 * NULL) gets RJ_SBX_PROBED_* (format/sbx.h).
 * RJ_E_UNSUPPORTED: as rj_probe_verdict(); else as above.
 */
int rj_store_probe_brief(struct rj_store *store,
	const uint8_t journal_uuid[RJ_UUID_BYTES], int race_ms, uint8_t *seen,
	struct rj_error *err);

/* Decide whether a journal may be at URL, by P. RJ_E_UNSUPPORTED, with the reason, if
 * not. */
int rj_probe_verdict(
	const char *url, const struct rj_probe *p, struct rj_error *err);

#endif
