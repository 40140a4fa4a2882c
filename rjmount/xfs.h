/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mount an XFS volume whose log is at the URL that logdev= names. */
#ifndef RJ_MOUNT_XFS_H
#define RJ_MOUNT_XFS_H

#include "options.h"
#include "util/error.h"

/*
 * Start rjournald, which checks the log and the volume, and mount O's device; the kernel
 * replays the log. STATUS gets mount(8)'s exit status. RJ_E_INVAL: no logdev=URL, an option
 * that XFS refuses, no directory; what rj_xfs_look() and rj_xfs_check() report;
 * RJ_E_BUSY; RJ_E_IO: rjournald could not serve, with its reason.
 */
int rj_mount_xfs(const struct rj_mount_options *o, int *status, struct rj_error *err);

#endif
