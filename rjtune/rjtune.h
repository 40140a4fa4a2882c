/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJTUNE_RJTUNE_H
#define RJTUNE_RJTUNE_H

#include <stdio.h>

#include "journal/move.h"
#include "options.h"
#include "util/log.h"

/* Exit statuses: in rjtune(8), and scripts rely on them. */
enum status {
	STATUS_OK = 0,		/* done, or there was nothing to do */
	STATUS_FAILED = 1,	/* I/O, memory, no space; nothing was changed */
	STATUS_REFUSED = 2,	/* not possible with this volume or target */
	STATUS_BUSY = 3,	/* mounted, served, or otherwise in use */
	STATUS_RECOVER = 4,	/* its journal must be replayed first: -y */
	STATUS_LOST = 5,	/* the old journal cannot be reached or used */
	STATUS_PENDING = 6,	/* a move is half done: --resume */
	STATUS_UNREACHABLE = 7, /* the new place does not answer: try later */
	STATUS_DENIED = 8,	/* credentials, or permission for a file */
	STATUS_NOTFOUND = 9,	/* a file or device that was named is not there */
	STATUS_USAGE = 16,
};

/* The result of a change, for the report. */
struct result {
	enum status status;
	struct rj_move_report move;
	bool moved; /* MOVE is filled */
	struct rj_error err;
	bool failed; /* ERR is filled */
	bool advised; /* ERR already says what to do about a lost journal */
};

/* status.c. R may be NULL: no move was begun. */
const char *status_name(enum status s);
enum status move_status(const struct rj_move_report *r, int rc);

/* change.c: each fills R (zeroed) */
void change_resume(const struct options *o, struct result *r);
void change_journal(const struct options *o, struct result *r);
void change_uuid(const struct options *o, struct result *r);
/* steps.c: all that O wants of its device */
void change(const struct options *o, struct result *r);
/* all.c: the same of each volume that O's list names. STATUS_FAILED: one did not change, or none
 * was begun any more after a signal. */
enum status change_all(const struct options *o);

/* report.c: for rj_log_set(), with a struct options */
void report_log(void *arg, enum rj_log_level level, const char *text);
/* report.c: R for people; as JSON, on ONE_LINE or several */
void report_text(const struct options *o, const struct result *r);
void report_json(FILE *f, const char *device, const struct result *r, bool one_line);

/* Run STEP; if it needs a recovery and -y is given, run that and STEP again. Returns the
 * last one's error. */
int run_recovered(const struct options *o, struct result *r,
	int (*step)(const struct options *o, struct result *r));
/* superblock.c: -o */
void change_mount_words(const struct options *o, struct result *result);

/* list.c: print the journal's place and state (-l) */
enum status list(const struct options *o);

/* Print a step for the user, on stdout; not with -q or --json. */
void say_step(void *arg, const char *line);

#endif
