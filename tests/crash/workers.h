/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads that write (ops.h), in a process of their own: one that waits for
 * the volume in a page fault must not hold up a malloc of what serves the
 * volume, and the volume fails, and does not hang, when its server is killed.
 */
#ifndef RJ_TEST_CRASH_WORKERS_H
#define RJ_TEST_CRASH_WORKERS_H

#include <stdbool.h>

#define WORKERS_MAX 16

/* Fork the process; before any thread, and before what it must not hold open. 0
 * or -1 with errno. */
int workers_fork(void);
/* N operations in each of THREADS threads, below DIR; ACKED is called for each
 * that is acknowledged, before that thread's next begins. Any thread. False: one
 * failed (printed). */
bool workers_run(const char *dir, unsigned long long seed, unsigned threads,
	unsigned n, void (*acked)(unsigned thread));

#endif
