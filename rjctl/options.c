// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjctl. */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <string.h>

#include "format/claim-text.h"
#include "os/rundir.h"
#include "store/conf.h"

static const char help_text[] =
	"Usage: rjctl status [--json] [DEVICE|DIR]\n"
	"       rjctl check [DEVICE|DIR]...\n"
	"       rjctl metrics [DEVICE|DIR]\n"
	"       rjctl top [-b] [-d SECONDS] [-n COUNT] [DEVICE|DIR]\n"
	"       rjctl flush [-q] [DEVICE|DIR]\n"
	"       rjctl prefer [-q] remote|local|power [DEVICE|DIR]\n"
	"       rjctl mark [-q] [--freeze] [--json] NAME DIR\n"
	"       rjctl restart [-q] [DEVICE|DIR]\n"
	"       rjctl move [-q] --to=URL DEVICE|DIR | --all\n"
	"       rjctl reseed [-q] [--to=URL] DEVICE|DIR | --all\n"
	"       rjctl stop [-q] [--force [--save=DIR | --accept-loss]] [DEVICE|DIR]\n"
	"       rjctl journal-data on|off|ls|check DIR\n"
	"Ask or tell the rjournald that serves the volume DEVICE, or the\n"
	"volume mounted at DIR; without that, every one that runs.\n"
	"\n"
	"  status       what it serves, from where, and how it is\n"
	"  check        one line for a monitoring system; exit status 0 well,\n"
	"               1 warning, 2 critical, 3 unknown\n"
	"  metrics      the same in numbers, for Prometheus\n"
	"  top          what the volumes do and where they wait, again and again\n"
	"  flush        ship all that is pending, and wait for it\n"
	"  prefer       which way the journal goes while both the store and\n"
	"               the fallback file could take it\n"
	"  mark         give this moment of the volume mounted at DIR a name, for\n"
	"               mark:NAME of rjbackup\n"
	"  restart      go on with the program as it is installed now;\n"
	"               the volume stays mounted and in use\n"
	"  move         bring the log of a volume in use to another store; nothing\n"
	"               is unmounted\n"
	"  reseed       begin a new log of a volume in use, from the journal in\n"
	"               memory, as its store is lost or was put back to an earlier\n"
	"               state\n"
	"  stop         end; refused while the volume is mounted\n"
	"  journal-data let the data of what is below DIR pass the journal (on),\n"
	"               or no longer (off); show where they do (ls), or prove it\n"
	"               (check)\n"
	"      --to     move, reseed: the URL of the new log; with --all the last\n"
	"               part of each volume's URL is added to it\n"
	"      --all    move, reseed: every volume that is served here\n"
	"      --force  stop: at once; the kernel aborts the journal\n"
	"      --save   stop --force: the new directory to which the journal in\n"
	"               memory goes first (default, if the store lacks a part of\n"
	"               it: one in /var/lib/rjprogs/saved)\n"
	"      --accept-loss  stop --force: give that up instead\n"
	"  -b, --batch  top: one table after the other, as for a file\n"
	"  -d, --delay  top: seconds between two (default: 2)\n"
	"  -n, --count  top: so often, and end\n"
	"      --freeze mark: with the volume frozen, for 30 seconds at most\n"
	"      --json   print results as JSON, one object per line\n"
	"  -q, --quiet  print nothing but errors\n"
	"      --help   show this and exit\n"
	"  -V           show the version and exit (also --version)\n"
	"\n"
	"See rjctl(8).\n";

/* By enum command. */
enum command {
	STATUS,
	CHECK,
	METRICS,
	FLUSH,
	PREFER,
	MARK,
	RESTART,
	MOVE,
	RESEED,
	STOP,
	JOURNAL_DATA,
	TOP,
};
static const struct tool_command commands[] = {
	[STATUS] = {"status", 0, 1, ""},
	[CHECK] = {"check", 0, INT_MAX, ""},
	[METRICS] = {"metrics", 0, 1, ""},
	[FLUSH] = {"flush", 0, 1, ""},
	[PREFER] = {"prefer", 1, 2, "say remote, local or power"},
	[MARK] = {"mark", 2, 2, "say NAME and DIR"},
	[RESTART] = {"restart", 0, 1, ""},
	[MOVE] = {"move", 0, 1, ""},
	[RESEED] = {"reseed", 0, 1, ""},
	[STOP] = {"stop", 0, 1, ""},
	[JOURNAL_DATA] = {"journal-data", 2, 2, "say on, off, ls or check, and DIR"},
	[TOP] = {"top", 0, 1, ""},
	{0},
};

static const struct tool tool;

static enum options_verdict take_number(const char *name, const char *value, uint64_t *out)
{
	return rj_claim_number(value, out) && *out && *out <= INT_MAX
		       ? OPTIONS_RUN
		       : tool_bad(&tool, "--%s wants a number from 1 on: %s", name, value);
}

static enum options_verdict take_delay(void *to, const char *value)
{
	return take_number("delay", value, &((struct rj_ctl_options *)to)->delay_s);
}

static enum options_verdict take_rounds(void *to, const char *value)
{
	return take_number("count", value, &((struct rj_ctl_options *)to)->rounds);
}

#define SET(field) OPTION_SET(struct rj_ctl_options, field)
static const struct tool tool = {
	.name = "rjctl",
	.help = help_text,
	.hint = "; try 'rjctl --help'",
	.options = (const struct tool_option[]){
		{0, "json", SET(json)},
		{0, "to", SET(to), .commands = 1u << MOVE | 1u << RESEED},
		{0, "all", SET(all), .commands = 1u << MOVE | 1u << RESEED},
		{0, "force", SET(force), .commands = 1u << STOP},
		{0, "save", SET(save), .commands = 1u << STOP},
		{0, "accept-loss", SET(accept_loss), .commands = 1u << STOP},
		{0, "freeze", SET(freeze), .commands = 1u << MARK},
		{'b', "batch", SET(batch), .commands = 1u << TOP},
		{'d', "delay", OPTION_TAKE, .take = take_delay, .commands = 1u << TOP},
		{'n', "count", OPTION_TAKE, .take = take_rounds, .commands = 1u << TOP},
		{'q', "quiet", SET(quiet)},
		{0},
	},
	.commands = commands,
};

enum options_verdict rj_ctl_options_parse(int argc, char **argv, struct rj_ctl_options *o)
{
	static const char *const verbs[] = {"on", "off", "ls", "check", NULL};
	enum options_verdict v;
	int command = 0;

	*o = (struct rj_ctl_options){.delay_s = 2};
	v = tool_parse_command(&tool, argc, argv, o, &command);
	if (v != OPTIONS_RUN)
		return v;
	o->command = commands[command].word;
	if (command == PREFER)
		o->prefer = argv[optind++];
	else if (command == MARK)
		o->name = argv[optind++];
	else if (command == JOURNAL_DATA)
		o->verb = argv[optind++];
	if (o->prefer && rj_prefer_parse(o->prefer) == RJ_PREFER_UNSET)
		return tool_bad(&tool, "prefer: say remote, local or power");
	if (o->verb && tool_word(verbs, o->verb) < 0)
		return tool_bad(&tool, "journal-data: say on, off, ls or check");
	if (command == MOVE && !o->to)
		return tool_bad(&tool, "move: say where to, with --to=URL");
	if ((command == MOVE || command == RESEED) && (optind == argc) != o->all)
		return tool_bad(&tool, "%s: say which DEVICE or DIR, or --all", o->command);
	if ((o->save || o->accept_loss) && !o->force)
		return tool_bad(&tool, "stop: --save and --accept-loss are for --force");
	if (o->save && o->accept_loss)
		return tool_bad(&tool, "stop --force: --save or --accept-loss, not both");
	if (o->save && (*o->save != '/' || strlen(o->save) > RJ_SAVE_DIR_BYTES))
		return tool_bad(&tool,
			"--save: say the full path of a new directory, %d bytes at most",
			RJ_SAVE_DIR_BYTES);
	if (o->force && optind == argc)
		return tool_bad(&tool, "stop --force: say which DEVICE or DIR");
	o->volumes = argv + optind;
	o->count = argc - optind;
	if (o->count == 1)
		o->volume = argv[optind];
	return OPTIONS_RUN;
}
