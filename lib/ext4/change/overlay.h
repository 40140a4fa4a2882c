/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keep what libext2fs would write in memory. Private to lib/ext4. */
#ifndef RJ_EXT4_CHANGE_OVERLAY_H
#define RJ_EXT4_CHANGE_OVERLAY_H

#include "ext4/ext4-priv.h"

struct overlay_block {
	uint64_t nr;
	uint8_t *data; /* block_size bytes; NULL: forgotten, it is as on the volume */
};

/* Blocks that differ from the volume's, ascending. */
struct overlay {
	struct rj_bio *below;
	uint32_t block_size;
	struct overlay_block *blocks;
	size_t count, capacity;
};

/*
 * Open the volume V for libext2fs, for writing, through O (zeroed by the caller):
 * reads see what was written, and V itself does not change. O must outlive FS.
 */
int rj_overlay_open(struct rj_volume *v, struct overlay *o, ext2_filsys *fs,
	struct rj_error *err);
/* Drop what was written to COUNT blocks from FIRST on. After the last write alone. */
void rj_overlay_forget(struct overlay *o, uint64_t first, uint64_t count);
void rj_overlay_free(struct overlay *o);

#endif
