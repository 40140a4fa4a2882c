// SPDX-License-Identifier: LGPL-2.1-or-later
/* Format a line about a recovery and pass it to the caller. */
#include <stdarg.h>
#include <stdio.h>

#include "recover/session.h"

void rj_recovery_say(struct rj_recovery *r, const char *fmt, ...)
{
	char line[RJ_ERROR_BYTES + 128];
	va_list ap;

	if (!r->opts->say)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	r->opts->say(r->opts->arg, line);
}
