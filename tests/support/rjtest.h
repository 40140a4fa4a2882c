/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CUnit that speaks TAP. A test program lists its tests and calls
 * rjtest_run(); each test is one "ok"/"not ok" line, with the failed
 * assertions as comments. Exit status 0 only if all passed.
 */
#ifndef RJ_TEST_RJTEST_H
#define RJ_TEST_RJTEST_H

#include <CUnit/CUnit.h>
#include <stdbool.h>

struct rjtest {
	const char *name;
	void (*fn)(void);
};

#define RJTEST(function) {#function, function}

int rjtest_run(const char *suite, const struct rjtest *tests, unsigned count);
#define RJTEST_RUN(suite, tests) \
	rjtest_run(suite, tests, sizeof(tests) / sizeof((tests)[0]))

/* The running test does not apply on this machine: counted as skipped. */
void rjtest_skip(const char *why);

/* In place of rjtest_run(): no test of this program applies. Returns the exit status. */
int rjtest_none(const char *why);

/* Give this process a mount namespace of its own, in which its mounts stay. False: the process
 * may not have one. */
bool rjtest_own_mounts(void);

#define RJTEST_DIR 64 /* bytes of a scratch directory's name */
/* Make a scratch directory, in memory where there is such a place, as that syncs at once: its
 * name into DIR. False: none could be made. */
bool rjtest_scratch(char dir[RJTEST_DIR]);
/* Remove it, with all that is there. */
bool rjtest_scratch_remove(const char *dir);

/* A seed for a randomised test: $RJ_SEED, or from the clock; printed. */
unsigned long rjtest_seed(void);

#endif
