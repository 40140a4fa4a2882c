// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "tools/command-line.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/badopt.h"

/* What getopt_long() returns: a letter, or one of these. */
enum {
	OPT_HELP = 256,
	OPT_NAME, /* + the place in the table of an option without a letter */
};

enum options_verdict tool_bad(const struct tool *t, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", t->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "%s\n", t->hint);
	return OPTIONS_BAD;
}

int tool_word(const char *const words[], const char *word)
{
	int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return -1;
}

enum options_verdict tool_verify(const struct tool *t, const char *value, enum rj_verify_level *out)
{
	static const char *const words[] = {
		[RJ_VERIFY_QUICK] = "quick",
		[RJ_VERIFY_NONE] = "none",
		[RJ_VERIFY_FULL] = "full",
		NULL,
	};
	int i = tool_word(words, value);

	if (i < 0)
		return tool_bad(t, "--verify takes none, quick or full, not: %s", value);
	*out = (enum rj_verify_level)i;
	return OPTIONS_RUN;
}

/* The table as getopt_long() wants it. */
static void for_getopt(const struct tool *t, char *letters, struct option *names)
{
	const struct tool_option *o = t->options;

	if (t->in_order)
		*letters++ = '+';
	*letters++ = ':';
	*letters++ = 'V';
	for (; o->letter || o->name; o++) {
		int value = o->letter ? o->letter : OPT_NAME + (int)(o - t->options);

		assert(o - t->options < TOOL_OPTIONS_MAX);
		if (o->letter)
			*letters++ = o->letter;
		if (o->letter && o->kind != OPTION_FLAG)
			*letters++ = ':';
		if (o->name)
			*names++ = (struct option){o->name,
				o->kind == OPTION_FLAG ? no_argument : required_argument,
				NULL, value};
	}
	*letters = 0;
	*names++ = (struct option){"version", no_argument, NULL, 'V'};
	*names++ = (struct option){"help", no_argument, NULL, OPT_HELP};
	*names = (struct option){0};
}

static bool parse_fd(const char *text, int *out)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (errno || *end || end == text || v < 0 || v > 65535)
		return false;
	*out = (int)v;
	return true;
}

static enum options_verdict take(const struct tool *t, int c, void *to)
{
	const struct tool_option *o = t->options;
	void *field;

	if (c >= OPT_NAME)
		o += c - OPT_NAME;
	else
		while (o->letter != c)
			o++;
	field = (char *)to + o->at;
	switch (o->kind) {
	case OPTION_FLAG:
		*(bool *)field = true;
		break;
	case OPTION_TEXT:
		*(const char **)field = optarg;
		break;
	case OPTION_FD:
		if (!parse_fd(optarg, field))
			return tool_bad(t, "-%c wants a file descriptor: %s", o->letter, optarg);
		break;
	case OPTION_TAKE:
		return o->take(to, optarg);
	}
	return OPTIONS_RUN;
}

enum options_verdict tool_parse(const struct tool *t, int argc, char **argv, void *to)
{
	enum options_verdict v = OPTIONS_RUN;
	struct option names[TOOL_OPTIONS_MAX + 3];
	char letters[2 * TOOL_OPTIONS_MAX + 4];
	char why[128];
	int c;

	for_getopt(t, letters, names);
	while (v == OPTIONS_RUN &&
		(c = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		if (c == '?' || c == ':')
			return tool_bad(t, "%s", rj_badopt(c, argv, names, why, sizeof(why)));
		if (c == 'V')
			printf("%s (%s) %s\n", t->name, PACKAGE_NAME, PACKAGE_VERSION);
		else if (c == OPT_HELP)
			fputs(t->help, stdout);
		v = c == 'V' || c == OPT_HELP ? OPTIONS_DONE : take(t, c, to);
	}
	return v;
}
