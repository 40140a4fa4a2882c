// SPDX-License-Identifier: GPL-2.0-or-later
#include "contents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ext2fs/ext2fs.h>

#define PRIME 0x9E3779B97F4A7C15ull

/* Fast, and good enough to tell states apart: four lanes of multiply and
 * rotate. */
uint64_t contents_hash(uint64_t hash, const void *data, size_t len)
{
	uint64_t lane[4] = {hash + len, hash ^ PRIME, ~hash, hash * PRIME};
	const uint8_t *p = data;
	uint64_t word[4] = {0};
	unsigned i;
	size_t n;

	for (; len; p += n, len -= n) {
		n = len < sizeof(word) ? len : sizeof(word);
		memcpy(word, p, n);
		for (i = 0; i < 4; i++) {
			lane[i] = (lane[i] ^ word[i]) * PRIME;
			lane[i] ^= lane[i] >> 29;
		}
	}
	for (i = 0; i < 4; i++)
		hash = (hash ^ lane[i]) * PRIME ^ (lane[i] >> 31);
	return hash;
}

static int fail(errcode_t e, const char *what, char *why, size_t size)
{
	snprintf(why, size, "%s: libext2fs error %ld", what, (long)e);
	return -1;
}

static errcode_t open_fs(const char *path, ext2_filsys *fs)
{
	return ext2fs_open(
		path, EXT2_FLAG_64BITS, 0, 0, unix_io_manager, fs);
}

int contents_used(const char *path, const uint8_t *map, struct contents *out,
	char *why, size_t size)
{
	ext2_filsys fs = NULL;
	errcode_t e = open_fs(path, &fs);
	uint64_t hash = PRIME, blocks;
	blk64_t b;

	if (e)
		return fail(e, "open", why, size);
	e = ext2fs_read_block_bitmap(fs);
	if (e)
		goto out;
	blocks = ext2fs_blocks_count(fs->super);
	for (b = fs->super->s_first_data_block; b < blocks; b++) {
		if (!ext2fs_test_block_bitmap2(fs->block_map, b))
			continue;
		hash = contents_hash(
			hash ^ b, map + b * fs->blocksize, fs->blocksize);
	}
	out->used_hash = hash;
	out->free_blocks = ext2fs_free_blocks_count(fs->super);
	out->free_inodes = fs->super->s_free_inodes_count;
out:
	ext2fs_free(fs);
	return e ? fail(e, "block bitmap", why, size) : 0;
}

struct walk {
	ext2_filsys fs;
	uint64_t hash;
	unsigned count;
	unsigned depth;
	errcode_t error;
};

static errcode_t hash_bytes(struct walk *w, ext2_ino_t ino)
{
	static uint8_t buf[65536];
	ext2_file_t file;
	unsigned got = 0;
	errcode_t e = ext2fs_file_open(w->fs, ino, 0, &file);

	if (e)
		return e;
	do {
		e = ext2fs_file_read(file, buf, sizeof(buf), &got);
		w->hash = contents_hash(w->hash, buf, got);
	} while (!e && got);
	ext2fs_file_close(file);
	return e;
}

static int walk_entry(ext2_ino_t dir, int entry, struct ext2_dir_entry *de,
	int offset, int blocksize, char *buf, void *arg);

static errcode_t walk_dir(struct walk *w, ext2_ino_t dir)
{
	errcode_t e;

	if (++w->depth > 16)
		return EXT2_ET_DIR_CORRUPTED;
	e = ext2fs_dir_iterate2(w->fs, dir, 0, NULL, walk_entry, w);
	w->depth--;
	return e ? e : w->error;
}

static int walk_entry(ext2_ino_t dir, int entry, struct ext2_dir_entry *de,
	int offset, int blocksize, char *buf, void *arg)
{
	int len = ext2fs_dirent_name_len(de);
	struct walk *w = arg;
	struct ext2_inode inode;

	if (entry == DIRENT_DOT_FILE || entry == DIRENT_DOT_DOT_FILE)
		return 0;
	w->count++;
	w->hash = contents_hash(w->hash, de->name, (size_t)len);
	w->error = ext2fs_read_inode(w->fs, de->inode, &inode);
	if (w->error)
		return DIRENT_ABORT;
	/* block numbers too: nothing may have moved */
	w->hash = contents_hash(w->hash, &inode, sizeof(inode));
	if (LINUX_S_ISDIR(inode.i_mode))
		w->error = walk_dir(w, de->inode);
	else if (LINUX_S_ISREG(inode.i_mode))
		w->error = hash_bytes(w, de->inode);
	return w->error ? DIRENT_ABORT : 0;
}

int contents_files(const char *path, uint64_t *hash, unsigned *count,
	char *why, size_t size)
{
	struct walk w = {.hash = PRIME};
	errcode_t e = open_fs(path, &w.fs);

	if (e)
		return fail(e, "open", why, size);
	e = walk_dir(&w, EXT2_ROOT_INO);
	ext2fs_free(w.fs);
	*hash = w.hash;
	*count = w.count;
	return e ? fail(e, "files", why, size) : 0;
}
