// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjrecover. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "journal/attach.h"
#include "util/badopt.h"

static const char help_text[] =
	"Usage: rjrecover [-n] [-y] [-p] [-f] [-v] [-q] [-C fd] [-z undo_file]\n"
	"                 [-J journal-options] [--verify=none|quick|full]\n"
	"                 [--json] [--accept-loss] DEVICE\n"
	"       rjrecover --raw [-n] [-q] [-J key=FILE] --output=FILE URL\n"
	"\n"
	"Recover an ext3 or ext4 volume from its journal: remote, on a device, or\n"
	"internal.\n"
	"\n"
	"  -n, --dry-run       tell what would be done; change nothing\n"
	"  -y, --yes           if the log cannot be used, check the whole volume\n"
	"                      with e2fsck instead, verified by a second e2fsck\n"
	"  -p, -a, --preen     at boot: replay if that is safe, never ask\n"
	"  -f, --force         check a clean volume too; replay a log that the\n"
	"                      volume says it does not need\n"
	"  -v, --verbose       say more\n"
	"  -q, --quiet         say nothing but errors\n"
	"  -C fd               progress for programs on descriptor fd; 0: a bar\n"
	"  -z undo_file        record what is overwritten, for e2undo(8)\n"
	"  -J remote=URL|device=DEV\n"
	"                      read the log here, not where the superblock says\n"
	"      --verify=none|quick|full\n"
	"                      the check afterwards (default: quick;\n"
	"                      full: e2fsck -fn)\n"
	"      --json          print the result as JSON\n"
	"      --accept-loss   go on although a part of the log, continued in a\n"
	"                      local fallback, is not there\n"
	"      --raw           write the image of a device that rjournald --raw\n"
	"                      served from the log at URL\n"
	"      --output=FILE   to this new file, or block device\n"
	"  -V, --version       print the version\n"
	"      --help          print this\n"
	"\n"
	"Exit status as fsck(8): 0 good, 1 errors corrected, 2 reboot,\n"
	"4 errors left, 8 operational error, 16 usage, 32 cancelled.\n";

enum {
	OPT_HELP = 256,
	OPT_VERIFY,
	OPT_JSON,
	OPT_ACCEPT_LOSS,
	OPT_RAW,
	OPT_OUTPUT,
};

static const struct option long_options[] = {
	{"dry-run", no_argument, NULL, 'n'},
	{"yes", no_argument, NULL, 'y'},
	{"preen", no_argument, NULL, 'p'},
	{"force", no_argument, NULL, 'f'},
	{"verbose", no_argument, NULL, 'v'},
	{"quiet", no_argument, NULL, 'q'},
	{"verify", required_argument, NULL, OPT_VERIFY},
	{"json", no_argument, NULL, OPT_JSON},
	{"accept-loss", no_argument, NULL, OPT_ACCEPT_LOSS},
	{"raw", no_argument, NULL, OPT_RAW},
	{"output", required_argument, NULL, OPT_OUTPUT},
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

static enum options_verdict bad(const char *what, const char *value)
{
	fprintf(stderr, "rjrecover: %s%s%s (see rjrecover --help)\n", what,
		value ? ": " : "", value ? value : "");
	return OPTIONS_BAD;
}

static bool parse_verify(const char *text, enum rj_verify *out)
{
	if (!strcmp(text, "none"))
		*out = RJ_VERIFY_NONE;
	else if (!strcmp(text, "quick"))
		*out = RJ_VERIFY_QUICK;
	else if (!strcmp(text, "full"))
		*out = RJ_VERIFY_FULL;
	else
		return false;
	return true;
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

static bool parse_journal(const char *text, struct options *o)
{
	struct rj_journal_opts j;
	struct rj_error err;

	/* the key of a log that is where the volume says */
	if (!strncmp(text, "key=", 4) && text[4] && !strchr(text, ',') &&
		strlen(text + 4) < sizeof(o->keyfile)) {
		strcpy(o->keyfile, text + 4);
		return true;
	}
	if (rj_journal_opts_parse(text, &j, &err)) {
		fprintf(stderr, "rjrecover: %s\n", err.msg);
		return false;
	}
	if (j.placement != RJ_PLACE_REMOTE && j.placement != RJ_PLACE_DEVICE) {
		fprintf(stderr,
			"rjrecover: -J %s: only remote=URL and device=DEV make sense here\n",
			text);
		return false;
	}
	memcpy(o->url, j.url, sizeof(o->url));
	memcpy(o->keyfile, j.key_file, sizeof(o->keyfile));
	memcpy(o->journal_device, j.device, sizeof(o->journal_device));
	return true;
}

static enum options_verdict take(struct options *o, int c, const char *arg)
{
	switch (c) {
	case 'n':
		o->dry_run = true;
		break;
	case 'y':
		o->yes = true;
		break;
	case 'a':
	case 'p':
		o->preen = true;
		break;
	case 'f':
		o->force = true;
		break;
	case 'v':
		o->verbose = true;
		break;
	case 'q':
		o->quiet = true;
		break;
	case 'C':
		o->progress_given = true;
		if (!parse_fd(arg, &o->progress_fd))
			return bad("-C wants a file descriptor", arg);
		break;
	case 'z':
		o->undo_file = arg;
		break;
	case 'J':
		if (!parse_journal(arg, o))
			return OPTIONS_BAD;
		break;
	case OPT_VERIFY:
		if (!parse_verify(arg, &o->verify))
			return bad("--verify takes none, quick or full, not",
				arg);
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case OPT_ACCEPT_LOSS:
		o->accept_loss = true;
		break;
	case OPT_RAW:
		o->raw = true;
		break;
	case OPT_OUTPUT:
		o->output = arg;
		break;
	case 'V':
		printf("rjrecover (rjprogs) %s\n", PACKAGE_VERSION);
		return OPTIONS_DONE;
	case OPT_HELP:
		fputs(help_text, stdout);
		return OPTIONS_DONE;
	default:
		break;
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
	/* -T and -r come from fsck(8) and mean nothing here */
	while ((c = getopt_long(argc, argv, ":nyapfvqrTC:z:J:V", long_options,
			NULL)) != -1) {
		if (c == 'r' || c == 'T')
			continue;
		if (c == '?' || c == ':')
			return bad(rj_badopt(c, argv, long_options, why,
					   sizeof(why)), NULL);
		v = take(o, c, optarg);
		if (v != OPTIONS_RUN)
			return v;
	}
	if (optind == argc)
		return bad("no device given", NULL);
	if (optind + 1 < argc)
		return bad("more than one device given", argv[optind + 1]);
	if (o->dry_run + o->yes + o->preen > 1)
		return bad("only one of -n, -y and -p makes sense", NULL);
	if (o->dry_run && o->undo_file)
		return bad("-n changes nothing, so -z has nothing to record",
			NULL);
	if (o->output && !o->raw)
		return bad("--output is only for --raw", NULL);
	if (o->raw && !o->output && !o->dry_run)
		return bad("--raw wants --output=FILE", NULL);
	o->device = argv[optind];
	return OPTIONS_RUN;
}
