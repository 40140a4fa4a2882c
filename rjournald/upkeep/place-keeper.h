/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Have the volume go on to name the place of a log that was moved while the volume was mounted:
 * an online resize clears that. */
#ifndef RJ_JOURNALD_PLACE_KEEPER_H
#define RJ_JOURNALD_PLACE_KEEPER_H

#include "rjournald/load/load.h"

struct rj_place_keeper;

/* Start the thread, if L's log was moved. L stays where it is until the end. NULL: it was not, or
 * there is no thread, which is logged. */
struct rj_place_keeper *rj_place_keeper_start(const struct rj_loaded *l);
/* NULL-safe. */
void rj_place_keeper_stop(struct rj_place_keeper *k);

#endif
