/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Show how far a tool is: a bar, or lines for a program, as e2fsck -C does. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool bar; /* on stderr, a terminal */
	int fd;	  /* for programs; -1: none */
	const char *device;
	int64_t begun_ns, phase_ns, shown_ns; /* PHASE_NS: when this phase began */
	int shown_percent;
	int phase;
	const char *const *names; /* of the phases, at most 16 characters each */
	bool drawn;
};

/*
 * FD as -C gave it: 0: a bar; -1: not given, then a bar only on a terminal. Neither if QUIET,
 * which lines for a program do not obey. DEVICE, in these lines, and NAMES outlive P.
 */
void progress_init(struct progress *p, const char *device, int fd, bool quiet,
	const char *const *names);
/* Returns 0: nothing that fails here ends the work. */
int progress_step(struct progress *p, int phase, uint64_t done, uint64_t total);
/* Wipe the bar from the line, before something else is printed. */
void progress_clear(struct progress *p);

#endif
