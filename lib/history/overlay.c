// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/overlay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/fileio.h"
#include "util/buf.h"

struct overlay {
	struct rj_bio bio;
	int base, scratch;
	struct rj_bio *below; /* instead of BASE; or NULL */
	uint32_t block_size;
	uint8_t *changed; /* a bit for each block: SCRATCH has it */
	uint8_t *block;	  /* memory for one */
	struct rj_buf written; /* over BELOW: of uint64_t */
};

static bool changed(const struct overlay *o, uint64_t block)
{
	return o->changed[block / 8] >> block % 8 & 1;
}

static int check_range(const struct rj_bio *bio, size_t len, uint64_t off, struct rj_error *err)
{
	if (off <= bio->size_bytes && len <= bio->size_bytes - off)
		return 0;
	return rj_fail(err, RJ_E_INVAL, "%s: %zu bytes at byte %llu reach past its end",
		bio->name, len, (unsigned long long)off);
}

/* How many of LEN bytes at OFF are in the same file as the first one. */
static size_t run(const struct overlay *o, size_t len, uint64_t off)
{
	uint64_t block = off / o->block_size, end = off + len, next;
	bool where = changed(o, block);

	for (; (next = (block + 1) * o->block_size) < end; block++)
		if (changed(o, block + 1) != where)
			return (size_t)(next - off);
	return len;
}

static int read_below(const struct overlay *o, void *out, size_t len, uint64_t off,
	struct rj_error *err)
{
	return o->below ? o->below->read(o->below, out, len, off, err)
			: rj_pread_all(o->base, out, len, off, o->bio.name, err);
}

static int overlay_read(struct rj_bio *bio, void *out, size_t len, uint64_t off,
	struct rj_error *err)
{
	const struct overlay *o = (struct overlay *)bio;
	int rc = check_range(bio, len, off, err);
	uint8_t *p = out;
	size_t n;

	for (; !rc && len; p += n, off += n, len -= n) {
		n = run(o, len, off);
		rc = changed(o, off / o->block_size)
			     ? rj_pread_all(o->scratch, p, n, off, bio->name, err)
			     : read_below(o, p, n, off, err);
	}
	return rc;
}

/* A block of which only a part is written is copied first. */
static int copy_block(const struct overlay *o, uint64_t block, struct rj_error *err)
{
	uint64_t off = block * o->block_size;
	int rc = read_below(o, o->block, o->block_size, off, err);

	return rc ? rc : rj_pwrite_all(o->scratch, o->block, o->block_size, off,
				 RJ_SCRATCH_NAME, err);
}

/* SCRATCH has BLOCK now. */
static int note(struct overlay *o, uint64_t block, struct rj_error *err)
{
	if (o->below && !changed(o, block) && rj_buf_append(&o->written, &block, sizeof(block)))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	o->changed[block / 8] |= (uint8_t)(1u << block % 8);
	return 0;
}

static int overlay_write(struct rj_bio *bio, const void *data, size_t len, uint64_t off,
	struct rj_error *err)
{
	struct overlay *o = (struct overlay *)bio;
	int rc = check_range(bio, len, off, err);
	const uint8_t *p = data;
	uint64_t block;
	size_t n;

	for (; !rc && len; p += n, off += n, len -= n) {
		block = off / o->block_size;
		n = o->block_size - (size_t)(off % o->block_size);
		if (n > len)
			n = len;
		if (n < o->block_size && !changed(o, block))
			rc = copy_block(o, block, err);
		if (!rc)
			rc = rj_pwrite_all(o->scratch, p, n, off, RJ_SCRATCH_NAME, err);
		if (!rc)
			rc = note(o, block, err);
	}
	return rc;
}

const uint64_t *rj_overlay_written(const struct rj_bio *overlay, size_t *count)
{
	const struct overlay *o = (const struct overlay *)overlay;

	*count = o->written.len / sizeof(uint64_t);
	return (const void *)o->written.data;
}

int rj_overlay_settle(struct rj_bio *overlay, struct rj_error *err)
{
	struct overlay *o = (struct overlay *)overlay;
	size_t count, i;
	const uint64_t *written = rj_overlay_written(overlay, &count);
	uint32_t bs = o->block_size;
	int rc = 0;

	for (i = 0; !rc && i < count; i++) {
		rc = rj_pread_all(o->scratch, o->block, bs, written[i] * bs, overlay->name, err);
		if (!rc)
			rc = o->below->write(o->below, o->block, bs, written[i] * bs, err);
		if (!rc)
			o->changed[written[i] / 8] &= (uint8_t)~(1u << written[i] % 8);
	}
	o->written.len = 0;
	return rc;
}

int rj_overlay_grow(struct rj_bio *overlay, uint64_t from, uint64_t to, struct rj_error *err)
{
	struct overlay *o = (struct overlay *)overlay;
	uint8_t *more;

	if (from > to || from * o->block_size > overlay->size_bytes)
		return rj_fail(err, RJ_E_INVAL, "a volume cannot grow from block %llu to %llu",
			(unsigned long long)from, (unsigned long long)to);
	more = realloc(o->changed, (size_t)(to / 8 + 1));
	if (!more)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	o->changed = more;
	if (o->below) {
		memset(more + from / 8 + 1, 0, (size_t)(to / 8 - from / 8));
		more[from / 8] &= (uint8_t)~(0xFF << from % 8);
		overlay->size_bytes = to * o->block_size;
		return 0;
	}
	if (ftruncate(o->scratch, (off_t)(from * o->block_size)) ||
		ftruncate(o->scratch, (off_t)(to * o->block_size)))
		return rj_fail_errno(err, errno, RJ_SCRATCH_NAME);
	/* the scratch file has them, as a hole */
	more[from / 8] |= (uint8_t)(0xFF << from % 8);
	memset(more + from / 8 + 1, 0xFF, (size_t)(to / 8 - from / 8));
	overlay->size_bytes = to * o->block_size;
	return 0;
}

static int overlay_flush(struct rj_bio *bio, struct rj_error *err)
{
	(void)bio, (void)err;
	return 0;
}

static void overlay_free(struct rj_bio *bio)
{
	struct overlay *o = (struct overlay *)bio;

	free(o->changed);
	free(o->block);
	rj_buf_free(&o->written);
	free(o);
}

struct rj_bio *rj_overlay_new(int base, int scratch, uint32_t block_size, uint64_t blocks,
	const char *name, struct rj_error *err)
{
	struct overlay *o = calloc(1, sizeof(*o));

	if (o) {
		o->changed = calloc((size_t)(blocks / 8 + 1), 1);
		o->block = malloc(block_size);
	}
	if (!o || !o->changed || !o->block) {
		if (o)
			overlay_free(&o->bio);
		rj_fail(err, RJ_E_NOMEM, "out of memory");
		return NULL;
	}
	o->base = base;
	o->scratch = scratch;
	o->block_size = block_size;
	o->bio.read = overlay_read;
	o->bio.write = overlay_write;
	o->bio.flush = overlay_flush;
	o->bio.free = overlay_free;
	o->bio.size_bytes = blocks * block_size;
	snprintf(o->bio.name, sizeof(o->bio.name), "%s", name);
	return &o->bio;
}

struct rj_bio *rj_overlay_over(struct rj_bio *below, int scratch, uint32_t block_size,
	struct rj_error *err)
{
	struct rj_bio *bio = rj_overlay_new(-1, scratch, block_size,
		below->size_bytes / block_size, below->name, err);

	if (bio)
		((struct overlay *)bio)->below = below;
	return bio;
}
