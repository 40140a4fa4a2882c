/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many threads do something again and again, side by side: from a sample of who did it. */
#ifndef RJADVISE_THREADS_H
#define RJADVISE_THREADS_H

#include <stdint.h>

#define THREADS_MOST   64
#define THREADS_WINDOW 512 /* samples that are looked at together */
/* A thread that was seen less often in a window may have come after another had ended. */
#define THREADS_AGAIN 4

struct threads {
	struct {
		uint32_t tid, seen;
	} of[THREADS_MOST];
	uint32_t used, samples; /* in this window */
	double sum, weight;	/* of the windows before */
};

/* Take one sample, of thread TID. */
void threads_add(struct threads *t, uint32_t tid);

/* As many threads that do it equally often; NAN: most were seen too seldom. */
double threads_count(const struct threads *t);

#endif
