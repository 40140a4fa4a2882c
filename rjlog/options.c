// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjlog. */
#include "options.h"

#include <getopt.h>

#include "text/quantity.h"

#define DAY_S 86400
#define INTERVAL_S 60

static const char help_text[] =
	"Usage: rjlog ls|show|verify|probe|prune [-n] [-v] [-q] [--json] URL\n"
	"       rjlog copy [-n] [-q] [--json] [--follow [--interval=TIME]] URL TO\n"
	"       rjlog rm [-n] [-q] [--json] [--volume DEVICE] [--force UUID] URL/UUID\n"
	"\n"
	"Look at remote logs, check them, and copy them. Only prune and rm ever\n"
	"change a log.\n"
	"\n"
	"  ls rj://HOST        the names at a journal server\n"
	"  ls URL              the logs that the store at URL keeps; with\n"
	"                      /JOURNAL-UUID after it, that log's segments\n"
	"  show URL[/UUID]     the transactions that a replay would bring back\n"
	"  verify URL[/UUID]   check every segment and the journal in them\n"
	"  probe URL           race, write and read: what this store can do\n"
	"  prune URL[/UUID]    delete the segments that no replay needs\n"
	"  copy URL[/UUID] TO  copy the log, byte for byte, to the store at TO\n"
	"  rm URL/UUID         remove a log that is out of use; without --volume or\n"
	"                      --force only say what would be removed\n"
	"\n"
	"With only one log at URL its UUID may be left out, but for rm.\n"
	"\n"
	"  -n, --dry-run       prune, copy, rm: only say what would be done\n"
	"      --volume DEVICE rm: the volume whose log it was; its superblock has\n"
	"                      to name another journal by now\n"
	"      --force UUID    rm: the log's UUID once more: there is no such volume,\n"
	"                      or no host writes there, although it looks so\n"
	"      --follow        copy: go on with what comes to the log, until SIGTERM\n"
	"      --interval=TIME\n"
	"                      copy --follow: look so often: seconds, or a number followed\n"
	"                      by m, h or d (default: 60)\n"
	"  -C FD               write progress to FD (\"pass done total url\");\n"
	"                      0: a bar on the terminal\n"
	"  -v, --verbose       show: the journal's superblock too\n"
	"  -q, --quiet         no results in text, only errors and the status\n"
	"      --key FILE      the key file of an encrypted log (default: the\n"
	"                      keyfile that rj.conf names for URL)\n"
	"      --json          print the result as JSON\n"
	"  -V, --version       print the version\n"
	"      --help          print this\n"
	"\n"
	"Exit status: 0 good, 1 rm: a volume may need the log, 4 the log is\n"
	"damaged, incomplete or another's, or no journal can be kept at that\n"
	"store, or TO holds something else, 8 operational error, 16 usage, 32 no\n"
	"key or the wrong one.\n";

static const struct tool tool;

static enum options_verdict take_interval(void *to, const char *value)
{
	struct options *o = to;

	if (!rj_parse_time(value, &o->interval_s) || !o->interval_s || o->interval_s > DAY_S)
		return tool_bad(&tool, "--interval wants a time from 1 to 1d: %s", value);
	return OPTIONS_RUN;
}

#define SET(field) OPTION_SET(struct options, field)
static const struct tool tool = {
	.name = "rjlog",
	.help = help_text,
	.hint = " (see rjlog --help)",
	.options = (const struct tool_option[]){
		{'n', "dry-run", SET(dry_run)},
		{'v', "verbose", SET(verbose)},
		{'q', "quiet", SET(quiet)},
		{'C', NULL, SET(progress_fd)},
		{0, "key", SET(keyfile)},
		{0, "volume", SET(volume)},
		{0, "force", SET(force)},
		{0, "follow", SET(follow)},
		{0, "interval", OPTION_TAKE, .take = take_interval},
		{0, "json", SET(json)},
		{0},
	},
};

/* The words after the options. */
static enum options_verdict take_words(int count, char **words, struct options *o)
{
	static const char *const commands[] = {
		[COMMAND_LS] = "ls",
		[COMMAND_SHOW] = "show",
		[COMMAND_VERIFY] = "verify",
		[COMMAND_PROBE] = "probe",
		[COMMAND_PRUNE] = "prune",
		[COMMAND_COPY] = "copy",
		[COMMAND_RM] = "rm",
		NULL,
	};
	int want, i;

	if (!count)
		return tool_bad(&tool, "no command given: ls, show, verify, probe, prune, "
			   "copy or rm");
	i = tool_word(commands, words[0]);
	if (i < 0)
		return tool_bad(&tool, "no such command: %s", words[0]);
	o->command = (enum command)i;
	want = o->command == COMMAND_COPY ? 3 : 2;
	if (count == 1)
		return tool_bad(&tool, "no URL given");
	if (count < want)
		return tool_bad(&tool, "no URL given to copy to");
	if (count > want)
		return tool_bad(&tool, "more than %s given: %s",
			want == 2 ? "one URL" : "two URLs", words[want]);
	if (o->dry_run && o->command != COMMAND_PRUNE &&
		o->command != COMMAND_COPY && o->command != COMMAND_RM)
		return tool_bad(&tool, "-n is for prune, copy and rm");
	if ((o->volume || o->force) && o->command != COMMAND_RM)
		return tool_bad(&tool, "--volume and --force are for rm");
	if ((o->follow || o->interval_s) && o->command != COMMAND_COPY)
		return tool_bad(&tool, "--follow and --interval are for copy");
	if (o->interval_s && !o->follow)
		return tool_bad(&tool, "--interval is for copy --follow");
	if (o->follow && o->dry_run)
		return tool_bad(&tool, "copy: -n or --follow, not both");
	if (!o->interval_s)
		o->interval_s = INTERVAL_S;
	o->url = words[1];
	o->to = words[2]; /* NULL but for copy */
	return OPTIONS_RUN;
}

enum options_verdict options_parse(int argc, char **argv, struct options *o)
{
	enum options_verdict v;

	*o = (struct options){0};
	v = tool_parse(&tool, argc, argv, o);
	return v == OPTIONS_RUN ? take_words(argc - optind, argv + optind, o) : v;
}
