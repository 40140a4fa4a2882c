/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: ours, and everything that is mke2fs's. */
#ifndef MKRJFS_OPTIONS_H
#define MKRJFS_OPTIONS_H

#include <stdbool.h>

#include "journal/attach.h"
#include "util/buf.h"

/* One option as it stood on the command line. */
struct word {
	char letter;
	const char *value; /* NULL: it takes none */
};

struct options {
	bool dry_run; /* -n */
	bool quiet;   /* -q */
	bool force;   /* -F */
	bool has_type;
	bool own_journal; /* there is a -J that is not mke2fs's: remote= or
			   * none */
	struct rj_journal_opts journal;
	struct word *words; /* all options, in their order */
	int word_count;
	struct rj_buf features; /* all of -O, comma separated; NUL-terminated */
	const char *device;
	const char *size; /* NULL: not given */
};

enum verdict {
	VERDICT_RUN,  /* go on */
	VERDICT_DONE, /* --help, -V: status 0 */
	VERDICT_BAD,  /* said why: status 1 */
};

/* Strings point into ARGV. Release with options_release(), whatever it says. */
enum verdict options_parse(struct options *o, int argc, char **argv);
void options_release(struct options *o);

#endif
