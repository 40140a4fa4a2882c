/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was observed and what follows from it, for all forms in which it is told. */
#ifndef RJADVISE_REPORT_H
#define RJADVISE_REPORT_H

#include "rjadvise/model/hints.h"
#include "options.h"
#include "sample.h"
#include "volume.h"
#include "watch.h"

/* What one directory's files got. */
struct dir_row {
	char path[PATH_MAX];
	uint64_t files, writes, new_bytes;
	double in_place_share;	  /* of all writes that made no file grow: 0 to 1 */
	double overwritten_bytes; /* that share of all overwritten bytes; NAN */
	bool flagged;		  /* proposed for +j */
};

struct report {
	const struct volume *volume;
	const struct series *series;
	struct load load;
	struct machine machine;
	const char *disk_from; /* the source of machine.disk; NULL: none */
	const char *store;     /* URL */
	char trace_why[160];   /* why fsyncs are not counted; "" */
	char files_why[RJ_ERROR_BYTES]; /* why files were not watched; "" */
	struct prediction predictions[CHOICES_MAX];
	int choices;
	struct dir_row dirs[TOP_MAX];
	int dir_count;
	double watched_share; /* of the time, in which files were watched */
	uint64_t events, overflows, untracked, gone, older, files;
	struct hint hints[HINTS_MAX];
	int hint_count;
	/* what the observation itself took: getrusage(2) */
	double cpu_s, cpu_share, memory_bytes;
};

/* Take what W found out about files, the TOP directories first by what they overwrote, then
 * by what was new. */
void report_files(struct report *r, const struct watch *w, int top);
/* Compute what follows from the figures: predictions and hints. */
void report_conclude(struct report *r);

void report_print_text(const struct report *r);
/* APPLIED: what --apply did; NULL: it was not asked for. */
void report_print_json(const struct report *r, const char *applied);
/* Write the plot, or a page with it, to PATH. */
int report_write_page(const struct report *r, const char *path, struct rj_error *err);

#define VALUE_TEXT 32
/* X with a unit of bytes ("1.2 MB"), or as a rate or time with three digits; "unknown". */
const char *bytes_text(double x, char out[VALUE_TEXT]);
const char *number_text(double x, char out[VALUE_TEXT]);
const char *us_text(double x, char out[VALUE_TEXT]);

#endif
