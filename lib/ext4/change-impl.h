/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by change.c and redo.c. */
#ifndef RJ_EXT4_CHANGE_IMPL_H
#define RJ_EXT4_CHANGE_IMPL_H

#include "ext4/overlay.h"

struct run {
	uint64_t first, count; /* blocks */
};

struct run_list {
	struct run *runs;
	size_t count, room;
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
	uint64_t redo_room; /* how many blocks there are; 0: nowhere */
};

#endif
