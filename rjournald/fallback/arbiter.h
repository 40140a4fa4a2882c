/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decide by prefer= whether segments go to the store or to the fallback file while both
 * could take them. Pure: the state of link, disk and file goes in, with the time; the
 * decision and its reason come out. arbiter-thread.c asks the kernel, and carries it out.
 */
#ifndef RJ_JOURNALD_ARBITER_H
#define RJ_JOURNALD_ARBITER_H

#include <stdbool.h>
#include <stdint.h>

#include "store/conf.h"

/* Of the network interface that leads to the store. */
enum rj_link {
	RJ_LINK_UNKNOWN, /* counts as up */
	RJ_LINK_UP,
	RJ_LINK_ASLEEP, /* up, but its device is suspended */
	RJ_LINK_DOWN,
};

/* Of the disk where the fallback file is. */
enum rj_disk {
	RJ_DISK_UNKNOWN, /* counts as awake */
	RJ_DISK_AWAKE,
	RJ_DISK_ASLEEP,
};

enum rj_reason {
	RJ_REASON_NONE,	     /* no policy: the store */
	RJ_REASON_PREFERRED,
	RJ_REASON_LINK_DOWN,
	RJ_REASON_LINK_ASLEEP,
	RJ_REASON_DISK_ASLEEP,
	RJ_REASON_AWAKE,      /* power: nothing sleeps, so the store */
	RJ_REASON_FILE_JOULES,	/* power: the file takes less energy */
	RJ_REASON_STORE_JOULES, /* ... the store does */
	RJ_REASON_FILE_FULL,  /* nearly: the store gets it all first */
	RJ_REASON_LINK_FRESH, /* the link has come up, but not for long */
	RJ_REASONS,
};

/* How long a link must be up before commits go over it again. */
#define RJ_ARBITER_UP_NS 1000000000LL
/* How long a decision is kept although a device sleeps or wakes up: each change wakes
 * up the device that slept. */
#define RJ_ARBITER_STAY_NS 30000000000LL
/* By energy the other way is taken when it needs less than so much (of 1000) of this way's. */
#define RJ_ARBITER_JOULES 900
/* From this fill on (of 1000) the file is emptied, until it is empty. */
#define RJ_ARBITER_NEARLY_FULL 750

struct rj_arbiter_in {
	enum rj_prefer prefer;
	enum rj_link link;
	enum rj_disk disk;
	unsigned fill;	/* of the fallback file, of 1000; 0: it is idle */
	/* What the latest segments take (energy.h), joules. Both 0: not known; then
	 * what sleeps counts. */
	double file_j, store_j;
	int64_t now_ns; /* monotonic */
};

/* What was decided, and what the next decision needs of the past. Begins as
 * all zero. */
struct rj_arbiter {
	bool local;
	enum rj_reason reason;
	enum rj_prefer prefer; /* the last one */
	bool emptying;	       /* since RJ_ARBITER_NEARLY_FULL */
	bool was_down;	       /* at some time */
	int64_t changed_ns;    /* when .local did, under this policy; 0: never */
	int64_t down_ns;       /* when the link was last seen down */
	double file_j, store_j; /* of the last look */
};

/* Decide. WAS is the decision before. */
struct rj_arbiter rj_arbiter_next(
	const struct rj_arbiter *was, const struct rj_arbiter_in *in);
/* Get the words for R. */
const char *rj_arbiter_reason(enum rj_reason r);

#endif
