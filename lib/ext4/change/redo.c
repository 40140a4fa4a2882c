// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write, read and apply the redo record. Its bytes are in doc/moving.md. It may be
 * where a journal was or will be, so no block of it may look like one of JBD2's: the
 * first four bytes of each image are in the record's head.
 */
#include "ext4/change/change.h"

#include <stdlib.h>
#include <string.h>

#include "ext4/change/change-priv.h"
#include "util/crc32c.h"

#define RECORD_VERSION 1

enum {
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

/* The record as one piece, for free(). NULL: no memory. */
static uint8_t *encode(
	const struct rj_change *c, const uint8_t id[RJ_UUID_BYTES])
{
	uint32_t bs = c->block_size;
	uint64_t first = head_blocks(c->count, bs);
	uint8_t *raw = calloc(rj_change_redo_blocks(c), bs), *entry, *image;
	size_t i;

	if (!raw)
		return NULL;
	rj_change_start(raw, RECORD_VERSION, id, bs, (uint32_t)c->count);
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
	rj_put_le32(raw + R_CRC, rj_change_crc(raw, head_bytes(c->count)));
	return raw;
}

int rj_change_write_redo(struct rj_volume *v, struct rj_change *c,
	const uint8_t id[RJ_UUID_BYTES], uint64_t *block, struct rj_error *err)
{
	uint64_t blocks = rj_change_redo_blocks(c), i, n;
	const uint64_t *at = c->places.at + c->places.count - blocks;
	uint8_t *raw = encode(c, id);
	uint32_t bs = c->block_size;
	int rc = 0;

	if (!raw)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	for (i = 0; !rc && i < blocks; i += n) {
		for (n = 1; i + n < blocks && at[i + n] == at[i] + n;)
			n++;
		rc = v->bio.write(
			&v->bio, raw + i * bs, n * bs, at[i] * bs, err);
	}
	free(raw);
	*block = c->places.at[0];
	return rc ? rc : rj_change_write_map(v, c, blocks, id, err);
}

static int read_place(struct rj_volume *v, const struct places *p, uint64_t i,
	uint8_t *out, struct rj_error *err)
{
	uint32_t bs = v->facts.block_size;
	uint64_t at = p->at ? p->at[i] : p->first + i;

	return v->bio.read(&v->bio, out, bs, at * bs, err);
}

/* The fixed part and the entries that follow, as many as R_COUNT says. */
static int read_head(struct rj_volume *v, const struct places *p,
	const uint8_t id[RJ_UUID_BYTES], uint8_t **out, struct rj_error *err)
{
	uint32_t bs = v->facts.block_size, count;
	uint8_t *head = malloc(bs), *more;
	uint64_t blocks, i;
	int rc;

	*out = head;
	if (!head)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	rc = read_place(v, p, 0, head, err);
	if (rc)
		return rc;
	count = rj_get_le32(head + R_COUNT);
	blocks = head_blocks(count, bs);
	if (memcmp(head + R_MAGIC, REDO_MAGIC, 4) ||
		memcmp(head + R_ID, id, RJ_UUID_BYTES) ||
		rj_get_le32(head + R_VERSION) != RECORD_VERSION ||
		rj_get_le32(head + R_BLOCK_SIZE) != bs ||
		blocks + count > p->count)
		return rj_change_bad_redo(v, p->first, "damaged", err);
	more = realloc(head, blocks * bs);
	if (!more)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	*out = more;
	for (i = 1; !rc && i < blocks; i++)
		rc = read_place(v, p, i, more + i * bs, err);
	if (!rc && rj_change_crc(more, head_bytes(count)) !=
			   rj_get_le32(more + R_CRC))
		rc = rj_change_bad_redo(v, p->first, "wrong checksum", err);
	return rc;
}

static bool is_image(
	const struct overlay_block *image, uint32_t bs, const uint8_t *entry)
{
	return rj_crc32c(~0u, image->data, bs) == rj_get_le32(entry + E_CRC);
}

/* An earlier version's record can lie where its own images go: what they overwrote is then
 * such an image of zeros itself, or in place already, or lost. */
static int read_image(struct rj_volume *v, struct rj_change *c,
	const uint8_t *entry, const struct places *p, uint64_t i,
	struct rj_error *err)
{
	struct overlay_block *image = &c->images[c->count];
	uint32_t bs = c->block_size;
	int rc;

	image->nr = rj_get_le64(entry + E_BLOCK);
	if (image->nr >= v->facts.blocks)
		return rj_change_bad_redo(v, p->first, "damaged entry", err);
	image->data = malloc(bs);
	if (!image->data)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	c->count++;
	rc = read_place(v, p, i, image->data, err);
	memcpy(image->data, entry + E_FIRST, 4);
	if (!rc && !is_image(image, bs, entry))
		memset(image->data + 4, 0, bs - 4);
	if (!rc && !is_image(image, bs, entry))
		rc = v->bio.read(
			&v->bio, image->data, bs, image->nr * bs, err);
	if (!rc && !is_image(image, bs, entry))
		rc = rj_change_bad_redo(v, p->first, "damaged image", err);
	return rc;
}

int rj_change_load(struct rj_volume *v, uint64_t block,
	const uint8_t id[RJ_UUID_BYTES], struct rj_change **out,
	struct rj_error *err)
{
	struct rj_change *c = calloc(1, sizeof(*c));
	uint8_t *head = NULL;
	uint64_t count, first, i;
	int rc;

	*out = NULL;
	if (!c)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	c->block_size = v->facts.block_size;
	rc = rj_change_read_map(v, block, id, &c->places, err);
	if (!rc)
		rc = read_head(v, &c->places, id, &head, err);
	if (rc)
		goto out;
	count = rj_get_le32(head + R_COUNT);
	first = head_blocks(count, c->block_size);
	memcpy(c->super, head + R_SUPER, RJ_SUPER_BYTES);
	memcpy(c->old_uuid, v->facts.uuid, RJ_UUID_BYTES);
	c->images = calloc(count + 1, sizeof(*c->images));
	if (!c->images)
		rc = rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	for (i = 0; !rc && i < count; i++)
		rc = read_image(v, c, head + R_ENTRIES + i * E_BYTES,
			&c->places, first + i, err);
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
	free(c->places.at);
	free(c->jsb);
	free(c);
}
