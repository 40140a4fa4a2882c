/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a writer does to a volume, and what must therefore be in it. Each
 * thread works in a directory of its own. Its operations follow from (seed,
 * thread, number) and from what the ones before left, so that a judge who
 * knows only how many were acknowledged knows every byte. Each operation ends
 * with the fsync or fdatasync that makes it durable.
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

enum op_kind {
	OP_MKDIR, /* the thread's own directory; always its first */
	OP_CREATE,
	OP_APPEND,
	OP_OVERWRITE,
	OP_TRUNCATE,
	OP_REPLACE, /* a new file, fsynced, renamed over the old one */
	OP_UNLINK,
	OP_TREE, /* a directory with many names; its blocks are revoked later */
	OP_UNTREE,
	/* the large file written anew, under another name first: with data=journal
	 * it is in transactions that are shipped while the kernel writes them */
	OP_BIG,
};

struct op {
	enum op_kind kind;
	unsigned slot;
	uint32_t off, len; /* bytes; OP_TREE: len names */
	uint64_t fill;	   /* what is written, see ops_fill() */
};

struct ops_file {
	bool there;
	uint32_t size;
	uint8_t *data;
};

struct ops {
	uint64_t seed;
	unsigned thread;
	uint64_t done; /* operations applied */
	bool dir;
	uint32_t tree; /* names in the tree; 0: none */
	uint32_t big;  /* bytes of the large file; 0: none */
	uint64_t big_fill;
	struct ops_file files[OPS_SLOTS];
};

void ops_init(struct ops *o, uint64_t seed, unsigned thread);
void ops_release(struct ops *o);
/* The next operation. */
void ops_next(const struct ops *o, struct op *out);
/* It was acknowledged. 0, or -1 when memory is out. */
int ops_apply(struct ops *o, const struct op *op);
/* Do it, durably, below the directory ROOT. 0 or -1 with errno. */
int ops_run(const struct ops *o, const struct op *op, int root);
/* LEN bytes for byte OFF of a file. */
void ops_fill(uint8_t *out, uint32_t off, uint32_t len, uint64_t fill);
/* Name of a slot's file, and of number N in the tree. */
void ops_name(char out[OPS_NAME_BYTES], unsigned slot);
void ops_tree_name(char out[OPS_NAME_BYTES], uint32_t n);

#endif
