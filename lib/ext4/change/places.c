// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Choose, list and find the blocks of a redo record, next to each other or not. A chain of
 * blocks, its map, has their numbers in order (doc/moving.md). A record of an earlier
 * version has no map, and is in one run.
 */
#include <stdlib.h>
#include <string.h>

#include "ext4/change/change-priv.h"
#include "util/crc32c.h"

#define RUN_VERSION 1 /* no map: the record itself */
#define MAP_VERSION 2

enum {
	M_NEXT = 40, /* the next block of the map; 0: none */
	M_PLACES = 64,
	M_PLACE_BYTES = 8,
};

static uint64_t per_block(uint32_t block_size)
{
	return (block_size - M_PLACES) / M_PLACE_BYTES;
}

void rj_change_start(uint8_t *raw, uint32_t version,
	const uint8_t id[RJ_UUID_BYTES], uint32_t block_size, uint32_t count)
{
	memcpy(raw + R_MAGIC, REDO_MAGIC, 4);
	rj_put_le32(raw + R_VERSION, version);
	memcpy(raw + R_ID, id, RJ_UUID_BYTES);
	rj_put_le32(raw + R_BLOCK_SIZE, block_size);
	rj_put_le32(raw + R_COUNT, count);
}

uint32_t rj_change_crc(uint8_t *raw, uint64_t len)
{
	uint32_t kept = rj_get_le32(raw + R_CRC), crc;

	rj_put_le32(raw + R_CRC, 0);
	crc = rj_crc32c(~0u, raw, len);
	rj_put_le32(raw + R_CRC, kept);
	return crc;
}

int rj_change_bad_redo(struct rj_volume *v, uint64_t block, const char *what,
	struct rj_error *err)
{
	return rj_fail(err, RJ_E_CORRUPT,
		"%s: the record of the move under way, at block %llu: %s",
		v->path, (unsigned long long)block, what);
}

/* Take blocks of L until there are NEED, but not its first: a journal's superblock. */
static void take_journal(
	struct places *p, uint64_t need, const struct run_list *l)
{
	uint64_t nr;
	size_t i;

	for (i = 0; i < l->count; i++)
		for (nr = i == 0; nr < l->runs[i].count && p->count < need; nr++)
			p->at[p->count++] = l->runs[i].first + nr;
}

static int by_block(const void *nr, const void *image)
{
	const uint64_t *a = nr;
	const struct overlay_block *b = image;

	return *a < b->nr ? -1 : *a > b->nr;
}

int rj_change_find_places(struct rj_volume *v, ext2_filsys fs,
	struct rj_change *c, uint64_t need, const struct run_list *old,
	const struct run_list *gone, struct rj_error *err)
{
	uint64_t per = per_block(c->block_size);
	struct places *p = &c->places;
	blk64_t nr = fs->super->s_first_data_block;
	size_t i;

	need += (need + per - 1) / per;
	p->at = calloc(need, sizeof(*p->at));
	if (!p->at)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	take_journal(p, need, &c->journal);
	take_journal(p, need, old);
	/* free now, too */
	for (i = 0; i < gone->count; i++)
		ext2fs_mark_block_bitmap_range2(fs->block_map,
			gone->runs[i].first, (unsigned int)gone->runs[i].count);
	while (p->count < need &&
		!ext2fs_find_first_zero_block_bitmap2(fs->block_map, nr,
			ext2fs_blocks_count(fs->super) - 1, &nr))
		p->at[p->count++] = nr++;
	if (p->count < need)
		return rj_fail(err, RJ_E_NOSPACE,
			"%s: no %llu free blocks for the record of what is to change",
			v->path, (unsigned long long)need);
	/* applied more than once, the record must outlive it */
	for (i = 0; i < p->count; i++)
		if (bsearch(&p->at[i], c->images, c->count, sizeof(*c->images),
			    by_block))
			return rj_fail(err, RJ_E_CORRUPT,
				"%s: block %llu is free, and is to change; run e2fsck -f",
				v->path, (unsigned long long)p->at[i]);
	return 0;
}

int rj_change_write_map(struct rj_volume *v, const struct rj_change *c,
	uint64_t blocks, const uint8_t id[RJ_UUID_BYTES], struct rj_error *err)
{
	uint64_t per = per_block(c->block_size), left = blocks, n, i;
	const uint64_t *block = c->places.at; /* of the map */
	const uint64_t *at = block + c->places.count - left;
	uint8_t *raw = malloc(c->block_size);
	int rc = raw ? 0
		     : rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);

	for (; !rc && left; left -= n, at += n, block++) {
		n = left < per ? left : per;
		memset(raw, 0, c->block_size);
		rj_change_start(
			raw, MAP_VERSION, id, c->block_size, (uint32_t)n);
		if (left > n)
			rj_put_le64(raw + M_NEXT, block[1]);
		for (i = 0; i < n; i++)
			rj_put_le64(raw + M_PLACES + i * M_PLACE_BYTES, at[i]);
		rj_put_le32(raw + R_CRC, rj_change_crc(raw, c->block_size));
		rc = v->bio.write(&v->bio, raw, c->block_size,
			*block * c->block_size, err);
	}
	free(raw);
	return rc;
}

/* Add what the map's block RAW says. */
static int add_places(struct rj_volume *v, struct places *p, uint8_t *raw,
	struct rj_error *err)
{
	uint32_t bs = v->facts.block_size, count = rj_get_le32(raw + R_COUNT), i;
	uint64_t *at;

	if (rj_change_crc(raw, bs) != rj_get_le32(raw + R_CRC) ||
		rj_get_le32(raw + R_BLOCK_SIZE) != bs || !count ||
		count > per_block(bs) || p->count > v->facts.blocks)
		return rj_change_bad_redo(v, p->first, "damaged map", err);
	at = realloc(p->at, (p->count + count) * sizeof(*at));
	if (!at)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	p->at = at;
	for (i = 0; i < count; i++) {
		at[p->count] = rj_get_le64(raw + M_PLACES + i * M_PLACE_BYTES);
		if (at[p->count++] >= v->facts.blocks)
			return rj_change_bad_redo(
				v, p->first, "outside the volume", err);
	}
	return 0;
}

/* One block of the map, and in *NEXT where the next one is. */
static int read_map_block(struct rj_volume *v, uint64_t *next,
	const uint8_t id[RJ_UUID_BYTES], struct places *p, uint8_t *raw,
	struct rj_error *err)
{
	uint32_t bs = v->facts.block_size, version;
	int rc;

	if (!*next || *next >= v->facts.blocks)
		return rj_change_bad_redo(
			v, p->first, "outside the volume", err);
	rc = v->bio.read(&v->bio, raw, bs, *next * bs, err);
	if (rc)
		return rc;
	if (memcmp(raw + R_MAGIC, REDO_MAGIC, 4) ||
		memcmp(raw + R_ID, id, RJ_UUID_BYTES))
		return rj_change_bad_redo(v, p->first, "not there", err);
	version = rj_get_le32(raw + R_VERSION);
	if (version == RUN_VERSION && !p->at) {
		p->count = v->facts.blocks - p->first;
		*next = 0;
		return 0;
	}
	if (version != MAP_VERSION)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: a move begun by a newer version is under way; finish it with that",
			v->path);
	*next = rj_get_le64(raw + M_NEXT);
	return add_places(v, p, raw, err);
}

int rj_change_read_map(struct rj_volume *v, uint64_t block,
	const uint8_t id[RJ_UUID_BYTES], struct places *out,
	struct rj_error *err)
{
	uint8_t *raw = malloc(v->facts.block_size);
	uint64_t next = block;
	int rc = raw ? 0
		     : rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);

	*out = (struct places){.first = block};
	do {
		if (!rc)
			rc = read_map_block(v, &next, id, out, raw, err);
	} while (!rc && next);
	free(raw);
	return rc;
}
