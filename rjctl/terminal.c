// SPDX-License-Identifier: GPL-2.0-or-later
#include "terminal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_colours(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return (!no || !*no) && term && strcmp(term, "dumb") != 0 && isatty(STDOUT_FILENO);
}

/* ECMA-48, select graphic rendition: green, yellow, red */
const char *terminal_begin(enum mood mood)
{
	static const char *const begins[] = {
		[MOOD_WELL] = "\033[32m",
		[MOOD_WARNING] = "\033[33m",
		[MOOD_BAD] = "\033[1;31m",
	};

	return has_colours() ? begins[mood] : "";
}

const char *terminal_end(void)
{
	return has_colours() ? "\033[0m" : "";
}
