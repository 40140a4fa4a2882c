// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjlog. */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "util/badopt.h"

static const char help_text[] =
	"Usage: rjlog ls|show|verify|probe|prune [-n] [-v] [-q] [--json] URL\n"
	"       rjlog copy [-n] [-q] [--json] URL TO\n"
	"       rjlog rm [-n] [-q] [--json] [--volume DEVICE] [--force UUID] URL/UUID\n"
	"\n"
	"Look at remote logs, check them, and copy them. Only prune and rm ever\n"
	"change a log.\n"
	"\n"
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

enum {
	OPT_HELP = 256,
	OPT_JSON,
	OPT_KEY,
	OPT_VOLUME,
	OPT_FORCE,
};

static const struct option long_options[] = {
	{"dry-run", no_argument, NULL, 'n'},
	{"verbose", no_argument, NULL, 'v'},
	{"quiet", no_argument, NULL, 'q'},
	{"key", required_argument, NULL, OPT_KEY},
	{"volume", required_argument, NULL, OPT_VOLUME},
	{"force", required_argument, NULL, OPT_FORCE},
	{"json", no_argument, NULL, OPT_JSON},
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

static enum options_verdict bad(const char *what, const char *value)
{
	fprintf(stderr, "rjlog: %s%s%s (see rjlog --help)\n", what,
		value ? ": " : "", value ? value : "");
	return OPTIONS_BAD;
}

static bool parse_command(const char *word, enum command *out)
{
	static const char *const words[] = {
		[COMMAND_LS] = "ls",
		[COMMAND_SHOW] = "show",
		[COMMAND_VERIFY] = "verify",
		[COMMAND_PROBE] = "probe",
		[COMMAND_PRUNE] = "prune",
		[COMMAND_COPY] = "copy",
		[COMMAND_RM] = "rm",
	};
	unsigned i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]))
			continue;
		*out = (enum command)i;
		return true;
	}
	return false;
}

static bool parse_fd(const char *text, int *out)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (!*text || *end || v < 0 || v > 65535)
		return false;
	*out = (int)v;
	return true;
}

/* The words after the options. */
static enum options_verdict take_words(int count, char **words, struct options *o)
{
	int want;

	if (!count)
		return bad("no command given: ls, show, verify, probe, prune, "
			   "copy or rm",
			NULL);
	if (!parse_command(words[0], &o->command))
		return bad("no such command", words[0]);
	want = o->command == COMMAND_COPY ? 3 : 2;
	if (count == 1)
		return bad("no URL given", NULL);
	if (count < want)
		return bad("no URL given to copy to", NULL);
	if (count > want)
		return bad(want == 2 ? "more than one URL given"
				     : "more than two URLs given",
			words[want]);
	if (o->dry_run && o->command != COMMAND_PRUNE &&
		o->command != COMMAND_COPY && o->command != COMMAND_RM)
		return bad("-n is for prune, copy and rm", NULL);
	if ((o->volume || o->force) && o->command != COMMAND_RM)
		return bad("--volume and --force are for rm", NULL);
	o->url = words[1];
	o->to = words[2]; /* NULL but for copy */
	return OPTIONS_RUN;
}

enum options_verdict options_parse(int argc, char **argv, struct options *o)
{
	char why[128];
	int c;

	memset(o, 0, sizeof(*o));
	while ((c = getopt_long(argc, argv, ":nvqC:V", long_options, NULL)) != -1) {
		switch (c) {
		case 'n':
			o->dry_run = true;
			break;
		case 'v':
			o->verbose = true;
			break;
		case 'q':
			o->quiet = true;
			break;
		case 'C':
			if (!parse_fd(optarg, &o->progress_fd))
				return bad("-C wants a file descriptor", optarg);
			break;
		case OPT_JSON:
			o->json = true;
			break;
		case OPT_VOLUME:
			o->volume = optarg;
			break;
		case OPT_FORCE:
			o->force = optarg;
			break;
		case OPT_KEY:
			o->keyfile = optarg;
			break;
		case 'V':
			printf("rjlog (rjprogs) %s\n", PACKAGE_VERSION);
			return OPTIONS_DONE;
		case OPT_HELP:
			fputs(help_text, stdout);
			return OPTIONS_DONE;
		default:
			return bad(rj_badopt(c, argv, long_options, why,
					   sizeof(why)),
				NULL);
		}
	}
	return take_words(argc - optind, argv + optind, o);
}
