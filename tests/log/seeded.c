// SPDX-License-Identifier: GPL-2.0-or-later
#include "log/seeded.h"

#include "util/environ.h"

static int64_t now_ns;
static uint32_t (*chance)(uint32_t below);

static int64_t fake_clock(void *arg)
{
	return now_ns += 1000;
}

static void fake_sleep(void *arg, int64_t ns)
{
	now_ns += ns;
}

static int seeded_bytes(void *arg, void *out, size_t len)
{
	uint8_t *p = out;

	while (len--)
		*p++ = (uint8_t)chance(256);
	return 0;
}

void seeded_environ(uint32_t (*rnd)(uint32_t below))
{
	static const struct rj_environ seeded = {
		.realtime_ns = fake_clock,
		.monotonic_ns = fake_clock,
		.sleep_ns = fake_sleep,
		.random_bytes = seeded_bytes,
	};

	chance = rnd;
	rj_environ_set(&seeded);
}
