/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJBACKUP_CHANGES_DIFF_H
#define RJBACKUP_CHANGES_DIFF_H

#include "rjbackup/options.h"

/*
 * Print what differs between the moments O->from and O->until, at and below O->path (NULL:
 * everywhere). Returns 0 or a negative rj_code, which it said: as of rj_history_compare() and
 * rj_files_diff().
 */
int diff_moments(const struct options *o);

#endif
