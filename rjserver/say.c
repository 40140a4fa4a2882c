// SPDX-License-Identifier: GPL-2.0-or-later
#include "say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static bool quiet;

void say_set_quiet(void)
{
	quiet = true;
}

/* one write per line, so that lines of several processes do not mix */
static void say(const char *kind, const char *fmt, va_list ap)
{
	char line[1400];

	vsnprintf(line, sizeof(line), fmt, ap);
	fprintf(stderr, "rjserver: %s%s\n", kind, line);
}

void say_notice(const char *fmt, ...)
{
	va_list ap;

	if (quiet)
		return;
	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
}

void say_warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("warning: ", fmt, ap);
	va_end(ap);
}

void say_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
}
