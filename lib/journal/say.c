// SPDX-License-Identifier: LGPL-2.1-or-later
/* Pass a move's lines to the caller, its first warning and a refusal to the report. */
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

int rj_move_verdict(struct rj_move_ctx *m, const struct rj_verdict_facts *f,
	const struct rj_verdict *v, struct rj_error *err)
{
	switch (v->kind) {
	case RJ_VERDICT_CLEAN:
		return 0;
	case RJ_VERDICT_REPLAY:
		if (f->found & RJ_FOUND(RJ_IS_ERRNO))
			return rj_move_noted_error(m, err);
		break;
	case RJ_VERDICT_UNDER_WAY:
	case RJ_VERDICT_RENEW:
	case RJ_VERDICT_LOST:
		m->report->needs_recovery = true;
		break;
	case RJ_VERDICT_FOREIGN:
		m->report->journal_lost = true;
		break;
	default:
		m->report->contradicts = true;
		break;
	}
	rj_verdict_refuse(v, f, err);
	err->code = RJ_E_REFUSED;
	return -RJ_E_REFUSED;
}
