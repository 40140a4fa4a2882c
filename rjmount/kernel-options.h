/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mount options, asked of the kernel before anything is started for a mount. */
#ifndef RJ_MOUNT_KERNEL_OPTIONS_H
#define RJ_MOUNT_KERNEL_OPTIONS_H

#include "util/error.h"

/*
 * Refuse options that the kernel's file system TYPE ("ext3", "ext4", "xfs") refuses.
 * WORDS: comma separated, may be NULL. Mounts nothing. RJ_E_INVAL: the option,
 * and the kernel's words on it; DEVICE is for that message. An option that is
 * refused only together with others, or by a kernel before 5.17, passes here.
 */
int rj_mount_check_words(const char *device, const char *type,
	const char *words, struct rj_error *err);

#endif
