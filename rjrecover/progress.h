/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJRECOVER_PROGRESS_H
#define RJRECOVER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "recover/recover.h"

struct progress {
	bool bar; /* on stderr, a terminal */
	int fd;	  /* for programs; -1: none */
	const char *device;
	int64_t begun_ns, shown_ns;
	int shown_percent;
	enum rj_recover_phase phase;
	bool drawn;
};

/* FD as -C gave it; -1: not given, then a bar only on a terminal. */
void progress_init(struct progress *p, const char *device, int fd, bool quiet);
int progress_step(struct progress *p, enum rj_recover_phase phase,
	uint64_t done, uint64_t total);
/* Wipe the bar from the line, before something else is printed. */
void progress_clear(struct progress *p);

#endif
