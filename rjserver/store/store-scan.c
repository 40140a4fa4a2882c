// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading the log at start. store-load.c hands over one file after the
 * other; here its records are found, judged and put into the index. The rules
 * are in doc/rjserver-storage.md, "Start".
 */
#include "store-scan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/fileio.h"
#include "rjserver/log.h"
#include "util/crc32c.h"

#define STRAYS_SAID 3 /* of one file */

struct held {
	struct rec rec;
	bool body_ok;
	bool unread;        /* bad only because the disk did not read it; "check" minds */
	bool torn;          /* if bad, then as an unfinished write leaves it */
	uint64_t last_seen; /* the record found before it; 0: none */
	uint64_t gap_from; /* not 0: records between here and rec are missing */
};

/* What could not be read: places. */
struct span {
	uint64_t from, to;
};

struct scan {
	struct store *s;
	struct held *held; /* not yet known to be durable */
	size_t count, cap;
	uint64_t durable; /* the highest durable place that a record names */
	uint64_t last;    /* the last record seen, and the end of it */
	uint64_t last_end;
	uint32_t first_file;
	struct rj_buf unreadable; /* struct span, ascending */
	bool any, clean;
};

struct scan *scan_new(struct store *s, uint32_t first_file)
{
	struct scan *sc = calloc(1, sizeof(*sc));

	if (!sc)
		return NULL;
	sc->s = s;
	sc->first_file = first_file;
	return sc;
}

void scan_resume(struct scan *sc, const struct checkpoint_place *at)
{
	sc->any = true;
	sc->last = at->last;
	sc->last_end = sc->durable = at->pos;
}

void scan_free(struct scan *sc)
{
	if (!sc)
		return;
	free(sc->held);
	rj_buf_free(&sc->unreadable);
	free(sc);
}

int scan_unreadable(struct scan *sc, uint64_t from, uint64_t to,
	struct rj_error *err)
{
	struct span span = {from, to};

	if (rj_buf_append(&sc->unreadable, &span, sizeof(span)))
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", sc->s->dir);
	return 0;
}

uint64_t scan_find_unreadable(
	const struct scan *sc, uint64_t from, uint64_t to)
{
	struct span span;
	size_t i;

	for (i = 0; i < sc->unreadable.len; i += sizeof(span)) {
		memcpy(&span, sc->unreadable.data + i, sizeof(span));
		if (span.from < to && span.to > from)
			return span.from;
	}
	return 0;
}

static void say_damaged(struct store *s, const struct rec *r)
{
	char path[PATH_MAX], key[RJ_KEY_TEXT];

	store_file_path(s, pos_file(r->pos), path);
	log_error("%s: byte %llu: DAMAGED: the object /%s/%s fails its "
		  "checksum; it is kept and answered as damaged",
		path, (unsigned long long)pos_offset(r->pos), r->okey.name,
		rj_key_text(&r->okey.key, key));
}

static void apply_below(
	struct store *s, const struct okey *okey, uint32_t least)
{
	struct idx_entry *e;
	uint64_t n;

	for (n = 0; (e = idx_next(s->index, okey, n)); n = e->number) {
		if (e->number >= okey->key.number)
			break;
		if (e->length < least)
			continue;
		store_count(s, e, -1);
		e->state = IDX_DELETING;
	}
	idx_remove_below(s->index, okey, okey->key.number);
}

static int apply(struct scan *sc, const struct held *h, struct rj_error *err)
{
	struct store *s = sc->s;
	struct idx_entry *e;

	if (h->rec.type == REC_MARK)
		return 0;
	if (h->rec.type == REC_BELOW) {
		apply_below(s, &h->rec.okey, h->rec.least);
		return 0;
	}
	e = idx_find(s->index, &h->rec.okey);
	if (h->rec.type == REC_TOMBSTONE) {
		if (e)
			store_count(s, e, -1);
		idx_remove(s->index, &h->rec.okey);
		return 0;
	}
	if ((!h->body_ok && !h->unread) || h->rec.type == REC_DAMAGED)
		say_damaged(s, &h->rec);
	/* a key twice is the same object twice: a good one wins, if its file was not dropped */
	if (e && !h->body_ok && h->rec.type == REC_OBJECT && store_there(s, e))
		return 0;
	if (e)
		store_count(s, e, -1);
	else
		e = idx_insert(s->index, &h->rec.okey);
	if (!e)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", s->dir);
	e->pos = h->rec.pos;
	e->bare = h->rec.type == REC_DAMAGED;
	e->length = e->bare ? h->rec.least : h->rec.length;
	e->body_crc = h->rec.body_crc;
	e->time_s = rec_time_s(&h->rec);
	e->state = (h->body_ok || h->unread) && h->rec.type == REC_OBJECT
			   ? IDX_LIVE
			   : IDX_DAMAGED;
	store_count(s, e, 1);
	return 0;
}

/* A record that lies below the durable place: all that is wrong here is
 * damage, and never an unfinished write. */
static int release(struct scan *sc, const struct held *h, struct rj_error *err)
{
	if (h->gap_from)
		damage_lost(sc->s, h->gap_from,
			"records that must be here are missing");
	return apply(sc, h, err);
}

static int release_below(struct scan *sc, uint64_t pos, struct rj_error *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < sc->count && sc->held[i].rec.pos < pos && !rc; i++)
		rc = release(sc, &sc->held[i], err);
	sc->count -= i;
	if (i && sc->count)
		memmove(sc->held, sc->held + i, sc->count * sizeof(*sc->held));
	return rc;
}

/* Take the record of FOUND, whose other fields say what became of its body. */
static int add_record(
	struct scan *sc, const struct held *found, struct rj_error *err)
{
	const struct rec *r = &found->rec;
	struct held *h;
	size_t cap;
	int rc = 0;

	if (sc->count == sc->cap) {
		cap = sc->cap ? sc->cap * 2 : 64;
		h = reallocarray(sc->held, cap, sizeof(*h));
		if (!h)
			return rj_fail(err, RJ_E_NOMEM, "%s: out of memory",
				sc->s->dir);
		sc->held = h;
		sc->cap = cap;
	}
	if (r->durable > sc->durable) {
		sc->durable = r->durable;
		rc = release_below(sc, sc->durable, err);
	}
	h = &sc->held[sc->count++];
	*h = *found;
	h->last_seen = sc->last;
	if (r->prev != sc->last &&
		!(!sc->any && pos_file(r->prev) < sc->first_file))
		h->gap_from =
			sc->any ? sc->last_end
				: pos_make(sc->first_file, FILE_HEAD_BYTES);
	sc->any = true;
	sc->last = r->pos;
	sc->last_end = r->pos + rec_total(r->length);
	sc->clean = r->type == REC_MARK && (r->flags & REC_F_CLEAN);
	return rc;
}

static bool all_zero(const uint8_t *p, size_t len)
{
	return !len || (!p[0] && !memcmp(p, p + 1, len - 1));
}

/*
 * A write that did not finish leaves whole sectors as they were before, and
 * they were zero; rot does not. (A body of zeros can make rot look like that;
 * then the bytes are still kept aside and named.)
 */
static bool has_zero_sector(const uint8_t *data, uint64_t from, uint64_t to)
{
	uint64_t end;

	for (; from < to; from = end) {
		end = align_up(from + 1, 512);
		if (end > to)
			end = to;
		if (all_zero(data + from, end - from))
			return true;
	}
	return false;
}

/* Is there a record whose header is at OFF, or whose trailer is (and whose
 * header is damaged)? LEAST: where it may start at the earliest. */
static bool find_record(const struct scan_file *sf, uint64_t store_id,
	uint64_t off, uint64_t least, struct rec *r, bool *headless)
{
	const uint8_t *p = sf->data + off;
	uint64_t start;

	if (rec_decode(p, false, store_id, r) &&
		r->pos == pos_make(sf->number, off)) {
		*headless = false;
		return true;
	}
	if (!rec_decode(p, true, store_id, r) || pos_file(r->pos) != sf->number)
		return false;
	start = pos_offset(r->pos);
	*headless = true;
	return start >= least && start + rec_trailer_at(r->length) == off;
}

static int take_record(struct scan *sc, const struct scan_file *sf,
	const struct rec *r, bool headless, struct rj_error *err)
{
	uint64_t start = pos_offset(r->pos);
	uint64_t body = start + REC_HEAD_BYTES, trailer, to;
	struct held h = {.rec = *r};
	bool whole, unread;
	struct rec again;

	trailer = start + rec_trailer_at(r->length);
	to = trailer + REC_HEAD_BYTES;
	whole = to <= sf->len;
	unread = scan_find_unreadable(sc, r->pos, pos_make(sf->number, to));
	h.body_ok = body + r->length <= sf->len &&
		    rj_crc32c(~0u, sf->data + body, r->length) == r->body_crc;
	h.unread = whole && unread && !h.body_ok && !sc->s->read_only;
	h.torn = whole && !unread && has_zero_sector(sf->data, start, to);
	if (h.body_ok && (headless || !whole ||
			       !rec_decode(sf->data + trailer, true,
				       r->store_id, &again)))
		log_warning("%s: byte %llu: the %s of a record is damaged; "
			    "its other copy is used",
			sf->path, (unsigned long long)start,
			headless ? "header" : "trailer");
	return add_record(sc, &h, err);
}

int scan_file(struct scan *sc, struct scan_file *sf, struct rj_error *err)
{
	uint64_t off = sf->from, least = off, stray = 0, start;
	unsigned strays = 0;
	bool headless;
	struct rec r;
	int rc;

	sf->data_end = off;
	while (off + REC_HEAD_BYTES <= sf->len) {
		if (!find_record(
			    sf, sc->s->store_id, off, least, &r, &headless)) {
			if (!all_zero(sf->data + off, REC_ALIGN)) {
				stray = stray ? stray : off;
				sf->data_end = off + REC_ALIGN;
			}
			off += REC_ALIGN;
			continue;
		}
		start = pos_offset(r.pos);
		if (stray && stray < start && strays++ < STRAYS_SAID)
			log_warning("%s: byte %llu: DAMAGED: bytes that belong "
				    "to no record",
				sf->path, (unsigned long long)stray);
		stray = 0;
		rc = take_record(sc, sf, &r, headless, err);
		if (rc)
			return rc;
		least = start + rec_total(r.length);
		sf->data_end = least < sf->len ? least : sf->len;
		off = least;
	}
	return 0;
}

/* Where what is missing before H begins. If H names a record of its own file, the first
 * of which is missing: at the start of that, as the file before was synced when it began. */
static uint64_t gap_start(const struct scan *sc, const struct held *h)
{
	const struct datafile *f = store_file(sc->s, pos_file(h->rec.pos));

	if (f && f > sc->s->files && h->last_seen &&
		pos_file(h->gap_from) == f[-1].number &&
		pos_file(h->rec.prev) == f->number)
		return pos_make(f->number, FILE_HEAD_BYTES);
	return h->gap_from;
}

/*
 * What no later record vouches for is judged by what is there and what is not, and the log
 * goes on after it: so all of that must have been read, up to where the next batch would
 * begin. (If that is zero, nothing was written after it.)
 */
static int check_end(struct scan *sc, struct rj_error *err)
{
	uint64_t from = sc->clean ? sc->last_end : sc->durable, first, to, at;
	const struct datafile *f;
	size_t i;
	int rc = 0;

	for (i = 0; i < sc->s->file_count && !rc; i++) {
		f = &sc->s->files[i];
		first = pos_make(f->number, FILE_HEAD_BYTES);
		to = pos_make(f->number,
			align_up(f->data_end, BATCH_ALIGN) + BATCH_ALIGN);
		at = scan_find_unreadable(sc, from > first ? from : first, to);
		if (at)
			rc = damage_unreadable(sc->s, at, err);
	}
	return rc;
}

/* What no later record vouches for: the last batch, or all since the last
 * sync when the server runs with --durability=received. */
int scan_finish(struct scan *sc, struct scan_end *end, struct rj_error *err)
{
	struct held *h;
	size_t i;
	int rc = check_end(sc, err);

	*end = (struct scan_end){.last = sc->last, .end = sc->last_end};
	if (!rc && sc->clean)
		return release_below(sc, UINT64_MAX, err);
	for (i = 0; i < sc->count && !rc; i++) {
		h = &sc->held[i];
		/* All from the first torn record on belongs to a batch that
		 * was not synced, so none of it was acknowledged. */
		if (h->gap_from && h->rec.durable <= gap_start(sc, h)) {
			end->cut = gap_start(sc, h);
		} else if (!h->body_ok && h->torn) {
			end->cut = h->rec.pos;
		} else {
			rc = release(sc, h, err);
			continue;
		}
		end->end = end->cut;
		end->last = h->last_seen;
		return 0;
	}
	return rc;
}
