// SPDX-License-Identifier: LGPL-2.1-or-later
#include "util/backoff.h"

#include "util/environ.h"

int64_t rj_backoff_ns(unsigned tries, int64_t first_ns, int64_t max_ns)
{
	int64_t ns = first_ns;
	uint32_t r;

	for (; tries && ns < max_ns; tries--)
		ns *= 2;
	if (ns > max_ns)
		ns = max_ns;
	if (rj_random_bytes(&r, sizeof(r)))
		return ns;
	return ns * 3 / 4 + ns / 2 * (r % 1024) / 1024;
}
