/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Add up the joules that the latest segments took, or would have taken, in the fallback file and
 * at the store, by the figures of rj.conf. Pure: what was written and the states of disk and link
 * go in, with the time; two sums come out, which the arbiter compares.
 *
 * A device is awake from a use until it was idle for its "idle". Both ways are charged for the same
 * segments. The file's way has the link's work too, later: each segment is sent to the store, but
 * one wake-up of the link is enough for three quarters of the file (RJ_ARBITER_NEARLY_FULL). Not
 * counted: the read of the file for that.
 */
#ifndef RJ_JOURNALD_ENERGY_H
#define RJ_JOURNALD_ENERGY_H

#include <stdbool.h>
#include <stdint.h>

#include "arbiter.h"
#include "store/energy.h"

/* A segment counts half of what a new one does after this time. */
#define RJ_ENERGY_HALF_LIFE_S 300.0

struct rj_energy_in {
	const struct rj_energy *disk, *link; /* both .given, or the sums stay 0 */
	enum rj_disk disk_state;
	enum rj_link link_state;
	bool local;		     /* where the segments go now */
	uint64_t segments, bytes;    /* since the start: they only grow */
	uint64_t capacity;	     /* bytes of the fallback file */
	int64_t now_ns;		     /* monotonic */
};

/* Begins as all zero. */
struct rj_energy_sums {
	double file_j, store_j;	     /* joules; both 0: nothing is known */
	uint64_t segments, bytes;    /* as of the last call */
	int64_t now_ns;		     /* of the last call; 0: there was none */
	int64_t used_ns;	     /* of the last segment; 0: none was seen */
	int64_t way_ns;		     /* since when the segments go the way they go */
	bool local;
	/* Other work keeps it awake: seen awake, though no segment went there for longer than
	 * its "idle". It then costs no wake-up and no time. */
	bool disk_shared, link_shared;
};

/* Add what IN has that S has not. */
void rj_energy_add(struct rj_energy_sums *s, const struct rj_energy_in *in);

#endif
