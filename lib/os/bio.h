/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The block-I/O vtable: what lib/jbd2 reads logs from and writes volumes to.
 * A file, a device, a ring in memory, or a test layer that fails or stops at
 * write N all come after it. Layers wrap another rj_bio.
 *
 * Contract: offsets and lengths are bytes; a transfer is whole or an error; a
 * transfer that reaches past size_bytes is RJ_E_INVAL and touches nothing.
 * write() may be buffered until flush(); flush() returns 0 only when all
 * earlier writes are on stable storage. Implementations need not be
 * thread-safe unless they say so.
 */
#ifndef RJ_OS_BIO_H
#define RJ_OS_BIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "util/error.h"

struct rj_bio {
	int (*read)(struct rj_bio *bio, void *out, size_t len, uint64_t off,
		struct rj_error *err);
	/* NULL on a read-only bio. */
	int (*write)(struct rj_bio *bio, const void *data, size_t len,
		uint64_t off, struct rj_error *err);
	/* NULL on a read-only bio. */
	int (*flush)(struct rj_bio *bio, struct rj_error *err);
	void (*free)(struct rj_bio *bio);
	/* NULL where there is none: LEN bytes at OFF, where they are in memory
	 * anyway; good until they are written or the bio is freed. Returns NULL
	 * for a range beyond the end. */
	const void *(*map)(struct rj_bio *bio, size_t len, uint64_t off);
	/* NULL where there is none: write() of COUNT (at most IOV_MAX) pieces
	 * that follow each other. */
	int (*writev)(struct rj_bio *bio, const struct iovec *iov, int count,
		uint64_t off, struct rj_error *err);
	/* NULL where there is none: where the bytes at OFF are, for os/bio-queue.h.
	 * Sets FD, a descriptor open for direct I/O that the bio keeps until it is
	 * freed, and the byte AT in it; returns how many of LEN stand there
	 * together. 0: it cannot be said; use read() and writev(). WRITE: the
	 * caller writes there, and will flush the bio. */
	size_t (*locate)(struct rj_bio *bio, bool write, size_t len,
		uint64_t off, int *fd, uint64_t *at);
	/* NULL where there is none: as write() of LEN zero bytes at OFF, if the
	 * file below can do that faster. See rj_bio_zero(). */
	int (*zero)(struct rj_bio *bio, uint64_t len, uint64_t off,
		struct rj_error *err);
	uint64_t size_bytes;
	char name[256]; /* for messages */
};

/*
 * What an observer of all writes sees, each before it is done. DATA is NULL for
 * a stretch of zeros. A non-zero return (a negated rj_code, ERR filled) keeps
 * the write or flush from being done and is what the caller gets.
 */
struct rj_bio_tap {
	int (*write)(void *arg, const void *data, uint64_t len, uint64_t off,
		struct rj_error *err);
	int (*flush)(void *arg, struct rj_error *err);
	void *arg;
};

/* Over an open file or block device. FD stays the caller's and must outlive
 * the bio. Returns NULL when memory is short or the size cannot be read. */
struct rj_bio *rj_bio_new_fd(int fd, const char *name, struct rj_error *err);
/* Large transfers of aligned memory shall go around the page cache where the
 * file allows it (os/direct.h). Only for a bio of rj_bio_new_fd(). */
void rj_bio_use_direct(struct rj_bio *bio);
/* Over memory that stays the caller's. flush() does nothing. */
struct rj_bio *rj_bio_new_mem(void *data, uint64_t len, const char *name);
/*
 * What is done to INNER, seen by TAP (which must outlive it). INNER belongs to
 * the new bio and is freed with it; also when memory is short (NULL).
 */
struct rj_bio *rj_bio_new_tap(
	struct rj_bio *inner, const struct rj_bio_tap *tap);
/* LEN zero bytes at OFF, whichever way BIO can do it. */
int rj_bio_zero(struct rj_bio *bio, uint64_t len, uint64_t off,
	struct rj_error *err);
/* NULL-safe. */
void rj_bio_free(struct rj_bio *bio);

#endif
