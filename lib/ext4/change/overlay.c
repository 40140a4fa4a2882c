// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An io_manager for libext2fs that collects what is written. libext2fs knows how every
 * combination of features lays out a journal inode, but not how to write that so that a
 * power cut harms nothing: redo.c writes the blocks in an order of our own.
 */
#include "ext4/change/overlay.h"

#include <stdlib.h>
#include <string.h>

static size_t place_of(const struct overlay *o, uint64_t nr)
{
	size_t lo = 0, hi = o->count, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (o->blocks[mid].nr < nr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Get block NR as it was written; NULL: it is as on the volume. */
static const uint8_t *find(const struct overlay *o, uint64_t nr)
{
	size_t at = place_of(o, nr);

	return at < o->count && o->blocks[at].nr == nr ? o->blocks[at].data
						       : NULL;
}

void rj_overlay_forget(struct overlay *o, uint64_t first, uint64_t count)
{
	size_t at;

	for (at = place_of(o, first);
		at < o->count && o->blocks[at].nr < first + count; at++) {
		free(o->blocks[at].data);
		o->blocks[at].data = NULL;
	}
}

void rj_overlay_free(struct overlay *o)
{
	size_t i;

	for (i = 0; i < o->count; i++)
		free(o->blocks[i].data);
	free(o->blocks);
	memset(o, 0, sizeof(*o));
}

/* The block's bytes in memory, read from below if it has none yet. */
static errcode_t own_block(struct overlay *o, uint64_t nr, uint8_t **out)
{
	size_t at = place_of(o, nr);
	struct overlay_block *more;
	uint8_t *data;

	if (at < o->count && o->blocks[at].nr == nr) {
		*out = o->blocks[at].data;
		return 0;
	}
	if (o->count == o->capacity) {
		size_t capacity = o->capacity ? o->capacity * 2 : 64;

		more = realloc(o->blocks, capacity * sizeof(*more));
		if (!more)
			return EXT2_ET_NO_MEMORY;
		o->blocks = more;
		o->capacity = capacity;
	}
	data = malloc(o->block_size);
	if (!data)
		return EXT2_ET_NO_MEMORY;
	if (o->below->read(o->below, data, o->block_size, nr * o->block_size,
		    NULL)) {
		free(data);
		return EXT2_ET_SHORT_READ;
	}
	memmove(o->blocks + at + 1, o->blocks + at,
		(o->count - at) * sizeof(*o->blocks));
	o->blocks[at] = (struct overlay_block){.nr = nr, .data = data};
	o->count++;
	*out = data;
	return 0;
}

static errcode_t read_bytes(
	struct overlay *o, uint8_t *out, uint64_t len, uint64_t off)
{
	uint32_t bs = o->block_size;
	const uint8_t *mine;
	uint64_t nr, n;

	/* the superblock may be asked for before anything is known */
	if (o->below->read(o->below, out, len, off, NULL))
		return EXT2_ET_SHORT_READ;
	if (!o->count)
		return 0;
	for (; len; out += n, off += n, len -= n) {
		nr = off / bs;
		n = bs - off % bs;
		if (n > len)
			n = len;
		mine = find(o, nr);
		if (mine)
			memcpy(out, mine + off % bs, n);
	}
	return 0;
}

static errcode_t write_bytes(
	struct overlay *o, const uint8_t *data, uint64_t len, uint64_t off)
{
	uint32_t bs = o->block_size;
	uint8_t *mine, *now = malloc(bs);
	errcode_t e = now ? 0 : EXT2_ET_NO_MEMORY;
	uint64_t nr, n;

	for (; !e && len; data += n, off += n, len -= n) {
		nr = off / bs;
		n = bs - off % bs;
		if (n > len)
			n = len;
		/* most bitmaps and descriptors are written as they were read */
		e = read_bytes(o, now, n, off);
		if (e || !memcmp(now, data, n))
			continue;
		e = own_block(o, nr, &mine);
		if (!e)
			memcpy(mine + off % bs, data, n);
	}
	free(now);
	return e;
}

static struct overlay *of(io_channel channel)
{
	return channel->private_data;
}

static uint64_t bytes_of(io_channel channel, int count)
{
	return count < 0 ? (uint64_t)-(int64_t)count
			 : (uint64_t)count * (uint64_t)channel->block_size;
}

static errcode_t overlay_read64(io_channel channel, unsigned long long block,
	int count, void *data)
{
	return read_bytes(of(channel), data, bytes_of(channel, count),
		block * (uint64_t)channel->block_size);
}

static errcode_t overlay_write64(io_channel channel, unsigned long long block,
	int count, const void *data)
{
	return write_bytes(of(channel), data, bytes_of(channel, count),
		block * (uint64_t)channel->block_size);
}

static errcode_t overlay_read(
	io_channel channel, unsigned long block, int count, void *data)
{
	return overlay_read64(channel, block, count, data);
}

static errcode_t overlay_write(
	io_channel channel, unsigned long block, int count, const void *data)
{
	return overlay_write64(channel, block, count, data);
}

static errcode_t overlay_write_byte(
	io_channel channel, unsigned long offset, int count, const void *data)
{
	return write_bytes(of(channel), data, (uint64_t)count, offset);
}

static struct struct_io_manager overlay_manager = {
	.magic = EXT2_ET_MAGIC_IO_MANAGER,
	.name = "rjprogs overlay",
	.open = rj_ext4_channel_open,
	.close = rj_ext4_channel_close,
	.set_blksize = rj_ext4_channel_set_blksize,
	.read_blk = overlay_read,
	.write_blk = overlay_write,
	.flush = rj_ext4_channel_flush,
	.write_byte = overlay_write_byte,
	.read_blk64 = overlay_read64,
	.write_blk64 = overlay_write64,
};

int rj_overlay_open(struct rj_volume *v, struct overlay *o, ext2_filsys *fs,
	struct rj_error *err)
{
	errcode_t e;

	o->below = &v->bio;
	o->block_size = v->facts.block_size;
	/* with MMP it would write to the device itself */
	e = rj_ext4_open_over(v->path, EXT2_FLAG_RW | EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP,
		&overlay_manager, o, fs);
	if (e)
		return rj_ext4_fail(err, RJ_E_CORRUPT, e,
			"%s: cannot read its group descriptors; try e2fsck -f",
			v->path);
	return 0;
}
