/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is mounted where, from /proc/self/mountinfo. */
#ifndef RJ_UTIL_MOUNTINFO_H
#define RJ_UTIL_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>

/* The source (a device) of the last mount at DIR, or of the last mount of the
 * device DIR; SIZE bytes with the NUL. False: not mounted. */
bool rj_mountinfo_source(const char *dir, char *source, size_t size);
/* Is the device SOURCE mounted anywhere? */
bool rj_mountinfo_mounted(const char *source);

#endif
