/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rjserver check: every record of a store that no server is using. */
#ifndef RJSERVER_STORE_CHECK_H
#define RJSERVER_STORE_CHECK_H

#include <stdint.h>

#include "util/error.h"

struct store_check {
	uint64_t files, objects, bytes; /* bytes: of the objects */
	uint64_t damaged; /* objects whose bytes fail their checksum */
	uint64_t missing; /* that the checkpoint knows, and the log does not */
	unsigned lost;    /* places where records without a name are missing */
};

/*
 * Read all of the store in DIR and change nothing. What is wrong is said, and
 * counted in OUT. RJ_E_BUSY: a server is using it. RJ_E_CORRUPT: the server
 * would not start on it.
 */
int store_check(
	const char *dir, struct store_check *out, struct rj_error *err);
/* That, for the command line: the exit status. */
int store_check_main(const char *dir);

#endif
