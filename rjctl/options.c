// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjctl. */
#include "options.h"

#include <getopt.h>
#include <string.h>

#include "store/conf.h"

static const char help_text[] =
	"Usage: rjctl status [--json] [DEVICE|DIR]\n"
	"       rjctl check [DEVICE|DIR]...\n"
	"       rjctl metrics [DEVICE|DIR]\n"
	"       rjctl flush [-q] [DEVICE|DIR]\n"
	"       rjctl prefer [-q] remote|local|power [DEVICE|DIR]\n"
	"       rjctl mark [-q] [--freeze] [--json] NAME DIR\n"
	"       rjctl restart [-q] [DEVICE|DIR]\n"
	"       rjctl stop [-q] [--force] [DEVICE|DIR]\n"
	"Ask or tell the rjournald that serves the volume DEVICE, or the\n"
	"volume mounted at DIR; without that, every one that runs.\n"
	"\n"
	"  status       what it serves, from where, and how it is\n"
	"  check        one line for a monitoring system; exit status 0 well,\n"
	"               1 warning, 2 critical, 3 unknown\n"
	"  metrics      the same in numbers, for Prometheus\n"
	"  flush        ship all that is pending, and wait for it\n"
	"  prefer       which way the journal goes while both the store and\n"
	"               the fallback file could take it\n"
	"  mark         give this moment of the volume mounted at DIR a name, for\n"
	"               mark:NAME of rjbackup\n"
	"  restart      go on with the program as it is installed now;\n"
	"               the volume stays mounted and in use\n"
	"  stop         end; refused while the volume is mounted\n"
	"      --force  stop: at once; the kernel aborts the journal\n"
	"      --freeze mark: with the volume frozen, for 30 seconds at most\n"
	"      --json   status, mark: as JSON, one object per line\n"
	"  -q, --quiet  print nothing but errors\n"
	"      --help   show this and exit\n"
	"  -V           show the version and exit (also --version)\n"
	"\n"
	"See rjctl(8).\n";

#define SET(field) OPTION_SET(struct rj_ctl_options, field)
static const struct tool tool = {
	.name = "rjctl",
	.help = help_text,
	.hint = "; try 'rjctl --help'",
	.options = (const struct tool_option[]){
		{0, "json", SET(json)},
		{0, "force", SET(force)},
		{0, "freeze", SET(freeze)},
		{'q', "quiet", SET(quiet)},
		{0},
	},
};

static const char *const commands[] = {
	"status", "check", "metrics", "flush", "prefer", "mark", "restart", "stop", NULL};

enum options_verdict rj_ctl_options_parse(int argc, char **argv, struct rj_ctl_options *o)
{
	enum options_verdict v;

	*o = (struct rj_ctl_options){0};
	v = tool_parse(&tool, argc, argv, o);
	if (v != OPTIONS_RUN)
		return v;
	if (optind == argc)
		return tool_bad(&tool, "say status, check, metrics, flush, prefer, mark, restart or stop");
	o->command = argv[optind];
	if (tool_word(commands, o->command) < 0)
		return tool_bad(&tool, "unknown command %s", o->command);
	if (!strcmp(o->command, "prefer")) {
		if (++optind == argc ||
			rj_prefer_parse(argv[optind]) == RJ_PREFER_UNSET)
			return tool_bad(&tool, "prefer remote, local or power");
		o->prefer = argv[optind];
	}
	if (!strcmp(o->command, "mark")) {
		if (argc - optind < 3)
			return tool_bad(&tool, "mark: say NAME and DIR");
		o->name = argv[++optind];
	}
	o->volumes = argv + optind + 1;
	o->count = argc - optind - 1;
	if (argc - optind > 2 && strcmp(o->command, "check") != 0)
		return tool_bad(&tool, "unexpected argument %s", argv[optind + 2]);
	if (argc - optind == 2)
		o->volume = argv[optind + 1];
	if (o->force && strcmp(o->command, "stop") != 0)
		return tool_bad(&tool, "--force is only for stop");
	if (o->freeze && !o->name)
		return tool_bad(&tool, "--freeze is only for mark");
	return OPTIONS_RUN;
}
