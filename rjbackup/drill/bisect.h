/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJBACKUP_DRILL_BISECT_H
#define RJBACKUP_DRILL_BISECT_H

#include "rjbackup/options.h"

/*
 * Find the first commit between O->good and O->bad at which O->exec fails: it is run in a writable
 * clone of each moment that is tried, which is gone afterwards; 125 says that a moment cannot be
 * judged. Prints what came of it. Returns 0 or a negative rj_code; RJ_E_REFUSED: the command fails
 * at the good moment, or does not at the bad one, or no moment between them could be judged;
 * else as of rj_history_restore().
 */
int bisect(const struct options *o);

#endif
