/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a base or a restored volume is written to: a block device, or a file that grows. */
#ifndef RJ_HISTORY_BASE_TARGET_H
#define RJ_HISTORY_BASE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "os/bio.h"
#include "util/error.h"

/* Is PATH, perhaps through a symbolic link, a block device? */
bool rj_target_is_device(const char *path);
/*
 * Open the device PATH exclusively, and make its first BYTES zeros, durably. *FD is open for
 * reading and writing. RJ_E_BUSY: mounted, or in use otherwise; RJ_E_EXISTS: it has a file
 * system, a partition table, a fallback file or the like, and nothing was changed; RJ_E_NOSPACE: it
 * is shorter; RJ_E_IO.
 */
int rj_target_open(const char *path, uint64_t bytes, int *fd, struct rj_error *err);
/*
 * Make PATH, open as FD for writing and as FS, TO bytes, with zeros from byte FROM on, whatever is
 * there: a file in length, of a device that part. FS NULL: only look whether a device has them.
 * RJ_E_NOSPACE: the device is shorter, or the disk is full; RJ_E_IO.
 */
int rj_target_grow(struct rj_bio *fs, int fd, const char *path, uint64_t from, uint64_t to,
	struct rj_error *err);
/* Open the device again, for the caller and for others too. */
int rj_target_share(const char *path, int *fd, struct rj_error *err);

#endif
