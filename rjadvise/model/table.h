/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files and directories that were written to: how much each grew. Bounded: what finds no
 * place any more is counted as untracked. No system call is made here.
 */
#ifndef RJADVISE_TABLE_H
#define RJADVISE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define TABLE_FILES (1u << 16) /* at most three quarters are used */
#define TABLE_DIRS  (1u << 12)

/* The handle of a file or directory of ext4: inode number and generation. */
struct handle_key {
	uint32_t inode, generation;
};

struct table_file {
	struct handle_key key; /* inode 0: free */
	uint32_t dir;	       /* place in dirs */
	bool dirty;	       /* written to since it was looked at */
	bool modified;	       /* not only closed since then */
	bool seen;	       /* SIZE is known */
	uint32_t window;       /* in which that was */
	uint64_t size;	       /* when it was looked at last */
};

struct table_dir {
	struct handle_key key;
	uint64_t writes;     /* events; the kernel merges those that follow each other */
	uint64_t files;	     /* different ones */
	uint64_t new_bytes;  /* by which its files grew */
	uint64_t in_place;   /* looks at a file that was written to and did not grow */
};

struct table {
	struct table_file *files;
	struct table_dir *dirs;
	uint32_t *dirty; /* places of files that wait to be looked at, a ring */
	uint32_t file_count, dir_count, dirty_begin, dirty_count;
	uint32_t window;    /* the caller's: a size of another one is not compared */
	uint64_t untracked; /* events of files that found no place */
	uint64_t gone;	    /* files that were removed before they were looked at */
	uint64_t older;	    /* files that were there before, whose growth before the first
			     * look is not known */
	uint64_t new_bytes; /* sum over the directories */
};

/* False: out of memory. For table_free(). */
bool table_init(struct table *t);
/* NULL-safe in its parts. */
void table_free(struct table *t);

/* Note that the file KEY in the directory DIR was written to (MODIFIED), or closed after it
 * was open for writing. */
void table_write(struct table *t, struct handle_key key, struct handle_key dir, bool modified);

/* The next file that waits to be looked at; NULL: none. It waits no more. */
struct table_file *table_next_dirty(struct table *t);

/* Note that F has SIZE bytes now. BORN: it was made during the observation. */
void table_looked(struct table *t, struct table_file *f, uint64_t size, bool born);
/* Note that F is not there any more. */
void table_gone(struct table *t, struct table_file *f);

#endif
