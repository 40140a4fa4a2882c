// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The block bitmaps, group by group. Kernel functions that this
 * follows: ext4_get_group_desc(), descriptor_loc(), ext4_group_desc_csum(),
 * ext4_init_block_bitmap(), ext4_validate_block_bitmap().
 */
#include "ext4/in-use.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext4/ext4-priv.h"
#include "os/fileio.h"
#include "util/crc32c.h"

#define ALIGNED	  65536u /* of memory, for O_DIRECT */
#define NO_GROUP  UINT64_MAX
#define GD_LONG	  64u /* bytes of a descriptor with 64-bit block numbers */
#define CSUM_HI   0x3A /* a descriptor of that length has both halves of the bitmap's csum */
#define GD(field) (u->desc + offsetof(struct ext4_group_desc, field))

/* A block with descriptors or a bitmap. */
struct kept {
	uint64_t block;
	uint8_t *copy; /* the journal's; NULL: it has none */
};

struct rj_in_use {
	struct rj_bio bio; /* first: rj_in_use_bio() */
	int fd;
	const char *name;
	uint8_t super[RJ_SUPER_BYTES];
	uint64_t blocks, groups;
	uint32_t first, per_group, block_size, cluster_bits, clusters;
	uint32_t desc_bytes, seed;
	bool crc32c, crc16;
	uint64_t group;	 /* what follows is of this one; NO_GROUP */
	uint64_t begin, end; /* its blocks */
	bool all;	 /* counts as in use */
	uint8_t *bitmap; /* a block: a bit for each cluster */
	uint8_t *buf;	 /* a block, with its descriptor in it, */
	uint8_t *desc;	 /* here */
	struct kept *kept; /* by block */
	uint64_t kept_count;
};

static bool geometry(struct rj_in_use *u)
{
	const uint8_t *raw = u->super;
	uint32_t log = SB_LE32(raw, s_log_block_size);
	uint32_t cluster = SB_LE32(raw, s_log_cluster_size);
	uint32_t ro = SB_LE32(raw, s_feature_ro_compat);
	uint32_t incompat = SB_LE32(raw, s_feature_incompat);
	bool big = incompat & EXT4_FEATURE_INCOMPAT_64BIT;

	if (log > EXT2_MAX_BLOCK_LOG_SIZE - EXT2_MIN_BLOCK_LOG_SIZE)
		return false;
	u->block_size = 1024u << log;
	u->blocks = SB_LE32(raw, s_blocks_count);
	if (big)
		u->blocks |= (uint64_t)SB_LE32(raw, s_blocks_count_hi) << 32;
	u->first = SB_LE32(raw, s_first_data_block);
	u->per_group = SB_LE32(raw, s_blocks_per_group);
	if (ro & EXT4_FEATURE_RO_COMPAT_BIGALLOC)
		u->cluster_bits = cluster - log;
	u->desc_bytes = big ? SB_LE16(raw, s_desc_size) : EXT2_MIN_DESC_SIZE;
	u->crc32c = ro & EXT4_FEATURE_RO_COMPAT_METADATA_CSUM;
	u->crc16 = !u->crc32c && ro & EXT4_FEATURE_RO_COMPAT_GDT_CSUM;
	u->seed = incompat & EXT4_FEATURE_INCOMPAT_CSUM_SEED
			  ? SB_LE32(raw, s_checksum_seed)
			  : rj_crc32c(~0u, SB_AT(raw, s_uuid), RJ_UUID_BYTES);
	if (u->cluster_bits > 31 || !u->per_group || u->blocks <= u->first)
		return false;
	u->bio.size_bytes = u->blocks * u->block_size;
	u->groups = (u->blocks - u->first - 1) / u->per_group + 1;
	u->clusters = u->per_group >> u->cluster_bits;
	return u->clusters && u->clusters <= 8 * u->block_size && u->clusters % 8 == 0 &&
	       u->desc_bytes >= EXT2_MIN_DESC_SIZE && u->desc_bytes <= u->block_size &&
	       u->block_size % u->desc_bytes == 0;
}

/* In which block the descriptor of GROUP is. */
static uint64_t desc_block(const struct rj_in_use *u, uint64_t group)
{
	uint32_t per = u->block_size / u->desc_bytes;
	uint64_t nr = group / per, at;
	uint32_t super = u->block_size == 1024;

	if (!(SB_LE32(u->super, s_feature_incompat) & EXT2_FEATURE_INCOMPAT_META_BG) ||
		nr < SB_LE32(u->super, s_first_meta_bg))
		return super + 1 + nr;
	if (!nr)
		return super + 1;
	at = u->first + nr * per * u->per_group;
	return rj_ext4_has_super(u->super, (uint32_t)(nr * per)) ? at + 1 : at;
}

static int by_block(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return x->block < y->block ? -1 : x->block > y->block;
}

/* NULL: it is none of those that are kept. */
static struct kept *find_kept(const struct rj_in_use *u, uint64_t block)
{
	const struct kept key = {.block = block};

	return u->kept_count ? bsearch(&key, u->kept, u->kept_count, sizeof(key), by_block) : NULL;
}

static int read_block(struct rj_in_use *u, uint64_t block, void *out, struct rj_error *err)
{
	const struct kept *k = find_kept(u, block);

	if (k && k->copy) {
		memcpy(out, k->copy, u->block_size);
		return 0;
	}
	return rj_pread_all(u->fd, out, u->block_size, block * u->block_size, u->name, err);
}

/* ext2fs's and the kernel's crc16: polynomial 0x8005, reflected */
static uint16_t crc16(uint16_t crc, const uint8_t *p, size_t len)
{
	int i;

	while (len--)
		for (crc ^= *p++, i = 0; i < 8; i++)
			crc = (uint16_t)(crc >> 1 ^ (crc & 1 ? 0xA001 : 0));
	return crc;
}

static bool desc_sound(const struct rj_in_use *u)
{
	const size_t at = offsetof(struct ext4_group_desc, bg_checksum);
	const uint8_t *rest = u->desc + at + 2;
	uint8_t group[4], none[2] = {0};
	uint32_t crc;

	rj_put_le32(group, (uint32_t)u->group);
	if (u->crc32c) {
		crc = rj_crc32c(u->seed, group, sizeof(group));
		crc = rj_crc32c(crc, u->desc, at);
		crc = rj_crc32c(crc, none, sizeof(none));
		crc = rj_crc32c(crc, rest, u->desc_bytes - at - 2);
	} else if (u->crc16) {
		crc = crc16(0xFFFF, SB_AT(u->super, s_uuid), RJ_UUID_BYTES);
		crc = crc16((uint16_t)crc, group, sizeof(group));
		crc = crc16((uint16_t)crc, u->desc, at);
		crc = crc16((uint16_t)crc, rest, u->desc_bytes - at - 2);
	} else {
		return true;
	}
	return rj_get_le16(GD(bg_checksum)) == (uint16_t)crc;
}

static bool bitmap_sound(const struct rj_in_use *u)
{
	uint32_t crc, said = rj_get_le16(GD(bg_block_bitmap_csum_lo));

	if (!u->crc32c)
		return true;
	crc = rj_crc32c(u->seed, u->bitmap, u->clusters / 8);
	if (u->desc_bytes < CSUM_HI)
		return said == (crc & 0xFFFF);
	return crc == (said | (uint32_t)rj_get_le16(GD(bg_block_bitmap_csum_hi)) << 16);
}

static uint64_t place(const struct rj_in_use *u, const uint8_t *low, const uint8_t *high)
{
	uint64_t block = rj_get_le32(low);

	return u->desc_bytes >= GD_LONG ? block | (uint64_t)rj_get_le32(high) << 32 : block;
}

/* Note where all descriptors and bitmaps are: that never changes. */
static int list_kept(struct rj_in_use *u, struct rj_error *err)
{
	uint32_t per = u->block_size / u->desc_bytes, i;
	uint64_t group, at;
	int rc = 0;

	u->kept = calloc(u->groups + u->groups / per + 1, sizeof(*u->kept));
	if (!u->kept)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	for (group = 0; !rc && group < u->groups; group += per) {
		at = desc_block(u, group);
		if (at >= u->blocks)
			return rj_fail(err, RJ_E_CORRUPT, "%s: no descriptor of group %llu",
				u->name, (unsigned long long)group);
		rc = rj_pread_all(
			u->fd, u->buf, u->block_size, at * u->block_size, u->name, err);
		u->kept[u->kept_count++].block = at;
		for (i = 0; !rc && i < per && group + i < u->groups; i++) {
			u->desc = u->buf + (size_t)i * u->desc_bytes;
			u->kept[u->kept_count++].block =
				place(u, GD(bg_block_bitmap), GD(bg_block_bitmap_hi));
		}
	}
	qsort(u->kept, u->kept_count, sizeof(*u->kept), by_block);
	return rc;
}

static int take_write(struct rj_bio *bio, const void *data, size_t len, uint64_t off,
	struct rj_error *err)
{
	struct rj_in_use *u = (struct rj_in_use *)bio;
	const uint8_t *p = data;
	struct kept *k;
	size_t at = (size_t)((u->block_size - off % u->block_size) % u->block_size);

	/* whole blocks: only the superblock is written in part */
	for (; at + u->block_size <= len; at += u->block_size) {
		k = find_kept(u, (off + at) / u->block_size);
		if (!k)
			continue;
		if (!k->copy)
			k->copy = malloc(u->block_size);
		if (!k->copy)
			return rj_fail(err, RJ_E_NOMEM, "out of memory");
		memcpy(k->copy, p + at, u->block_size);
	}
	return 0;
}

static int take_read(struct rj_bio *bio, void *out, size_t len, uint64_t off,
	struct rj_error *err)
{
	(void)bio, (void)off, (void)err;
	memset(out, 0, len);
	return 0;
}

static int take_flush(struct rj_bio *bio, struct rj_error *err)
{
	(void)bio, (void)err;
	return 0;
}

struct rj_bio *rj_in_use_bio(struct rj_in_use *u)
{
	return &u->bio;
}

int rj_in_use_new(int fd, const char *name, const uint8_t super[1024],
	struct rj_in_use **out, struct rj_error *err)
{
	struct rj_in_use *u = calloc(1, sizeof(*u));
	int rc = 0;

	if (!u)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	u->fd = fd;
	u->name = name;
	u->group = NO_GROUP;
	u->bio.read = take_read;
	u->bio.write = take_write;
	u->bio.flush = take_flush;
	snprintf(u->bio.name, sizeof(u->bio.name), "%s", name);
	memcpy(u->super, super, RJ_SUPER_BYTES);
	if (!geometry(u))
		rc = rj_fail(err, RJ_E_CORRUPT, "%s: its superblock contradicts itself", name);
	else if (posix_memalign((void **)&u->bitmap, ALIGNED, u->block_size) ||
		 posix_memalign((void **)&u->buf, ALIGNED, u->block_size))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	else
		rc = list_kept(u, err);
	if (rc)
		rj_in_use_free(u);
	else
		*out = u;
	return rc;
}

void rj_in_use_free(struct rj_in_use *u)
{
	uint64_t i;

	if (!u)
		return;
	for (i = 0; i < u->kept_count; i++)
		free(u->kept[i].copy);
	free(u->kept);
	free(u->bitmap);
	free(u->buf);
	free(u);
}

/* Do FN for the blocks of the group's own tables that lie in it; false if FN is false. */
static bool own_blocks(struct rj_in_use *u, bool (*fn)(struct rj_in_use *u, uint64_t block))
{
	uint64_t table = place(u, GD(bg_inode_table), GD(bg_inode_table_hi));
	uint64_t inode_bytes = SB_LE32(u->super, s_rev_level) ? SB_LE16(u->super, s_inode_size)
							       : EXT2_GOOD_OLD_INODE_SIZE;
	uint64_t bytes = SB_LE32(u->super, s_inodes_per_group) * inode_bytes, i;
	bool good;

	good = fn(u, place(u, GD(bg_block_bitmap), GD(bg_block_bitmap_hi))) &&
	       fn(u, place(u, GD(bg_inode_bitmap), GD(bg_inode_bitmap_hi)));
	for (i = 0; good && i * u->block_size < bytes; i++)
		good = fn(u, table + i);
	return good;
}

static bool inside(const struct rj_in_use *u, uint64_t block)
{
	return block >= u->begin && block < u->end;
}

static bool used(struct rj_in_use *u, uint64_t block)
{
	uint64_t bit = (block - u->begin) >> u->cluster_bits;

	return u->all || u->bitmap[bit / 8] >> bit % 8 & 1;
}

static bool used_if_inside(struct rj_in_use *u, uint64_t block)
{
	return !inside(u, block) || used(u, block);
}

static bool use(struct rj_in_use *u, uint64_t block)
{
	uint64_t bit = (block - u->begin) >> u->cluster_bits;

	if (inside(u, block))
		u->bitmap[bit / 8] |= (uint8_t)(1u << bit % 8);
	return true;
}

/*
 * A group whose bitmap was never written has nothing but its own tables, and before them,
 * perhaps, a superblock, descriptors and room for more of those: as much as any has.
 */
static void init_bitmap(struct rj_in_use *u)
{
	uint64_t descs = (u->groups * u->desc_bytes - 1) / u->block_size + 1;
	uint64_t count = 1 + descs + SB_LE16(u->super, s_reserved_gdt_blocks), i;

	memset(u->bitmap, 0, u->block_size);
	for (i = 0; i < count; i++)
		use(u, u->begin + i);
	own_blocks(u, use);
}

static int load_group(struct rj_in_use *u, uint64_t group, struct rj_error *err)
{
	uint32_t per = u->block_size / u->desc_bytes;
	uint64_t at = desc_block(u, group);
	int rc;

	u->group = NO_GROUP;
	u->begin = u->first + group * u->per_group;
	u->end = u->begin + u->per_group < u->blocks ? u->begin + u->per_group : u->blocks;
	u->all = true;
	rc = at < u->blocks ? read_block(u, at, u->buf, err)
			    : rj_fail(err, RJ_E_CORRUPT, "%s: no descriptor of group %llu",
				      u->name, (unsigned long long)group);
	if (rc)
		return rc;
	u->group = group;
	u->desc = u->buf + group % per * u->desc_bytes;
	if (!desc_sound(u))
		return 0;
	/* without a checksum of the descriptor the kernel does not look at this flag */
	if ((u->crc32c || u->crc16) && rj_get_le16(GD(bg_flags)) & EXT2_BG_BLOCK_UNINIT) {
		init_bitmap(u);
		u->all = false;
		return 0;
	}
	at = place(u, GD(bg_block_bitmap), GD(bg_block_bitmap_hi));
	if (at >= u->blocks || !find_kept(u, at))
		return 0;
	rc = read_block(u, at, u->bitmap, err);
	if (rc)
		u->group = NO_GROUP;
	u->all = rc || !bitmap_sound(u);
	if (!u->all)
		u->all = !own_blocks(u, used_if_inside);
	return rc;
}

int rj_in_use_next(struct rj_in_use *u, uint64_t off, uint64_t *begin, uint64_t *end,
	struct rj_error *err)
{
	uint64_t block = off / u->block_size, group;
	int rc;

	for (; block < u->blocks; block = u->end) {
		*begin = block * u->block_size < off ? off : block * u->block_size;
		*end = (uint64_t)u->first * u->block_size;
		if (block < u->first)
			return 0;
		group = (block - u->first) / u->per_group;
		rc = group == u->group ? 0 : load_group(u, group, err);
		if (rc)
			return rc;
		while (block < u->end && !used(u, block))
			block++;
		if (block == u->end)
			continue;
		*begin = block * u->block_size < off ? off : block * u->block_size;
		while (block < u->end && used(u, block))
			block++;
		*end = block * u->block_size;
		return 0;
	}
	*begin = *end = u->blocks * u->block_size;
	return 0;
}
