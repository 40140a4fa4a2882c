/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJADVISE_OPTIONS_H
#define RJADVISE_OPTIONS_H

#include <stdbool.h>

#include "tools/command-line.h"

#define TOP_MAX 100

struct options {
	const char *volume; /* DIR or DEVICE */
	uint64_t seconds;   /* of the observation */
	uint64_t top;	    /* directories that are told, at most TOP_MAX */
	const char *store;  /* URL; NULL: none is measured */
	const char *second; /* a directory on a second disk; NULL */
	const char *report; /* a file, .svg or .html; NULL */
	bool probe, json, apply;
};

enum options_verdict options_parse(int argc, char **argv, struct options *o);

#endif
