/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef RJ_EXT4_CHECK_H
#define RJ_EXT4_CHECK_H

#include <stdint.h>

#include "util/error.h"

/*
 * Check the unmounted volume at PATH quickly, reading only: the superblock and group
 * descriptors (their checksums, and that they point inside the volume), then each
 * group's bitmaps against their checksums and the descriptor's counts of free blocks
 * and inodes. The totals in the superblock are not compared: the kernel updates
 * those only at unmount.
 * RJ_E_CORRUPT names the first fault found. PROGRESS (may be NULL) counts groups; if
 * it does not return 0, the check ends with RJ_E_CANCELLED.
 */
int rj_volume_check_quick(const char *path,
	int (*progress)(void *arg, uint64_t done, uint64_t total), void *arg,
	struct rj_error *err);

/*
 * Find an inode in use that is encrypted in the unmounted volume at PATH, whether or not
 * it has the feature; 0: there is none. Reads the used part of all inode tables.
 */
int rj_volume_find_encrypted(const char *path, uint32_t *inode, struct rj_error *err);

#endif
