// SPDX-License-Identifier: GPL-2.0-or-later
#include "say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool quiet;

/* Is stderr the journal's? Then it takes a level in front: sd-daemon(3). */
static bool to_journal(void)
{
	static enum { UNKNOWN, NO, YES } known;
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	if (known == UNKNOWN)
		known = stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 &&
					!fstat(2, &st) && st.st_dev == dev &&
					st.st_ino == ino
				? YES
				: NO;
	return known == YES;
}

void say_set_quiet(void)
{
	quiet = true;
}

/* one write per line, so that lines of several processes do not mix */
__attribute__((format(printf, 3, 0))) static void say(
	int level, const char *kind, const char *fmt, va_list ap)
{
	char line[1400];

	vsnprintf(line, sizeof(line), fmt, ap);
	if (to_journal()) /* which knows our name */
		fprintf(stderr, "<%d>%s\n", level, line);
	else
		fprintf(stderr, "rjserver: %s%s\n", kind, line);
}

void say_notice(const char *fmt, ...)
{
	va_list ap;

	if (quiet)
		return;
	va_start(ap, fmt);
	say(5, "", fmt, ap);
	va_end(ap);
}

void say_warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(4, "warning: ", fmt, ap);
	va_end(ap);
}

void say_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(3, "", fmt, ap);
	va_end(ap);
}
