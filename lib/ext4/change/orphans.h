/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef RJ_EXT4_CHANGE_ORPHANS_H
#define RJ_EXT4_CHANGE_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* Blocks of extended attributes that e2fsck must not see, see orphans.c. */
struct rj_orphan_attrs {
	struct {
		uint32_t ino;
		uint64_t block;
	} *inodes;
	size_t count;
};

/*
 * Before e2fsck -p releases the orphans of the unmounted volume at PATH: change those
 * that it would release wrongly. After it (RELEASED): clear the orphan file. May be
 * cut at any point and repeated. UNDO_FILE as in rj_volume_open().
 * RJ_E_CORRUPT: the orphans, or their lists, are damaged. RJ_E_REFUSED: e2fsck must
 * not release them; the kernel does when it mounts the volume.
 *
 * With HIDDEN (in both calls; zeroed before the first; NULL: not used), none is
 * refused: the attributes are taken out of such inodes in the first call, and put back
 * in the second. A cut in between loses them, so this is for a copy that can be made
 * again. The caller frees HIDDEN->inodes.
 */
int rj_volume_orphans(const char *path, const char *undo_file, bool released,
	struct rj_orphan_attrs *hidden, struct rj_error *err);

#endif
