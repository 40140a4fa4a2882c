// SPDX-License-Identifier: GPL-2.0-or-later
/* Gather writes in a batch, flush it, and answer each write. */
#include "commit-priv.h"

#include <stdlib.h>
#include <string.h>

#include "rjserver/log.h"
#include "store-checkpoint.h"
#include "util/environ.h"

struct commit *commit_new(struct store *s, commit_fill_fn fill)
{
	struct commit *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->s = s;
	c->fill = fill;
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

static void count_dead(struct store *s, const struct okey *okey,
	const struct idx_entry *e)
{
	store_count(s, e, -1);
	if (s->watch)
		s->watch(s->watch_arg, okey, STORE_GONE, e->length);
}

static void finish_below(struct store *s, const struct okey *okey, int rc)
{
	struct okey one = *okey;
	struct idx_entry *e;
	uint64_t n;

	for (n = 0; (e = idx_next(s->index, okey, n)); n = e->number) {
		if (e->number >= okey->key.number)
			break;
		if (e->state != IDX_DELETING)
			continue;
		one.key.number = e->number;
		if (rc)
			e->state = IDX_LIVE;
		else
			count_dead(s, &one, e);
	}
	if (!rc)
		idx_remove_below(s->index, okey, okey->key.number);
}

/* A copy: the object lives where it is now. */
static void finish_move(struct store *s, const struct item *it, int rc)
{
	struct idx_entry *e = idx_find(s->index, &it->rec.okey);

	if (rc || !e || e->pos != it->moved_from)
		return;
	store_count(s, e, -1);
	e->pos = it->rec.pos;
	if (it->rec.type == REC_DAMAGED) {
		e->state = IDX_DAMAGED;
		e->bare = true;
		e->body_crc = it->rec.body_crc;
	}
	store_count(s, e, 1);
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
	if (it->moved_from) {
		finish_move(s, it, rc);
		return;
	}
	e = idx_find(s->index, &it->rec.okey);
	if (it->rec.type == REC_OBJECT && rc) {
		idx_remove(s->index, &it->rec.okey);
	} else if (it->rec.type == REC_OBJECT) {
		e->state = IDX_LIVE;
		e->pos = it->rec.pos;
		e->time_s = rec_time_s(&it->rec);
		store_count(s, e, 1);
		if (s->watch)
			s->watch(s->watch_arg, &it->rec.okey, STORE_ADDED,
				e->length);
	} else if (rc) {
		/* for DAMAGED and LIVE alike, reading checks the bytes */
		e->state = IDX_LIVE;
	} else if (e) { /* else finish_below() saw it deleted, and took it along */
		count_dead(s, &it->rec.okey, e);
		idx_remove(s->index, &it->rec.okey);
	}
}

/* Copies can wait; what a client sent shall not fail for them. */
static void forget_moves(struct commit *c)
{
	for (; c->moved; c->moved--)
		c->bytes -= rec_total(c->items[--c->count].rec.length);
}

/* The batch is emptied before any DONE is called, so that DONE may add to the next
 * batch, which reuses the items: hence the copies. */
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
	/* what lives in the oldest file goes along */
	if (c->has_object && !c->moved && !c->s->failed)
		c->fill(c->s, c->bytes);
	rc = commit_write(c, !c->s->received, &err);
	if (rc == -RJ_E_NOSPACE && c->moved && c->moved < c->count) {
		forget_moves(c);
		rc = commit_write(c, !c->s->received, &err);
	}
	if (rc == -RJ_E_NOSPACE || c->has_object)
		c->s->full = rc == -RJ_E_NOSPACE;
	count = c->count;
	if (rc && (!was_failed || rc != -RJ_E_REFUSED))
		log_error("%s%s", err.msg,
			c->s->failed ? "; no more writes until restart" : "");
	if (rc && c->s->failed && rc != -RJ_E_REFUSED) {
		err.code = RJ_E_REFUSED;
		rc = -RJ_E_REFUSED;
	}
	if (rc == -RJ_E_EXISTS || rc == -RJ_E_NOTFOUND) { /* a data file, no object */
		err.code = RJ_E_IO;
		rc = -RJ_E_IO;
	}
	for (i = 0; i < count; i++) {
		finish_item(c->s, &c->items[i], rc);
		tell[i].done = c->items[i].done;
		tell[i].arg = c->items[i].arg;
	}
	c->count = c->moved = 0;
	c->bytes = 0;
	c->has_object = false;
	if (!rc) {
		store_drop_dead(c->s);
		store_checkpoint_tick(c->s);
	}
	for (i = 0; i < count; i++)
		if (tell[i].done)
			tell[i].done(tell[i].arg, rc, &err);
}

/* Space for one more record; the first of a batch asks for the flush. */
static struct item *next_item(struct commit *c, uint32_t len)
{
	struct item *it;

	if (c->count == BATCH_ITEMS ||
		(c->count && c->bytes + rec_total(len) > BATCH_BYTES))
		commit_flush(c);
	if (!c->count && c->wanted)
		c->wanted(c->wanted_arg);
	it = &c->items[c->count++];
	c->bytes += rec_total(len);
	memset(&it->rec, 0, sizeof(it->rec));
	it->rec.time_ns = (uint64_t)rj_realtime_ns();
	it->rec.length = len;
	it->body = NULL;
	it->frame = NULL;
	it->moved_from = 0;
	it->done = NULL;
	return it;
}

static int refuse_failed(struct commit *c, struct rj_error *err)
{
	if (!c->s->failed)
		return 0;
	return rj_fail(err, RJ_E_REFUSED,
		"an earlier write failed: no writes until restart");
}

uint64_t commit_pending(const struct commit *c)
{
	return c->bytes;
}

struct idx_entry *commit_entry(struct commit *c, const struct okey *okey)
{
	struct idx_entry *e = idx_find(c->s->index, okey);

	if (!e || (e->state != IDX_PENDING && e->state != IDX_DELETING))
		return e;
	commit_flush(c);
	return idx_find(c->s->index, okey);
}

int commit_put(struct commit *c, const struct okey *okey,
	const struct commit_body *body, commit_fn done, void *arg,
	struct rj_error *err)
{
	struct idx_entry *e;
	struct item *it;

	if (commit_entry(c, okey))
		return rj_fail(err, RJ_E_EXISTS, "the object exists");
	if (c->s->lost)
		return rj_fail(err, RJ_E_CORRUPT,
			"this store lost records it cannot name: the object "
			"may have existed");
	if (refuse_failed(c, err))
		return -RJ_E_REFUSED;
	it = next_item(c, body->len);
	e = idx_insert(c->s->index, okey);
	if (!e) {
		c->count--;
		c->bytes -= rec_total(body->len);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	it->rec.type = REC_OBJECT;
	it->rec.okey = *okey;
	it->rec.body_crc = e->body_crc = body->crc;
	it->body = body->data;
	it->frame = body->framed ? body->data - REC_HEAD_BYTES : NULL;
	it->done = done;
	it->arg = arg;
	e->state = IDX_PENDING;
	e->length = body->len;
	c->has_object = true;
	return 0;
}

bool commit_move(struct commit *c, const struct okey *okey,
	const struct idx_entry *e, uint64_t time_ns, const void *body)
{
	uint32_t len = body ? e->length : 0;
	struct item *it;

	if (c->count == BATCH_ITEMS ||
		(c->count && c->bytes + rec_total(len) > BATCH_BYTES))
		return false;
	it = next_item(c, len);
	it->rec.type = body ? REC_OBJECT : REC_DAMAGED;
	it->rec.okey = *okey;
	it->rec.time_ns = time_ns;
	/* no empty body has this one, should the record ever be read as such */
	it->rec.body_crc = body ? e->body_crc : 0;
	it->rec.least = body ? 0 : e->length;
	it->moved_from = e->pos;
	it->body = body;
	c->has_object = true;
	c->moved++;
	return true;
}

int commit_delete(struct commit *c, const struct okey *okey, commit_fn done,
	void *arg, struct rj_error *err)
{
	struct idx_entry *e = commit_entry(c, okey);
	struct item *it;

	if (!e)
		return rj_fail(err, RJ_E_NOTFOUND, "no such object");
	if (refuse_failed(c, err))
		return -RJ_E_REFUSED;
	it = next_item(c, 0);
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
	uint64_t below, uint32_t least, size_t *count, commit_fn done,
	void *arg, struct rj_error *err)
{
	struct index *idx = c->s->index;
	struct idx_entry *e;
	struct item *it;
	uint64_t n;

	commit_flush(c); /* nothing below is pending then */
	*count = 0;
	for (n = 0; (e = idx_next(idx, okey, n)); n = e->number) {
		if (e->number >= below)
			break;
		*count += e->length >= least;
	}
	if (!*count)
		return rj_fail(err, RJ_E_NOTFOUND, "there are none");
	if (refuse_failed(c, err))
		return -RJ_E_REFUSED;
	it = next_item(c, 0);
	it->rec.type = REC_BELOW;
	it->rec.okey = *okey;
	it->rec.okey.key.number = below;
	it->rec.least = least;
	it->rec.body_crc = ~0u;
	it->done = done;
	it->arg = arg;
	for (n = 0; (e = idx_next(idx, okey, n)); n = e->number) {
		if (e->number >= below)
			break;
		if (e->length >= least)
			e->state = IDX_DELETING;
	}
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
	if (!clean && s->marked && s->marked == s->end)
		return 0; /* nothing came since: marks would fill a full disk */
	it = &c->items[0];
	memset(it, 0, sizeof(*it));
	it->rec.type = REC_MARK;
	it->rec.flags = clean ? REC_F_CLEAN : 0;
	it->rec.body_crc = ~0u;
	it->rec.time_ns = (uint64_t)rj_realtime_ns();
	c->count = 1;
	c->bytes = rec_total(0);
	rc = commit_write(c, true, err);
	c->count = 0;
	c->bytes = 0;
	if (!rc)
		s->marked = s->end;
	return rc;
}
