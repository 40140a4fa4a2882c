/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files of a volume in two moments, compared by the blocks that differ: what is read grows
 * with the change, and not with the volume (doc/history.md, "What changed").
 */
#ifndef RJ_EXT4_FILES_FILES_H
#define RJ_EXT4_FILES_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/bio.h"
#include "util/buf.h"
#include "util/error.h"

/* A volume in one moment, for reading. */
struct rj_files;

/*
 * Open the volume on BIO as *OUT, with SUPER, 1024 bytes, as its primary superblock, whatever BIO
 * has there. BIO stays the caller's, must outlive *OUT, and is not written. RJ_E_CORRUPT: the
 * superblock or the group descriptors; RJ_E_NOMEM.
 */
int rj_files_open(struct rj_bio *bio, const uint8_t super[1024], struct rj_files **out,
	struct rj_error *err);
/* NULL-safe. */
void rj_files_close(struct rj_files *f);

enum rj_file_kind {
	RJ_FILE_MADE,	 /* a name that is new */
	RJ_FILE_REMOVED, /* a name that is gone */
	RJ_FILE_RENAMED, /* another name of the same file */
	RJ_FILE_CHANGED, /* the same name, and what is in WHAT differs */
};

/* What differs, as bits. */
#define RJ_DIFF_CONTENT	 0x1u /* bytes up to the smaller one of the two sizes */
#define RJ_DIFF_SIZE	 0x2u
#define RJ_DIFF_MODE	 0x4u
#define RJ_DIFF_OWNER	 0x8u
#define RJ_DIFF_MTIME	 0x10u
#define RJ_DIFF_XATTR	 0x20u
#define RJ_DIFF_FLAGS	 0x40u /* of chattr(1) */
#define RJ_DIFF_REPLACED 0x80u /* another regular file has the name now */
#define RJ_DIFF_LINK	 0x100u /* RJ_FILE_MADE, _REMOVED: of a file that has, or had, others */

/* A file in one moment; all 0 where it is not. */
struct rj_file_facts {
	uint32_t inode, generation, mode, uid, gid; /* MODE with its kind, as st_mode */
	uint64_t size;	  /* bytes */
	int64_t mtime_ns; /* since 1970 */
};

struct rj_file_change {
	enum rj_file_kind kind;
	unsigned what;	  /* of RJ_DIFF_... */
	const char *path; /* from the root, "/" first: of REMOVED before, else after */
	const char *from; /* of RENAMED: the path before; else NULL */
	struct rj_file_facts before, after;
	uint64_t bytes; /* of content that differ, in whole blocks up to the size; MADE and REMOVED
			 * of a regular file: its size */
};

/* What a comparison read. */
struct rj_files_cost {
	uint64_t blocks;      /* that differ */
	uint64_t inodes;      /* that differ */
	uint64_t directories; /* that were read whole, to find a name */
	uint64_t groups;      /* whose inodes were read, to find a directory or a block's owner */
};

/* Blocks that follow each other. */
struct rj_file_range {
	uint64_t first, count;
};

/*
 * Call EACH for each name that PATTERN, a path from the root, leads to: words between slashes are
 * as fnmatch(3) takes them with FNM_PERIOD. READ gets, instead of what it had, the struct
 * rj_file_range of all that this rests on, with CONTENT also where the bytes of the files are:
 * while none of these blocks changes, the same call finds the same. A non-zero return of EACH
 * ends it and is returned. RJ_E_CORRUPT, RJ_E_NOMEM, what the bio reports.
 */
int rj_files_match(struct rj_files *f, const char *pattern, bool content,
	int (*each)(void *arg, const char *path, const struct rj_file_facts *facts,
		struct rj_error *err),
	void *arg, struct rj_buf *read, struct rj_error *err);
/* Is one of the COUNT BLOCKS, ascending, in READ, as rj_files_match() fills it? */
bool rj_files_touched(const struct rj_buf *read, const uint64_t *blocks, size_t count);
/* Compare the regular files, or others alike, with inodes BEFORE_INO and AFTER_INO: *WHAT gets
 * RJ_DIFF_..., *BYTES as in rj_file_change. BLOCKS as of rj_files_diff(). */
int rj_files_differ(struct rj_files *before, uint32_t before_ino, struct rj_files *after,
	uint32_t after_ino, const uint64_t *blocks, size_t count, unsigned *what, uint64_t *bytes,
	struct rj_error *err);

/*
 * Call EACH for each name in the volume that matches PATTERN, as fnmatch(3) takes it with
 * FNM_PERIOD, with its path. All directories are read. As rj_files_match().
 */
int rj_files_search(struct rj_files *f, const char *pattern,
	int (*each)(void *arg, const char *path, uint32_t inode, struct rj_error *err), void *arg,
	struct rj_error *err);

/*
 * Tell EACH of what differs between BEFORE and AFTER, sorted by path. BLOCKS, ascending, are the
 * COUNT blocks whose content differs, all of them. A file is an inode with its generation: after
 * the removal of a name another file can have it. A directory is told of when it is made, removed
 * or renamed, or when its mode, owner, flags or extended attributes differ; not for its mtime. Of a
 * renamed directory what is below it is not told of. Changes are valid during the call; a
 * non-zero return (a negated rj_code) ends it and is returned.
 *
 * RJ_E_CORRUPT: a directory, inode or extent that cannot be decoded; RJ_E_UNSUPPORTED:
 * inline_data; RJ_E_NOMEM; what BIO reports.
 */
int rj_files_diff(struct rj_files *before, struct rj_files *after, const uint64_t *blocks,
	size_t count, int (*each)(void *arg, const struct rj_file_change *c), void *arg,
	struct rj_files_cost *cost, struct rj_error *err);

#endif
