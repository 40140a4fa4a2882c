// SPDX-License-Identifier: LGPL-2.1-or-later
/* Copy a volume into a sparse file: share its blocks where possible, else leave out zeros. */
#include "history/copy.h"

#include <linux/fs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "os/fileio.h"

#define PIECE (1u << 20)
#define GRAIN 4096u /* zeros are left out in pieces of this */

static bool zeros(const uint8_t *p, size_t len)
{
	return !p[0] && !memcmp(p, p + 1, len - 1);
}

/* The runs of BUF that are not zero. */
static int put(const struct rj_copy *c, const uint8_t *buf, size_t len,
	uint64_t off, struct rj_error *err)
{
	size_t at = 0, end, n;
	int rc = 0;

	while (!rc && at < len) {
		n = len - at < GRAIN ? len - at : GRAIN;
		if (zeros(buf + at, n)) {
			at += n;
			continue;
		}
		for (end = at + n; end < len; end += n) {
			n = len - end < GRAIN ? len - end : GRAIN;
			if (zeros(buf + end, n))
				break;
		}
		rc = rj_pwrite_all(
			c->to_fd, buf + at, end - at, off + at, c->to, err);
		at = end;
	}
	return rc;
}

/* The next byte from OFF on that is no hole; the end where nothing else is known. */
static uint64_t next_data(const struct rj_copy *c, uint64_t off)
{
	off_t at = lseek(c->from_fd, (off_t)off, SEEK_DATA);
	off_t hole;

	if (at >= 0)
		return (uint64_t)at - (uint64_t)at % GRAIN;
	/* ENXIO: a hole up to the end; devices and others know none */
	hole = lseek(c->from_fd, (off_t)off, SEEK_HOLE);
	return hole >= 0 && (uint64_t)hole == off ? c->bytes : off;
}

bool rj_copy_share(const struct rj_copy *c)
{
	return !ioctl(c->to_fd, FICLONE, c->from_fd);
}

int rj_copy_sparse(const struct rj_copy *c, struct rj_error *err)
{
	uint8_t *buf = NULL;
	uint64_t off = c->begin;
	size_t n;
	int rc = 0;

	if (posix_memalign((void **)&buf, GRAIN, PIECE))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	while (!rc && (off = next_data(c, off)) < c->bytes) {
		n = c->bytes - off < PIECE ? (size_t)(c->bytes - off) : PIECE;
		rc = rj_pread_all(c->from_fd, buf, n, off, c->from, err);
		if (!rc)
			rc = put(c, buf, n, off, err);
		off += n;
		if (!rc && c->progress && c->progress(c->arg, off, c->bytes))
			rc = rj_fail(err, RJ_E_CANCELLED, "%s: stopped", c->to);
	}
	free(buf);
	return rc;
}
