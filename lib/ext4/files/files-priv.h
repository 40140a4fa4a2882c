/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of lib/ext4/files share. */
#ifndef RJ_EXT4_FILES_FILES_PRIV_H
#define RJ_EXT4_FILES_FILES_PRIV_H

#include "ext4/ext4-priv.h"
#include "ext4/files/files.h"
#include "util/buf.h"

/* A block that was read last: a bitmap. */
struct kept_block {
	uint64_t nr; /* 0: none */
	uint8_t *data;
};

/* Where a group's inodes are. */
struct inode_table {
	uint64_t first, count; /* blocks */
	uint32_t group;
};

struct rj_files {
	ext2_filsys fs;
	struct rj_bio *bio;
	uint8_t super[RJ_SUPER_BYTES];
	struct inode_table *tables; /* fs->group_desc_count of them, ascending */
	struct kept_block inodes, blocks; /* bitmaps */
	struct rj_buf *trace; /* gets a struct rj_file_range of all that is read; or NULL */
	bool trace_failed;    /* out of memory */
};

/* Blocks of a file that follow each other. */
struct file_run {
	uint64_t logical, physical, count; /* blocks */
	bool unwritten; /* reads as zeros */
	bool map;	/* has extents, or block numbers, and no data */
};

/* ---- moment.c ---- */

int rj_files_fail(const struct rj_files *f, struct rj_error *err, long code, const char *what,
	uint64_t number);
/* Does the bitmap say that inode INO is in use? *OUT. */
int rj_files_inode_used(struct rj_files *f, uint32_t ino, bool *out, struct rj_error *err);
int rj_files_block_used(struct rj_files *f, uint64_t block, bool *out, struct rj_error *err);
int rj_files_inode(struct rj_files *f, uint32_t ino, struct ext2_inode_large *out,
	struct rj_error *err);
/* Note in f->trace that COUNT blocks from FIRST on were read. */
void rj_files_trace(struct rj_files *f, uint64_t first, uint64_t count);
int rj_files_block(struct rj_files *f, uint64_t block, void *out, struct rj_error *err);
/* The table that BLOCK is in; NULL: none. */
const struct inode_table *rj_files_table(const struct rj_files *f, uint64_t block);
/* Is BLOCK one of a superblock, of descriptors, of a bitmap, or of an inode table? */
bool rj_files_is_meta(const struct rj_files *f, uint64_t block);
/* Is INO, with i_flags FLAGS, one that no name leads to? */
bool rj_files_is_special(const struct rj_files *f, uint32_t ino, uint32_t flags);
/* How many groups are a flex group: the kernel puts a file, and its blocks, into that of its
 * directory while it has space. 1 without the feature. */
uint32_t rj_files_flex(const struct rj_files *f);
/* How many inodes GROUP has that may be in use, from its first one on. */
uint32_t rj_files_group_inodes(const struct rj_files *f, uint32_t group);

/* ---- runs.c ---- */

/* Append struct file_run of INO to OUT: its map's blocks, too. */
int rj_files_runs(struct rj_files *f, uint32_t ino, struct ext2_inode_large *inode,
	struct rj_buf *out, struct rj_error *err);

/* ---- the blocks that differ ---- */

struct block_set {
	const uint64_t *blocks; /* ascending */
	size_t count;
	uint8_t *owned; /* for each: its owner is known */
	size_t left;	/* of them whose owner is not */
};
/* The first one in S that is not below BLOCK, as an index. */
size_t rj_block_set_from(const struct block_set *s, uint64_t block);
bool rj_block_set_has(const struct block_set *s, uint64_t block);
/* Note that COUNT blocks from FIRST on have an owner. Returns how many of S had none. */
size_t rj_block_set_own(struct block_set *s, uint64_t first, uint64_t count);

/* ---- names.c ---- */

enum { BEFORE, AFTER };

struct arena {
	struct chunk *last;
};
/* NULL: no memory. */
char *rj_arena_text(struct arena *a, const char *text, size_t len);
/* DIR, "" of the root, with a slash and NAME. NULL: no memory. */
char *rj_arena_path(struct arena *a, const char *dir, const char *name);
void rj_arena_free(struct arena *a);

/* What is known of the directories in one moment. */
struct directories {
	struct rj_files *f;
	struct arena *arena;
	struct rj_files_cost *cost;
	uint8_t *read;	 /* a bit for each inode: the directory was read whole */
	uint8_t *wanted; /* a bit for each inode: its names are looked for; NULL */
	struct dir_known *known; /* a hash table, by inode */
	size_t known_count, known_room;
	/* Called with each name that is read; NULL. */
	int (*every)(void *arg, uint32_t dir, uint32_t child, const char *text, size_t len,
		struct rj_error *err);
	/* A wanted inode has this name. 1: no more is wanted. */
	int (*found)(void *arg, uint32_t dir, uint32_t child, const char *text, size_t len,
		struct rj_error *err);
	void *arg;
};
int rj_dirs_open(struct directories *d, struct rj_files *f, struct arena *arena,
	struct rj_files_cost *cost, struct rj_error *err);
void rj_dirs_close(struct directories *d);
/* Read directory INO whole, if it was not. 1 as of found(). */
int rj_dirs_read(struct directories *d, uint32_t ino, struct rj_error *err);
/* Read the directories whose inode is in GROUP. 1 as of found(). */
int rj_dirs_read_group(struct directories *d, uint32_t group, struct rj_error *err);
/* The entry of directory INO, not the root, in its parent. *TEXT is in the arena. */
int rj_dirs_entry(struct directories *d, uint32_t ino, uint32_t *parent, const char **text,
	struct rj_error *err);
/* The path of directory INO: "" of the root. *OUT is in the arena. */
int rj_dirs_path(struct directories *d, uint32_t ino, const char **out, struct rj_error *err);

/* ---- entries.c ---- */

/* Is the name TEXT "." or ".."? */
static inline bool rj_files_is_dot(const char *text, size_t len)
{
	return text[0] == '.' && (len == 1 || (len == 2 && text[1] == '.'));
}

/* Call FN for each entry in BLOCK of a directory, "." and ".." too. TYPE is EXT2_FT_...,
 * EXT2_FT_UNKNOWN without the feature. */
int rj_files_entries(struct rj_files *f, uint64_t block,
	int (*fn)(void *arg, uint32_t child, unsigned type, const char *text, size_t len,
		struct rj_error *err),
	void *arg, struct rj_error *err);

/* ---- content.c, attributes.c ---- */

/* Compare the regular files INO[BEFORE] and INO[AFTER]: *WHAT gets RJ_DIFF_CONTENT and _SIZE,
 * *BYTES those that differ. */
int rj_files_content(struct rj_files *const f[2], const uint32_t ino[2], const struct block_set *s,
	unsigned *what, uint64_t *bytes, struct rj_error *err);
/* Compare all else: RJ_DIFF_... */
int rj_files_attributes(struct rj_files *const f[2], const uint32_t ino[2], unsigned *what,
	struct rj_error *err);
int rj_files_facts(struct rj_files *f, uint32_t ino, struct rj_file_facts *out,
	struct rj_error *err);

/* ---- owners.c ---- */

/*
 * Find the inodes that have blocks of S without a known owner, in the moment after: blocks that
 * changed while no inode did. Their numbers are appended to OUT, of uint32_t.
 */
int rj_files_owners(struct rj_files *f, struct block_set *s, struct rj_buf *out,
	struct rj_files_cost *cost, struct rj_error *err);
/* Note that the blocks of INO have an owner. *ANY: some had none. */
int rj_files_own(struct rj_files *f, uint32_t ino, struct block_set *s, bool *any,
	struct rj_error *err);

#endif
