/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by change.c, orphan-file.c and redo.c. */
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
	struct overlay_block *images; /* ascending: what will stand there */
	size_t count;
	uint8_t super[RJ_SUPER_BYTES]; /* the primary at the end */
	struct run_list journal;       /* the new one's, in its order */
	uint32_t journal_blocks;
	uint8_t *jsb;	    /* its first block */
	uint64_t redo_at;   /* where the redo record may stand, and */
	uint64_t redo_space; /* how many blocks there are; 0: nowhere */
};

/* Inode INO's blocks, added to lists of the caller's (either may be NULL): of
 * data in order, and all with those that map them. */
errcode_t rj_change_collect(ext2_filsys fs, ext2_ino_t ino,
	struct run_list *data, struct run_list *all);
/* Take the orphan file away, all inside the overlay of FS, whose bitmaps are
 * read. FREED gets its blocks. RJ_E_REFUSED: there are orphans in it. */
int rj_change_drop_orphan_file(struct rj_volume *v, ext2_filsys fs,
	struct run_list *freed, struct rj_error *err);
/* How many blocks C's redo record has. */
uint64_t rj_change_redo_blocks(const struct rj_change *c);

#endif
