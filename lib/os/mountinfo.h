/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is mounted where, from /proc/PID/mountinfo. */
#ifndef RJ_OS_MOUNTINFO_H
#define RJ_OS_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The source (a device) of the last mount at DIR, or of the last mount of the
 * device DIR; SIZE bytes with the NUL. False: not mounted. */
bool rj_mountinfo_source(const char *dir, char *source, size_t size);
/* Is the device SOURCE mounted anywhere? */
bool rj_mountinfo_mounted(const char *source);
/* Where the ext2, ext3, ext4 or XFS volume VOLUME (a block device, or an image that
 * a loop device shows, even a removed one) is mounted: a directory, SIZE bytes
 * with the NUL, and the device's number. Something else may be mounted over that
 * directory. */
bool rj_mountinfo_of_volume(
	const char *volume, char *dir, size_t size, dev_t *dev);
/* The same for the mount namespace of the process PID. */
bool rj_mountinfo_of_process(
	long pid, const char *volume, char *dir, size_t size);
/* Get the kernel's name of the block device DEV ("sda1"), as it is used below
 * /sys/fs/ext4 and /proc/fs/ext4; SIZE bytes with the NUL. */
bool rj_mountinfo_device_name(dev_t dev, char *name, size_t size);
/* Is the ext2, ext3 or ext4 volume on the device NAME mounted with OPTION? Of all
 * options, the default ones too, as /proc/fs/ext4 shows them. */
bool rj_mountinfo_ext4_option(const char *name, const char *option);

#endif
