/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Change many blocks of a volume so that a power cut cannot leave the change half done:
 * make a journal inode, or remove it or the orphan file. All new contents are computed
 * first, then written as a redo record into blocks that are free (or belong to the
 * journal that is made or removed), next to each other or not, and only then, block by
 * block, in place.
 * From the first to the last write in place the superblock keeps out every program that
 * does not know the redo record. doc/moving.md has the record's bytes.
 */
#ifndef RJ_EXT4_CHANGE_CHANGE_H
#define RJ_EXT4_CHANGE_CHANGE_H

#include "ext4/volume.h"

struct rj_change;

struct rj_change_opts {
	bool drop_inode; /* free the journal inode's blocks and clear it */
	/* Free the orphan file and clear its feature; a volume without one stays
	 * as it is. */
	bool drop_orphan_file;
	bool make_inode; /* a journal inode of BLOCKS and FC_BLOCKS blocks */
	uint32_t blocks;
	uint32_t fc_blocks; /* after the log proper; 0: none */
	bool goal_given;
	uint64_t goal; /* begin looking for space at this block */
	/* The volume's new UUID (NULL: it stays). Group descriptors whose checksums
	 * include the UUID get new checksums. */
	const uint8_t *uuid;
};

/*
 * Compute the change; reads only. With neither inode nor UUID to change it is
 * empty, and rj_change_blocks() is 0. RJ_E_NOSPACE: no space for the journal, or for
 * the redo record. RJ_E_REFUSED: inodes are in the orphan file.
 */
int rj_change_plan(struct rj_volume *v, const struct rj_change_opts *opts,
	struct rj_change **out, struct rj_error *err);
/* NULL-safe. */
void rj_change_free(struct rj_change *c);
/* Get the number of blocks that will be written in place, without superblocks. */
uint32_t rj_change_blocks(const struct rj_change *c);

/*
 * Write the new journal's blocks: zeros and its superblock; no flush. The blocks
 * are still free, so their old contents are not needed.
 */
int rj_change_make_journal(
	struct rj_volume *v, struct rj_change *c, struct rj_error *err);
/*
 * Set the fields of the superblock at the end: P's, in addition to those that the
 * change itself sets. P's set_journal is for a journal that is not internal.
 */
int rj_change_finish_super(struct rj_volume *v, struct rj_change *c,
	const struct rj_volume_patch *p, struct rj_error *err);
/* Write the redo record, without a flush. ID and *BLOCK (where it begins) must be in
 * the extension for rj_change_load() to find it. */
int rj_change_write_redo(struct rj_volume *v, struct rj_change *c,
	const uint8_t id[RJ_UUID_BYTES], uint64_t *block,
	struct rj_error *err);
/* Read the redo record. RJ_E_CORRUPT: it is damaged, or another ID's. */
int rj_change_load(struct rj_volume *v, uint64_t block,
	const uint8_t id[RJ_UUID_BYTES], struct rj_change **out,
	struct rj_error *err);
/*
 * Carry out the change: write all blocks and backup superblocks, flush, then write the
 * primary superblock in one write, and flush. May be cut at any point and repeated. The
 * primary's extension stays as it is: a caller that noted the change there removes the
 * note afterwards.
 */
int rj_change_apply(
	struct rj_volume *v, struct rj_change *c, struct rj_error *err);

#endif
