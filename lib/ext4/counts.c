// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compute the superblock's totals of free blocks and inodes. The kernel has them in
 * memory and writes them only now and then, never through the journal; after a crash
 * they are stale until the group descriptors, which are journalled, are added up
 * (ext4_setup_super() does that at mount, e2fsck's check_super does too).
 */
#include "ext4/ext4-priv.h"

int rj_ext4_sum_free(struct rj_volume *v, uint64_t *blocks, uint32_t *inodes,
	struct rj_error *err)
{
	ext2_filsys fs = NULL;
	errcode_t code;
	dgrp_t g;

	code = ext2fs_open(v->path,
		EXT2_FLAG_64BITS | EXT2_FLAG_IGNORE_CSUM_ERRORS, 0, 0,
		unix_io_manager, &fs);
	if (code)
		return rj_ext4_fail(err, RJ_E_CORRUPT, code,
			"%s: cannot read the group descriptors", v->path);
	*blocks = 0;
	*inodes = 0;
	for (g = 0; g < fs->group_desc_count; g++) {
		*blocks += ext2fs_bg_free_blocks_count(fs, g);
		*inodes += ext2fs_bg_free_inodes_count(fs, g);
	}
	*blocks *= (uint64_t)EXT2FS_CLUSTER_RATIO(fs);
	/* opened for reading: nothing of ours can be lost here */
	ext2fs_close_free(&fs);
	return 0;
}
