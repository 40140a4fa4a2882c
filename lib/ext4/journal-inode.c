// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read and write the internal journal by byte offsets from its superblock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext4/ext4-priv.h"
#include "ext4/journal.h"

struct extent {
	uint64_t logical, physical, count; /* blocks */
};

struct inode_bio {
	struct rj_bio bio;
	struct rj_volume *v;
	struct extent *extents; /* ascending and without holes */
	size_t count, capacity;
	bool bad; /* a hole, a block outside, or no memory */
};

static int add_block(ext2_filsys fs, blk64_t *nr, e2_blkcnt_t at, blk64_t ref,
	int ref_offset, void *arg)
{
	struct inode_bio *b = arg;
	struct extent *e = b->count ? &b->extents[b->count - 1] : NULL;
	uint64_t want = e ? e->logical + e->count : 0;

	if ((uint64_t)at != want || !*nr || *nr >= b->v->facts.blocks) {
		b->bad = true;
		return BLOCK_ABORT;
	}
	if (e && e->physical + e->count == *nr) {
		e->count++;
		return 0;
	}
	if (b->count == b->capacity) {
		size_t capacity = b->capacity ? b->capacity * 2 : 64;
		struct extent *p = realloc(b->extents, capacity * sizeof(*p));

		if (!p) {
			b->bad = true;
			return BLOCK_ABORT;
		}
		b->extents = p;
		b->capacity = capacity;
	}
	b->extents[b->count++] =
		(struct extent){.logical = want, .physical = *nr, .count = 1};
	return 0;
}

/* One piece of [OFF, OFF+LEN) that is contiguous in the volume. */
static size_t piece(const struct inode_bio *b, uint64_t off, size_t len,
	uint64_t *at)
{
	uint32_t bs = b->v->facts.block_size;
	uint64_t block = off / bs, left;
	size_t lo = 0, hi = b->count, mid;
	const struct extent *e;

	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (b->extents[mid].logical <= block)
			lo = mid;
		else
			hi = mid;
	}
	e = &b->extents[lo];
	*at = (e->physical + (block - e->logical)) * bs + off % bs;
	left = (e->logical + e->count) * bs - off;
	return len < left ? len : (size_t)left;
}

static int check_range(
	struct rj_bio *bio, size_t len, uint64_t off, struct rj_error *err)
{
	if (off > bio->size_bytes || len > bio->size_bytes - off)
		return rj_fail(err, RJ_E_INVAL,
			"%s: %zu bytes at byte %llu reach past its end",
			bio->name, len, (unsigned long long)off);
	return 0;
}

static int inode_read(struct rj_bio *bio, void *out, size_t len, uint64_t off,
	struct rj_error *err)
{
	struct inode_bio *b = (struct inode_bio *)bio;
	int rc = check_range(bio, len, off, err);
	uint8_t *p = out;
	uint64_t at;
	size_t n;

	for (; !rc && len; p += n, off += n, len -= n) {
		n = piece(b, off, len, &at);
		rc = b->v->bio.read(&b->v->bio, p, n, at, err);
	}
	return rc;
}

static int inode_write(struct rj_bio *bio, const void *data, size_t len,
	uint64_t off, struct rj_error *err)
{
	struct inode_bio *b = (struct inode_bio *)bio;
	int rc = check_range(bio, len, off, err);
	const uint8_t *p = data;
	uint64_t at;
	size_t n;

	for (; !rc && len; p += n, off += n, len -= n) {
		n = piece(b, off, len, &at);
		rc = b->v->bio.write(&b->v->bio, p, n, at, err);
	}
	return rc;
}

static size_t inode_locate(struct rj_bio *bio, bool write, size_t len,
	uint64_t off, int *fd, uint64_t *at)
{
	struct inode_bio *b = (struct inode_bio *)bio;
	uint64_t start;
	size_t n;

	if (check_range(bio, len, off, NULL))
		return 0;
	n = piece(b, off, len, &start);
	return b->v->bio.locate(&b->v->bio, write, n, start, fd, at);
}

static int inode_flush(struct rj_bio *bio, struct rj_error *err)
{
	struct inode_bio *b = (struct inode_bio *)bio;

	return b->v->bio.flush(&b->v->bio, err);
}

static void inode_free(struct rj_bio *bio)
{
	struct inode_bio *b = (struct inode_bio *)bio;

	free(b->extents);
	free(b);
}

/* The journal's inode, or with BACKUP the copy of its block map that the
 * superblock keeps (e2fsck_get_journal() falls back to it too). */
static errcode_t read_inode(
	ext2_filsys fs, bool backup, struct ext2_inode *inode)
{
	const struct ext2_super_block *sb = fs->super;
	errcode_t e;
	int i;

	if (!backup) {
		e = ext2fs_read_inode(fs, sb->s_journal_inum, inode);
		if (!e && (!inode->i_links_count ||
				  !LINUX_S_ISREG(inode->i_mode)))
			e = EXT2_ET_NO_JOURNAL;
		return e;
	}
	if (sb->s_jnl_backup_type != EXT3_JNL_BACKUP_BLOCKS)
		return EXT2_ET_NO_JOURNAL;
	memset(inode, 0, sizeof(*inode));
	for (i = 0; i < EXT2_N_BLOCKS; i++)
		inode->i_block[i] = sb->s_jnl_blocks[i];
	inode->i_size_high = sb->s_jnl_blocks[15];
	inode->i_size = sb->s_jnl_blocks[16];
	inode->i_links_count = 1;
	inode->i_mode = LINUX_S_IFREG | 0600;
	if (fs->super->s_feature_incompat & EXT3_FEATURE_INCOMPAT_EXTENTS &&
		(inode->i_block[0] & 0xFFFF) == 0xF30A)
		inode->i_flags = EXT4_EXTENTS_FL;
	return 0;
}

/* The backup is an inode only in memory, which no iterator of libext2fs takes:
 * ask for each block. */
static errcode_t map_backup(
	ext2_filsys fs, struct inode_bio *b, struct ext2_inode *inode)
{
	blk64_t nr, n, blocks = EXT2_I_SIZE(inode) / fs->blocksize;
	errcode_t e;

	for (n = 0; n < blocks && !b->bad; n++) {
		e = ext2fs_bmap2(fs, fs->super->s_journal_inum, inode, NULL, 0,
			n, NULL, &nr);
		if (e)
			return e;
		add_block(fs, &nr, (e2_blkcnt_t)n, 0, 0, b);
	}
	return 0;
}

static errcode_t map_blocks(
	ext2_filsys fs, struct inode_bio *b, bool backup, uint64_t *size)
{
	struct ext2_inode inode;
	uint64_t mapped;
	errcode_t e = read_inode(fs, backup, &inode);

	if (e)
		return e;
	b->count = 0;
	b->bad = false;
	if (backup)
		e = map_backup(fs, b, &inode);
	else
		e = ext2fs_block_iterate3(fs, fs->super->s_journal_inum,
			BLOCK_FLAG_READ_ONLY | BLOCK_FLAG_DATA_ONLY, NULL,
			add_block, b);
	if (e)
		return e;
	if (b->bad || !b->count)
		return EXT2_ET_BAD_BLOCK_NUM;
	mapped = b->extents[b->count - 1].logical +
		 b->extents[b->count - 1].count;
	*size = EXT2_I_SIZE(&inode) / fs->blocksize;
	if (mapped < *size)
		*size = mapped;
	*size *= fs->blocksize;
	return 0;
}

int rj_volume_journal_bio(
	struct rj_volume *v, struct rj_bio **out, struct rj_error *err)
{
	struct inode_bio *b = calloc(1, sizeof(*b));
	ext2_filsys fs = NULL;
	errcode_t e;
	uint64_t size = 0;

	*out = NULL;
	if (!b)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	b->v = v;
	b->bio.free = inode_free;
	e = ext2fs_open(v->path,
		EXT2_FLAG_64BITS | EXT2_FLAG_IGNORE_CSUM_ERRORS, 0, 0,
		unix_io_manager, &fs);
	if (!e) {
		e = map_blocks(fs, b, false, &size);
		if (e)
			e = map_blocks(fs, b, true, &size);
		/* opened for reading: nothing of ours can be lost here */
		ext2fs_close_free(&fs);
	}
	if (e) {
		inode_free(&b->bio);
		return rj_ext4_fail(err, RJ_E_CORRUPT, e,
			"%s: its journal inode is not usable", v->path);
	}
	b->bio.read = inode_read;
	b->bio.locate = inode_locate;
	b->bio.write = v->bio.write ? inode_write : NULL;
	b->bio.flush = v->bio.write ? inode_flush : NULL;
	b->bio.size_bytes = size;
	snprintf(b->bio.name, sizeof(b->bio.name), "internal journal of %.200s",
		v->path);
	*out = &b->bio;
	return 0;
}
