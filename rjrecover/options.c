// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjrecover. */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "journal/attach.h"

static const char help_text[] =
	"Usage: rjrecover [-n] [-y] [-p] [-f] [-v] [-q] [-C fd] [-z undo_file]\n"
	"                 [-J journal-options] [--verify=none|quick|full]\n"
	"                 [--json] [--accept-loss] DEVICE\n"
	"       rjrecover --raw [-n] [-q] [-J key=FILE] --output=FILE URL\n"
	"\n"
	"Recover an ext3 or ext4 volume from its journal: remote, on a device, or\n"
	"internal; or an XFS volume whose log is remote.\n"
	"\n"
	"  -n, --dry-run       tell what would be done; change nothing\n"
	"  -y, --yes           answer yes to e2fsck; with --accept-loss: if the log\n"
	"                      cannot be used, check the whole volume with e2fsck\n"
	"                      instead, verified by a second e2fsck\n"
	"  -p, -a, --preen     at boot: replay if that is safe, never ask\n"
	"  -f, --force         check a clean volume too; without -p, and not as\n"
	"                      fsck.rj: replay a log that the volume says it\n"
	"                      does not need\n"
	"  -v, --verbose       say more\n"
	"  -q, --quiet         say nothing but errors\n"
	"  -C fd               progress for programs on descriptor fd; 0: a bar\n"
	"  -z undo_file        record what is overwritten, for e2undo(8)\n"
	"  -J remote=URL|device=DEV\n"
	"                      read the log here, not where the superblock says\n"
	"      --from=DIR|URL  the log is there now, as rjctl stop --force saved it:\n"
	"                      recover from it, and let the superblock name it\n"
	"      --verify=none|quick|full\n"
	"                      the check afterwards (default: quick;\n"
	"                      full: e2fsck -fn)\n"
	"      --json          print the result as JSON\n"
	"      --accept-loss   go on although acknowledged segments are not there;\n"
	"                      with -y: without the log\n"
	"      --raw           write the image of a device that rjournald --raw\n"
	"                      served from the log at URL\n"
	"      --output=FILE   to this new file, or block device\n"
	"  -V, --version       print the version\n"
	"      --help          print this\n"
	"\n"
	"Exit status as fsck(8): 0 good, 1 errors corrected, 2 reboot,\n"
	"4 errors left, 8 operational error, 16 usage, 32 cancelled.\n";

static const struct tool tool;

static enum options_verdict take_verify(void *to, const char *value)
{
	return tool_verify(&tool, value, &((struct options *)to)->verify);
}

static enum options_verdict take_journal(void *to, const char *text)
{
	struct options *o = to;
	struct rj_journal_opts j;
	struct rj_error err;

	/* the key of a log that is where the volume says */
	if (!strncmp(text, "key=", 4) && text[4] && !strchr(text, ',') &&
		strlen(text + 4) < sizeof(o->keyfile)) {
		strcpy(o->keyfile, text + 4);
		return OPTIONS_RUN;
	}
	if (rj_journal_opts_parse(text, &j, &err)) {
		fprintf(stderr, "rjrecover: %s\n", err.msg);
		return OPTIONS_BAD;
	}
	if (j.placement != RJ_PLACE_REMOTE && j.placement != RJ_PLACE_DEVICE) {
		fprintf(stderr,
			"rjrecover: -J %s: only remote=URL and device=DEV make sense here\n",
			text);
		return OPTIONS_BAD;
	}
	memcpy(o->url, j.url, sizeof(o->url));
	memcpy(o->keyfile, j.key_file, sizeof(o->keyfile));
	memcpy(o->journal_device, j.device, sizeof(o->journal_device));
	return OPTIONS_RUN;
}

static enum options_verdict take_from(void *to, const char *text)
{
	struct options *o = to;
	struct rj_error err;
	size_t len = (size_t)snprintf(
		o->from, sizeof(o->from), "%s%s", *text == '/' ? "file://" : "", text);

	if (len >= sizeof(o->from))
		return tool_bad(&tool, "--from: at most %d characters", RJ_SBX_URL_BYTES - 1);
	return rj_sbx_url_valid(o->from, &err) ? OPTIONS_RUN
					       : tool_bad(&tool, "--from: %s", err.msg);
}

#define SET(field) OPTION_SET(struct options, field)
static const struct tool tool = {
	.name = "rjrecover",
	.help = help_text,
	.hint = " (see rjrecover --help)",
	.options = (const struct tool_option[]){
		{'n', "dry-run", SET(dry_run)},
		{'y', "yes", SET(yes)},
		{'p', "preen", SET(preen)},
		{'a', NULL, SET(preen)},
		{'f', "force", SET(force)},
		{'v', "verbose", SET(verbose)},
		{'q', "quiet", SET(quiet)},
		{'C', NULL, SET(progress_fd)},
		{'z', NULL, SET(undo_file)},
		{'J', NULL, OPTION_TAKE, .take = take_journal},
		{0, "verify", OPTION_TAKE, .take = take_verify},
		{0, "from", OPTION_TAKE, .take = take_from},
		{0, "json", SET(json)},
		{0, "accept-loss", SET(accept_loss)},
		{0, "raw", SET(raw)},
		{0, "output", SET(output)},
		{'r', NULL, SET(of_fsck)},
		{'T', NULL, SET(of_fsck)},
		{0},
	},
};

enum options_verdict options_parse(int argc, char **argv, struct options *o)
{
	enum options_verdict v;

	*o = (struct options){.verify = RJ_VERIFY_QUICK, .progress_fd = -1};
	v = tool_parse(&tool, argc, argv, o);
	if (v != OPTIONS_RUN)
		return v;
	if (optind == argc)
		return tool_bad(&tool, "no device given");
	if (optind + 1 < argc)
		return tool_bad(&tool, "more than one device given: %s", argv[optind + 1]);
	if (o->dry_run + o->yes + o->preen > 1)
		return tool_bad(&tool, "only one of -n, -y and -p makes sense");
	if (o->dry_run && o->undo_file)
		return tool_bad(&tool, "-n changes nothing, so -z has nothing to record");
	if (o->from[0] && (o->url[0] || o->journal_device[0] || o->raw))
		return tool_bad(&tool,
			"--from says where the log is: not with -J remote= or device=, or --raw");
	if (o->output && !o->raw)
		return tool_bad(&tool, "--output is only for --raw");
	if (o->raw && !o->output && !o->dry_run)
		return tool_bad(&tool, "--raw wants --output=FILE");
	o->device = argv[optind];
	return OPTIONS_RUN;
}
