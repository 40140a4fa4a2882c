/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by block-runs.c, change.c, orphan-file.c and redo.c. */
#ifndef RJ_EXT4_CHANGE_PRIV_H
#define RJ_EXT4_CHANGE_PRIV_H

#include "ext4/change/overlay.h"

struct run {
	uint64_t first, count; /* blocks */
};

struct run_list {
	struct run *runs;
	size_t count, capacity;
};

struct rj_change {
	uint32_t block_size;
	uint8_t old_uuid[RJ_UUID_BYTES];
	struct overlay_block *images; /* ascending by block: the new contents */
	size_t count;
	uint8_t super[RJ_SUPER_BYTES]; /* the primary at the end */
	struct run_list journal;       /* of the new journal, in its order */
	uint8_t *jsb;	    /* the new journal's first block */
	uint64_t redo_at;   /* first block of the space for the redo record, and */
	uint64_t redo_space; /* its blocks; 0: there is no space */
};

/* Add inode INO's blocks to lists of the caller's (either may be NULL): to DATA those of
 * data, in order, to ALL also those that map them. */
errcode_t rj_change_collect(ext2_filsys fs, ext2_ino_t ino,
	struct run_list *data, struct run_list *all);
/* Remove the orphan file, only inside the overlay of FS, whose bitmaps are read. FREED
 * gets its blocks. RJ_E_REFUSED: there are orphans in it. */
int rj_change_drop_orphan_file(struct rj_volume *v, ext2_filsys fs,
	struct run_list *freed, struct rj_error *err);
/* Get the number of blocks of C's redo record. */
uint64_t rj_change_redo_blocks(const struct rj_change *c);

#endif
