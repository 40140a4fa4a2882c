/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJBACKUP_PRINT_H
#define RJBACKUP_PRINT_H

#include "history/base.h"
#include "kept.h"
#include "options.h"

struct json_object;

struct result {
	const struct options *o;
	struct rj_base_facts facts;
	struct rj_history_report report;
	struct rj_buf marks; /* ls: of struct rj_point */
	struct kept kept;    /* ls, and base with -n */
	int rc; /* with its error: */
	struct rj_error err;
};

/* Print what came of it: results on stdout, the error on stderr. */
void print_result(const struct result *r);
/* Why the history of a base ends, by what R says of a walk that came to RC and ERR; NULL: it goes
 * on as far as the walk went. */
const char *ended_why(const struct rj_history_report *r, int rc, const struct rj_error *err);
/* Print P as a line: "WHAT: segment N, transaction N, as of TIME". */
void place_print(const char *what, const struct rj_history_place *p);
/* Make an object of P: segment, tid, commit_ns, commit. */
struct json_object *place_json(const struct rj_history_place *p);
/* Say MSG on stderr. */
void complain(const char *msg);

#endif
