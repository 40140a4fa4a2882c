/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recover an XFS volume whose log is remote. */
#ifndef RJRECOVER_XFS_H
#define RJRECOVER_XFS_H

#include "options.h"
#include "util/error.h"

/*
 * Read the log of the XFS volume O->device and check it against the volume and the floors;
 * with O->dry_run that is all. Else fence every other writer, serve the log, and have the
 * kernel replay it: mount the volume where no process sees it, and unmount it. *STATUS gets
 * fsck(8)'s exit status, also on failure; the result is printed on stdout.
 */
int xfs_recover(const struct options *o, int *status, struct rj_error *err);

#endif
