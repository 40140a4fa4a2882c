/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJBACKUP_DRILL_EVERY_H
#define RJBACKUP_DRILL_EVERY_H

#include "rjbackup/options.h"

#define EVERY_JOBS_MAX 64

/*
 * Run O->exec in a writable clone of each O->every-th commit, from the base to the end of the
 * history, in O->jobs processes side by side: each commit is a state in which a crash could have
 * left the volume. Stops at the first one at which the command fails, and restores that into
 * O->out, if given. 125 says that a moment cannot be judged. Prints what came of it; nothing else
 * is left. Returns 0 or a negative rj_code; RJ_E_CORRUPT: the command failed, or a clone was not
 * sound; else as of rj_history_restore().
 */
int every(const struct options *o);

#endif
