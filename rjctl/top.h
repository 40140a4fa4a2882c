/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJCTL_TOP_H
#define RJCTL_TOP_H

#include "options.h"

/*
 * Show a line for the volume O->volume, or for each that is served here, again each O->delay_s
 * seconds, O->rounds times (0: until a signal): what it does in that time, and where it waits. On a
 * terminal in one place, with O->batch one after the other. Returns the exit status.
 */
int top(const struct rj_ctl_options *o);

#endif
