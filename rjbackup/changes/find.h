/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJBACKUP_CHANGES_FIND_H
#define RJBACKUP_CHANGES_FIND_H

#include "rjbackup/options.h"

/*
 * Print each path that ended with a name which matches O->path, a pattern, and from when until when
 * it was there. Returns 0 or a negative rj_code, which it said. RJ_E_NOTFOUND: there was none; else
 * as of rj_history_compare(), rj_files_search() and rj_files_diff().
 */
int find_names(const struct options *o);

#endif
