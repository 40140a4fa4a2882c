/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJSERVER_OPTIONS_H
#define RJSERVER_OPTIONS_H

#include <stdbool.h>

struct options {
	const char *dir;
	const char *listen; /* ADDR:PORT */
	bool insecure;
	bool received; /* --durability=received */
	bool quiet;
};

#define EXIT_USAGE  1
#define EXIT_FAILED 2

/* Returns -1 to go on, or the status to exit with (said all there is). */
int options_parse(int argc, char **argv, struct options *out);

#endif
