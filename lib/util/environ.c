// SPDX-License-Identifier: LGPL-2.1-or-later
#include "util/environ.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>

#include "util/error.h"

#define NS_PER_S 1000000000LL

static int64_t read_clock(clockid_t id)
{
	struct timespec ts = {0};

	clock_gettime(id, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static int64_t real_realtime(void *arg)
{
	return read_clock(CLOCK_REALTIME);
}

static int64_t real_monotonic(void *arg)
{
	return read_clock(CLOCK_MONOTONIC);
}

static void real_sleep(void *arg, int64_t ns)
{
	struct timespec ts = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};

	while (ns > 0 && nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static int real_random(void *arg, void *out, size_t len)
{
	uint8_t *p = out;
	ssize_t n;

	while (len) {
		n = getrandom(p, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -RJ_E_IO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static const struct rj_environ real_world = {
	.realtime_ns = real_realtime,
	.monotonic_ns = real_monotonic,
	.sleep_ns = real_sleep,
	.random_bytes = real_random,
};

static const struct rj_environ *world = &real_world;

void rj_environ_set(const struct rj_environ *env)
{
	world = env ? env : &real_world;
}

int64_t rj_realtime_ns(void)
{
	return world->realtime_ns(world->arg);
}

int64_t rj_monotonic_ns(void)
{
	return world->monotonic_ns(world->arg);
}

void rj_sleep_ns(int64_t ns)
{
	world->sleep_ns(world->arg, ns);
}

int rj_random_bytes(void *out, size_t len)
{
	return world->random_bytes(world->arg, out, len);
}
