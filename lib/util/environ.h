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

int64_t rj_realtime_ns(void);
int64_t rj_monotonic_ns(void);
void rj_sleep_ns(int64_t ns);
int rj_random_bytes(void *out, size_t len);

#endif
