/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJBACKUP_CHANGES_LOG_H
#define RJBACKUP_CHANGES_LOG_H

#include "rjbackup/options.h"

/*
 * Print for each commit between O->from (O->from_given; else from the base on) and O->until which
 * files changed; with O->path at and below it alone: of a file its versions. Returns 0 or a
 * negative rj_code, which it said: as of rj_history_compare() and rj_files_diff().
 */
int log_changes(const struct options *o);

#endif
