// SPDX-License-Identifier: GPL-2.0-or-later
/* The block groups of the target blocks: bitmaps and descriptors as they change. */
#include <stdlib.h>
#include <string.h>

#include "jbd2/logmaker.h"
#include "util/bytes.h"
#include "util/crc32c.h"

/* struct ext4_group_desc; little-endian */
enum {
	GD_BLOCK_BITMAP = 0x00,
	GD_FREE_BLOCKS = 0x0C,
	GD_FLAGS = 0x12,
	GD_BITMAP_CSUM = 0x18,
	GD_CSUM = 0x1E,
	GD_BITMAP_CSUM_HI = 0x38,
	GD_BYTES_SHORT = 32,
};
#define BLOCK_UNINIT 2u

static uint8_t *desc_of(struct lm_groups *g, uint32_t i)
{
	return g->bytes + (size_t)(g->first + i) * g->desc_bytes;
}

static uint8_t *bitmap_of(struct lm_groups *g, uint32_t i)
{
	return g->bytes + (size_t)(1 + i) * g->block_size;
}

static uint32_t blocks_of(const struct lm_groups *g, uint32_t i)
{
	uint64_t begin = g->first_block +
			 (uint64_t)(g->first + i) * g->group_blocks;

	return g->fs_blocks - begin < g->group_blocks
		       ? (uint32_t)(g->fs_blocks - begin)
		       : g->group_blocks;
}

static uint32_t count_free(struct lm_groups *g, uint32_t i)
{
	const uint8_t *b = bitmap_of(g, i);
	uint32_t bit, n = 0;

	for (bit = 0; bit < blocks_of(g, i); bit++)
		n += !(b[bit / 8] >> bit % 8 & 1);
	return n;
}

static uint16_t crc16(uint16_t crc, const void *data, size_t len)
{
	const uint8_t *b = data;
	int i;

	for (; len; len--, b++)
		for (crc ^= *b, i = 0; i < 8; i++)
			crc = (uint16_t)(crc >> 1 ^ (crc & 1 ? 0xA001 : 0));
	return crc;
}

/* ext4_group_desc_csum() */
static uint16_t desc_csum(const struct lm_groups *g, uint32_t nr, const uint8_t *d)
{
	uint8_t group[4], none[2] = {0};
	uint32_t rest = g->desc_bytes - GD_BYTES_SHORT, crc;
	uint16_t sum;

	rj_put_le32(group, nr);
	if (g->csum == LM_GROUPS_CRC32C) {
		crc = rj_crc32c(g->seed, group, sizeof(group));
		crc = rj_crc32c(crc, d, GD_CSUM);
		crc = rj_crc32c(crc, none, sizeof(none));
		return (uint16_t)rj_crc32c(crc, d + GD_BYTES_SHORT, rest);
	}
	sum = crc16(0xFFFF, g->uuid, sizeof(g->uuid));
	sum = crc16(sum, group, sizeof(group));
	sum = crc16(sum, d, GD_CSUM);
	return crc16(sum, d + GD_BYTES_SHORT, rest);
}

static void seal(struct lm_groups *g, uint32_t i)
{
	uint32_t crc = rj_crc32c(g->seed, bitmap_of(g, i), g->group_blocks / 8);
	uint32_t n = count_free(g, i);
	uint8_t *d = desc_of(g, i);
	bool wide = g->desc_bytes > GD_BYTES_SHORT;

	rj_put_le16(d + GD_FREE_BLOCKS, (uint16_t)n);
	if (g->csum == LM_GROUPS_CRC32C) {
		rj_put_le16(d + GD_BITMAP_CSUM, (uint16_t)crc);
		if (wide)
			rj_put_le16(d + GD_BITMAP_CSUM_HI, (uint16_t)(crc >> 16));
	}
	if (g->csum != LM_GROUPS_PLAIN)
		rj_put_le16(d + GD_CSUM, desc_csum(g, g->first + i, d));
}

/* As ext4_init_block_bitmap() does: here what is in use stands at the group's
 * begin (backups of the superblock and the descriptors). */
static void init_bitmap(struct lm_groups *g, uint32_t i)
{
	uint8_t *b = bitmap_of(g, i), *d = desc_of(g, i);
	uint32_t used = blocks_of(g, i) - rj_get_le16(d + GD_FREE_BLOCKS), bit;

	memset(b, 0, g->block_size);
	for (bit = 0; bit < g->block_size * 8; bit++)
		if (bit < used || bit >= blocks_of(g, i))
			b[bit / 8] |= (uint8_t)(1u << bit % 8);
	rj_put_le16(d + GD_FLAGS,
		(uint16_t)(rj_get_le16(d + GD_FLAGS) & ~BLOCK_UNINIT));
	seal(g, i);
}

static bool read_group(struct lm_groups *g, uint32_t i, const struct rj_buf *volume)
{
	const uint8_t *d = desc_of(g, i);
	uint64_t at = (uint64_t)rj_get_le32(d + GD_BLOCK_BITMAP) * g->block_size;

	if (at + g->block_size > volume->len)
		return false;
	memcpy(bitmap_of(g, i), volume->data + at, g->block_size);
	if (rj_get_le16(d + GD_FLAGS) & BLOCK_UNINIT)
		init_bitmap(g, i);
	return rj_get_le16(d + GD_FREE_BLOCKS) == count_free(g, i);
}

bool lm_groups_read(struct lm_groups *g, const struct rj_buf *volume)
{
	const uint8_t *sb = volume->data + 1024;
	uint32_t ro_compat, last, i;

	if (volume->len < 4096)
		return false;
	g->block_size = 1024u << rj_get_le32(sb + 0x18);
	g->first_block = rj_get_le32(sb + 0x14);
	g->fs_blocks = rj_get_le32(sb + 0x04);
	g->group_blocks = rj_get_le32(sb + 0x20);
	g->desc_bytes = rj_get_le32(sb + 0x60) & 0x80 ? rj_get_le16(sb + 0xFE)
						      : GD_BYTES_SHORT;
	ro_compat = rj_get_le32(sb + 0x64);
	g->csum = ro_compat & 0x400	 ? LM_GROUPS_CRC32C
		  : ro_compat & 0x10 ? LM_GROUPS_CRC16
				     : LM_GROUPS_PLAIN;
	memcpy(g->uuid, sb + 0x68, sizeof(g->uuid));
	g->seed = rj_crc32c(~0u, g->uuid, sizeof(g->uuid));
	g->desc_block = g->first_block + 1;
	g->first = (uint32_t)(g->target - g->first_block) / g->group_blocks;
	last = (uint32_t)(g->target + g->targets - 1 - g->first_block) /
	       g->group_blocks;
	g->n = last - g->first + 1;
	if (volume->len < (g->desc_block + 1) * g->block_size ||
		(last + 1) * g->desc_bytes > g->block_size)
		return false;
	g->bytes = calloc(1 + g->n, g->block_size);
	if (!g->bytes)
		abort();
	memcpy(g->bytes, volume->data + g->desc_block * g->block_size,
		g->block_size);
	for (i = 0; i < g->n; i++)
		if (!read_group(g, i, volume))
			return false;
	return true;
}

uint64_t lm_groups_block(const struct lm_groups *g, uint32_t i)
{
	return i == 0 ? g->desc_block
		      : rj_get_le32(desc_of((struct lm_groups *)g, i - 1));
}

uint32_t lm_groups_of(const struct lm_groups *g, uint32_t target)
{
	return (uint32_t)(g->target + target - g->first_block) /
		       g->group_blocks -
	       g->first;
}

static uint8_t *byte_of(struct lm_groups *g, uint32_t target, uint8_t *mask)
{
	uint32_t i = lm_groups_of(g, target);
	uint32_t bit = (uint32_t)(g->target + target - g->first_block) %
		       g->group_blocks;

	*mask = (uint8_t)(1u << bit % 8);
	return bitmap_of(g, i) + bit / 8;
}

bool lm_groups_free(const struct lm_groups *g, uint32_t target)
{
	uint8_t mask, *b = byte_of((struct lm_groups *)g, target, &mask);

	return !(*b & mask);
}

void lm_groups_toggle(struct lm_groups *g, uint32_t target)
{
	uint8_t mask, *b = byte_of(g, target, &mask);

	*b ^= mask;
	seal(g, lm_groups_of(g, target));
}
