// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjadvise. */
#include "options.h"

#include <getopt.h>
#include <string.h>

#include "text/quantity.h"

#define DAY_S	  86400
#define TIME_S	  600
#define TOP	  10

static const char help_text[] =
	"Usage: rjadvise [--time=TIME] [--probe] [--second=DIR] [--store=URL] [--top=N]\n"
	"                [--report=FILE] [--apply] [--json] DIR|DEVICE\n"
	"\n"
	"Watch a mounted ext3 or ext4 volume under its load, and tell what each place of\n"
	"the journal and each data mode would do to it.\n"
	"\n"
	"      --time=TIME    watch so long: seconds, or a number followed by m, h or d\n"
	"                     (default: 10m); SIGINT ends it earlier\n"
	"      --probe        first measure the volume's disk: writes 8 MiB to a file\n"
	"                     without a name\n"
	"      --second=DIR   measure the disk of DIR, too, as a place for the journal\n"
	"      --store=URL    measure the store at URL, by puts into a log that is\n"
	"                     removed again\n"
	"      --top=N        tell of N directories (default: 10)\n"
	"      --report=FILE  write a page with a plot, too: FILE ends with .html or .svg\n"
	"      --apply        make the best data mode the volume's default, if the figures\n"
	"                     leave no doubt\n"
	"      --json         print the result as JSON\n"
	"  -V, --version      print the version\n"
	"      --help         print this\n"
	"\n"
	"Exit status: 0 done, 1 failed, 2 usage, 3 --apply: nothing was changed.\n";

static const struct tool tool;

static enum options_verdict take_time(void *to, const char *value)
{
	struct options *o = to;

	if (!rj_parse_time(value, &o->seconds) || !o->seconds || o->seconds > 31 * DAY_S)
		return tool_bad(&tool, "--time wants a time from 1 to 31d: %s", value);
	return OPTIONS_RUN;
}

static enum options_verdict take_top(void *to, const char *value)
{
	struct options *o = to;

	if (strspn(value, "0123456789") != strlen(value) || !rj_parse_size(value, &o->top) ||
		!o->top || o->top > TOP_MAX)
		return tool_bad(&tool, "--top wants a number from 1 to %d: %s", TOP_MAX, value);
	return OPTIONS_RUN;
}

static enum options_verdict take_report(void *to, const char *value)
{
	struct options *o = to;
	const char *dot = strrchr(value, '.');

	if (!dot || (strcmp(dot, ".html") && strcmp(dot, ".svg")))
		return tool_bad(&tool,
			"--report wants a file whose name ends with .html or .svg: %s", value);
	o->report = value;
	return OPTIONS_RUN;
}

#define SET(field) OPTION_SET(struct options, field)
static const struct tool tool = {
	.name = "rjadvise",
	.help = help_text,
	.hint = " (see rjadvise --help)",
	.options = (const struct tool_option[]){
		{0, "time", OPTION_TAKE, .take = take_time},
		{0, "top", OPTION_TAKE, .take = take_top},
		{0, "report", OPTION_TAKE, .take = take_report},
		{0, "probe", SET(probe)},
		{0, "second", SET(second)},
		{0, "store", SET(store)},
		{0, "apply", SET(apply)},
		{0, "json", SET(json)},
		{0},
	},
};

enum options_verdict options_parse(int argc, char **argv, struct options *o)
{
	enum options_verdict v;

	*o = (struct options){.seconds = TIME_S, .top = TOP};
	v = tool_parse(&tool, argc, argv, o);
	if (v != OPTIONS_RUN)
		return v;
	if (optind == argc)
		return tool_bad(&tool, "no DIR or DEVICE given");
	o->volume = argv[optind++];
	if (optind < argc)
		return tool_bad(&tool, "more than one DIR or DEVICE given: %s", argv[optind]);
	return OPTIONS_RUN;
}
