// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjtune. */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/sealing.h"

#define JOBS	 4
#define JOBS_MAX 64

static const char help_text[] =
	"Usage: rjtune -l [--json] DEVICE\n"
	"       rjtune [-n] [-f] [-y] [-q] [-J journal-options] [-O ^has_journal]\n"
	"              [-o mount-options] [-U UUID] [-z undo_file] [--json] DEVICE\n"
	"       rjtune --resume [-n] [-q] [--json] DEVICE\n"
	"       rjtune [-n] [-y] [-f] -J journal-options --all=LIST\n"
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
	"  -f, --force          also where another volume's log is, written lately;\n"
	"                       gives up no journal\n"
	"      --accept-loss    give up a journal that is lost, with what was fsynced\n"
	"                       and is in it alone: e2fsck, verified\n"
	"  -z undo_file         for --accept-loss: what is overwritten, for e2undo(8)\n"
	"      --old-journal=DEV  where the present external journal is\n"
	"      --old-key=FILE   the key of the present remote journal; none: with\n"
	"                       --accept-loss, it is lost for good\n"
	"      --genkey FILE    make a key file\n"
	"      --all=LIST       of all volumes in the file LIST (-: standard input): names,\n"
	"                       lines of fstab, or what rjctl status --json prints; in\n"
	"                       URLs %u is the volume's UUID, %h the host's name\n"
	"      --jobs=NUMBER    volumes at a time (4)\n"
	"      --report=FILE    append a line of JSON for each volume\n"
	"  -q, --quiet          say nothing but errors\n"
	"      --json           print the result as JSON\n"
	"  -V, --version        print the version\n"
	"      --help           print this\n"
	"\n"
	"Exit status: 0 done, 1 failed, 2 refused, 3 in use, 4 needs recovery,\n"
	"5 old journal lost, 6 half done (--resume), 7 new place unreachable,\n"
	"8 not allowed, 9 not there, 16 usage.\n";

static const struct tool tool;

static enum options_verdict take_journal(void *to, const char *text)
{
	struct options *o = to;

	if (o->journal_given)
		return tool_bad(&tool, "only one of -J and -O can say where the journal is to be");
	o->journal_given = true;
	o->journal_words = text;
	return OPTIONS_RUN;
}

static enum options_verdict take_feature(void *to, const char *text)
{
	struct options *o = to;

	if (!strcmp(text, "^has_journal"))
		return take_journal(o, "none");
	if (strcmp(text, "has_journal"))
		return tool_bad(&tool, "-O takes has_journal and ^has_journal; for other features there is tune2fs: %s", text);
	if (o->journal_given) /* -J says what kind */
		return OPTIONS_RUN;
	o->journal_given = true;
	o->journal.placement = RJ_PLACE_INTERNAL;
	return OPTIONS_RUN;
}

static enum options_verdict take_uuid(void *to, const char *text)
{
	struct options *o = to;

	o->uuid_given = true;
	memset(o->uuid, 0, sizeof(o->uuid));
	if (!strcmp(text, "clear") || !strcmp(text, "null"))
		return OPTIONS_RUN;
	/* one of the time is as good as any other */
	if (!strcmp(text, "random") || !strcmp(text, "time")) {
		if (rj_uuid_random(o->uuid))
			return tool_bad(&tool, "cannot get random bytes");
		return OPTIONS_RUN;
	}
	if (!rj_uuid_parse(text, o->uuid))
		return tool_bad(&tool, "-U takes random, time, clear or a UUID: %s", text);
	return OPTIONS_RUN;
}

static enum options_verdict take_jobs(void *to, const char *text)
{
	struct options *o = to;
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !n || n > JOBS_MAX)
		return tool_bad(&tool, "--jobs takes a number from 1 to %d: %s", JOBS_MAX, text);
	o->jobs = (unsigned)n;
	return OPTIONS_RUN;
}

#define SET(field) OPTION_SET(struct options, field)
static const struct tool tool = {
	.name = "rjtune",
	.help = help_text,
	.hint = " (see rjtune --help)",
	.options = (const struct tool_option[]){
		{'l', "list", SET(list)},
		{'n', "dry-run", SET(dry_run)},
		{'y', "yes", SET(yes)},
		{'f', "force", SET(force)},
		{0, "accept-loss", SET(accept_loss)},
		{'q', "quiet", SET(quiet)},
		{'J', NULL, OPTION_TAKE, .take = take_journal},
		{'O', NULL, OPTION_TAKE, .take = take_feature},
		{'o', NULL, SET(mount_words)},
		{'U', NULL, OPTION_TAKE, .take = take_uuid},
		{'z', NULL, SET(undo_file)},
		{0, "resume", SET(resume)},
		{0, "genkey", SET(genkey)},
		{0, "old-journal", SET(old_device)},
		{0, "old-key", SET(old_key)},
		{0, "all", SET(all)},
		{0, "jobs", OPTION_TAKE, .take = take_jobs},
		{0, "report", SET(report)},
		{0, "json", SET(json)},
		{0},
	},
};

static enum options_verdict check_together(const struct options *o)
{
	bool change = o->journal_given || o->mount_words || o->uuid_given;

	if (o->list + o->resume + change + (o->genkey != NULL) > 1)
		return tool_bad(&tool, "-l, --resume, --genkey and changes each stand alone");
	if (o->list + o->resume + change + (o->genkey != NULL) == 0)
		return tool_bad(&tool, "nothing to do");
	if (o->undo_file && !o->accept_loss)
		return tool_bad(&tool, "-z is for --accept-loss: a move can be cut anywhere and be resumed");
	if (o->old_key && !strcmp(o->old_key, RJ_SEALING_KEY_LOST) && !o->accept_loss)
		return tool_bad(&tool, "--old-key=" RJ_SEALING_KEY_LOST
			" is for --accept-loss: without its key a log can only be given up");
	if ((o->force || o->accept_loss) && !o->journal_given)
		return tool_bad(&tool, "-f and --accept-loss are for -J and -O");
	if (o->all && (o->device || !(o->journal_given || o->resume)))
		return tool_bad(&tool, "--all=LIST stands in place of the device, and is for -J, -O and --resume");
	if (o->all && (o->old_device || o->undo_file || o->uuid_given || o->mount_words))
		return tool_bad(&tool, "--old-journal, -z, -U and -o are for one volume, not for --all");
	if (o->all && o->accept_loss)
		return tool_bad(&tool, "--accept-loss is said for each volume alone: it tells what is lost");
	if (o->report && !o->all)
		return tool_bad(&tool, "--report is for --all");
	if (!o->device && !o->genkey && !o->all)
		return tool_bad(&tool, "no device given");
	return OPTIONS_RUN;
}

enum options_verdict options_parse(int argc, char **argv, struct options *o)
{
	enum options_verdict v;
	struct rj_error err;

	*o = (struct options){0};
	v = tool_parse(&tool, argc, argv, o);
	if (v != OPTIONS_RUN)
		return v;
	if (optind < argc)
		o->device = argv[optind++];
	if (optind < argc)
		return tool_bad(&tool, "more than one device given: %s", argv[optind]);
	if (o->genkey && o->device)
		return tool_bad(&tool, "--genkey takes no device: %s", o->device);
	if (!o->jobs)
		o->jobs = JOBS;
	/* with --all they are another volume's each time */
	if (o->journal_words && !o->all &&
		rj_journal_opts_parse(o->journal_words, &o->journal, &err)) {
		fprintf(stderr, "rjtune: %s\n", err.msg);
		return OPTIONS_BAD;
	}
	return check_together(o);
}
