// SPDX-License-Identifier: LGPL-2.1-or-later
#include "util/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "util/printable.h"

static rj_log_fn log_fn;
static void *log_arg;

void rj_log_set(rj_log_fn fn, void *arg)
{
	log_fn = fn;
	log_arg = arg;
}

void rj_log(enum rj_log_level level, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	if (!log_fn)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	rj_make_printable(line);
	log_fn(log_arg, level, line);
}
