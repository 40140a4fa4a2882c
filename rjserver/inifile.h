/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INI files (libinih only here): errors say file and line. */
#ifndef RJSERVER_INIFILE_H
#define RJSERVER_INIFILE_H

#include <stdint.h>
#include <stdio.h>

#include "util/error.h"

/* One "NAME = VALUE" of [SECTION] ("": before the first). Returns 0 or a
 * negative rj_code, which ends the reading; file and line are put in front. */
typedef int (*inifile_fn)(void *arg, const char *section, const char *name,
	const char *value, struct rj_error *err);

/*
 * Read FILE, which stays open and is called PATH in messages. A line that
 * is not "[section]", "name = value" or a comment (from # or ;), or is longer
 * than the parser takes, is RJ_E_INVAL.
 */
int inifile_read(FILE *file, const char *path, inifile_fn fn, void *arg,
	struct rj_error *err);

/* "10", "64k", "10G": bytes in powers of 1024; "5s", "10m", "1h", "7d":
 * seconds. RJ_E_INVAL names WHAT. */
int inifile_size(const char *what, const char *text, uint64_t *bytes,
	struct rj_error *err);
int inifile_time(const char *what, const char *text, uint64_t *seconds,
	struct rj_error *err);

#endif
