/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The volume that is on the device, before another one is made there. */
#ifndef MKRJFS_SERVED_H
#define MKRJFS_SERVED_H

#include <stdbool.h>

#include "format/sbx.h"
#include "util/error.h"
#include "util/uuid.h"

/* The log of the filesystem that was there before; url "": it had none. */
struct left {
	char url[RJ_SBX_URL_BYTES], uuid[RJ_UUID_TEXT];
};

/*
 * Refuse DEVICE while an rjournald serves the journal of the volume that is there
 * (RJ_E_BUSY), and, without FORCE (-F), if it holds a fallback file (RJ_E_EXISTS): mke2fs and
 * mkfs.xfs do not see that. LEFT gets the log that will be left.
 */
int check_served(const char *device, bool force, struct left *left, struct rj_error *err);

#endif
