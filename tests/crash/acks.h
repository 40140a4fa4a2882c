/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines "VOLUME THREAD NUMBER" of tests/power/writer.c, one for each
 * operation that was acknowledged. */
#ifndef RJ_TEST_CRASH_ACKS_H
#define RJ_TEST_CRASH_ACKS_H

#include <stdint.h>

#define ACKS_THREADS_MAX 16

/* How many of each thread's of VOLUME are in PATH, without a gap. 0, or -1 when
 * it cannot be read, or on a line that is wrong (printed). The last line may be
 * cut short: it was not acknowledged. */
int acks_read(const char *path, unsigned volume, unsigned threads,
	uint64_t acks[ACKS_THREADS_MAX]);

#endif
