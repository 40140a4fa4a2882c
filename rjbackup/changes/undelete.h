/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJBACKUP_CHANGES_UNDELETE_H
#define RJBACKUP_CHANGES_UNDELETE_H

#include "rjbackup/options.h"

/*
 * Copy what O->path, a pattern, led to into O->out (NULL: the current folder): of each path the
 * last moment in which it was there, up to O->until, or the moment O->at. With O->dry_run only say
 * so. What is there already is not touched. Returns 0 or a negative rj_code, which it said.
 * RJ_E_REFUSED: a path is there still; RJ_E_NOTFOUND: none was there; RJ_E_EXISTS; else as of
 * rj_history_compare() and rj_history_restore().
 */
int undelete(const struct options *o);

#endif
