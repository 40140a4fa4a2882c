/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a writer does to a volume (ops.c), and what a crash may therefore leave
 * of it (model.c). Each thread works in a directory of its own. Its operations
 * follow from (seed, thread, number) and from what the ones before left, so that
 * a judge who knows only how many were acknowledged knows every byte. Most end
 * with the fsync or fdatasync that makes them durable; the others do not, and of
 * each file every version since its last fsync is kept: after a crash each byte
 * must be of one of them.
 */
#ifndef RJ_TEST_CRASH_OPS_H
#define RJ_TEST_CRASH_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPS_SLOTS      12
#define OPS_FILE_BYTES 65536
#define OPS_NAME_BYTES 96
#define OPS_BIG_BYTES  (1536u << 10) /* of the large file */
#define OPS_XATTR      "user.version"
#define OPS_XATTR_MAX  700
#define OPS_VERSIONS   10

enum op_kind {
	/* the thread's own directory; always its first. Casefolded if the volume can */
	OP_MKDIR,
	OP_CREATE,
	OP_WRITE, /* in the middle, at the end, or beyond it */
	OP_DIRECT, /* the same with O_DIRECT */
	OP_MMAP, /* its OP_SYNC_DATA is msync */
	OP_TRUNCATE, /* to fewer or more bytes */
	OP_ALLOCATE,
	OP_ALLOCATE_KEEP, /* blocks, beyond the end too; the size stays */
	OP_PUNCH,
	OP_ZERO,
	OP_COLLAPSE,
	OP_INSERT,
	OP_XATTR, /* set to len bytes; 0: removed */
	OP_REPLACE, /* a new file, fsynced, renamed over the old one */
	OP_UNLINK,
	OP_TREE, /* a directory with many names; its blocks are revoked later */
	OP_UNTREE,
	/* the large file written anew, under another name first: with data=journal
	 * it is in transactions that are shipped while the kernel writes them;
	 * sealed before the name is its, if the volume has verity */
	OP_BIG,
};

/* What ends an operation on a slot. OP_REPLACE and OP_UNLINK: none, or an fsync
 * of the directory. All on no slot end with an fsync. */
enum op_sync { OP_SYNC_NONE, OP_SYNC_DATA, OP_SYNC_ALL };

struct op {
	enum op_kind kind;
	enum op_sync sync;
	unsigned slot;
	uint32_t off, len; /* bytes; OP_TREE: len names */
	uint64_t fill;	   /* what is written, see ops_fill() */
};

/* One state of a name. */
struct ops_version {
	uint64_t file; /* which of the files that ever had it; 0: none has it */
	uint32_t size, xattr_len;
	uint64_t xattr_fill;
	uint8_t *data; /* size bytes; zeros follow */
};

struct ops_slot {
	/* What a crash may leave, the oldest first, the last as it is now. Of
	 * one file's versions a crash may leave a mixture. */
	struct ops_version v[OPS_VERSIONS];
	unsigned count;
};

struct ops {
	uint64_t seed;
	unsigned thread;
	uint64_t done;	/* operations acknowledged */
	struct op next; /* begun: the slots have its versions */
	uint64_t files; /* ever made */
	bool dir;
	uint32_t tree; /* names in the tree; 0: none */
	uint32_t big;  /* bytes of the large file; 0: none */
	uint64_t big_fill;
	struct ops_slot slots[OPS_SLOTS];
};

/* ---- model.c ---- */

/* No operation is done; the first is begun. Exits when memory is out, as
 * ops_acked() does. */
void ops_init(struct ops *o, uint64_t seed, unsigned thread);
void ops_release(struct ops *o);
/* The operation that was begun is acknowledged; the next is begun. */
void ops_acked(struct ops *o);
/* LEN bytes for byte OFF of a file. */
void ops_fill(uint8_t *out, uint32_t off, uint32_t len, uint64_t fill);
/* As it is when what was begun is done. */
const struct ops_version *ops_now(const struct ops *o, unsigned slot);
/* Name of a slot's file, and of number N in the tree. */
void ops_name(char out[OPS_NAME_BYTES], unsigned slot);
void ops_tree_name(char out[OPS_NAME_BYTES], uint32_t n);

/* ---- ops.c ---- */

/* Do what is begun below the directory ROOT. 0 or -1 with errno. */
int ops_run(const struct ops *o, int root);

#endif
