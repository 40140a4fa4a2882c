// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Appending a batch: past the page cache where that works, so that the sync
 * after it finds nothing to write and only flushes the disk.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store.h"

#define KEEP_BYTES (9u << 20) /* a larger buffer is not kept */

/* Returns 0 or the errno; DONE counts what was written. */
static int write_all(
	int fd, const uint8_t *data, uint64_t len, uint64_t off, uint64_t *done)
{
	ssize_t got;

	for (*done = 0; *done < len; *done += (uint64_t)got) {
		got = pwrite(fd, data + *done, len - *done,
			(off_t)(off + *done));
		if (got < 0 && errno == EINTR)
			got = 0;
		else if (got <= 0)
			return got ? errno : EIO;
	}
	return 0;
}

uint8_t *store_batch_buffer(struct store *s, uint64_t len)
{
	void *p;

	len = align_up(len, BATCH_ALIGN);
	if (len <= s->batch_cap)
		return s->batch;
	len = align_up(len, 1 << 20);
	if (posix_memalign(&p, BATCH_ALIGN, len))
		return NULL;
	free(s->batch);
	s->batch = p;
	s->batch_cap = len;
	return s->batch;
}

void store_batch_done(struct store *s)
{
	if (s->batch_cap <= KEEP_BYTES)
		return;
	free(s->batch);
	s->batch = NULL;
	s->batch_cap = 0;
}

/*
 * What follows the batch in its last block is zero on the disk, and stays so.
 * In the reserve, batches start within a block: then the page cache must do.
 */
int store_write(struct store *s, const struct datafile *f, uint8_t *data,
	uint64_t len, uint64_t *done)
{
	uint64_t off = pos_offset(s->end), padded = align_up(len, BATCH_ALIGN);
	int rc;

	if (f->direct_fd >= 0 && !s->received && off % BATCH_ALIGN == 0 &&
		off + padded <= f->bytes) {
		memset(data + len, 0, padded - len);
		rc = write_all(f->direct_fd, data, padded, off, done);
		if (rc != EINVAL || *done)
			return rc;
	}
	return write_all(f->fd, data, len, off, done);
}

int store_sync(struct store *s, struct rj_error *err)
{
	struct datafile *f;

	if (!s->dirty)
		return 0;
	f = &s->files[s->file_count - 1];
	if (fdatasync(f->fd)) {
		s->failed = true;
		return rj_fail_errno(
			err, errno, "%s: cannot fdatasync", f->path);
	}
	s->dirty = false;
	return 0;
}
