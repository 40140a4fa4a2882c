// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Implied revokes. With data=journal ext4 logs no revokes (ext4_forget()), and
 * relies on the log's last copy of a block being the newest of its contents. But
 * it zeroes the blocks around a partial write into an unwritten extent on the
 * device itself, so that a copy from before the block was freed would bring back
 * the bytes of a deleted file. A block bitmap in the log tells that the block was
 * free at the end of that transaction: no copy up to it is needed.
 */
#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2-priv.h"

/* struct ext4_group_desc; little-endian */
enum {
	GD_BLOCK_BITMAP = 0x00,
	GD_INODE_BITMAP = 0x04,
	GD_INODE_TABLE = 0x08,
	GD_FREE_BLOCKS = 0x0C, /* clusters */
	GD_FLAGS = 0x12,
	GD_BLOCK_BITMAP_HI = 0x20,
	GD_INODE_BITMAP_HI = 0x24,
	GD_INODE_TABLE_HI = 0x28,
	GD_FREE_BLOCKS_HI = 0x2C,
};
#define GD_BYTES_SHORT	32u
#define GD_BYTES_LONG	64u
#define GD_BLOCK_UNINIT 0x2u /* the bitmap's block means nothing */

struct freed {
	struct rj_jbd2_plan *p;
	struct rj_bio *log;
	struct rj_jbd2_groups g;
	uint64_t fs_blocks, groups, desc_blocks;
	uint32_t block_size, per; /* descriptors in a block */
	uint8_t *desc, *bitmap;	  /* a block each */
	/* For each descriptor of a block that is looked at in this round: the
	 * clusters of its group that have
	 * copies and that no later transaction shows as free; a block each. */
	uint8_t *kept;
	bool *begun; /* kept is filled in */
	uint32_t round; /* descriptors that kept has space for */
};

/* What kept may take: a block of 64 KiB has up to 2048 descriptors. */
#define KEPT_BYTES (8u << 20)

/* A group at the end of one transaction. */
struct group {
	uint64_t first, blocks;
	uint64_t bitmap, inode_bitmap, inode_table; /* their blocks */
	size_t slot; /* of its bitmap in kept */
	uint32_t tid, clusters, free;
	bool uninit;
};

static uint64_t block_of(const struct jbd2_copy *c)
{
	return c->key & JBD2_COPY_BLOCK;
}

/* The first copy of BLOCK or of a higher one; the copies are sorted. */
static size_t first_from(const struct jbd2_copies *c, uint64_t block)
{
	size_t low = 0, high = c->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (block_of(&c->v[mid]) < block)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The copies of BLOCK in transactions up to TID end before this one. */
static size_t end_of(const struct jbd2_copies *c, uint64_t block, uint32_t tid)
{
	size_t low = 0, high = c->n, mid;
	uint64_t at;

	while (low < high) {
		mid = low + (high - low) / 2;
		at = block_of(&c->v[mid]);
		if (at < block ||
			(at == block && !jbd2_tid_gt(c->v[mid].tid, tid)))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static const struct jbd2_copy *copy_in(
	const struct jbd2_copies *c, uint64_t block, uint32_t tid)
{
	size_t i = end_of(c, block, tid);

	return i && block_of(&c->v[i - 1]) == block && c->v[i - 1].tid == tid
		       ? &c->v[i - 1]
		       : NULL;
}

static uint64_t field(
	const struct freed *f, const uint8_t *desc, unsigned low, unsigned high)
{
	uint64_t v = rj_get_le32(desc + low);

	if (f->g.desc_bytes >= GD_BYTES_LONG)
		v |= (uint64_t)rj_get_le32(desc + high) << 32;
	return v;
}

static void decode(const struct freed *f, uint32_t at, uint64_t nr,
	uint32_t tid, struct group *out)
{
	const uint8_t *desc = f->desc + (size_t)at * f->g.desc_bytes;
	uint32_t bits = f->g.cluster_bits;

	out->tid = tid;
	out->slot = at % f->round;
	out->first = f->g.first + nr * f->g.group_blocks;
	out->blocks = f->fs_blocks - out->first;
	if (out->blocks > f->g.group_blocks)
		out->blocks = f->g.group_blocks;
	out->clusters = (uint32_t)((out->blocks + (1u << bits) - 1) >> bits);
	out->bitmap = field(f, desc, GD_BLOCK_BITMAP, GD_BLOCK_BITMAP_HI);
	out->inode_bitmap = field(f, desc, GD_INODE_BITMAP, GD_INODE_BITMAP_HI);
	out->inode_table = field(f, desc, GD_INODE_TABLE, GD_INODE_TABLE_HI);
	out->free = rj_get_le16(desc + GD_FREE_BLOCKS);
	if (f->g.desc_bytes >= GD_BYTES_LONG)
		out->free |= (uint32_t)rj_get_le16(desc + GD_FREE_BLOCKS_HI)
			     << 16;
	out->uninit = rj_get_le16(desc + GD_FLAGS) & GD_BLOCK_UNINIT;
}

/* BLOCK is of another group, or in use. */
static bool not_free(
	const struct freed *f, const struct group *g, uint64_t block)
{
	uint64_t bit = (block - g->first) >> f->g.cluster_bits;

	return block < g->first || block - g->first >= g->blocks ||
	       f->bitmap[bit / 8] & 1u << bit % 8;
}

static uint32_t count_free(const uint8_t *bitmap, uint32_t clusters)
{
	uint32_t used = 0, i;

	for (i = 0; i + 64 <= clusters; i += 64)
		used += (uint32_t)__builtin_popcountll(
			rj_get_le64(bitmap + i / 8));
	for (; i < clusters; i++)
		used += bitmap[i / 8] >> i % 8 & 1;
	return clusters - used;
}

/* The bitmap agrees with its descriptor of the same transaction, and has what is
 * never free in use. */
static bool believed(const struct freed *f, const struct group *g)
{
	uint64_t end = f->g.descs + f->desc_blocks, block;

	if (g->uninit || count_free(f->bitmap, g->clusters) != g->free ||
		!not_free(f, g, g->bitmap) || !not_free(f, g, g->inode_bitmap) ||
		!not_free(f, g, g->inode_table))
		return false;
	if (end > g->first + g->blocks)
		end = g->first + g->blocks;
	for (block = g->first; block < end; block++)
		if (!not_free(f, g, block))
			return false;
	return true;
}

/* The clusters of G that have copies. */
static uint8_t *kept_of(struct freed *f, const struct group *g)
{
	const struct jbd2_copies *c = &f->p->copies;
	uint8_t *kept = f->kept + g->slot * f->block_size;
	uint64_t bit;
	size_t i;

	if (f->begun[g->slot])
		return kept;
	f->begun[g->slot] = true;
	memset(kept, 0, f->block_size);
	for (i = first_from(c, g->first);
		i < c->n && block_of(&c->v[i]) < g->first + g->blocks; i++) {
		bit = (block_of(&c->v[i]) - g->first) >> f->g.cluster_bits;
		kept[bit / 8] |= (uint8_t)(1u << bit % 8);
	}
	return kept;
}

/* Cluster NR of G is free: no copy up to its transaction is needed. */
static void mark_cluster(struct freed *f, const struct group *g, uint32_t nr)
{
	struct jbd2_copies *c = &f->p->copies;
	uint64_t block = g->first + ((uint64_t)nr << f->g.cluster_bits);
	uint64_t end = block + (1ull << f->g.cluster_bits);
	size_t i = first_from(c, block);

	for (; i < c->n && block_of(&c->v[i]) < end; i++)
		if (!jbd2_tid_gt(c->v[i].tid, g->tid))
			c->v[i].key |= JBD2_COPY_FREED;
}

/*
 * Of a group that a transaction changed: mark what is free at its end. Called from
 * the last such transaction to the first, so that each cluster is marked once: by
 * the last that shows it as free.
 */
static void mark(struct freed *f, const struct group *g)
{
	const struct jbd2_copy *bitmap =
		copy_in(&f->p->copies, g->bitmap, g->tid);
	uint8_t *kept, gone;
	uint32_t i;

	/* what cannot be read proves nothing; if it is needed, replay says so */
	if (!bitmap ||
		jbd2_plan_copy(f->p, f->log, bitmap, f->bitmap, NULL) ||
		!believed(f, g))
		return;
	kept = kept_of(f, g);
	for (i = 0; i < (g->clusters + 7) / 8; i++) {
		gone = kept[i] & (uint8_t)~f->bitmap[i];
		kept[i] &= f->bitmap[i];
		for (; gone; gone &= (uint8_t)(gone - 1))
			mark_cluster(f, g, i * 8 + (uint32_t)__builtin_ctz(gone));
	}
}

static bool usable(const struct freed *f, uint32_t block_size)
{
	const struct rj_jbd2_groups *g = &f->g;

	return g->group_blocks && g->cluster_bits < 32 &&
	       g->group_blocks % (1u << g->cluster_bits) == 0 &&
	       g->group_blocks >> g->cluster_bits <= block_size * 8 &&
	       g->desc_bytes >= GD_BYTES_SHORT &&
	       block_size % g->desc_bytes == 0 && f->fs_blocks > g->first;
}

/* The groups FROM to FROM + round of the block whose copies end before AT. Returns
 * where those of another block end. */
static size_t mark_round(struct freed *f, size_t at, uint32_t from)
{
	const struct jbd2_copies *c = &f->p->copies;
	uint64_t block = block_of(&c->v[at - 1]);
	uint64_t nr = (block - f->g.descs) * f->per;
	struct group g;
	uint32_t i;

	memset(f->begun, 0, f->round * sizeof(*f->begun));
	for (; at && block_of(&c->v[at - 1]) == block; at--) {
		if (jbd2_plan_copy(f->p, f->log, &c->v[at - 1], f->desc, NULL))
			continue;
		for (i = from; i < f->per && i - from < f->round &&
			       nr + i < f->groups; i++) {
			decode(f, i, nr + i, c->v[at - 1].tid, &g);
			mark(f, &g);
		}
	}
	return at;
}

/* The copies of descriptors before AT down to those of another block. */
static size_t mark_groups(struct freed *f, size_t at)
{
	size_t end = at;
	uint32_t from;

	for (from = 0; from < f->per; from += f->round)
		end = mark_round(f, at, from);
	return end;
}

int jbd2_freed_mark(struct rj_jbd2_plan *p, struct rj_bio *log,
	const struct rj_jbd2_scan_opts *opts, struct rj_error *err)
{
	struct freed f = {.p = p, .log = log, .g = opts->groups,
		.fs_blocks = opts->fs_blocks,
		.block_size = p->info.sb.block_size};
	const struct jbd2_copies *c = &p->copies;
	size_t at;

	/* other modes than data=journal log all revokes that are needed */
	if (p->info.revokes || !usable(&f, f.block_size))
		return 0;
	f.groups = (f.fs_blocks - f.g.first - 1) / f.g.group_blocks + 1;
	f.per = f.block_size / f.g.desc_bytes;
	f.desc_blocks = (f.groups - 1) / f.per + 1;
	f.round = KEPT_BYTES / f.block_size;
	if (f.round > f.per)
		f.round = f.per;
	f.desc = malloc((2 + (size_t)f.round) * f.block_size);
	f.begun = calloc(f.round, sizeof(*f.begun));
	if (!f.desc || !f.begun) {
		free(f.desc);
		free(f.begun);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	f.bitmap = f.desc + f.block_size;
	f.kept = f.bitmap + f.block_size;
	at = first_from(c, f.g.descs + f.desc_blocks);
	while (at && block_of(&c->v[at - 1]) >= f.g.descs)
		at = mark_groups(&f, at);
	free(f.desc);
	free(f.begun);
	return 0;
}
