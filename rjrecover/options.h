/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJRECOVER_OPTIONS_H
#define RJRECOVER_OPTIONS_H

#include <stdbool.h>

#include "format/sbx.h"
#include "recover/recover.h"
#include "tools/command-line.h"

struct options {
	const char *device;
	bool dry_run, yes, preen, force, verbose, quiet, json;
	bool accept_loss;
	bool raw;	    /* --raw: the device is the URL of a raw log */
	const char *output; /* --output: where its image goes; NULL */
	bool of_fsck; /* -r and -T come from fsck(8) and mean nothing here */
	int progress_fd; /* -C: 0 means a bar on the terminal, as in e2fsck; -1: none */
	const char *undo_file;
	char from[RJ_SBX_URL_BYTES]; /* --from, as a URL, else "" */
	char url[512]; /* from -J remote=, else "" */
	char keyfile[4096]; /* from -J key=, else "" */
	char journal_device[4096]; /* from -J device=, else "" */
	enum rj_verify_level verify;
};

enum options_verdict options_parse(int argc, char **argv, struct options *o);

#endif
