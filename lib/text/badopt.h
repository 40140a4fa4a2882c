/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What getopt_long() did not take, in one line, the same in every tool. */
#ifndef RJ_TEXT_BADOPT_H
#define RJ_TEXT_BADOPT_H

#include <getopt.h>
#include <stddef.h>

/*
 * getopt_long() has just returned C, '?' or ':', for ARGV with LONGS, and said
 * nothing (its short options begin with a colon): put into OUT, of SIZE bytes,
 * which is returned, what was wrong, as in "unknown option -Z" or "--key needs a
 * value". Reads optind and optopt.
 */
char *rj_badopt(int c, char *const argv[], const struct option *longs, char *out,
	size_t size);

#endif
