// SPDX-License-Identifier: LGPL-2.1-or-later
/* Pass a move's lines to the caller, and keep its first warning for the report. */
#include <stdarg.h>
#include <stdio.h>

#include "journal/move-priv.h"

void rj_move_say(struct rj_move_ctx *m, const char *fmt, ...)
{
	char line[RJ_ERROR_BYTES];
	va_list ap;

	if (!m->opts->say)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	m->opts->say(m->opts->arg, line);
}

void rj_move_warn(struct rj_move_ctx *m, const char *fmt, ...)
{
	va_list ap;

	if (m->report->warning[0])
		return;
	va_start(ap, fmt);
	vsnprintf(m->report->warning, sizeof(m->report->warning), fmt, ap);
	va_end(ap);
}

int rj_move_noted_error(struct rj_move_ctx *m, struct rj_error *err)
{
	m->report->needs_recovery = true;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: the kernel noted an error of the volume in its journal, which a move would drop; run rjrecover, or give -y",
		m->path);
}
