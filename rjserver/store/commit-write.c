// SPDX-License-Identifier: GPL-2.0-or-later
/* From a gathered batch to bytes on the disk. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "commit-priv.h"
#include "os/fileio.h"

/* Places are known only now: give them, and lay the records out. */
static void build(struct commit *c, uint8_t *p)
{
	struct store *s = c->s;
	uint64_t pos = s->end, prev = s->last, pad;
	int i;

	for (i = 0; i < c->count; i++) {
		struct item *it = &c->items[i];

		it->rec.pos = pos;
		it->rec.prev = prev;
		it->rec.durable = s->durable;
		it->rec.store_id = s->store_id;
		rec_encode(&it->rec, false, p);
		p += REC_HEAD_BYTES;
		if (it->body && p != it->body)
			memcpy(p, it->body, it->rec.length);
		p += it->rec.length;
		pad = rec_trailer_at(it->rec.length) - REC_HEAD_BYTES -
		      it->rec.length;
		memset(p, 0, pad);
		p += pad;
		rec_encode(&it->rec, true, p);
		p += REC_HEAD_BYTES;
		prev = pos;
		pos += rec_total(it->rec.length);
	}
}

/*
 * A write failed part way. If the disk is full (a file system that does not
 * keep what fallocate promised), what came through is wiped, so that it can
 * not be taken for records later. All else ends the writing.
 */
static int write_failed(struct commit *c, const struct datafile *f, int err_no,
	uint64_t done, struct rj_error *err)
{
	static const uint8_t zeros[65536];
	uint64_t off = pos_offset(c->s->end), n;
	int rc = rj_fail_errno(err, err_no, "%s: cannot write", f->path);

	c->s->failed = rc != -RJ_E_NOSPACE;
	for (; done && !c->s->failed; done -= n, off += n) {
		n = done < sizeof(zeros) ? done : sizeof(zeros);
		if (rj_pwrite_all(f->fd, zeros, n, off, f->path, NULL))
			c->s->failed = true;
	}
	if (!c->s->failed && fdatasync(f->fd))
		c->s->failed = true;
	return rc;
}

/* Where the batch is laid out: around the body, if it is one that has space for
 * that, else in memory of the store. */
static uint8_t *batch_memory(struct commit *c)
{
	if (c->count == 1 && c->items[0].frame)
		return c->items[0].frame;
	return store_batch_buffer(c->s, c->bytes);
}

int commit_write(struct commit *c, bool sync, struct rj_error *err)
{
	struct store *s = c->s;
	struct datafile *f;
	uint64_t done;
	uint8_t *p;
	int rc;

	if (s->failed)
		return rj_fail(err, RJ_E_REFUSED,
			"an earlier write failed: no writes until restart");
	rc = store_space(s, c->bytes, !c->has_object, err);
	if (rc)
		return rc;
	f = &s->files[s->file_count - 1];
	p = batch_memory(c);
	if (!p)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	build(c, p);
	rc = store_write(s, f, p, c->bytes, &done);
	store_batch_done(s);
	if (rc)
		return write_failed(c, f, rc, done, err);
	s->dirty = true;
	rc = sync ? store_sync(s, err) : 0;
	if (rc)
		return rc;
	s->last = c->items[c->count - 1].rec.pos;
	s->appended += c->bytes;
	if (sync)
		s->durable = s->end + c->bytes;
	s->end = store_next_batch(s, s->end + c->bytes);
	store_ahead_begin(s);
	return 0;
}

