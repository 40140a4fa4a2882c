/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One comparison of two moments: inodes.c, changed-names.c and diff.c share it. */
#ifndef RJ_EXT4_FILES_DIFF_PRIV_H
#define RJ_EXT4_FILES_DIFF_PRIV_H

#include "ext4/files/files-priv.h"

/* What is at an inode's number in the two moments. */
enum inode_state {
	INODE_SAME,  /* one file */
	INODE_SPLIT, /* two, one after the other */
	INODE_GONE,
	INODE_NEW,
	INODE_NONE, /* no file: never had one, deleted while open, or the volume's own */
};

struct changed_inode {
	uint32_t ino;
	enum inode_state state;
	struct {
		uint32_t mode, links, generation; /* LINKS 0: no file */
		uint32_t missing; /* names that are not known yet */
	} side[2];
	unsigned what; /* INODE_SAME: RJ_DIFF_... */
	uint64_t bytes;
};

/* A name in a directory. IDENT 0: the file, or the directory, is one in both moments; else
 * 1 + the side. */
struct file_name {
	uint32_t dir, child;
	uint8_t dir_ident, ident;
	const char *text;
};

struct diff {
	struct rj_files *f[2];
	struct block_set set;
	struct rj_buf inodes; /* of struct changed_inode, ascending */
	/* Of struct file_name: NAMES of one side alone, of blocks that changed; MORE were looked
	 * for. */
	struct rj_buf names[2], more[2];
	struct arena arena;
	struct directories dirs[2];
	struct rj_files_cost *cost;
	struct rj_buf lines; /* of struct rj_file_change */
};

static inline bool is_dir_mode(uint32_t mode)
{
	return LINUX_S_ISDIR(mode);
}

/* ---- inodes.c ---- */

/* Fill D->inodes, and find the owners of all blocks that changed. */
int rj_diff_inodes(struct diff *d, struct rj_error *err);
/* Add those to D->inodes that got or lost a name while their bytes are the same: renamed within one
 * step of the clock. */
int rj_diff_add_named(struct diff *d, struct rj_error *err);
/* NULL: it did not change. */
struct changed_inode *rj_diff_inode(const struct diff *d, uint32_t ino);
/* Which file INO is, as file_name.ident has it. */
uint8_t rj_diff_ident(const struct diff *d, uint32_t ino, int side);

/* ---- changed-names.c ---- */

/* Fill D->names from the blocks of directories that changed. */
int rj_diff_names(struct diff *d, struct rj_error *err);
/* Fill D->more with those names of SIDE that changed_inode.missing asks for. RJ_E_CORRUPT: there
 * are fewer. */
int rj_diff_missing(struct diff *d, int side, struct rj_error *err);
/* As qsort() compares: by directory and text. */
int rj_diff_by_place(const void *a, const void *b);
/* The names of CHILD in NAMES, as rj_diff_names() sorts them: *COUNT from that on which is
 * returned. */
const struct file_name *rj_diff_names_of(const struct rj_buf *names, uint32_t child, size_t *count);

#endif
