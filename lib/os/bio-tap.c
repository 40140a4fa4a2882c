// SPDX-License-Identifier: LGPL-2.1-or-later
/* A layer that shows all writes to an observer; and stretches of zeros. */
#include <stdio.h>
#include <stdlib.h>

#include "os/bio.h"

#define ZERO_CHUNK (1u << 20)

struct tap_bio {
	struct rj_bio bio;
	struct rj_bio *inner;
	const struct rj_bio_tap *tap;
};

static int tap_read(struct rj_bio *bio, void *out, size_t len, uint64_t off,
	struct rj_error *err)
{
	struct rj_bio *inner = ((struct tap_bio *)bio)->inner;

	return inner->read(inner, out, len, off, err);
}

static int tap_write(struct rj_bio *bio, const void *data, size_t len,
	uint64_t off, struct rj_error *err)
{
	struct tap_bio *b = (struct tap_bio *)bio;
	int rc = b->tap->write(b->tap->arg, data, len, off, err);

	return rc ? rc : b->inner->write(b->inner, data, len, off, err);
}

static int tap_zero(
	struct rj_bio *bio, uint64_t len, uint64_t off, struct rj_error *err)
{
	struct tap_bio *b = (struct tap_bio *)bio;
	int rc = b->tap->write(b->tap->arg, NULL, len, off, err);

	return rc ? rc : rj_bio_zero(b->inner, len, off, err);
}

static int tap_flush(struct rj_bio *bio, struct rj_error *err)
{
	struct tap_bio *b = (struct tap_bio *)bio;
	int rc = b->tap->flush(b->tap->arg, err);

	return rc ? rc : b->inner->flush(b->inner, err);
}

static void tap_free(struct rj_bio *bio)
{
	rj_bio_free(((struct tap_bio *)bio)->inner);
	free(bio);
}

struct rj_bio *rj_bio_new_tap(
	struct rj_bio *inner, const struct rj_bio_tap *tap)
{
	struct tap_bio *b = calloc(1, sizeof(*b));

	if (!b) {
		rj_bio_free(inner);
		return NULL;
	}
	b->inner = inner;
	b->tap = tap;
	b->bio.read = tap_read;
	b->bio.write = inner->write ? tap_write : NULL;
	b->bio.flush = inner->flush ? tap_flush : NULL;
	b->bio.zero = inner->write ? tap_zero : NULL;
	b->bio.free = tap_free;
	b->bio.size_bytes = inner->size_bytes;
	snprintf(b->bio.name, sizeof(b->bio.name), "%s", inner->name);
	return &b->bio;
}

int rj_bio_zero(
	struct rj_bio *bio, uint64_t len, uint64_t off, struct rj_error *err)
{
	uint8_t *zeros;
	size_t n;
	int rc = 0;

	if (bio->zero)
		return bio->zero(bio, len, off, err);
	zeros = calloc(1, ZERO_CHUNK);
	if (!zeros)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", bio->name);
	for (; !rc && len; len -= n, off += n) {
		n = len < ZERO_CHUNK ? (size_t)len : ZERO_CHUNK;
		rc = bio->write(bio, zeros, n, off, err);
	}
	free(zeros);
	return rc;
}
