/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The warden: a process that waits until supervisor and worker are gone. A ublk device
 * that can be taken over waits for ever for a worker to come; so the warden then shuts the
 * file system down and removes the device, and the kernel fails what waits. With FUSE the
 * kernel does so itself, as the last descriptor of /dev/fuse is closed.
 */
#ifndef RJ_JOURNALD_WARDEN_H
#define RJ_JOURNALD_WARDEN_H

#include <stdint.h>

#include "util/error.h"

#define RJ_WARDEN_NONE (~0u)

/* Start it, in a process without threads; VOLUME: for fs-shutdown.h, or NULL. It ends when
 * each copy of *FD is closed. RJ_E_IO. */
int rj_warden_start(const char *volume, int *fd, struct rj_error *err);
/* Tell it the NUMBER of OWNER's device, or RJ_WARDEN_NONE when that is removed. */
void rj_warden_tell(int fd, unsigned number, uint64_t owner);

#endif
