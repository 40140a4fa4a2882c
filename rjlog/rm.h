/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rjlog rm: a log that is out of use. */
#ifndef RJLOG_RM_H
#define RJLOG_RM_H

#include "format/hold.h"
#include "journal/others.h"
#include "options.h"
#include "target.h"

/* The contents of the log, and what is known of its last writer. */
struct rm_log {
	uint64_t first, last; /* segments */
	uint64_t data, bytes; /* of those that would be deleted */
	uint64_t fences;      /* and of those that stay */
	uint64_t epoch;	      /* highest one claimed; 0: none */
	char host[RJ_CLAIM_HOST]; /* that claimed it; "": not known */
	bool closed;	      /* the last segment is a fence: no write since */
	bool left;	      /* that fence says that the journal was moved away */
	uint64_t written_s;   /* when the last segment was sealed, since 1970; 0:
			       * not known */
	struct rj_hold hold; /* that keeps most of it; number 0: none does */
	uint64_t held, held_bytes; /* segments that it keeps */
};

/* Check, before any request, that T names a log, and --force the same one. */
int rm_check_words(
	const struct options *o, const struct target *t, struct rj_error *err);
/*
 * Check that the log is out of use. RJ_E_REFUSED: a volume needs it, rjournald
 * serves it here, or a host may still write there, without --force. *PROVED: the
 * volume that it belonged to (--volume) names another journal.
 */
int rm_check_use(const struct options *o, const struct target *t,
	const struct rm_log *l, bool *proved, struct rj_error *err);

#endif
