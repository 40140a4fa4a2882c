// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text/quantity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct unit {
	char letter; /* 0: a bare number */
	uint64_t times;
};

static bool parse(const char *text, const struct unit *units, uint64_t *out)
{
	unsigned long long n;
	uint64_t value;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || (*end && end[1]))
		return false;
	while (units->letter && units->letter != *end)
		units++;
	if (units->letter != *end ||
		__builtin_mul_overflow(n, units->times, &value))
		return false;
	*out = value;
	return true;
}

bool rj_parse_size(const char *text, uint64_t *out)
{
	static const struct unit units[] = {
		{'k', 1ull << 10},
		{'K', 1ull << 10},
		{'M', 1ull << 20},
		{'G', 1ull << 30},
		{'T', 1ull << 40},
		{0, 1},
	};

	return parse(text, units, out);
}

bool rj_parse_time(const char *text, uint64_t *out)
{
	static const struct unit units[] = {
		{'s', 1},
		{'m', 60},
		{'h', 3600},
		{'d', 86400},
		{0, 1},
	};

	return parse(text, units, out);
}

const char *rj_size_text(double bytes, char out[RJ_SIZE_TEXT])
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
	size_t u = 0;

	if (bytes < 1024) {
		snprintf(out, RJ_SIZE_TEXT, "%.0f bytes", bytes);
		return out;
	}
	for (bytes /= 1024; bytes >= 999.5 && u + 1 < sizeof(units) / sizeof(units[0]); u++)
		bytes /= 1024;
	snprintf(out, RJ_SIZE_TEXT, "%.*f %s", bytes < 9.995 ? 2 : bytes < 99.95 ? 1 : 0, bytes,
		units[u]);
	return out;
}
