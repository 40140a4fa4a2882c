/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef RJ_EXT4_CHANGE_ORPHANS_H
#define RJ_EXT4_CHANGE_ORPHANS_H

#include <stdbool.h>

#include "util/error.h"

/*
 * Before e2fsck -p is to release the orphans of the unmounted volume at PATH:
 * change those that it would release wrongly. Afterwards (RELEASED): clear the
 * orphan file. Can be cut and run again. UNDO_FILE as in rj_volume_open().
 * RJ_E_CORRUPT: the orphans, or what they hang on, are damaged. RJ_E_REFUSED: e2fsck
 * must not release them, the kernel does when it mounts the volume.
 */
int rj_volume_orphans(const char *path, const char *undo_file, bool released,
	struct rj_error *err);

#endif
