// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/energy.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1e6

/* A number with UNIT behind it ('s': or m, h). Moves *S behind both. */
static bool number(const char **s, char unit, double *out)
{
	char *end;

	if (!isdigit((unsigned char)**s))
		return false;
	*out = strtod(*s, &end);
	if (unit == 's' && *end == 'm')
		*out *= 60;
	else if (unit == 's' && *end == 'h')
		*out *= 3600;
	else if (*end != unit)
		return false;
	*s = end + 1;
	return *out >= 0 && *out <= MOST;
}

bool rj_energy_parse(const char *text, struct rj_energy *out)
{
	struct rj_energy e = {.given = true};
	const struct {
		const char *name;
		char unit;
		double *to;
	} words[] = {
		{"wakeup=", 'J', &e.wakeup_j},
		{"awake=", 'W', &e.awake_w},
		{"idle=", 's', &e.idle_s},
		{"commit=", 'J', &e.commit_j},
		{"mib=", 'J', &e.mib_j},
	};
	const size_t count = sizeof(words) / sizeof(words[0]);
	unsigned seen = 0;
	size_t i;

	do {
		for (i = 0; i < count; i++)
			if (!strncmp(text, words[i].name, strlen(words[i].name)))
				break;
		if (i == count || seen & 1u << i)
			return false;
		seen |= 1u << i;
		text += strlen(words[i].name);
		if (!number(&text, words[i].unit, words[i].to) ||
			(*text && !isblank((unsigned char)*text)))
			return false;
		text += strspn(text, " \t");
	} while (*text);
	*out = e;
	return true;
}
