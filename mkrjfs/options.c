// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "mkrjfs/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] =
	"Usage: mkrjfs [-nqF] [-t ext3|ext4] [-J journal-options]\n"
	"              [any other mke2fs option] DEVICE [SIZE]\n"
	"       mkrjfs -t xfs [-NqF] -J remote=URL[,size=MB]\n"
	"              [any other mkfs.xfs option] DEVICE\n"
	"\n"
	"Make an ext3 or ext4 filesystem with mke2fs(8), and give it a journal "
	"that\n"
	"lives on another machine.\n"
	"\n"
	"  -J remote=URL   put the journal at URL (rj://host:port/name,\n"
	"                  file:///directory); more words, comma separated:\n"
	"                    size=MB               journal size\n"
	"                    key=FILE              encrypt the log\n"
	"                    ack=durable|received  what counts as written\n"
	"                    on_loss=block|error|local  when the store is lost\n"
	"                    fallback=PATH         local: the file to go on in\n"
	"                    fallback_size=MB      and its size\n"
	"  -J none         make no journal\n"
	"  -J ...          anything else is mke2fs's: size=, device=, ...\n"
	"  -n              show what would be done; change nothing\n"
	"  -N              the same with -t xfs\n"
	"  -q              say nothing but errors\n"
	"  -F              go on where mke2fs would ask or refuse, and over a fallback file\n"
	"  -t ext3|ext4    kind of filesystem (default ext3)\n"
	"  -V, --version   print the version\n"
	"      --help      print this\n"
	"\n"
	"All options of mke2fs are taken and handed to it as they are.\n"
	"Without -J the journal is internal, as mke2fs makes it.\n"
	"With -t xfs mkfs.xfs makes the volume, with its log at URL; all other options\n"
	"are mkfs.xfs's then.\n";

/* mke2fs's own getopt string (1.47.0 to 1.47.4) */
#define MKE2FS_OPTIONS                                                         \
	"b:cd:e:g:i:jl:m:no:qr:s:t:vC:DE:FG:I:J:KL:M:N:O:R:ST:U:Vz:"

enum {
	OPT_HELP = 256,
};

static const struct option long_options[] = {
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static enum verdict bad(const char *what, const char *value)
{
	fprintf(stderr, "mkrjfs: %s%s%s (see mkrjfs --help)\n", what,
		value ? ": " : "", value ? value : "");
	return VERDICT_BAD;
}

static enum verdict out_of_memory(void)
{
	return bad("out of memory", NULL);
}

static const char *value_of(const struct options *o, char letter)
{
	const char *value = NULL;
	int i;

	for (i = 0; i < o->word_count; i++)
		if (o->words[i].letter == letter)
			value = o->words[i].value ? o->words[i].value : "";
	return value;
}

/* Is NAME one of the words of LIST (comma or blank between them)? With VALUE
 * NAME counts when an '=' follows. */
static bool has_word(const char *list, const char *name, bool value)
{
	size_t len = strlen(name);
	const char *p = list;

	for (; *p; p += strcspn(p, ", "), p += strspn(p, ", "))
		if (!strncmp(p, name, len) &&
			(value ? p[len] == '='
			       : !p[len] || strchr(", ", p[len])))
			return true;
	return false;
}

/* What a remote journal cannot be combined with. */
static enum verdict check_remote(const struct options *o)
{
	const char *type = value_of(o, 't');
	const char *revision = value_of(o, 'r');
	int i;

	if (type && strcmp(type, "ext3") && strcmp(type, "ext4"))
		return bad(
			"a remote journal needs -t ext3 or -t ext4, not", type);
	if (value_of(o, 'S'))
		return bad("-S keeps an old filesystem, whose journal is not "
			   "ours to replace; leave out -J remote=",
			NULL);
	if (revision && !strcmp(revision, "0"))
		return bad("a filesystem of revision 0 has no space for a "
			   "journal; leave out -r 0",
			NULL);
	if (has_word((char *)o->features.data, "journal_dev", false))
		return bad("-O journal_dev makes a journal device, which has "
			   "no journal of its own; leave out -J remote=",
			NULL);
	if (has_word((char *)o->features.data, "fast_commit", false) &&
		!has_word((char *)o->features.data, "^fast_commit", false))
		return bad("-O fast_commit: neither the kernel nor e2fsck "
			   "brings such commits back reliably after a crash "
			   "(see mkrjfs(8)); leave it out, or -J remote=",
			NULL);
	if (has_word((char *)o->features.data, "mmp", false) &&
		!has_word((char *)o->features.data, "^mmp", false))
		return bad("-O mmp: nothing serves the remote journal of such a filesystem, which has its own protection from a second host; leave it out, or -J remote=",
			NULL);
	if (has_word((char *)o->features.data, "orphan_file", false) &&
		!has_word((char *)o->features.data, "^orphan_file", false))
		return bad("-O orphan_file: mke2fs makes it with its own journal only; leave it out, and afterwards run tune2fs -O orphan_file DEVICE",
			NULL);
	for (i = 0; i < o->word_count; i++)
		if ((o->words[i].letter == 'E' || o->words[i].letter == 'R') &&
			has_word(o->words[i].value, "offset", true))
			return bad("-E offset= puts the filesystem where the "
				   "other tools do not look; use a loop device "
				   "at that offset",
				NULL);
	return VERDICT_RUN;
}

static enum verdict take_journal(struct options *o, const struct rj_buf *text)
{
	struct rj_error err;

	if (!text->len)
		return VERDICT_RUN;
	if (rj_journal_opts_parse((char *)text->data, &o->journal, &err)) {
		fprintf(stderr, "mkrjfs: %s\n", err.msg);
		return VERDICT_BAD;
	}
	o->own_journal = o->journal.placement == RJ_PLACE_REMOTE ||
			 o->journal.placement == RJ_PLACE_NONE;
	if (o->journal.placement == RJ_PLACE_NONE && value_of(o, 'j'))
		return bad("-j and -J none contradict each other", NULL);
	return o->journal.placement == RJ_PLACE_REMOTE ? check_remote(o)
						       : VERDICT_RUN;
}

static int append_list(struct rj_buf *list, const char *text)
{
	return rj_buf_printf(list, "%s%s", list->len ? "," : "", text);
}

/* One option. 0, or out of memory. */
static int take(
	struct options *o, int c, const char *value, struct rj_buf *journal)
{
	o->words[o->word_count++] =
		(struct word){.letter = (char)c, .value = value};
	if (c == 'n')
		o->dry_run = true;
	if (c == 'q')
		o->quiet = true;
	if (c == 'F')
		o->force = true;
	if (c == 't')
		o->has_type = true;
	if (c == 'O')
		return append_list(&o->features, value);
	if (c == 'J')
		return append_list(journal, value);
	return 0;
}

static enum verdict take_operands(struct options *o, int argc, char **argv)
{
	if (optind == argc)
		return bad("which device or image file?", NULL);
	o->device = argv[optind++];
	if (optind < argc)
		o->size = argv[optind++];
	if (optind < argc)
		return bad("one word too many", argv[optind]);
	return VERDICT_RUN;
}

static enum verdict unknown(int c, char **argv)
{
	char text[] = {'-', (char)optopt, 0};

	if (c == ':')
		return bad("a value is missing after", text);
	return bad("unknown option",
		optopt && optopt < OPT_HELP ? text : argv[optind - 1]);
}

enum verdict options_parse(struct options *o, int argc, char **argv)
{
	struct rj_buf journal = {0};
	enum verdict v = VERDICT_RUN;
	int c;

	*o = (struct options){.journal.placement = RJ_PLACE_INTERNAL};
	/* a cluster such as -nqF is one word of argv and three options */
	for (c = 0; argv[c]; c++)
		o->word_count += (int)strlen(argv[c]);
	o->words = calloc((size_t)o->word_count + 1, sizeof(*o->words));
	o->word_count = 0;
	if (!o->words || rj_buf_printf(&o->features, "%s", ""))
		return out_of_memory();
	opterr = 0;
	while (v == VERDICT_RUN &&
		(c = getopt_long(argc, argv, ":" MKE2FS_OPTIONS, long_options,
			 NULL)) != -1) {
		if (c == OPT_HELP) {
			fputs(help_text, stdout);
			v = VERDICT_DONE;
		} else if (c == 'V') {
			printf("mkrjfs (%s) %s\n", PACKAGE_NAME,
				PACKAGE_VERSION);
			v = VERDICT_DONE;
		} else if (c == '?' || c == ':') {
			v = unknown(c, argv);
		} else if (take(o, c, optarg, &journal)) {
			v = out_of_memory();
		}
	}
	if (v == VERDICT_RUN)
		v = take_operands(o, argc, argv);
	if (v == VERDICT_RUN)
		v = take_journal(o, &journal);
	rj_buf_free(&journal);
	return v;
}

void options_release(struct options *o)
{
	free(o->words);
	rj_buf_free(&o->features);
	*o = (struct options){0};
}
