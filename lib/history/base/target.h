/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A block device that a base or a restored volume is written to. */
#ifndef RJ_HISTORY_BASE_TARGET_H
#define RJ_HISTORY_BASE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

/* Is PATH, perhaps through a symbolic link, a block device? */
bool rj_target_is_device(const char *path);
/*
 * Open the device PATH exclusively, and make its first BYTES zeros, durably. *FD is open for
 * reading and writing. RJ_E_BUSY: mounted, or in use otherwise; RJ_E_EXISTS: it has a file
 * system, a partition table or the like, and nothing was changed; RJ_E_NOSPACE: it is shorter;
 * RJ_E_IO.
 */
int rj_target_open(const char *path, uint64_t bytes, int *fd, struct rj_error *err);
/* Open the device again, for the caller and for others too. */
int rj_target_share(const char *path, int *fd, struct rj_error *err);

#endif
