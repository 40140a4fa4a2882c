// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjbackup. */
#include "options.h"

#include <getopt.h>
#include <string.h>

#include "format/claim-text.h"
#include "util/quantity.h"

static const char help_text[] =
	"Usage: rjbackup base [-n] [--hold=TIME] [--json] [--key FILE] -o FILE DIR\n"
	"       rjbackup ls [--json] [--key FILE] FILE [URL] | URL\n"
	"       rjbackup restore [-n] [--at=MOMENT] [--verify=none|quick|full] [--json]\n"
	"                        [--key FILE] --base=FILE -o FILE [URL]\n"
	"       rjbackup expire [-n] [--hold=NUMBER] [--json] URL\n"
	"       rjbackup drill [--at=MOMENT|random] [--scratch=DIR] [--compare=DIR]\n"
	"                      [--exec=COMMAND] [--json] [--key FILE] --base=FILE [URL]\n"
	"       rjbackup mount [--at=MOMENT] [--verify=none|quick|full] [--scratch=DIR]\n"
	"                      [--json] [--key FILE] --base=FILE [URL] DIR\n"
	"\n"
	"Any moment of a volume with data=journal, from a base and its log.\n"
	"\n"
	"  base DIR            copy the volume that is mounted at DIR, while it is in use\n"
	"  ls FILE             what can be restored with the base FILE: from when, until\n"
	"                      when, and why no later\n"
	"  ls URL              the logs at URL, and the holds of each\n"
	"  restore             make a new volume, as it was at a moment\n"
	"  expire URL          remove the holds that have expired\n"
	"  drill               restore a moment, check it with e2fsck -fn, look at its\n"
	"                      files, and remove it\n"
	"  mount DIR           mount a moment read-only, without a copy of the base;\n"
	"                      umount DIR ends it\n"
	"\n"
	"URL is where the log is read, if not where the volume had it.\n"
	"\n"
	"  -o FILE             the file to make\n"
	"      --hold=TIME     base: keep the log that it needs for so long: seconds, or a\n"
	"                      number followed by m, h or d\n"
	"      --hold=NUMBER   expire: remove that hold, whatever its time\n"
	"      --base=FILE     restore: the base\n"
	"      --at=MOMENT     restore: latest (the default), segment:NUMBER,\n"
	"                      \"YYYY-MM-DD HH:MM:SS\" (with Z: UTC) or @SECONDS since 1970:\n"
	"                      the last commit before the first one later than that\n"
	"      --verify=HOW    restore: check the new volume: not (none), its metadata in\n"
	"                      short (quick, the default), or with e2fsck -fn (full)\n"
	"      --scratch=DIR   drill: where to restore; mount: where to keep what differs from\n"
	"                      the base (default: /var/tmp)\n"
	"      --compare=DIR   drill: where the volume is mounted; what has not changed\n"
	"                      there since the moment has to be the same\n"
	"      --exec=COMMAND  drill: has to succeed; for a shell, to which $1 is where\n"
	"                      the restored volume is mounted read-only\n"
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

static const struct tool tool;

static enum options_verdict take_at(void *to, const char *value)
{
	struct options *o = to;
	struct rj_error err;

	o->at_random = !strcmp(value, "random");
	if (o->at_random) {
		o->at = (struct rj_moment){0};
		return OPTIONS_RUN;
	}
	return rj_moment_parse(value, &o->at, &err) ? tool_bad(&tool, "%s", err.msg)
						    : OPTIONS_RUN;
}

static enum options_verdict take_verify(void *to, const char *value)
{
	return tool_verify(&tool, value, &((struct options *)to)->verify);
}

#define SET(field) OPTION_SET(struct options, field)
static const struct tool tool = {
	.name = "rjbackup",
	.help = help_text,
	.hint = " (see rjbackup --help)",
	.options = (const struct tool_option[]){
		{'n', "dry-run", SET(dry_run)},
		{'o', NULL, SET(out)},
		{0, "base", SET(base)},
		{0, "at", OPTION_TAKE, .take = take_at},
		{0, "verify", OPTION_TAKE, .take = take_verify},
		{0, "hold", SET(hold_text)},
		{0, "key", SET(keyfile)},
		{0, "scratch", SET(scratch)},
		{0, "compare", SET(compare)},
		{0, "exec", SET(exec)},
		{0, "json", SET(json)},
		{0},
	},
};

/* Words after the command; at least LEAST and at most MOST of them. */
static enum options_verdict count_words(int n, char **words, int least, int most,
	const char *missing)
{
	if (n < least)
		return tool_bad(&tool, "%s", missing);
	if (n > most)
		return tool_bad(&tool, "one word too many: %s", words[most]);
	return OPTIONS_RUN;
}

static enum options_verdict take_base(int n, char **words, struct options *o)
{
	if (!o->out)
		return tool_bad(&tool, "base: no -o FILE given");
	if (o->base || o->at.kind != RJ_AT_LATEST ||
		o->verify != RJ_VERIFY_QUICK)
		return tool_bad(&tool, "--base, --at and --verify are for restore");
	if (o->hold_text && (!rj_parse_time(o->hold_text, &o->hold) || !o->hold))
		return tool_bad(&tool, "--hold wants a time, such as 30d: %s",
			o->hold_text);
	o->dir = words[0];
	return count_words(n, words, 1, 1,
		"base: no DIR given, where the volume is mounted");
}

static enum options_verdict take_ls(int n, char **words, struct options *o)
{
	bool url = n && strstr(words[0], "://");

	if (o->out || o->base || o->dry_run || o->at.kind != RJ_AT_LATEST ||
		o->verify != RJ_VERIFY_QUICK || o->hold_text)
		return tool_bad(&tool, "ls takes --json and --key only");
	if (url && o->keyfile)
		return tool_bad(&tool, "ls URL takes --json only: it reads no segment");
	o->base = url ? NULL : words[0];
	o->url = url ? words[0] : n > 1 ? words[1] : NULL;
	return count_words(n, words, 1, url ? 1 : 2, "ls: no FILE or URL given");
}

static enum options_verdict take_expire(int n, char **words, struct options *o)
{
	if (o->out || o->base || o->at.kind != RJ_AT_LATEST ||
		o->verify != RJ_VERIFY_QUICK || o->keyfile)
		return tool_bad(&tool, "expire takes -n, --hold and --json only");
	if (o->hold_text && !rj_claim_number(o->hold_text, &o->hold))
		return tool_bad(&tool,
			"expire: --hold wants a hold's number, as ls URL says it: %s",
			o->hold_text);
	o->url = words[0];
	return count_words(n, words, 1, 1, "expire: no URL given");
}

static enum options_verdict take_restore(int n, char **words, struct options *o)
{
	if (!o->base)
		return tool_bad(&tool, "restore: no --base=FILE given");
	if (!o->out)
		return tool_bad(&tool, "restore: no -o FILE given");
	if (o->hold_text)
		return tool_bad(&tool, "--hold is for base and expire");
	o->url = n ? words[0] : NULL;
	return count_words(n, words, 0, 1, "");
}

static enum options_verdict take_drill(int n, char **words, struct options *o)
{
	if (!o->base)
		return tool_bad(&tool, "drill: no --base=FILE given");
	if (o->out || o->dry_run || o->hold_text || o->verify != RJ_VERIFY_QUICK)
		return tool_bad(&tool, "drill takes no -o, -n, --hold and --verify");
	o->url = n ? words[0] : NULL;
	return count_words(n, words, 0, 1, "");
}

static enum options_verdict take_mount(int n, char **words, struct options *o)
{
	if (!o->base)
		return tool_bad(&tool, "mount: no --base=FILE given");
	if (o->out || o->dry_run || o->hold_text)
		return tool_bad(&tool, "mount takes no -o, -n and --hold");
	o->url = n > 1 ? words[0] : NULL;
	o->dir = n ? words[n - 1] : NULL;
	return count_words(n, words, 1, 2, "mount: no DIR given, where to mount the moment");
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
		{"expire", COMMAND_EXPIRE, take_expire},
		{"drill", COMMAND_DRILL, take_drill},
		{"mount", COMMAND_MOUNT, take_mount},
	};
	unsigned i;

	if ((o->at_random || o->compare || o->exec) && (!n || strcmp(words[0], "drill")))
		return tool_bad(&tool, "--at=random, --compare and --exec are for drill");
	if (o->scratch && (!n || (strcmp(words[0], "drill") && strcmp(words[0], "mount"))))
		return tool_bad(&tool, "--scratch is for drill and mount");
	if (!n)
		return tool_bad(&tool, "no command given: base, ls, restore, expire, drill or mount");
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(words[0], commands[i].word))
			continue;
		o->command = commands[i].command;
		return commands[i].take(n - 1, words + 1, o);
	}
	return tool_bad(&tool, "no such command: %s", words[0]);
}

enum options_verdict options_parse(int argc, char **argv, struct options *o)
{
	enum options_verdict v;

	*o = (struct options){.verify = RJ_VERIFY_QUICK};
	v = tool_parse(&tool, argc, argv, o);
	return v == OPTIONS_RUN ? take_words(argc - optind, argv + optind, o) : v;
}
