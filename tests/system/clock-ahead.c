// SPDX-License-Identifier: GPL-2.0-or-later
/* For LD_PRELOAD: the clock of this process is a year ahead, as after a boot whose time server or
 * battery is wrong. The machine's own clock cannot be set for a test. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define YEAR_S (366L * 86400)

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, t);

	if (clock == CLOCK_REALTIME)
		t->tv_sec += YEAR_S;
	return rc;
}
