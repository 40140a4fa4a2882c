// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/hostname.h"

#include <stdio.h>
#include <unistd.h>

void rj_host_name(char *out, size_t size)
{
	char *p;

	if (gethostname(out, size) || !out[0])
		snprintf(out, size, "unknown");
	out[size - 1] = 0;
	for (p = out; *p; p++)
		if (*p <= ' ' || *p > '~')
			*p = '_';
}
