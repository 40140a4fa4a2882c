// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjbackup. */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "format/claim-text.h"
#include "rjbackup/drill/every.h"
#include "text/quantity.h"
#include "tools/keep-rules.h"

#define MB 1000000u

static const char help_text[] =
	"Usage: rjbackup base [-n] [--hold=TIME] [--rate=MB] [-C FD] [--json]\n"
	"                     [--key FILE] -o FILE|URL DIR|DEVICE\n"
	"       rjbackup ls [--json] [--key FILE] FILE [URL] | URL\n"
	"       rjbackup restore [-n] [--at=MOMENT] [--verify=none|quick|full] [-C FD]\n"
	"                        [-J OPTIONS] [--json] [--key FILE] --base=FILE -o FILE\n"
	"                        [URL]\n"
	"       rjbackup expire [-n] [--json] [--hold=NUMBER | --base=NUMBER] URL |\n"
	"                       --keep=RULES FILE...|URL\n"
	"       rjbackup drill [--at=MOMENT|random] [--scratch=DIR] [--compare=DIR]\n"
	"                      [--exec=COMMAND] [--metrics=FILE] [--json] [--key FILE]\n"
	"                      --base=FILE [URL]\n"
	"       rjbackup drill --at=every[:N] --exec=COMMAND [--jobs=N] [-o FILE] [--scratch=DIR]\n"
	"                      [--json] [--key FILE] --base=FILE [URL]\n"
	"       rjbackup mount [--writable] [--at=MOMENT] [--verify=none|quick|full]\n"
	"                      [--scratch=DIR] [--json] [--key FILE] --base=FILE [URL] DIR\n"
	"       rjbackup bisect --good=MOMENT [--bad=MOMENT] --exec=COMMAND [--scratch=DIR]\n"
	"                       [--json] [--key FILE] --base=FILE [URL]\n"
	"       rjbackup diff [--stat] [--json] [--scratch=DIR] [--key FILE] --base=FILE\n"
	"                     MOMENT MOMENT [PATH] [URL]\n"
	"       rjbackup undelete [-n] [--at=MOMENT | --before=MOMENT] [--to=DIR] [--json]\n"
	"                         [--scratch=DIR] [--key FILE] --base=FILE PATH [URL]\n"
	"       rjbackup log [--since=MOMENT] [--until=MOMENT] [--stat] [--json] [--scratch=DIR]\n"
	"                    [--key FILE] --base=FILE [PATH] [URL]\n"
	"       rjbackup find [--json] [--scratch=DIR] [--key FILE] --base=FILE NAME [URL]\n"
	"       rjbackup follow [-q] [--delay=TIME] [--once] [--hold=TIME] [--metrics=FILE]\n"
	"                       [--json] [--key FILE] --base=FILE [URL]\n"
	"       rjbackup fold [-n] [--until=MOMENT] [--hold=TIME] [--json] [--key FILE]\n"
	"                     --base=FILE [URL]\n"
	"       rjbackup promote [-n] [--accept-loss] [--json] [--key FILE] FILE|DEVICE\n"
	"\n"
	"Any moment of a volume with data=journal, from a base and its log.\n"
	"\n"
	"  base DIR|DEVICE     copy the volume that is mounted at DIR, while it is in use; or that\n"
	"                      of a device or image, which need not be mounted\n"
	"  ls FILE             what can be restored with the base FILE: from when, until\n"
	"                      when, and why no later\n"
	"  ls URL              the logs at URL, and the holds and marks of each\n"
	"  restore             make a new volume, as it was at a moment\n"
	"  expire URL          remove the holds that have expired, and marks that are gone\n"
	"  expire FILE...|URL  with --keep: remove the bases that no rule keeps\n"
	"  drill               restore a moment, check it with e2fsck -fn, look at its\n"
	"                      files, and remove it; --at=every: run a command after each\n"
	"                      commit, in a clone, as each is a state that a crash can leave\n"
	"  mount DIR           mount a moment read-only, without a copy of the base;\n"
	"                      umount DIR ends it\n"
	"  bisect              find the first commit at which a command fails\n"
	"  diff                print which files were made, removed, renamed or changed between\n"
	"                      two moments; at and below PATH, which begins at the volume's root\n"
	"  undelete            copy what PATH, from the volume's root, led to in the last moment in\n"
	"                      which it was there; also a pattern, and a folder with all below it\n"
	"  log                 print for each commit which files it made, removed, renamed or\n"
	"                      changed; of PATH, which begins at the volume's root, its versions\n"
	"  find                print from when until when a NAME was there, in any folder\n"
	"  follow              apply the log to the base itself, as it comes: a standby that is\n"
	"                      never far behind the volume\n"
	"  fold                apply the log to the base itself, once: a newer base\n"
	"  promote FILE        make the base FILE the volume itself, with all that its log\n"
	"                      holds; what had the volume loses its journal\n"
	"\n"
	"URL is where the log is read, if not where the volume had it.\n"
	"\n"
	"  -o FILE             the file to make, or a block device that holds nothing; base: or\n"
	"                      the URL of a store; drill --at=every: of the first bad moment\n"
	"  -J OPTIONS          restore: give the volume a journal, by words as in rjtune -J\n"
	"      --hold=TIME     base: keep the log that it needs for so long: a number followed\n"
	"                      by d, h, m or s; follow, fold: the same for the base as it is\n"
	"                      then, in place of their earlier hold\n"
	"      --hold=NUMBER   expire: remove that hold, whatever its time\n"
	"      --keep=RULES    expire: such as 7d,4w,12m: the newest base of each of the last\n"
	"                      7 days that have one, of 4 weeks, of 12 months; also h, y\n"
	"      --base=FILE     the base; restore, mount: or URL, the last one there; or\n"
	"                      URL#NUMBER\n"
	"      --base=NUMBER   expire: remove that base, and its hold\n"
	"      --accept-loss   promote: go on without what the fallback file of the old host\n"
	"                      holds, or the log has lost\n"
	"      --delay=TIME    follow: apply no commit that is younger\n"
	"      --once          follow: end when there is nothing more to apply\n"
	"  -q, --quiet         follow: print a line a day, and what else happens\n"
	"      --until=MOMENT  fold: apply no later commit; log: print none; a moment, as for --at\n"
	"      --at=MOMENT     restore: latest (the default), segment:NUMBER, mark:NAME,\n"
	"                      or a time, such as \"2026-11-28 14:05\", with Z or +01:00 after\n"
	"                      it or local, 14:05, \"yesterday 14:05\", \"10 minutes ago\", -10m,\n"
	"                      @SECONDS since 1970: the last commit before the first later one;\n"
	"                      drill: also random, every, or every:N, each N-th commit\n"
	"      --verify=HOW    restore: check the new volume: not (none), its metadata in\n"
	"                      short (quick, the default), or with e2fsck -fn (full)\n"
	"      --writable      mount: a clone that can be written to, and is gone after umount\n"
	"      --stat          diff, log: print sums alone\n"
	"      --since=MOMENT  log: begin there, and not with the base\n"
	"      --before=MOMENT undelete: the last moment up to this one\n"
	"      --to=DIR        undelete: the folder to copy to (default: the current one)\n"
	"      --good=MOMENT, --bad=MOMENT\n"
	"                      bisect: where the command succeeds, and where it fails (latest)\n"
	"      --scratch=DIR   drill: where to restore; mount: where to keep what differs from\n"
	"                      the base (default: /var/tmp)\n"
	"      --compare=DIR   drill: where the volume is mounted; what has not changed\n"
	"                      there since the moment has to be the same\n"
	"      --exec=COMMAND  drill: has to succeed; for a shell, to which $1 is where\n"
	"                      the restored volume is mounted read-only; bisect and\n"
	"                      --at=every: a clone\n"
	"      --jobs=N        drill --at=every: N commits side by side\n"
	"      --metrics=FILE  drill: write what came of it for Prometheus; follow: how far the\n"
	"                      base is\n"
	"      --rate=MB       base: read at most MB million bytes of it a second\n"
	"  -C FD               base, restore: progress for programs on descriptor FD;\n"
	"                      0: a bar\n"
	"  -n, --dry-run       only check, and say what would be done\n"
	"      --key FILE      the key file of an encrypted log (default: the keyfile\n"
	"                      that rj.conf names for the log's URL)\n"
	"      --json          print the result as JSON\n"
	"  -V, --version       print the version\n"
	"      --help          print this\n"
	"\n"
	"Exit status: 0 good, 1 the moment cannot be reached, or the volume has no\n"
	"history, or nothing could be compared, 4 the log is damaged or incomplete, or\n"
	"what came out is not sound, 8 operational error, 16 usage, 32 no key or the wrong\n"
	"one.\n";

static const struct tool tool;

static enum options_verdict take_moment(const char *value, struct rj_moment *out)
{
	struct rj_error err;

	return rj_moment_parse(value, out, &err) ? tool_bad(&tool, "%s", err.msg) : OPTIONS_RUN;
}

static enum options_verdict take_at(void *to, const char *value)
{
	struct options *o = to;

	o->at = (struct rj_moment){0};
	o->every = 0;
	o->at_random = !strcmp(value, "random");
	if (o->at_random)
		return OPTIONS_RUN;
	if (!strcmp(value, "every")) {
		o->every = 1;
		return OPTIONS_RUN;
	}
	if (!strncmp(value, "every:", 6))
		return rj_claim_number(value + 6, &o->every) && o->every
			       ? OPTIONS_RUN
			       : tool_bad(&tool, "--at=every:N wants a number of commits: %s", value);
	return take_moment(value, &o->at);
}

static enum options_verdict take_jobs(void *to, const char *value)
{
	struct options *o = to;
	uint64_t jobs;

	if (!rj_claim_number(value, &jobs) || !jobs || jobs > EVERY_JOBS_MAX)
		return tool_bad(&tool, "--jobs wants a number from 1 to %d: %s", EVERY_JOBS_MAX, value);
	o->jobs = (unsigned)jobs;
	return OPTIONS_RUN;
}

static enum options_verdict take_until(void *to, const char *value)
{
	return take_moment(value, &((struct options *)to)->until);
}

static enum options_verdict take_since(void *to, const char *value)
{
	struct options *o = to;

	o->from_given = true;
	return take_moment(value, &o->from);
}

static enum options_verdict take_good(void *to, const char *value)
{
	struct options *o = to;

	o->good_given = true;
	return take_moment(value, &o->good);
}

static enum options_verdict take_bad(void *to, const char *value)
{
	return take_moment(value, &((struct options *)to)->bad);
}

static enum options_verdict take_rate(void *to, const char *value)
{
	struct options *o = to;
	uint64_t mb;

	if (!rj_claim_number(value, &mb) || !mb || mb > UINT64_MAX / MB)
		return tool_bad(&tool, "--rate wants a number of MB a second: %s", value);
	o->rate = mb * MB;
	return OPTIONS_RUN;
}

static enum options_verdict take_journal(void *to, const char *value)
{
	struct options *o = to;
	struct rj_error err;

	o->journal_given = true;
	return rj_journal_opts_parse(value, &o->journal, &err) ? tool_bad(&tool, "%s", err.msg)
							       : OPTIONS_RUN;
}

static enum options_verdict take_verify(void *to, const char *value)
{
	return tool_verify(&tool, value, &((struct options *)to)->verify);
}

/* By enum command. */
static const struct tool_command commands[] = {
	[COMMAND_BASE] = {"base", 1, 1, "no DIR given, where the volume is mounted, nor its DEVICE"},
	[COMMAND_LS] = {"ls", 1, 2, "no FILE or URL given"},
	[COMMAND_RESTORE] = {"restore", 0, 1, ""},
	[COMMAND_EXPIRE] = {"expire", 1, INT_MAX, "no URL or FILE given"},
	[COMMAND_DRILL] = {"drill", 0, 1, ""},
	[COMMAND_MOUNT] = {"mount", 1, 2, "no DIR given, where to mount the moment"},
	[COMMAND_FOLLOW] = {"follow", 0, 1, ""},
	[COMMAND_FOLD] = {"fold", 0, 1, ""},
	[COMMAND_PROMOTE] = {"promote", 1, 2, "no FILE or DEVICE given, which is a base"},
	[COMMAND_BISECT] = {"bisect", 0, 1, ""},
	[COMMAND_DIFF] = {"diff", 2, 4, "diff wants two moments"},
	[COMMAND_UNDELETE] = {"undelete", 1, 2, "no PATH given, as it was on the volume"},
	[COMMAND_LOG] = {"log", 0, 2, ""},
	[COMMAND_FIND] = {"find", 1, 2, "no NAME given"},
	{0},
};

#define BASE	(1u << COMMAND_BASE)
#define LS	(1u << COMMAND_LS)
#define RESTORE (1u << COMMAND_RESTORE)
#define EXPIRE	(1u << COMMAND_EXPIRE)
#define DRILL	(1u << COMMAND_DRILL)
#define MOUNT	(1u << COMMAND_MOUNT)
#define FOLLOW	(1u << COMMAND_FOLLOW)
#define FOLD	(1u << COMMAND_FOLD)
#define PROMOTE (1u << COMMAND_PROMOTE)
#define BISECT	(1u << COMMAND_BISECT)
#define DIFF	(1u << COMMAND_DIFF)
#define UNDELETE (1u << COMMAND_UNDELETE)
#define LOG	(1u << COMMAND_LOG)
#define FIND	(1u << COMMAND_FIND)
/* these read, and compare, moments of a history */
#define CHANGES (DIFF | UNDELETE | LOG | FIND)

#define SET(field) OPTION_SET(struct options, field)
static const struct tool tool = {
	.name = "rjbackup",
	.help = help_text,
	.hint = " (see rjbackup --help)",
	.options = (const struct tool_option[]){
		{'n', "dry-run", SET(dry_run),
			.commands = BASE | RESTORE | EXPIRE | FOLD | PROMOTE | UNDELETE},
		{0, "accept-loss", SET(accept_loss), .commands = PROMOTE},
		{'o', NULL, SET(out), .commands = BASE | RESTORE | DRILL},
		{'J', NULL, OPTION_TAKE, .take = take_journal, .commands = RESTORE},
		{0, "base", SET(base), 
			.commands = RESTORE | DRILL | MOUNT | FOLLOW | FOLD | EXPIRE | BISECT |
				    CHANGES},
		{0, "at", OPTION_TAKE, .take = take_at,
			.commands = RESTORE | DRILL | MOUNT | UNDELETE},
		{0, "verify", OPTION_TAKE, .take = take_verify, .commands = RESTORE | MOUNT},
		{0, "rate", OPTION_TAKE, .take = take_rate, .commands = BASE},
		{'C', NULL, SET(progress_fd), .commands = BASE | RESTORE},
		{0, "hold", SET(hold_text), .commands = BASE | EXPIRE | FOLLOW | FOLD},
		{0, "keep", SET(keep), .commands = EXPIRE},
		{0, "key", SET(keyfile),
			.commands = BASE | LS | RESTORE | DRILL | MOUNT | FOLLOW | FOLD |
				    PROMOTE | BISECT | CHANGES},
		{0, "writable", SET(writable), .commands = MOUNT},
		{0, "before", OPTION_TAKE, .take = take_until, .commands = UNDELETE},
		{0, "to", SET(out), .commands = UNDELETE},
		{0, "stat", SET(stat), .commands = DIFF | LOG},
		{0, "good", OPTION_TAKE, .take = take_good, .commands = BISECT},
		{0, "bad", OPTION_TAKE, .take = take_bad, .commands = BISECT},
		{0, "scratch", SET(scratch), .commands = DRILL | MOUNT | BISECT | CHANGES},
		{0, "compare", SET(compare), .commands = DRILL},
		{0, "exec", SET(exec), .commands = DRILL | BISECT},
		{0, "jobs", OPTION_TAKE, .take = take_jobs, .commands = DRILL},
		{0, "delay", SET(delay_text), .commands = FOLLOW},
		{0, "once", SET(once), .commands = FOLLOW},
		{'q', "quiet", SET(quiet), .commands = FOLLOW},
		{0, "metrics", SET(metrics), .commands = DRILL | FOLLOW},
		{0, "until", OPTION_TAKE, .take = take_until, .commands = FOLD | LOG},
		{0, "since", OPTION_TAKE, .take = take_since, .commands = LOG},
		{0, "json", SET(json)},
		{0},
	},
	.commands = commands,
};

static enum options_verdict check_time(const char *name, const char *text, uint64_t *out)
{
	if (text && (!rj_parse_time(text, out) || !*out))
		return tool_bad(&tool, "--%s wants a time, such as 30d: %s", name, text);
	return OPTIONS_RUN;
}

/* A number alone could be meant as days; and expire takes a hold's number there. */
static enum options_verdict check_hold(struct options *o)
{
	const char *text = o->hold_text;

	if (text && (!rj_parse_time(text, &o->hold) || o->hold < 60 || !strpbrk(text, "smhd")))
		return tool_bad(&tool,
			"--hold wants a time with its unit, such as 30d (d, h, m or s), of at least a minute: %s",
			text);
	return OPTIONS_RUN;
}

/* What the table does not say. N words are at WORDS. */
static enum options_verdict check_base(struct options *o, int n, char **words)
{
	(void)n;
	o->dir = words[0];
	return check_hold(o);
}

static enum options_verdict check_follow(struct options *o, int n, char **words)
{
	enum options_verdict v = check_hold(o);

	o->url = n ? words[0] : NULL;
	if (v == OPTIONS_RUN)
		v = check_time("delay", o->delay_text, &o->delay_s);
	if (v == OPTIONS_RUN && o->delay_s > INT32_MAX)
		v = tool_bad(&tool, "--delay: too long: %s", o->delay_text);
	return v;
}

static enum options_verdict check_ls(struct options *o, int n, char **words)
{
	bool url = strstr(words[0], "://") && !strchr(words[0], '#');

	if (url && o->keyfile)
		return tool_bad(&tool, "ls URL takes no --key: it reads no segment");
	if (url && n > 1)
		return tool_bad(&tool, "one word too many: %s", words[1]);
	o->base = url ? NULL : words[0];
	o->url = url ? words[0] : n > 1 ? words[1] : NULL;
	return OPTIONS_RUN;
}

/* Files, or one URL. */
static enum options_verdict check_keep(struct options *o, int n, char **words)
{
	struct keep_rules rules;
	int i;

	if (o->hold_text || o->base)
		return tool_bad(&tool, "expire: --keep, --hold or --base, and not two of them");
	if (!keep_parse(o->keep, &rules))
		return tool_bad(&tool,
			"--keep wants rules, each once, such as 7d,4w,12m (also h, y): %s", o->keep);
	for (i = 0; n > 1 && i < n; i++)
		if (strstr(words[i], "://"))
			return tool_bad(&tool, "expire: --keep wants one URL, or files: %s", words[i]);
	if (strstr(words[0], "://"))
		o->url = words[0];
	o->files = words;
	o->file_count = n;
	return OPTIONS_RUN;
}

static enum options_verdict check_expire(struct options *o, int n, char **words)
{
	if (o->keep)
		return check_keep(o, n, words);
	if (n > 1)
		return tool_bad(&tool, "one word too many: %s", words[1]);
	o->url = words[0];
	if (o->base && (!rj_claim_number(o->base, &o->base_number) || o->hold_text))
		return tool_bad(&tool,
			"expire: --base wants a base's number, as ls URL says it, and no --hold: %s",
			o->base);
	if (o->hold_text && !rj_claim_number(o->hold_text, &o->hold))
		return tool_bad(&tool,
			"expire: --hold wants a hold's number, as ls URL says it: %s",
			o->hold_text);
	return OPTIONS_RUN;
}

/* What belongs to --at=every, and to the other forms of drill. */
static enum options_verdict check_every(const struct options *o)
{
	if (!o->every)
		return o->out || o->jobs ? tool_bad(&tool, "drill: -o and --jobs are for --at=every")
					 : OPTIONS_RUN;
	if (!o->exec)
		return tool_bad(&tool, "drill: --at=every wants --exec=COMMAND");
	return o->compare || o->metrics
		       ? tool_bad(&tool, "drill: --at=every takes no --compare and no --metrics")
		       : OPTIONS_RUN;
}

static enum options_verdict only_drill(const struct options *o)
{
	return (o->at_random || o->every) && o->command != COMMAND_DRILL
		       ? tool_bad(&tool, "--at=%s is for drill", o->every ? "every" : "random")
		       : OPTIONS_RUN;
}

/* restore, drill and mount: DIR, the last word, is mount's. */
static enum options_verdict check_moment(struct options *o, int n, char **words)
{
	enum options_verdict v = only_drill(o);

	if (v == OPTIONS_RUN && o->command == COMMAND_DRILL)
		v = check_every(o);
	if (v != OPTIONS_RUN)
		return v;
	o->jobs += !o->jobs;
	if (o->command == COMMAND_MOUNT)
		o->dir = words[--n];
	o->url = n ? words[0] : NULL;
	return OPTIONS_RUN;
}

/* In a copy of the log no fence stops who still writes to the log itself. */
static enum options_verdict check_promote(struct options *o, int n, char **words)
{
	if (n > 1)
		return tool_bad(&tool,
			"promote takes no URL (%s): the volume goes on with the log where it had it, and what writes there is stopped there; of a copy of the log rjbackup restore makes a volume of its own",
			words[1]);
	o->base = words[0];
	return OPTIONS_RUN;
}

/* PATH and URL, in any order: a URL has "://". */
static enum options_verdict take_path_and_url(struct options *o, int n, char **words)
{
	const char **to;
	int i;

	for (i = 0; i < n; i++) {
		to = strstr(words[i], "://") ? &o->url : &o->path;
		if (*to)
			return tool_bad(&tool, "one word too many: %s", words[i]);
		*to = words[i];
	}
	return OPTIONS_RUN;
}

static enum options_verdict check_diff(struct options *o, int n, char **words)
{
	enum options_verdict v = take_moment(words[0], &o->from);

	if (v == OPTIONS_RUN)
		v = take_moment(words[1], &o->until);
	return v == OPTIONS_RUN ? take_path_and_url(o, n - 2, words + 2) : v;
}

static enum options_verdict check_undelete(struct options *o, int n, char **words)
{
	if (only_drill(o) != OPTIONS_RUN)
		return OPTIONS_BAD;
	if (o->at.kind != RJ_AT_LATEST && o->until.kind != RJ_AT_LATEST)
		return tool_bad(&tool, "undelete: --at or --before, and not both");
	if (!o->out)
		o->out = ".";
	o->path = words[0];
	o->url = n > 1 ? words[1] : NULL;
	return OPTIONS_RUN;
}

static enum options_verdict check(struct options *o, int n, char **words)
{
	const uint32_t command = 1u << o->command;
	struct stat st;

	if (command & (BASE | RESTORE) && !o->out)
		return tool_bad(&tool, "%s: no -o FILE given", commands[o->command].word);
	if (command & (BASE | RESTORE | DRILL) && o->out && !stat(o->out, &st) &&
		S_ISDIR(st.st_mode))
		return tool_bad(&tool, "%s: -o names the file to make, and %s is a folder",
			commands[o->command].word, o->out);
	if (command & (RESTORE | DRILL | MOUNT | FOLLOW | FOLD | BISECT | CHANGES) && !o->base)
		return tool_bad(&tool, "%s: no --base=FILE given", commands[o->command].word);
	if (command & (FOLLOW | FOLD) && strstr(o->base, "://"))
		return tool_bad(&tool, "%s: --base wants a file, not %s (restore and mount take a URL)",
			commands[o->command].word, o->base);
	if (o->compare && (stat(o->compare, &st) || !S_ISDIR(st.st_mode)))
		return tool_bad(&tool, "--compare names the folder where the volume is mounted: %s",
			o->compare);
	switch (o->command) {
	case COMMAND_BASE:
		return check_base(o, n, words);
	case COMMAND_LS:
		return check_ls(o, n, words);
	case COMMAND_EXPIRE:
		return check_expire(o, n, words);
	case COMMAND_FOLLOW:
	case COMMAND_FOLD:
		return check_follow(o, n, words);
	case COMMAND_PROMOTE:
		return check_promote(o, n, words);
	case COMMAND_RESTORE:
	case COMMAND_DRILL:
	case COMMAND_MOUNT:
		break;
	case COMMAND_LOG:
		return take_path_and_url(o, n, words);
	case COMMAND_FIND:
		if (strchr(words[0], '/'))
			return tool_bad(&tool, "find wants a name without a folder: %s (log takes a path)",
				words[0]);
		return take_path_and_url(o, n, words);
	case COMMAND_UNDELETE:
		return check_undelete(o, n, words);
	case COMMAND_DIFF:
		return check_diff(o, n, words);
	case COMMAND_BISECT:
		if (!o->good_given || !o->exec)
			return tool_bad(&tool, "bisect wants --good=MOMENT and --exec=COMMAND");
		break;
	}
	return check_moment(o, n, words);
}

enum options_verdict options_parse(int argc, char **argv, struct options *o)
{
	enum options_verdict v;
	int command = 0;

	*o = (struct options){
		.verify = RJ_VERIFY_QUICK, .progress_fd = -1, .scratch = "/var/tmp"};
	v = tool_parse_command(&tool, argc, argv, o, &command);
	if (v != OPTIONS_RUN)
		return v;
	o->command = (enum command)command;
	return check(o, argc - optind, argv + optind);
}
