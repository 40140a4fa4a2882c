/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measure the disks and the store by turns. */
#ifndef RJADVISE_MEASURE_H
#define RJADVISE_MEASURE_H

#include <signal.h>

#include "rjadvise/model/model.h"
#include "util/error.h"

/*
 * Probe the disks under the directories DISK and SECOND and the store at STORE (each may be
 * NULL: not probed) by turns, several times: what else a disk does differs from one second to
 * the next, and all of them are compared. The medians go to OUT; its fua stays, as does what was
 * not probed. After *STOP no turn begins. Says on standard error what could not be removed at
 * the store. Errors as of probe_disk() and probe_store().
 */
int measure(const char *disk, const char *second, const char *store,
	const volatile sig_atomic_t *stop, struct machine *out, struct rj_error *err);

#endif
