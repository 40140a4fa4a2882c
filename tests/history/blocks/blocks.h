/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compare two images of one ext2, ext3 or ext4 volume block by block: all that the first
 * one's bitmaps show as in use. What may differ is a list of classes, each counted.
 */
#ifndef RJ_TEST_HISTORY_BLOCKS_H
#define RJ_TEST_HISTORY_BLOCKS_H

#include <stdint.h>

enum block_class {
	BLOCK_SUPER,	/* the primary superblock, in fields of super.c's list */
	BLOCK_BACKUP,	/* a copy of it, in the same fields */
	BLOCK_ITABLE,	/* of an inode table or a bitmap: no descriptor counts it as in use */
	BLOCK_UNWRITTEN, /* data of an unwritten extent */
	BLOCK_CLUSTER,	/* of a cluster in use, and belonging to nothing */
	BLOCK_CLASSES
};

struct blocks_result {
	uint64_t used, equal;		 /* blocks in use; the same in both */
	uint64_t differs[BLOCK_CLASSES]; /* as it may */
	uint64_t wrong;			 /* as it must not */
	char why[256];			 /* the first wrong one */
};

/* Open both with libext2fs, and compare. 0, or -1 with r->why: an image cannot be read. */
int blocks_compare(const char *good, const char *found, struct blocks_result *r);
/* Print the counts, in one line. */
void blocks_print(const struct blocks_result *r);

/* Do A and B, superblocks of 1024 bytes, differ in nothing but what a restore, a mount or
 * an unmount writes past the log? Else *AT is the first byte that differs. */
int blocks_same_super(const uint8_t *a, const uint8_t *b, unsigned *at);

#endif
