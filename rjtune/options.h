/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJTUNE_OPTIONS_H
#define RJTUNE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "journal/attach.h"
#include "tools/command-line.h"

struct options {
	const char *device;
	bool list, json, dry_run, force, quiet, resume, yes, accept_loss;
	bool journal_given; /* -J, -O */
	struct rj_journal_opts journal;
	const char *mount_words; /* -o; NULL: none */
	bool uuid_given;	 /* -U */
	uint8_t uuid[RJ_UUID_BYTES];
	const char *undo_file; /* -z */
	const char *old_device; /* --old-journal */
	const char *old_key;	/* --old-key */
	const char *genkey;
	const char *all; /* a list of volumes in place of DEVICE; NULL: none */
	const char *journal_words; /* those of -J; with ALL: with %u and %h */
	const char *report;	   /* --report; NULL: none */
	unsigned jobs;
};

enum options_verdict options_parse(int argc, char **argv, struct options *o);

#endif
