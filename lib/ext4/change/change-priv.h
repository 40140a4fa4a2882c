/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by block-runs.c, change.c, orphan-file.c, places.c and redo.c. */
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

/* The blocks of a redo record: COUNT from block FIRST on or, if AT is not NULL, those. */
struct places {
	uint64_t first, count;
	uint64_t *at;
};

/* How the record and each block of its map begin. */
enum {
	R_MAGIC = 0,
	R_VERSION = 4,
	R_ID = 8,
	R_BLOCK_SIZE = 24,
	R_COUNT = 28,
	R_CRC = 32, /* of what has it, itself taken as 0 */
	R_START_BYTES = 36,
};
#define REDO_MAGIC "RJRL"

struct rj_change {
	uint32_t block_size;
	uint8_t old_uuid[RJ_UUID_BYTES];
	struct overlay_block *images; /* ascending by block: the new contents */
	size_t count;
	uint8_t super[RJ_SUPER_BYTES]; /* the primary at the end */
	struct run_list journal;       /* of the new journal, in its order */
	uint8_t *jsb;	    /* the new journal's first block */
	/* For the redo record: first the blocks of its map, then its own. */
	struct places places;
};

/* Add inode INO's blocks to lists of the caller's (either may be NULL): to DATA those of
 * data, in order, to ALL also those that map them. */
errcode_t rj_change_collect(ext2_filsys fs, ext2_ino_t ino,
	struct run_list *data, struct run_list *all);
/* Remove the orphan file, only inside the overlay of FS, whose bitmaps are read. FREED
 * gets its blocks. RJ_E_REFUSED: there are orphans in it. */
int rj_change_drop_orphan_file(struct rj_volume *v, ext2_filsys fs,
	struct run_list *freed, struct rj_error *err);
/* Get the number of blocks of C's redo record, without its map. */
uint64_t rj_change_redo_blocks(const struct rj_change *c);
/* Put how the record of ID, or a block of its map, begins into RAW; COUNT as the version has it. */
void rj_change_start(uint8_t *raw, uint32_t version,
	const uint8_t id[RJ_UUID_BYTES], uint32_t block_size, uint32_t count);
/* Get the checksum for R_CRC of the LEN bytes at RAW. */
uint32_t rj_change_crc(uint8_t *raw, uint64_t len);
/* Fail: the redo record is not usable. */
int rj_change_bad_redo(struct rj_volume *v, uint64_t block, const char *what,
	struct rj_error *err);
/*
 * Choose the places of C's redo record, NEED blocks and a map of them, among the new
 * journal's blocks, those of the OLD journal, and what is free before and after: FS is as
 * after the change, GONE are the blocks that it frees. RJ_E_NOSPACE. RJ_E_CORRUPT: the
 * bitmaps are wrong.
 */
int rj_change_find_places(struct rj_volume *v, ext2_filsys fs,
	struct rj_change *c, uint64_t need, const struct run_list *old,
	const struct run_list *gone, struct rj_error *err);
/* Write the map of C's redo record, which has BLOCKS blocks. */
int rj_change_write_map(struct rj_volume *v, const struct rj_change *c,
	uint64_t blocks, const uint8_t id[RJ_UUID_BYTES], struct rj_error *err);
/* Get the places of the redo record that begins at BLOCK, without its map. OUT->at is the
 * caller's to free, also after a failure. RJ_E_CORRUPT, RJ_E_UNSUPPORTED. */
int rj_change_read_map(struct rj_volume *v, uint64_t block,
	const uint8_t id[RJ_UUID_BYTES], struct places *out,
	struct rj_error *err);

#endif
