/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recovery in the simulator: the calls of lib/log that lib/recover makes, in
 * its order; and what the model says of the outcome. */
#ifndef RJ_SIM_RECOVERY_H
#define RJ_SIM_RECOVERY_H

#include "host.h"

/* An empty fallback file on HOST's disk, smaller than a real one may be. */
void sim_new_fallback(int host);
/* The log of a new volume. */
int sim_new_log(struct rj_error *err);
/* Leaves H with a writer, a ring with an empty journal, and a fallback file. */
int sim_recover(struct sim_host *h, bool accept, struct rj_error *err);

#endif
