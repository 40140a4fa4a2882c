// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/overlay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/fileio.h"

struct overlay {
	struct rj_bio bio;
	int base, scratch;
	uint32_t block_size;
	uint8_t *changed; /* a bit for each block: SCRATCH has it */
	uint8_t *block;	  /* memory for one */
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

static int overlay_read(struct rj_bio *bio, void *out, size_t len, uint64_t off,
	struct rj_error *err)
{
	const struct overlay *o = (struct overlay *)bio;
	int rc = check_range(bio, len, off, err);
	uint8_t *p = out;
	size_t n;

	for (; !rc && len; p += n, off += n, len -= n) {
		n = run(o, len, off);
		rc = rj_pread_all(changed(o, off / o->block_size) ? o->scratch : o->base, p, n,
			off, bio->name, err);
	}
	return rc;
}

/* A block of which only a part is written is copied first. */
static int copy_block(const struct overlay *o, uint64_t block, struct rj_error *err)
{
	uint64_t off = block * o->block_size;
	int rc = rj_pread_all(o->base, o->block, o->block_size, off, o->bio.name, err);

	return rc ? rc : rj_pwrite_all(o->scratch, o->block, o->block_size, off,
				 "the scratch file", err);
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
			rc = rj_pwrite_all(o->scratch, p, n, off, "the scratch file", err);
		if (!rc)
			o->changed[block / 8] |= (uint8_t)(1u << block % 8);
	}
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
	if (ftruncate(o->scratch, (off_t)(from * o->block_size)) ||
		ftruncate(o->scratch, (off_t)(to * o->block_size)))
		return rj_fail_errno(err, errno, "the scratch file");
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
