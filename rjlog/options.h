/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJLOG_OPTIONS_H
#define RJLOG_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/command-line.h"
#include "tools/status.h"

enum command {
	COMMAND_LS,
	COMMAND_SHOW,
	COMMAND_VERIFY,
	COMMAND_PROBE,
	COMMAND_PRUNE,
	COMMAND_COPY,
	COMMAND_RM,
};

struct options {
	enum command command;
	const char *url; /* of a store, or of one log: with /<journal uuid> */
	const char *keyfile; /* --key; NULL: rj.conf's */
	bool json, quiet, verbose;
	const char *to;	     /* copy: the store to copy to */
	bool dry_run;	     /* prune, copy, rm */
	bool follow;	     /* copy */
	uint64_t interval_s; /* copy --follow */
	const char *volume;  /* rm: the volume that has another journal now */
	const char *force;   /* rm: the UUID once more */
	int progress_fd;     /* -C; 0: a bar, if there is a terminal */
};

enum options_verdict options_parse(int argc, char **argv, struct options *o);

#endif
