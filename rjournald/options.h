/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJ_JOURNALD_OPTIONS_H
#define RJ_JOURNALD_OPTIONS_H

#include <stdbool.h>

#include "tools/command-line.h"

struct rj_options {
	const char *device;
	bool foreground;    /* -f */
	bool quiet;         /* -q: only warnings and errors */
	bool verbose;       /* -v */
	bool until_unmount; /* --until-unmount */
	bool raw;           /* --raw: DEVICE is the URL of a log */
	unsigned size_mb;   /* --size: of a raw log that is begun; 0: none */
	const char *xfs;    /* --xfs: the raw log is this volume's; NULL */
	const char *uuid;   /* --uuid: the raw log has this UUID; NULL */
	unsigned stop_timeout; /* --stop-timeout: seconds */
	/* --mount-helper: a pipe whose other end mount.rj holds until it ends;
	 * -1: mount.rj did not start us */
	int helper_fd;
	/* --take-over: what a supervisor says to the program that it starts
	 * again, see supervisor.h */
	const char *take_over;
	const char *program; /* its file; set by main() */
	char *const *args;   /* after its name; set by main() */
	const char *metrics; /* --metrics=ADDR; NULL: the default */
};

#define RJ_STOP_TIMEOUT 60 /* without --stop-timeout */

/* OPTIONS_DONE: exit 0; OPTIONS_BAD: exit 2. */
enum options_verdict rj_options_parse(int argc, char **argv, struct rj_options *out);

#endif
