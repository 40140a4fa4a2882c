/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A change of many blocks of a volume that a power cut cannot leave half done:
 * giving it a journal inode, or taking that or the orphan file away. All new
 * contents are worked out first, then written as a redo record into blocks that
 * are free (or belong to the journal that comes or goes), and only then, block by
 * block, in place.
 * Between the first and the last of these the superblock shuts out every
 * program that does not know the redo record. doc/moving.md has the record's bytes.
 */
#ifndef RJ_EXT4_CHANGE_CHANGE_H
#define RJ_EXT4_CHANGE_CHANGE_H

#include "ext4/volume.h"

struct rj_change;

struct rj_change_opts {
	bool drop_inode; /* free the journal inode's blocks and clear it */
	/* Free the orphan file and take its feature away; a volume that has
	 * none stays as it is. */
	bool drop_orphan_file;
	bool make_inode; /* a journal inode of BLOCKS and FC_BLOCKS blocks */
	uint32_t blocks;
	uint32_t fc_blocks; /* after the log proper; 0: none */
	bool goal_given;
	uint64_t goal; /* begin looking for space at this block */
	/* The volume's UUID becomes this (NULL: stays), and group descriptors
	 * whose checksums it is part of get new checksums. */
	const uint8_t *uuid;
};

/*
 * Work out the change; reads only. With neither inode nor UUID to change it is
 * empty, and rj_change_blocks() 0. RJ_E_NOSPACE: no space for the journal, or for
 * the redo record. RJ_E_REFUSED: inodes are in the orphan file.
 */
int rj_change_plan(struct rj_volume *v, const struct rj_change_opts *opts,
	struct rj_change **out, struct rj_error *err);
/* NULL-safe. */
void rj_change_free(struct rj_change *c);
/* How many blocks will be written in place (superblocks aside). */
uint32_t rj_change_blocks(const struct rj_change *c);
/* The length of the journal that it makes, fast-commit blocks included. */
uint32_t rj_change_journal_blocks(const struct rj_change *c);

/*
 * Write the new journal's blocks: zeros and its superblock; no flush. The blocks
 * are still free, so their old contents are not needed.
 */
int rj_change_make_journal(
	struct rj_volume *v, struct rj_change *c, struct rj_error *err);
/*
 * Set what the superblock is to say at the end: P's fields, on top of what the
 * change itself brings. P's set_journal is for a journal that is not internal.
 */
int rj_change_finish_super(struct rj_volume *v, struct rj_change *c,
	const struct rj_volume_patch *p, struct rj_error *err);
/* Write the redo record, not flushed. ID and BLOCK are what the
 * extension must hold for rj_change_load() to find it. */
int rj_change_write_redo(struct rj_volume *v, struct rj_change *c,
	const uint8_t id[RJ_UUID_BYTES], uint64_t *block,
	struct rj_error *err);
/* Read it back. RJ_E_CORRUPT: it is not what it was, or not ID's. */
int rj_change_load(struct rj_volume *v, uint64_t block,
	const uint8_t id[RJ_UUID_BYTES], struct rj_change **out,
	struct rj_error *err);
/*
 * Do it: all blocks and backup superblocks, a flush, then the primary
 * superblock in one write, a flush. Can be cut and done again. The primary's
 * extension stays as it is: a caller with a note of the change there removes it
 * afterwards.
 */
int rj_change_apply(
	struct rj_volume *v, struct rj_change *c, struct rj_error *err);

#endif
