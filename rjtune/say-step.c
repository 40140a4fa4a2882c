// SPDX-License-Identifier: GPL-2.0-or-later
/* Print a line about a step that is done (-n: would be), unless -q or --json is given. */
#include <stdio.h>

#include "rjtune.h"

void say_step(void *arg, const char *line)
{
	const struct options *o = arg;

	if (o->quiet || o->json)
		return;
	printf("%s: %s%s\n", o->device, o->dry_run ? "would " : "", line);
	fflush(stdout);
}
