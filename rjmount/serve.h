/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Start the rjournald of a mount. */
#ifndef RJ_MOUNT_SERVE_H
#define RJ_MOUNT_SERVE_H

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"
#include "util/uuid.h"

struct rj_mount_options;

/*
 * Start rjournald for the volume UUID of O, which ends when the volume is unmounted, and
 * put the name of the journal's block device into LOOP (SIZE bytes). The daemon's other
 * output is shown. Under systemd the daemon gets a scope of its own: the cgroup of the
 * caller, a login session or the mount unit, can be killed while the volume is mounted. If
 * systemd gives no scope, the daemon starts in the caller's cgroup. If this process ends
 * before the volume is mounted, the daemon ends too.
 */
int rj_serve_until_unmount(const struct rj_mount_options *o,
	const uint8_t uuid[RJ_UUID_BYTES], char *loop, size_t size,
	struct rj_error *err);

#endif
