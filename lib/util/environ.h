/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Time and randomness, the two things of the outside world that a test must
 * be able to replace. rj_environ_set() is for tests and simulators only.
 */
#ifndef RJ_UTIL_ENVIRON_H
#define RJ_UTIL_ENVIRON_H

#include <stddef.h>
#include <stdint.h>

struct rj_environ {
	/* Nanoseconds since 1970-01-01 UTC. */
	int64_t (*realtime_ns)(void *arg);
	/* Nanoseconds of a clock that never steps. */
	int64_t (*monotonic_ns)(void *arg);
	void (*sleep_ns)(void *arg, int64_t ns);
	/* Fill LEN bytes. Returns 0 or a negative rj_code. */
	int (*random_bytes)(void *arg, void *out, size_t len);
	void *arg;
};

/* Replace the outside world; NULL puts the real one back. */
void rj_environ_set(const struct rj_environ *env);

/* A time of storing that is more than this after now is wrong: the clock was ahead at that
 * time, or is behind now. The object counts as stored at the time of the next object after it
 * whose time is not wrong; if there is no such object, it counts as young. */
#define RJ_CLOCK_AHEAD_NS (86400 * 1000000000LL)

int64_t rj_realtime_ns(void);
int64_t rj_monotonic_ns(void);
void rj_sleep_ns(int64_t ns);
int rj_random_bytes(void *out, size_t len);

#endif
