/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJ_CTL_OPTIONS_H
#define RJ_CTL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/command-line.h"

struct rj_ctl_options {
	const char *command; /* "status", "check", "flush", "stop" ... */
	const char *prefer;  /* of "prefer": remote, local or power */
	const char *verb;    /* of "journal-data": on, off, ls or check */
	const char *volume;  /* DEVICE or DIR (mark: DIR); NULL: every volume served */
	char *const *volumes; /* of "check": COUNT of them, none: all */
	int count;
	const char *name;    /* of "mark" */
	const char *to;      /* of "move", "reseed": a URL */
	const char *save;    /* of "stop --force": a directory */
	uint64_t delay_s, rounds; /* of "top"; ROUNDS 0: without end */
	bool batch;		  /* the same */
	bool json, force, quiet, freeze, all, accept_loss;
};

enum options_verdict rj_ctl_options_parse(int argc, char **argv, struct rj_ctl_options *o);

#endif
