/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is mounted where, from /proc/self/mountinfo. */
#ifndef RJ_MOUNT_MOUNTINFO_H
#define RJ_MOUNT_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>

/* The source (a device) of the last mount at DIR, or of the last mount of the
 * device DIR; SIZE bytes with the NUL. False: not mounted. */
bool rj_mountinfo_source(const char *dir, char *source, size_t size);
/* Is the device SOURCE mounted anywhere? */
bool rj_mountinfo_mounted(const char *source);

#endif
