/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watch which files of a volume are written to, by fanotify(7). */
#ifndef RJADVISE_WATCH_H
#define RJADVISE_WATCH_H

#include <stddef.h>

#include "rjadvise/model/table.h"
#include "util/error.h"

struct watch {
	int fan, mount; /* descriptors; -1: none */
	int64_t begun_ns; /* of the window, since 1970 */
	bool on;	    /* the kernel tells of writes: the window is open */
	int64_t turn_ns;    /* monotonic: the last turn */
	int64_t credit_ns;  /* what the window may cost; below 0 it is closed */
	int64_t watched_ns; /* sum of the windows */
	struct table table;
	uint64_t events, overflows;
};

/*
 * Begin to watch the volume mounted at DIR. W is for watch_end(), also after a failure.
 * RJ_E_DENIED: this needs CAP_SYS_ADMIN and CAP_DAC_READ_SEARCH. RJ_E_UNSUPPORTED: the kernel
 * is older than 5.9.
 */
int watch_begin(struct watch *w, const char *dir, struct rj_error *err);

/*
 * Read what waits, and look at the files: at most LOOKS of them, the others wait. Where events,
 * and the WRITES that trace_read() counted since the last turn, cost the programs more than a
 * hundredth of a processor, both are watched for a part of the time only: while W->on.
 */
void watch_turn(struct watch *w, unsigned looks, uint64_t writes);

/* Write the path of the directory KEY into OUT, SIZE bytes with the NUL; "inode N" if it
 * is not there any more. */
void watch_path(const struct watch *w, struct handle_key key, char *out, size_t size);

void watch_end(struct watch *w);

#endif
