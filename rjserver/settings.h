/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Make the server's settings from the command line, and from the file of --config where
 * the command line has none. */
#ifndef RJSERVER_SETTINGS_H
#define RJSERVER_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "rjserver/record/record.h"
#include "util/error.h"

#define SETTINGS_RULES 64

/* [volume PATTERN] */
struct volume_rule {
	char pattern[NAME_BYTES];
	uint64_t keep_s;    /* seconds: nothing younger is deleted; 0: no such rule */
	/* of one volume, with what the store adds to each object; 0: no limit */
	uint64_t max_bytes, max_objects;
};

struct settings {
	char dir[PATH_MAX], accounts[PATH_MAX];
	char cert[PATH_MAX], key[PATH_MAX], client_ca[PATH_MAX]; /* "": none */
	char listen[128];
	bool insecure, received, quiet;
	bool min_free_set;
	uint64_t min_free; /* bytes */
	/* connections of one address on which no request was let in; 0: no
	 * limit */
	unsigned per_address;
	uint64_t file_bytes; /* of a new data file; 0: the store's default */
	uint64_t request_s;  /* seconds that a request may take; 0: the default */
	struct volume_rule rules[SETTINGS_RULES];
	size_t rule_count;
};

/* Fill OUT. RJ_E_INVAL, or the error of opening the file; OUT is unchanged then. */
int settings_make(
	const struct options *o, struct settings *out, struct rj_error *err);
/* Find the first rule that matches NAME; NULL: none. */
const struct volume_rule *settings_rule(
	const struct settings *s, const char *name);

#endif
