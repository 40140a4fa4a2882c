// SPDX-License-Identifier: GPL-2.0-or-later
#include "support/rjtest.h"

#include <CUnit/TestRun.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

static unsigned number;
static bool failed;
static const char *skipped;

static void started(const CU_pTest test, const CU_pSuite suite)
{
	skipped = NULL;
}

static void complete(
	const CU_pTest test, const CU_pSuite suite, CU_pFailureRecord f)
{
	number++;
	if (f)
		failed = true;
	printf("%s %u - %s/%s", f ? "not ok" : "ok", number, suite->pName,
		test->pName);
	if (skipped && !f)
		printf(" # SKIP %s", skipped);
	printf("\n");
	for (; f; f = f->pNext)
		printf("# %s:%u: %s\n", f->strFileName, f->uiLineNumber,
			f->strCondition);
	fflush(stdout);
}

void rjtest_skip(const char *why)
{
	skipped = why;
}

int rjtest_none(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	return 0;
}

bool rjtest_own_mounts(void)
{
	return !unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

bool rjtest_scratch(char dir[RJTEST_DIR])
{
	snprintf(dir, RJTEST_DIR, "%s/rjtest.XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	return mkdtemp(dir);
}

bool rjtest_scratch_remove(const char *dir)
{
	char command[RJTEST_DIR + 16];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return !system(command);
}

unsigned long rjtest_seed(void)
{
	const char *text = getenv("RJ_SEED");
	struct timespec ts;
	unsigned long seed;

	if (text) {
		seed = strtoul(text, NULL, 0);
	} else {
		clock_gettime(CLOCK_REALTIME, &ts);
		seed = (unsigned long)(ts.tv_nsec ^ ts.tv_sec);
	}
	printf("# RJ_SEED=%lu\n", seed);
	return seed;
}

int rjtest_run(const char *suite, const struct rjtest *tests, unsigned count)
{
	CU_pSuite s;
	unsigned i;

	printf("1..%u\n", count);
	fflush(stdout);
	if (CU_initialize_registry() != CUE_SUCCESS)
		return 99;
	s = CU_add_suite(suite, NULL, NULL);
	for (i = 0; s && i < count; i++)
		if (!CU_add_test(s, tests[i].name, tests[i].fn))
			return 99;
	CU_set_test_start_handler(started);
	CU_set_test_complete_handler(complete);
	CU_run_all_tests();
	CU_cleanup_registry();
	return failed ? 1 : 0;
}
