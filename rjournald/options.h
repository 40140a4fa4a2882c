/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJ_JOURNALD_OPTIONS_H
#define RJ_JOURNALD_OPTIONS_H

#include <stdbool.h>

struct rj_options {
	const char *device;
	bool foreground;    /* -f */
	bool quiet;         /* -q: only warnings and errors */
	bool verbose;       /* -v */
	bool until_unmount; /* --until-unmount */
	bool raw;           /* --raw: DEVICE is the URL of a log */
	unsigned size_mb;   /* --size: of a raw log that is begun; 0: none */
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

enum rj_options_result {
	RJ_OPTIONS_RUN,
	RJ_OPTIONS_DONE, /* --help, -V: printed, exit 0 */
	RJ_OPTIONS_BAD,  /* said why on stderr, exit 2 */
};

enum rj_options_result rj_options_parse(
	int argc, char **argv, struct rj_options *out);

#endif
