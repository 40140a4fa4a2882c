/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rjctl check: judge the state of volumes for a monitoring system. */
#ifndef RJCTL_CHECK_H
#define RJCTL_CHECK_H

#include "options.h"
#include "terminal.h"

/*
 * Look at the COUNT volumes NAMES (devices or directories); with none, at every
 * volume that fstab mounts with the type rj and at every one that is served.
 * Prints one line with performance data, in the form of Nagios plugins, and
 * returns the exit status: 0 all well, 1 warning, 2 critical, 3 unknown.
 */
int check_volumes(char *const *names, int count);
/* Get the mood of a daemon's MODE, by the level that check gives it. */
enum mood mode_mood(const char *mode);

#endif
