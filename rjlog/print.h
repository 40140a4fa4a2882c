/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Print what the commands have in common: numbers, progress. */
#ifndef RJLOG_PRINT_H
#define RJLOG_PRINT_H

#include "options.h"
#include "target.h"
#include "tools/json.h"

const char *kind_text(const struct rj_seghdr *h);

/* Get the ending of a noun after COUNT: "" or "s". */
const char *plural(uint64_t count);
/* Print MSG on stderr. */
void complain(const char *msg);

/* A bar on a terminal, for work over a second; or lines for a machine (-C). */
struct progress {
	bool on, drawn;
	int fd; /* -C; -1: none */
	int pass; /* from 1 */
	const char *what; /* the pass, for people */
	const char *url;
	int percent; /* last one told */
	int64_t begun_ns, shown_ns;
};

/* URL is what is worked on, and stays the caller's. */
void progress_init(
	struct progress *p, const struct options *o, const char *url);
/* The next pass, WHAT, begins. The first one, "reading the log", has begun. */
void progress_pass(struct progress *p, const char *what);
void progress_step(struct progress *p, uint64_t done, uint64_t total);
/* Wipe it, before something else is printed. */
void progress_clear(struct progress *p);

/* The commands. Each prints its results and errors. */
enum status run_ls(const struct options *o, struct target *t);
/* The names at the rjserver of URL, rj://HOST. */
enum status run_ls_names(const struct options *o, const char *url);
enum status run_show(const struct options *o, struct target *t);
enum status run_verify(const struct options *o, struct target *t);
enum status run_prune(const struct options *o, struct target *t);
enum status run_copy(const struct options *o, struct target *t);
enum status run_rm(const struct options *o, struct target *t);

#endif
