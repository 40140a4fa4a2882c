// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjbackup. */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "util/badopt.h"

static const char help_text[] =
	"Usage: rjbackup base [-n] [--json] [--key FILE] -o FILE DIR\n"
	"       rjbackup ls [--json] [--key FILE] FILE [URL]\n"
	"       rjbackup restore [-n] [--at=MOMENT] [--verify=none|quick|full] [--json]\n"
	"                        [--key FILE] --base=FILE -o FILE [URL]\n"
	"\n"
	"Any moment of a volume with data=journal, from a base and its log.\n"
	"\n"
	"  base DIR            copy the volume that is mounted at DIR, while it is in use\n"
	"  ls FILE             what can be restored with the base FILE: from when, until\n"
	"                      when, and why no later\n"
	"  restore             make a new volume, as it was at a moment\n"
	"\n"
	"URL is where the log is read, if not where the volume had it.\n"
	"\n"
	"  -o FILE             the file to make\n"
	"      --base=FILE     restore: the base\n"
	"      --at=MOMENT     restore: latest (the default), segment:NUMBER,\n"
	"                      \"YYYY-MM-DD HH:MM:SS\" (with Z: UTC) or @SECONDS since 1970:\n"
	"                      the last commit before the first one later than that\n"
	"      --verify=HOW    restore: check the new volume: not (none), its metadata in\n"
	"                      short (quick, the default), or with e2fsck -fn (full)\n"
	"  -n, --dry-run       only check, and say what would be done\n"
	"      --key FILE      the key file of an encrypted log (default: the keyfile\n"
	"                      that rj.conf names for the log's URL)\n"
	"      --json          print the result as JSON\n"
	"  -V, --version       print the version\n"
	"      --help          print this\n"
	"\n"
	"Exit status: 0 good, 1 the moment cannot be reached, or the volume has no\n"
	"history, 4 the log is damaged or incomplete, or what came out is not sound,\n"
	"8 operational error, 16 usage, 32 no key or the wrong one.\n";

enum {
	OPT_HELP = 256,
	OPT_JSON,
	OPT_KEY,
	OPT_BASE,
	OPT_AT,
	OPT_VERIFY,
};

static const struct option long_options[] = {
	{"dry-run", no_argument, NULL, 'n'},
	{"base", required_argument, NULL, OPT_BASE},
	{"at", required_argument, NULL, OPT_AT},
	{"verify", required_argument, NULL, OPT_VERIFY},
	{"key", required_argument, NULL, OPT_KEY},
	{"json", no_argument, NULL, OPT_JSON},
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

static enum options_verdict bad(const char *what, const char *value)
{
	fprintf(stderr, "rjbackup: %s%s%s (see rjbackup --help)\n", what,
		value ? ": " : "", value ? value : "");
	return OPTIONS_BAD;
}

static bool parse_verify(const char *word, enum rj_verify *out)
{
	static const char *const words[] = {
		[RJ_VERIFY_QUICK] = "quick",
		[RJ_VERIFY_NONE] = "none",
		[RJ_VERIFY_FULL] = "full",
	};
	unsigned i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]))
			continue;
		*out = (enum rj_verify)i;
		return true;
	}
	return false;
}

/* Words after the command; at least LEAST and at most MOST of them. */
static enum options_verdict count_words(int n, char **words, int least, int most,
	const char *missing)
{
	if (n < least)
		return bad(missing, NULL);
	if (n > most)
		return bad("one word too many", words[most]);
	return OPTIONS_RUN;
}

static enum options_verdict take_base(int n, char **words, struct options *o)
{
	if (!o->out)
		return bad("base: no -o FILE given", NULL);
	if (o->base || o->at.kind != RJ_AT_LATEST ||
		o->verify != RJ_VERIFY_QUICK)
		return bad("--base, --at and --verify are for restore", NULL);
	o->dir = words[0];
	return count_words(n, words, 1, 1,
		"base: no DIR given, where the volume is mounted");
}

static enum options_verdict take_ls(int n, char **words, struct options *o)
{
	if (o->out || o->base || o->dry_run || o->at.kind != RJ_AT_LATEST ||
		o->verify != RJ_VERIFY_QUICK)
		return bad("ls takes --json and --key only", NULL);
	o->base = words[0];
	o->url = n > 1 ? words[1] : NULL;
	return count_words(n, words, 1, 2, "ls: no FILE given");
}

static enum options_verdict take_restore(int n, char **words, struct options *o)
{
	if (!o->base)
		return bad("restore: no --base=FILE given", NULL);
	if (!o->out)
		return bad("restore: no -o FILE given", NULL);
	o->url = n ? words[0] : NULL;
	return count_words(n, words, 0, 1, "");
}

static enum options_verdict take_words(int n, char **words, struct options *o)
{
	static const struct {
		const char *word;
		enum command command;
		enum options_verdict (*take)(
			int n, char **words, struct options *o);
	} commands[] = {
		{"base", COMMAND_BASE, take_base},
		{"ls", COMMAND_LS, take_ls},
		{"restore", COMMAND_RESTORE, take_restore},
	};
	unsigned i;

	if (!n)
		return bad("no command given: base, ls or restore", NULL);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(words[0], commands[i].word))
			continue;
		o->command = commands[i].command;
		return commands[i].take(n - 1, words + 1, o);
	}
	return bad("no such command", words[0]);
}

static enum options_verdict take_option(int c, struct options *o)
{
	struct rj_error err;

	switch (c) {
	case 'n':
		o->dry_run = true;
		break;
	case 'o':
		o->out = optarg;
		break;
	case OPT_BASE:
		o->base = optarg;
		break;
	case OPT_AT:
		if (rj_moment_parse(optarg, &o->at, &err))
			return bad(err.msg, NULL);
		break;
	case OPT_VERIFY:
		if (!parse_verify(optarg, &o->verify))
			return bad("--verify wants none, quick or full", optarg);
		break;
	case OPT_KEY:
		o->keyfile = optarg;
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case 'V':
		printf("rjbackup (rjprogs) %s\n", PACKAGE_VERSION);
		return OPTIONS_DONE;
	case OPT_HELP:
		fputs(help_text, stdout);
		return OPTIONS_DONE;
	}
	return OPTIONS_RUN;
}

enum options_verdict options_parse(int argc, char **argv, struct options *o)
{
	enum options_verdict v;
	char why[128];
	int c;

	memset(o, 0, sizeof(*o));
	o->verify = RJ_VERIFY_QUICK;
	while ((c = getopt_long(argc, argv, ":no:V", long_options, NULL)) != -1) {
		if (c == ':' || c == '?')
			return bad(rj_badopt(c, argv, long_options, why,
					   sizeof(why)),
				NULL);
		v = take_option(c, o);
		if (v != OPTIONS_RUN)
			return v;
	}
	return take_words(argc - optind, argv + optind, o);
}
