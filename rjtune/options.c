// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjtune. */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "util/badopt.h"

static const char help_text[] =
	"Usage: rjtune -l [--json] DEVICE\n"
	"       rjtune [-n] [-f] [-y] [-q] [-J journal-options] [-O ^has_journal]\n"
	"              [-o mount-options] [-U UUID] [-z undo_file] [--json] DEVICE\n"
	"       rjtune --resume [-n] [-q] [--json] DEVICE\n"
	"       rjtune --genkey FILE\n"
	"\n"
	"Put the journal of an ext3 or ext4 volume elsewhere, or show where it is.\n"
	"\n"
	"  -l, --list           show the journal, and whether it can be reached\n"
	"  -J journal-options   move the journal: size=MB, location=, device=DEV,\n"
	"                       remote=URL, none, fast_commit_size=KB, key=FILE,\n"
	"                       ack=, on_loss=, fallback=, fallback_size=\n"
	"  -O ^has_journal      take the journal away; -O has_journal: an internal\n"
	"                       one\n"
	"  -o mount-options     default mount options, as in tune2fs -o\n"
	"  -U UUID              the volume's UUID: random, time, clear, or itself\n"
	"      --resume         finish, or take back, a move that was cut off\n"
	"  -n, --dry-run        tell each step; change nothing\n"
	"  -y, --yes            replay the journal first, if that is needed\n"
	"  -f, --force          give up a journal that is lost: e2fsck, verified\n"
	"  -z undo_file         for -f: what is overwritten, for e2undo(8)\n"
	"      --old-journal=DEV  where the present external journal is\n"
	"      --old-key=FILE   the key of the present remote journal\n"
	"      --genkey FILE    make a key file\n"
	"  -q, --quiet          say nothing but errors\n"
	"      --json           print the result as JSON\n"
	"  -V, --version        print the version\n"
	"      --help           print this\n"
	"\n"
	"Exit status: 0 done, 1 failed, 2 refused, 3 in use, 4 needs recovery,\n"
	"5 old journal lost, 6 half done (--resume), 7 new place unreachable,\n"
	"8 not allowed, 9 not there, 16 usage.\n";

enum {
	OPT_HELP = 256,
	OPT_JSON,
	OPT_RESUME,
	OPT_GENKEY,
	OPT_OLD_JOURNAL,
	OPT_OLD_KEY,
};

static const struct option long_options[] = {
	{"list", no_argument, NULL, 'l'},
	{"dry-run", no_argument, NULL, 'n'},
	{"yes", no_argument, NULL, 'y'},
	{"force", no_argument, NULL, 'f'},
	{"quiet", no_argument, NULL, 'q'},
	{"resume", no_argument, NULL, OPT_RESUME},
	{"genkey", required_argument, NULL, OPT_GENKEY},
	{"old-journal", required_argument, NULL, OPT_OLD_JOURNAL},
	{"old-key", required_argument, NULL, OPT_OLD_KEY},
	{"json", no_argument, NULL, OPT_JSON},
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

static enum options_verdict bad(const char *what, const char *value)
{
	fprintf(stderr, "rjtune: %s%s%s (see rjtune --help)\n", what,
		value ? ": " : "", value ? value : "");
	return OPTIONS_BAD;
}

static enum options_verdict take_journal(struct options *o, const char *text)
{
	struct rj_error err;

	if (o->journal_given)
		return bad("only one of -J and -O can say where the journal is to be", NULL);
	o->journal_given = true;
	if (rj_journal_opts_parse(text, &o->journal, &err)) {
		fprintf(stderr, "rjtune: %s\n", err.msg);
		return OPTIONS_BAD;
	}
	return OPTIONS_RUN;
}

static enum options_verdict take_feature(struct options *o, const char *text)
{
	if (!strcmp(text, "^has_journal"))
		return take_journal(o, "none");
	if (strcmp(text, "has_journal"))
		return bad("-O takes has_journal and ^has_journal; for other features there is tune2fs", text);
	if (o->journal_given) /* -J says what kind */
		return OPTIONS_RUN;
	o->journal_given = true;
	o->journal.placement = RJ_PLACE_INTERNAL;
	return OPTIONS_RUN;
}

static enum options_verdict take_uuid(struct options *o, const char *text)
{
	o->uuid_given = true;
	memset(o->uuid, 0, sizeof(o->uuid));
	if (!strcmp(text, "clear") || !strcmp(text, "null"))
		return OPTIONS_RUN;
	/* one of the time is as good as any other */
	if (!strcmp(text, "random") || !strcmp(text, "time")) {
		if (rj_uuid_random(o->uuid))
			return bad("cannot get random bytes", NULL);
		return OPTIONS_RUN;
	}
	if (rj_uuid_parse(text, o->uuid))
		return bad("-U takes random, time, clear or a UUID", text);
	return OPTIONS_RUN;
}

static enum options_verdict take(struct options *o, int c, const char *arg)
{
	switch (c) {
	case 'l':
		o->list = true;
		break;
	case 'n':
		o->dry_run = true;
		break;
	case 'y':
		o->yes = true;
		break;
	case 'f':
		o->force = true;
		break;
	case 'q':
		o->quiet = true;
		break;
	case 'J':
		return take_journal(o, arg);
	case 'O':
		return take_feature(o, arg);
	case 'o':
		o->mount_words = arg;
		break;
	case 'U':
		return take_uuid(o, arg);
	case 'z':
		o->undo_file = arg;
		break;
	case OPT_RESUME:
		o->resume = true;
		break;
	case OPT_GENKEY:
		o->genkey = arg;
		break;
	case OPT_OLD_JOURNAL:
		o->old_device = arg;
		break;
	case OPT_OLD_KEY:
		o->old_key = arg;
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case 'V':
		printf("rjtune (rjprogs) %s\n", PACKAGE_VERSION);
		return OPTIONS_DONE;
	case OPT_HELP:
		fputs(help_text, stdout);
		return OPTIONS_DONE;
	default:
		break;
	}
	return OPTIONS_RUN;
}

static enum options_verdict check_together(const struct options *o)
{
	bool change = o->journal_given || o->mount_words || o->uuid_given;

	if (o->list + o->resume + change + (o->genkey != NULL) > 1)
		return bad("-l, --resume, --genkey and changes each stand alone", NULL);
	if (o->list + o->resume + change + (o->genkey != NULL) == 0)
		return bad("nothing to do", NULL);
	if (o->undo_file && !o->force)
		return bad("-z is for -f: a move can be cut anywhere and be resumed", NULL);
	if (o->force && !o->journal_given)
		return bad("-f is for -J and -O", NULL);
	if (!o->device && !o->genkey)
		return bad("no device given", NULL);
	return OPTIONS_RUN;
}

enum options_verdict options_parse(int argc, char **argv, struct options *o)
{
	enum options_verdict v;
	char why[128];
	int c;

	memset(o, 0, sizeof(*o));
	while ((c = getopt_long(argc, argv, ":lnyfqJ:O:o:U:z:V", long_options,
			NULL)) != -1) {
		if (c == '?' || c == ':')
			return bad(rj_badopt(c, argv, long_options, why,
					   sizeof(why)), NULL);
		v = take(o, c, optarg);
		if (v != OPTIONS_RUN)
			return v;
	}
	if (optind < argc)
		o->device = argv[optind++];
	if (optind < argc)
		return bad("more than one device given", argv[optind]);
	if (o->genkey && o->device)
		return bad("--genkey takes no device", o->device);
	return check_together(o);
}
