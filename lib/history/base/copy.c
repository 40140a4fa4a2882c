// SPDX-License-Identifier: LGPL-2.1-or-later
/* Copy a volume into a sparse file: share its blocks where possible, else leave out zeros. */
#include "history/base/copy.h"

#include <linux/fs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "os/fileio.h"
#include "util/environ.h"

#define PIECE (1u << 20)
#define GRAIN 4096u /* zeros are left out in pieces of this */
#define GAP   65536u /* less than this is read although it is not in use */
#define BURST_NS 100000000LL

/* What is read at once. */
struct piece {
	uint64_t begin, end;
	uint32_t gaps; /* what is in there and not in use */
	struct {
		uint64_t begin, end;
	} gap[PIECE / 2048];
};

struct copying {
	const struct rj_copy *c;
	struct rj_copied done;
	struct piece piece;
	uint8_t *buf;	 /* PIECE bytes */
};

static bool zeros(const uint8_t *p, size_t len)
{
	return !p[0] && !memcmp(p, p + 1, len - 1);
}

/* The runs of the piece in memory that are not zero. */
static int put(struct copying *y, struct rj_error *err)
{
	const struct rj_copy *c = y->c;
	const uint8_t *buf = y->buf;
	size_t len = (size_t)(y->piece.end - y->piece.begin), at = 0, end, n;
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
		rc = c->put ? c->put(c->arg, buf + at, end - at, y->piece.begin + at, err)
			    : rj_pwrite_all(c->to_fd, buf + at, end - at,
				      y->piece.begin + at, c->to, err);
		y->done.written += end - at;
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
	const struct file_clone_range range = {
		.src_fd = c->from_fd, .src_offset = c->begin, .dest_offset = c->begin};

	return !ioctl(c->to_fd, FICLONERANGE, &range);
}

/* What is in use from OFF on, with gaps that are not worth another read. */
static int find_used(struct copying *y, uint64_t off, struct rj_error *err)
{
	struct rj_in_use *u = y->c->used;
	struct piece *p = &y->piece;
	uint64_t begin, end = 0, limit;
	int rc = rj_in_use_next(u, off, &p->begin, &end, err);

	limit = p->begin + PIECE;
	p->end = end < limit ? end : limit;
	while (!rc && p->end == end && end < limit && p->begin < y->c->bytes) {
		rc = rj_in_use_next(u, p->end, &begin, &end, err);
		if (rc || begin - p->end > GAP || begin >= limit || begin >= y->c->bytes)
			break;
		if (begin > p->end) {
			p->gap[p->gaps].begin = p->end;
			p->gap[p->gaps++].end = begin;
		}
		p->end = end < limit ? end : limit;
	}
	return rc;
}

static int find_piece(struct copying *y, uint64_t off, struct rj_error *err)
{
	struct piece *p = &y->piece;

	p->gaps = 0;
	if (y->c->used)
		return find_used(y, off, err);
	p->begin = next_data(y->c, off);
	p->end = p->begin + PIECE;
	return 0;
}

/* A token bucket of BURST_NS. */
static void pace(struct copying *y, size_t len)
{
	int64_t now = rj_monotonic_ns();

	if (!y->c->rate)
		return;
	if (y->done.next_ns > now)
		rj_sleep_ns(y->done.next_ns - now);
	else if (now - y->done.next_ns > BURST_NS)
		y->done.next_ns = now - BURST_NS;
	y->done.next_ns += (int64_t)((double)len * 1e9 / (double)y->c->rate);
}

static int copy_piece(struct copying *y, struct rj_error *err)
{
	const struct rj_copy *c = y->c;
	struct piece *p = &y->piece;
	uint32_t i;
	int rc;

	if (p->end > c->bytes)
		p->end = c->bytes;
	pace(y, (size_t)(p->end - p->begin));
	rc = rj_pread_all(
		c->from_fd, y->buf, (size_t)(p->end - p->begin), p->begin, c->from, err);
	if (rc)
		return rc;
	y->done.read += p->end - p->begin;
	for (i = 0; i < p->gaps; i++)
		memset(y->buf + (p->gap[i].begin - p->begin), 0,
			(size_t)(p->gap[i].end - p->gap[i].begin));
	rc = put(y, err);
	if (!rc && c->progress && c->progress(c->arg, p->end, c->bytes))
		rc = rj_fail(err, RJ_E_CANCELLED, "%s: stopped", c->to);
	return rc;
}

int rj_copy_sparse(const struct rj_copy *c, struct rj_copied *done, struct rj_error *err)
{
	struct copying *y;
	uint64_t off = c->begin;
	int rc = 0;

	y = calloc(1, sizeof(*y));
	if (!y || posix_memalign((void **)&y->buf, GRAIN, PIECE)) {
		free(y);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	y->c = c;
	if (done)
		y->done = *done;
	for (; !rc; off = y->piece.end) {
		rc = find_piece(y, off, err);
		if (rc || y->piece.begin >= c->bytes)
			break;
		rc = copy_piece(y, err);
	}
	if (!rc && c->progress && c->progress(c->arg, c->bytes, c->bytes))
		rc = rj_fail(err, RJ_E_CANCELLED, "%s: stopped", c->to);
	if (done)
		*done = y->done;
	free(y->buf);
	free(y);
	return rc;
}
