// SPDX-License-Identifier: LGPL-2.1-or-later
/* Block I/O on files, devices and memory. */
#include "os/bio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/direct.h"
#include "os/fileio.h"

struct fd_bio {
	struct rj_bio bio;
	int fd;
	struct rj_direct direct;
};

struct mem_bio {
	struct rj_bio bio;
	uint8_t *data;
};

static int check_range(struct rj_bio *bio, size_t len, uint64_t off,
	struct rj_error *err)
{
	if (off > bio->size_bytes || len > bio->size_bytes - off)
		return rj_fail(err, RJ_E_INVAL,
			"%s: %zu bytes at byte %llu reach past its end at %llu",
			bio->name, len, (unsigned long long)off,
			(unsigned long long)bio->size_bytes);
	return 0;
}

static int fd_read(struct rj_bio *bio, void *out, size_t len, uint64_t off,
	struct rj_error *err)
{
	struct fd_bio *b = (struct fd_bio *)bio;
	int rc = check_range(bio, len, off, err);

	if (rc || rj_direct_read(&b->direct, b->fd, out, len, off))
		return rc;
	return rj_pread_all(b->fd, out, len, off, bio->name, err);
}

static int fd_write(struct rj_bio *bio, const void *data, size_t len,
	uint64_t off, struct rj_error *err)
{
	int rc = check_range(bio, len, off, err);

	if (rc)
		return rc;
	return rj_pwrite_all(((struct fd_bio *)bio)->fd, data, len, off,
		bio->name, err);
}

static int fd_writev(struct rj_bio *bio, const struct iovec *iov, int count,
	uint64_t off, struct rj_error *err)
{
	struct fd_bio *b = (struct fd_bio *)bio;
	size_t len = 0;
	int rc, i;

	for (i = 0; i < count; i++)
		len += iov[i].iov_len;
	rc = check_range(bio, len, off, err);
	if (rc || rj_direct_writev(&b->direct, b->fd, iov, count, off))
		return rc;
	for (i = 0; !rc && i < count; off += iov[i++].iov_len)
		rc = rj_pwrite_all(b->fd, iov[i].iov_base, iov[i].iov_len, off,
			bio->name, err);
	return rc;
}

static size_t fd_locate(struct rj_bio *bio, bool write, size_t len,
	uint64_t off, int *fd, uint64_t *at)
{
	struct fd_bio *b = (struct fd_bio *)bio;

	if (check_range(bio, len, off, NULL))
		return 0;
	*fd = rj_direct_fd(&b->direct, b->fd);
	*at = off;
	return *fd < 0 ? 0 : len;
}

static int fd_flush(struct rj_bio *bio, struct rj_error *err)
{
	return rj_fsync(((struct fd_bio *)bio)->fd, bio->name, err);
}

static int fd_zero(
	struct rj_bio *bio, uint64_t len, uint64_t off, struct rj_error *err)
{
	int rc = check_range(bio, (size_t)len, off, err);

	if (rc)
		return rc;
	return rj_fd_zero(
		((struct fd_bio *)bio)->fd, len, off, bio->name, err);
}

static int mem_read(struct rj_bio *bio, void *out, size_t len, uint64_t off,
	struct rj_error *err)
{
	int rc = check_range(bio, len, off, err);

	if (!rc)
		memcpy(out, ((struct mem_bio *)bio)->data + off, len);
	return rc;
}

static const void *mem_map(struct rj_bio *bio, size_t len, uint64_t off)
{
	if (check_range(bio, len, off, NULL))
		return NULL;
	return ((struct mem_bio *)bio)->data + off;
}

static int mem_write(struct rj_bio *bio, const void *data, size_t len,
	uint64_t off, struct rj_error *err)
{
	int rc = check_range(bio, len, off, err);

	if (!rc)
		memcpy(((struct mem_bio *)bio)->data + off, data, len);
	return rc;
}

static int mem_flush(struct rj_bio *bio, struct rj_error *err)
{
	return 0;
}

static void fd_release(struct rj_bio *bio)
{
	rj_direct_close(&((struct fd_bio *)bio)->direct);
	free(bio);
}

static void bio_release(struct rj_bio *bio)
{
	free(bio);
}

struct rj_bio *rj_bio_new_fd(int fd, const char *name, struct rj_error *err)
{
	struct fd_bio *b = calloc(1, sizeof(*b));

	if (!b) {
		rj_fail(err, RJ_E_NOMEM, "%s: out of memory", name);
		return NULL;
	}
	b->fd = fd;
	b->direct = RJ_DIRECT_INIT;
	b->direct.off = true;
	b->bio.read = fd_read;
	b->bio.write = fd_write;
	b->bio.writev = fd_writev;
	b->bio.locate = fd_locate;
	b->bio.flush = fd_flush;
	b->bio.zero = fd_zero;
	b->bio.free = fd_release;
	snprintf(b->bio.name, sizeof(b->bio.name), "%s", name);
	if (rj_fd_size(fd, name, &b->bio.size_bytes, err)) {
		free(b);
		return NULL;
	}
	return &b->bio;
}

void rj_bio_use_direct(struct rj_bio *bio)
{
	((struct fd_bio *)bio)->direct.off = false;
}

struct rj_bio *rj_bio_new_mem(void *data, uint64_t len, const char *name)
{
	struct mem_bio *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->data = data;
	b->bio.read = mem_read;
	b->bio.write = mem_write;
	b->bio.flush = mem_flush;
	b->bio.map = mem_map;
	b->bio.free = bio_release;
	b->bio.size_bytes = len;
	snprintf(b->bio.name, sizeof(b->bio.name), "%s", name);
	return &b->bio;
}

void rj_bio_free(struct rj_bio *bio)
{
	if (bio)
		bio->free(bio);
}
