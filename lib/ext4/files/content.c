// SPDX-License-Identifier: LGPL-2.1-or-later
/* The bytes of two files: blocks at the same place, which did not change, are not read. */
#include "ext4/files/files-priv.h"

#include <stdlib.h>
#include <string.h>

/* One file, and a place in it. */
struct reader {
	struct rj_files *f;
	struct rj_buf runs; /* of struct file_run, by logical block; no map's */
	size_t at;
	uint64_t size; /* bytes */
	uint8_t *block;
};

static int by_logical(const void *a, const void *b)
{
	const struct file_run *x = a, *y = b;

	return x->logical < y->logical ? -1 : x->logical > y->logical;
}

static int open_reader(struct reader *r, struct rj_files *f, uint32_t ino, struct rj_error *err)
{
	struct ext2_inode_large inode;
	struct rj_buf all = {0};
	struct file_run run;
	size_t i;
	int rc = rj_files_inode(f, ino, &inode, err);

	r->f = f;
	r->block = malloc(f->fs->blocksize);
	if (!rc && !r->block)
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (!rc)
		rc = rj_files_runs(f, ino, &inode, &all, err);
	r->size = EXT2_I_SIZE((struct ext2_inode *)&inode);
	for (i = 0; !rc && i < all.len; i += sizeof(run)) {
		memcpy(&run, all.data + i, sizeof(run));
		if (!run.map && !run.unwritten && rj_buf_append(&r->runs, &run, sizeof(run)))
			rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	rj_buf_free(&all);
	if (!rc && r->runs.len)
		qsort(r->runs.data, r->runs.len / sizeof(run), sizeof(run), by_logical);
	return rc;
}

static void close_reader(struct reader *r)
{
	rj_buf_free(&r->runs);
	free(r->block);
}

/* The physical block of LOGICAL (0: zeros), and how many after it go on alike. LOGICAL does not
 * decrease. */
static uint64_t locate(struct reader *r, uint64_t logical, uint64_t *count)
{
	const struct file_run *run;

	for (; r->at < r->runs.len; r->at += sizeof(*run)) {
		run = (const void *)(r->runs.data + r->at);
		if (logical < run->logical) {
			*count = run->logical - logical;
			return 0;
		}
		if (logical < run->logical + run->count) {
			*count = run->logical + run->count - logical;
			return run->physical + (logical - run->logical);
		}
	}
	*count = UINT64_MAX;
	return 0;
}

static int read_block(struct reader *r, uint64_t physical, struct rj_error *err)
{
	if (physical)
		return rj_files_block(r->f, physical, r->block, err);
	memset(r->block, 0, r->f->fs->blocksize);
	return 0;
}

/* Compare COUNT blocks from LOGICAL on, of which each side has the first one at AT (0: zeros). */
static int compare_run(struct reader r[2], const uint64_t at[2], uint64_t logical, uint64_t count,
	uint64_t *bytes, struct rj_error *err)
{
	uint64_t least = r[BEFORE].size < r[AFTER].size ? r[BEFORE].size : r[AFTER].size;
	uint32_t bs = r[BEFORE].f->fs->blocksize;
	uint64_t i, off, len;
	int rc = 0;

	for (i = 0; !rc && i < count; i++) {
		off = (logical + i) * bs;
		len = least - off < bs ? least - off : bs;
		rc = read_block(&r[BEFORE], at[BEFORE] ? at[BEFORE] + i : 0, err);
		if (!rc)
			rc = read_block(&r[AFTER], at[AFTER] ? at[AFTER] + i : 0, err);
		if (!rc && memcmp(r[BEFORE].block, r[AFTER].block, len))
			*bytes += len;
	}
	return rc;
}

/* COUNT blocks from AT on are at the same place in both: compare those of S. */
static int compare_changed(struct reader r[2], uint64_t at, uint64_t logical, uint64_t count,
	const struct block_set *s, uint64_t *bytes, struct rj_error *err)
{
	size_t i = rj_block_set_from(s, at);
	uint64_t both[2];
	int rc = 0;

	for (; !rc && i < s->count && s->blocks[i] < at + count; i++) {
		both[BEFORE] = both[AFTER] = s->blocks[i];
		rc = compare_run(r, both, logical + (s->blocks[i] - at), 1, bytes, err);
	}
	return rc;
}

static int compare(struct reader r[2], const struct block_set *s, uint64_t *bytes,
	struct rj_error *err)
{
	uint64_t least = r[BEFORE].size < r[AFTER].size ? r[BEFORE].size : r[AFTER].size;
	uint32_t bs = r[BEFORE].f->fs->blocksize;
	uint64_t end = (least + bs - 1) / bs, logical, at[2], n, m;
	int rc = 0;

	for (logical = 0; !rc && logical < end; logical += n) {
		at[BEFORE] = locate(&r[BEFORE], logical, &n);
		at[AFTER] = locate(&r[AFTER], logical, &m);
		if (n > m)
			n = m;
		if (n > end - logical)
			n = end - logical;
		if (!at[BEFORE] && !at[AFTER])
			continue;
		if (at[BEFORE] == at[AFTER])
			rc = compare_changed(r, at[AFTER], logical, n, s, bytes, err);
		else
			rc = compare_run(r, at, logical, n, bytes, err);
	}
	return rc;
}

int rj_files_content(struct rj_files *const f[2], const uint32_t ino[2], const struct block_set *s,
	unsigned *what, uint64_t *bytes, struct rj_error *err)
{
	struct reader r[2] = {0};
	int rc = open_reader(&r[BEFORE], f[BEFORE], ino[BEFORE], err);

	*bytes = 0;
	if (!rc)
		rc = open_reader(&r[AFTER], f[AFTER], ino[AFTER], err);
	if (!rc)
		rc = compare(r, s, bytes, err);
	if (!rc && *bytes)
		*what |= RJ_DIFF_CONTENT;
	if (!rc && r[BEFORE].size != r[AFTER].size) {
		*what |= RJ_DIFF_SIZE;
		if (r[AFTER].size > r[BEFORE].size)
			*bytes += r[AFTER].size - r[BEFORE].size;
	}
	close_reader(&r[BEFORE]);
	close_reader(&r[AFTER]);
	return rc;
}
