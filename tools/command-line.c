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

#include "text/badopt.h"

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

/* The option that getopt_long() returned as C. */
static const struct tool_option *option_of(const struct tool *t, int c)
{
	const struct tool_option *o = t->options;

	if (c >= OPT_NAME)
		return o + (c - OPT_NAME);
	while (o->letter != c)
		o++;
	return o;
}

static enum options_verdict take(const struct tool *t, const struct tool_option *o, void *to)
{
	void *field;

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

/* GIVEN gets a bit for each option that was there, by its place in the table. */
static enum options_verdict parse(const struct tool *t, int argc, char **argv, void *to,
	uint32_t *given)
{
	enum options_verdict v = OPTIONS_RUN;
	struct option names[TOOL_OPTIONS_MAX + 3];
	char letters[2 * TOOL_OPTIONS_MAX + 4];
	const struct tool_option *o;
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
		if (c == 'V' || c == OPT_HELP)
			return OPTIONS_DONE;
		o = option_of(t, c);
		*given |= UINT32_C(1) << (o - t->options);
		v = take(t, o, to);
	}
	return v;
}

enum options_verdict tool_parse(const struct tool *t, int argc, char **argv, void *to)
{
	uint32_t given = 0;

	return parse(t, argc, argv, to, &given);
}

/* "a, b or c" of all commands. */
static const char *command_list(const struct tool *t, char *out, size_t size)
{
	const struct tool_command *c = t->commands;
	size_t len = 0;

	for (out[0] = 0; c->word && len < size; c++)
		len += (size_t)snprintf(out + len, size - len, "%s%s",
			c == t->commands ? "" : c[1].word ? ", " : " or ", c->word);
	return out;
}

static enum options_verdict check_options(const struct tool *t, int command, uint32_t given)
{
	const struct tool_option *o = t->options;
	const char *word = t->commands[command].word;

	for (; o->letter || o->name; o++)
		if (given & UINT32_C(1) << (o - t->options) && o->commands &&
			!(o->commands & UINT32_C(1) << command))
			return o->name ? tool_bad(t, "%s takes no --%s", word, o->name)
				       : tool_bad(t, "%s takes no -%c", word, o->letter);
	return OPTIONS_RUN;
}

enum options_verdict tool_parse_command(const struct tool *t, int argc, char **argv, void *to,
	int *command)
{
	const struct tool_command *c = t->commands;
	enum options_verdict v;
	uint32_t given = 0;
	char list[256];
	int words;

	v = parse(t, argc, argv, to, &given);
	if (v != OPTIONS_RUN)
		return v;
	if (optind == argc)
		return tool_bad(t, "no command given: %s", command_list(t, list, sizeof(list)));
	while (c->word && strcmp(c->word, argv[optind]) != 0)
		c++;
	if (!c->word)
		return tool_bad(t, "no such command: %s", argv[optind]);
	*command = (int)(c - t->commands);
	words = argc - ++optind;
	v = check_options(t, *command, given);
	if (v == OPTIONS_RUN && words < c->least)
		return tool_bad(t, "%s: %s", c->word, c->missing);
	if (v == OPTIONS_RUN && words > c->most)
		return tool_bad(t, "one word too many: %s", argv[optind + c->most]);
	return v;
}
