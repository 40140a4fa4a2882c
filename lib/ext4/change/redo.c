// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write, read and apply the redo record. Its bytes are in doc/moving.md. It is
 * where a journal was or will be, so no block of it may look like one of JBD2's: the
 * first four bytes of each image are in the record's head.
 */
#include "ext4/change/change.h"

#include <stdlib.h>
#include <string.h>

#include "ext4/change/change-priv.h"
#include "util/crc32c.h"

#define REDO_MAGIC   "RJRL"
#define REDO_VERSION 1

enum {
	R_MAGIC = 0,
	R_VERSION = 4,
	R_ID = 8,
	R_BLOCK_SIZE = 24,
	R_COUNT = 28,
	R_CRC = 32, /* of the head, itself taken as 0 */
	R_SUPER = 64,
	R_ENTRIES = R_SUPER + RJ_SUPER_BYTES,
	E_BLOCK = 0,
	E_FIRST = 8, /* the image's first four bytes, as they are */
	E_CRC = 12,  /* of the image */
	E_BYTES = 16,
};

static uint64_t head_bytes(uint64_t count)
{
	return R_ENTRIES + count * E_BYTES;
}

static uint64_t head_blocks(uint64_t count, uint32_t block_size)
{
	return (head_bytes(count) + block_size - 1) / block_size;
}

uint64_t rj_change_redo_blocks(const struct rj_change *c)
{
	return head_blocks(c->count, c->block_size) + c->count;
}

static uint32_t head_crc(uint8_t *head, uint64_t count)
{
	uint32_t kept = rj_get_le32(head + R_CRC), crc;

	rj_put_le32(head + R_CRC, 0);
	crc = rj_crc32c(~0u, head, head_bytes(count));
	rj_put_le32(head + R_CRC, kept);
	return crc;
}

int rj_change_make_journal(
	struct rj_volume *v, struct rj_change *c, struct rj_error *err)
{
	uint32_t bs = c->block_size;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < c->journal.count; i++) {
		uint64_t skip = i == 0; /* written below */
		const struct run *r = &c->journal.runs[i];

		if (r->count > skip)
			rc = rj_bio_zero(&v->bio, (r->count - skip) * bs,
				(r->first + skip) * bs, err);
	}
	if (!rc && c->journal.count)
		rc = v->bio.write(&v->bio, c->jsb, bs,
			c->journal.runs[0].first * bs, err);
	return rc;
}

int rj_change_finish_super(struct rj_volume *v, struct rj_change *c,
	const struct rj_volume_patch *p, struct rj_error *err)
{
	return rj_ext4_patch_super(v, c->super, p, err);
}

int rj_change_write_redo(struct rj_volume *v, struct rj_change *c,
	const uint8_t id[RJ_UUID_BYTES], uint64_t *block, struct rj_error *err)
{
	uint32_t bs = c->block_size;
	uint64_t first = head_blocks(c->count, bs);
	uint64_t blocks = rj_change_redo_blocks(c);
	uint8_t *raw, *entry, *image;
	size_t i;
	int rc;

	if (blocks > c->redo_space)
		return rj_fail(err, RJ_E_NOSPACE,
			"%s: no %llu free blocks in a row for the record of what is to change",
			v->path, (unsigned long long)blocks);
	raw = calloc(blocks, bs);
	if (!raw)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	memcpy(raw + R_MAGIC, REDO_MAGIC, 4);
	rj_put_le32(raw + R_VERSION, REDO_VERSION);
	memcpy(raw + R_ID, id, RJ_UUID_BYTES);
	rj_put_le32(raw + R_BLOCK_SIZE, bs);
	rj_put_le32(raw + R_COUNT, (uint32_t)c->count);
	memcpy(raw + R_SUPER, c->super, RJ_SUPER_BYTES);
	for (i = 0; i < c->count; i++) {
		entry = raw + R_ENTRIES + i * E_BYTES;
		image = raw + (first + i) * bs;
		rj_put_le64(entry + E_BLOCK, c->images[i].nr);
		memcpy(entry + E_FIRST, c->images[i].data, 4);
		rj_put_le32(entry + E_CRC,
			rj_crc32c(~0u, c->images[i].data, bs));
		memcpy(image + 4, c->images[i].data + 4, bs - 4);
	}
	rj_put_le32(raw + R_CRC, head_crc(raw, c->count));
	rc = v->bio.write(&v->bio, raw, blocks * bs, c->redo_at * bs, err);
	free(raw);
	*block = c->redo_at;
	return rc;
}

static int bad_redo(struct rj_volume *v, uint64_t block, const char *what,
	struct rj_error *err)
{
	return rj_fail(err, RJ_E_CORRUPT,
		"%s: the record of the move under way, at block %llu: %s; the volume was changed by something else, try e2fsck -f -b (a backup superblock has no move under way)",
		v->path, (unsigned long long)block, what);
}

/* The fixed part and how many entries follow. */
static int read_head(struct rj_volume *v, uint64_t block,
	const uint8_t id[RJ_UUID_BYTES], uint8_t **out, struct rj_error *err)
{
	uint32_t bs = v->facts.block_size, count;
	uint64_t at = block * bs, left;
	uint8_t fixed[R_SUPER], *head;
	int rc;

	if (!block || block >= v->facts.blocks)
		return bad_redo(v, block, "outside the volume", err);
	rc = v->bio.read(&v->bio, fixed, sizeof(fixed), at, err);
	if (rc)
		return rc;
	count = rj_get_le32(fixed + R_COUNT);
	left = v->facts.blocks - block;
	if (memcmp(fixed + R_MAGIC, REDO_MAGIC, 4) ||
		memcmp(fixed + R_ID, id, RJ_UUID_BYTES))
		return bad_redo(v, block, "not there", err);
	if (rj_get_le32(fixed + R_VERSION) != REDO_VERSION)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: a move begun by a newer version is under way; finish it with that",
			v->path);
	if (rj_get_le32(fixed + R_BLOCK_SIZE) != bs || count > left ||
		head_blocks(count, bs) + count > left)
		return bad_redo(v, block, "damaged", err);
	head = malloc(head_bytes(count));
	if (!head)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	rc = v->bio.read(&v->bio, head, head_bytes(count), at, err);
	if (!rc && head_crc(head, count) != rj_get_le32(head + R_CRC))
		rc = bad_redo(v, block, "wrong checksum", err);
	if (rc)
		free(head);
	else
		*out = head;
	return rc;
}

static int read_image(struct rj_volume *v, struct rj_change *c,
	const uint8_t *entry, uint64_t at, struct rj_error *err)
{
	struct overlay_block *image = &c->images[c->count];
	uint32_t bs = c->block_size;
	int rc;

	image->nr = rj_get_le64(entry + E_BLOCK);
	image->data = malloc(bs);
	if (!image->data)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	c->count++;
	rc = v->bio.read(&v->bio, image->data, bs, at * bs, err);
	if (rc)
		return rc;
	memcpy(image->data, entry + E_FIRST, 4);
	if (image->nr >= v->facts.blocks ||
		rj_crc32c(~0u, image->data, bs) != rj_get_le32(entry + E_CRC))
		return bad_redo(v, at, "damaged image", err);
	return 0;
}

int rj_change_load(struct rj_volume *v, uint64_t block,
	const uint8_t id[RJ_UUID_BYTES], struct rj_change **out,
	struct rj_error *err)
{
	struct rj_change *c = calloc(1, sizeof(*c));
	uint32_t count, i;
	uint8_t *head = NULL;
	uint64_t first;
	int rc;

	*out = NULL;
	if (!c)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	c->block_size = v->facts.block_size;
	rc = read_head(v, block, id, &head, err);
	if (rc)
		goto out;
	count = rj_get_le32(head + R_COUNT);
	first = block + head_blocks(count, c->block_size);
	memcpy(c->super, head + R_SUPER, RJ_SUPER_BYTES);
	memcpy(c->old_uuid, v->facts.uuid, RJ_UUID_BYTES);
	c->images = calloc((size_t)count + 1, sizeof(*c->images));
	if (!c->images)
		rc = rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	for (i = 0; !rc && i < count; i++)
		rc = read_image(v, c, head + R_ENTRIES + (size_t)i * E_BYTES,
			first + i, err);
out:
	free(head);
	if (rc)
		rj_change_free(c);
	else
		*out = c;
	return rc;
}

int rj_change_apply(
	struct rj_volume *v, struct rj_change *c, struct rj_error *err)
{
	uint32_t bs = c->block_size;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < c->count; i++)
		rc = v->bio.write(&v->bio, c->images[i].data, bs,
			c->images[i].nr * bs, err);
	return rc ? rc : rj_ext4_install_super(v, c->super, c->count, err);
}

void rj_change_free(struct rj_change *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->count; i++)
		free(c->images[i].data);
	free(c->images);
	free(c->journal.runs);
	free(c->jsb);
	free(c);
}
