/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mkrjfs -t xfs: run mkfs.xfs with its log on the device that a rjournald serves. */
#ifndef MKRJFS_XFS_H
#define MKRJFS_XFS_H

#include <stdbool.h>

/* Does the command line ask for XFS? */
bool xfs_asked(int argc, char **argv);
/*
 * Do all of it: parse the options, which are mkfs.xfs's and -J, -F, -t; have mkfs.xfs
 * look whether it could; begin the log, under the UUID that the volume gets; make the
 * volume. *QUIET: -q was among the options. Returns the exit status; what was wrong is said on
 * stderr.
 */
int xfs_make(int argc, char **argv, bool *quiet);

#endif
