/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a mount and an unmount make of the primary superblock. */
#ifndef RJ_EXT4_MOUNTED_H
#define RJ_EXT4_MOUNTED_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

#define RJ_RAW_SUPER_BYTES 1024

/* Open DEVICE, a block device or an image, for rj_super_read(). Returns a descriptor, or
 * -1. */
int rj_super_open(const char *device);
/* Read the primary superblock as it is on the disk: of a block device past the page cache,
 * where a mounted volume has a newer one. False: it cannot be read. */
bool rj_super_read(int fd, uint8_t raw[RJ_RAW_SUPER_BYTES]);

/*
 * Is NOW what the kernel's mount for writing makes of the superblock BEFORE, in
 * ext4_setup_super(), before it writes anything else? All else in the two is equal: a
 * label, a feature, the totals of free blocks and inodes, a check. BEFORE must be clean.
 */
bool rj_super_is_mount_of(const uint8_t before[RJ_RAW_SUPER_BYTES],
	const uint8_t now[RJ_RAW_SUPER_BYTES]);

/* Is NOW what that mount and its unmount make of BEFORE, if nothing was written in it? */
bool rj_super_is_idle_mount_of(const uint8_t before[RJ_RAW_SUPER_BYTES],
	const uint8_t now[RJ_RAW_SUPER_BYTES]);

struct rj_super_marks {
	uint16_t mounts;  /* s_mnt_count */
	uint32_t checked; /* s_lastcheck */
	uint32_t mounted; /* s_mtime, the lower 32 bits of seconds since 1970 */
	bool clean; /* no journal to recover, no error, unmounted in order */
};

void rj_super_marks(const uint8_t raw[RJ_RAW_SUPER_BYTES],
	struct rj_super_marks *out);

#endif
