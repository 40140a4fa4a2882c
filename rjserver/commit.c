// SPDX-License-Identifier: GPL-2.0-or-later
#include "commit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "say.h"
#include "util/crc32c.h"
#include "util/environ.h"
#include "util/fileio.h"

#define BATCH_ITEMS 256
#define BATCH_BYTES (8u << 20) /* flush at once when this much has gathered */
#define BATCH_PARTS 1000       /* pvec entries; IOV_MAX is 1024 */

struct item {
	struct rec rec;
	uint8_t header[REC_HEAD_BYTES], trailer[REC_HEAD_BYTES];
	struct iovec body[COMMIT_BODY_PARTS];
	int body_parts;
	commit_fn done;
	void *arg;
};

struct commit {
	struct store *s;
	commit_wanted_fn wanted;
	void *wanted_arg;
	struct item *items;
	int count, parts;
	uint64_t bytes; /* of the records gathered */
	bool has_object;
	struct iovec vec[BATCH_PARTS + COMMIT_BODY_PARTS];
};

struct commit *commit_new(struct store *s)
{
	struct commit *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->s = s;
	c->items = calloc(BATCH_ITEMS, sizeof(*c->items));
	if (!c->items) {
		free(c);
		return NULL;
	}
	return c;
}

void commit_free(struct commit *c)
{
	if (!c)
		return;
	free(c->items);
	free(c);
}

void commit_on_wanted(struct commit *c, commit_wanted_fn fn, void *arg)
{
	c->wanted = fn;
	c->wanted_arg = arg;
}

/* Positions are known only now: give them, and build the write. */
static int build(struct commit *c)
{
	static const uint8_t zeros[REC_ALIGN];
	struct store *s = c->s;
	struct iovec *v = c->vec;
	uint64_t pos = s->end, prev = s->last, pad;
	int i;

	for (i = 0; i < c->count; i++) {
		struct item *it = &c->items[i];

		it->rec.pos = pos;
		it->rec.prev = prev;
		it->rec.durable = s->durable;
		it->rec.store_id = s->store_id;
		rec_encode(&it->rec, false, it->header);
		rec_encode(&it->rec, true, it->trailer);
		*v++ = (struct iovec){it->header, REC_HEAD_BYTES};
		memcpy(v, it->body, (size_t)it->body_parts * sizeof(*v));
		v += it->body_parts;
		pad = rec_trailer_at(it->rec.length) - REC_HEAD_BYTES -
		      it->rec.length;
		if (pad)
			*v++ = (struct iovec){(void *)zeros, pad};
		*v++ = (struct iovec){it->trailer, REC_HEAD_BYTES};
		prev = pos;
		pos += rec_total(it->rec.length);
	}
	return (int)(v - c->vec);
}

/* Returns 0 or the errno; DONE counts what was written. */
static int write_vec(
	int fd, struct iovec *v, int n, uint64_t off, uint64_t *done)
{
	ssize_t got;

	*done = 0;
	while (n) {
		got = pwritev(fd, v, n, (off_t)(off + *done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? errno : EIO;
		*done += (uint64_t)got;
		while (n && (size_t)got >= v->iov_len) {
			got -= (ssize_t)v->iov_len;
			v++;
			n--;
		}
		if (n) {
			v->iov_base = (uint8_t *)v->iov_base + got;
			v->iov_len -= (size_t)got;
		}
	}
	return 0;
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

static int write_batch(struct commit *c, bool sync, struct rj_error *err)
{
	struct store *s = c->s;
	struct datafile *f;
	uint64_t done;
	int n, rc;

	if (s->failed)
		return rj_fail(err, RJ_E_REFUSED,
			"an earlier write failed: no writes until restart");
	rc = store_room(s, c->bytes, !c->has_object, err);
	if (rc)
		return rc;
	f = &s->files[s->file_count - 1];
	n = build(c);
	rc = write_vec(f->fd, c->vec, n, pos_offset(s->end), &done);
	if (rc)
		return write_failed(c, f, rc, done, err);
	s->dirty = true;
	rc = sync ? store_sync(s, err) : 0;
	if (rc)
		return rc;
	s->last = c->items[c->count - 1].rec.pos;
	if (sync)
		s->durable = s->end + c->bytes;
	s->end = store_next_batch(s, s->end + c->bytes);
	store_ahead_begin(s);
	return 0;
}

static void count_dead(struct store *s, const struct okey *okey,
	const struct idx_entry *e)
{
	struct datafile *f = store_file(s, pos_file(e->pos));

	if (f)
		f->live--;
	if (s->watch)
		s->watch(s->watch_arg, okey, false, e->length);
}

static void finish_below(struct store *s, const struct okey *okey, int rc)
{
	struct okey one = *okey;
	struct idx_entry *e;
	size_t count, i;

	e = idx_below(s->index, okey, okey->key.number, &count);
	for (i = 0; i < count; i++) {
		if (e[i].state != IDX_DELETING)
			continue;
		one.key.number = e[i].number;
		if (rc)
			e[i].state = IDX_LIVE;
		else
			count_dead(s, &one, &e[i]);
	}
	if (!rc)
		idx_remove_below(s->index, okey, okey->key.number);
}

static void finish_item(struct store *s, const struct item *it, int rc)
{
	struct idx_entry *e;

	if (it->rec.type == REC_MARK)
		return;
	if (it->rec.type == REC_BELOW) {
		finish_below(s, &it->rec.okey, rc);
		return;
	}
	e = idx_find(s->index, &it->rec.okey);
	if (it->rec.type == REC_OBJECT && rc) {
		idx_remove(s->index, &it->rec.okey);
	} else if (it->rec.type == REC_OBJECT) {
		e->state = IDX_LIVE;
		e->pos = it->rec.pos;
		store_file(s, pos_file(e->pos))->live++;
		if (s->watch)
			s->watch(s->watch_arg, &it->rec.okey, true, e->length);
	} else if (rc) {
		/* for DAMAGED and LIVE alike, reading checks the bytes */
		e->state = IDX_LIVE;
	} else {
		count_dead(s, &it->rec.okey, e);
		idx_remove(s->index, &it->rec.okey);
	}
}

/* The batch is emptied before anyone is told, so that DONE may add to the
 * next one... but items are reused then, hence the copies. */
void commit_flush(struct commit *c)
{
	struct rj_error err = {0};
	int i, rc, count = c->count;
	bool was_failed = c->s->failed;
	struct {
		commit_fn done;
		void *arg;
	} tell[BATCH_ITEMS];

	if (!count)
		return;
	rc = write_batch(c, !c->s->received, &err);
	if (rc && (!was_failed || rc != -RJ_E_REFUSED))
		say_error("%s%s", err.msg,
			c->s->failed ? "; no more writes until restart" : "");
	if (rc && c->s->failed && rc != -RJ_E_REFUSED) {
		err.code = RJ_E_REFUSED;
		rc = -RJ_E_REFUSED;
	}
	for (i = 0; i < count; i++) {
		finish_item(c->s, &c->items[i], rc);
		tell[i].done = c->items[i].done;
		tell[i].arg = c->items[i].arg;
	}
	c->count = c->parts = 0;
	c->bytes = 0;
	c->has_object = false;
	if (!rc)
		store_drop_dead(c->s);
	for (i = 0; i < count; i++)
		if (tell[i].done)
			tell[i].done(tell[i].arg, rc, &err);
}

/* Room for one more record; the first of a batch asks for the flush. */
static struct item *next_item(struct commit *c, uint32_t len, int parts)
{
	struct item *it;

	if (c->count == BATCH_ITEMS || c->parts + parts + 3 > BATCH_PARTS ||
		(c->count && c->bytes + rec_total(len) > BATCH_BYTES))
		commit_flush(c);
	if (!c->count && c->wanted)
		c->wanted(c->wanted_arg);
	it = &c->items[c->count++];
	c->parts += parts + 3;
	c->bytes += rec_total(len);
	memset(&it->rec, 0, sizeof(it->rec));
	it->rec.time_ns = (uint64_t)rj_realtime_ns();
	it->rec.length = len;
	it->body_parts = 0;
	return it;
}

static int refuse_failed(struct commit *c, struct rj_error *err)
{
	if (!c->s->failed)
		return 0;
	return rj_fail(err, RJ_E_REFUSED,
		"an earlier write failed: no writes until restart");
}

/* The entry of OKEY once nothing about it is in the batch any more. */
static struct idx_entry *settled(struct commit *c, const struct okey *okey)
{
	struct idx_entry *e = idx_find(c->s->index, okey);

	if (!e || (e->state != IDX_PENDING && e->state != IDX_DELETING))
		return e;
	commit_flush(c);
	return idx_find(c->s->index, okey);
}

int commit_put(struct commit *c, const struct okey *okey,
	const struct iovec *body, int count, uint32_t len, commit_fn done,
	void *arg, struct rj_error *err)
{
	struct idx_entry *e;
	struct item *it;
	int i;

	if (settled(c, okey))
		return rj_fail(err, RJ_E_EXISTS, "the object exists");
	if (c->s->lost)
		return rj_fail(err, RJ_E_CORRUPT,
			"this store lost records it cannot name: the object "
			"may have existed");
	if (refuse_failed(c, err))
		return -RJ_E_REFUSED;
	if (count > COMMIT_BODY_PARTS)
		return rj_fail(err, RJ_E_INVAL, "the body has too many parts");
	it = next_item(c, len, count);
	e = idx_insert(c->s->index, okey);
	if (!e) {
		c->count--;
		c->parts -= count + 3;
		c->bytes -= rec_total(len);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	it->rec.type = REC_OBJECT;
	it->rec.okey = *okey;
	it->rec.body_crc = ~0u;
	for (i = 0; i < count; i++)
		it->rec.body_crc = rj_crc32c(
			it->rec.body_crc, body[i].iov_base, body[i].iov_len);
	memcpy(it->body, body, (size_t)count * sizeof(*body));
	it->body_parts = count;
	it->done = done;
	it->arg = arg;
	e->state = IDX_PENDING;
	e->length = len;
	e->body_crc = it->rec.body_crc;
	c->has_object = true;
	return 0;
}

int commit_delete(struct commit *c, const struct okey *okey, commit_fn done,
	void *arg, struct rj_error *err)
{
	struct idx_entry *e = settled(c, okey);
	struct item *it;

	if (!e)
		return rj_fail(err, RJ_E_NOTFOUND, "no such object");
	if (refuse_failed(c, err))
		return -RJ_E_REFUSED;
	it = next_item(c, 0, 0);
	e = idx_find(c->s->index, okey); /* a flush may have moved it */
	it->rec.type = REC_TOMBSTONE;
	it->rec.okey = *okey;
	it->rec.body_crc = ~0u;
	it->done = done;
	it->arg = arg;
	e->state = IDX_DELETING;
	return 0;
}

int commit_delete_below(struct commit *c, const struct okey *okey,
	uint64_t below, size_t *count, commit_fn done, void *arg,
	struct rj_error *err)
{
	struct idx_entry *e;
	struct item *it;
	size_t i;

	commit_flush(c); /* nothing below is pending then */
	e = idx_below(c->s->index, okey, below, count);
	if (!*count)
		return rj_fail(err, RJ_E_NOTFOUND, "there are none");
	if (refuse_failed(c, err))
		return -RJ_E_REFUSED;
	it = next_item(c, 0, 0);
	it->rec.type = REC_BELOW;
	it->rec.okey = *okey;
	it->rec.okey.key.number = below;
	it->rec.body_crc = ~0u;
	it->done = done;
	it->arg = arg;
	for (i = 0; i < *count; i++)
		e[i].state = IDX_DELETING;
	return 0;
}

int commit_mark(struct commit *c, bool clean, struct rj_error *err)
{
	struct store *s = c->s;
	struct item *it;
	int rc;

	commit_flush(c);
	if (s->failed)
		return refuse_failed(c, err);
	/* with received, nothing was synced so far */
	rc = store_sync(s, err);
	if (rc)
		return rc;
	if (s->file_count)
		s->durable = s->end;
	it = &c->items[0];
	memset(it, 0, sizeof(*it));
	it->rec.type = REC_MARK;
	it->rec.flags = clean ? REC_F_CLEAN : 0;
	it->rec.body_crc = ~0u;
	it->rec.time_ns = (uint64_t)rj_realtime_ns();
	c->count = 1;
	c->bytes = rec_total(0);
	rc = write_batch(c, true, err);
	c->count = 0;
	c->bytes = 0;
	return rc;
}
