// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Streams. Nothing is held between two pieces but the number of the last
 * object, and what of it was sent: an object that was deleted or moved since is looked up again,
 * so a slow reader costs one piece of memory and keeps no file.
 */
#include "stream.h"

#include <stdlib.h>

#include "pieces.h"
#include "rjserver/store/commit.h"

struct stream {
	struct store *s;
	struct http_exchange *x;
	struct okey okey;
	uint64_t after, last; /* numbers: last sent; the last to be sent */
	uint64_t number; /* of the object that the disk was waited for; 0: none */
	struct read_wait wait;
	struct pieces large; /* the object that is being sent in pieces */
};

static void on_ready(void *arg)
{
	struct stream *st = arg;

	http_stream_on(st->x);
}

/* Append the object's bytes to OUT; RJ_E_BUSY: they come to st->wait. */
static int object_bytes(
	struct stream *st, uint64_t number, struct rj_buf *out)
{
	struct okey okey = st->okey;
	int rc = st->wait.rc;

	okey.key.number = number;
	if (st->number != number) {
		if (!commit_entry(st->s->commit, &okey))
			return -RJ_E_NOTFOUND;
		rc = read_wait_begin(st->s, &okey, out, &st->wait, NULL);
		st->number = rc == -RJ_E_BUSY ? number : 0;
		return rc;
	}
	st->number = 0;
	if (rc == -RJ_E_NOTFOUND) /* it was deleted, and is there again */
		return object_bytes(st, number, out);
	if (!rc && rj_buf_append(out, st->wait.body.data, st->wait.body.len))
		rc = -RJ_E_NOMEM;
	rj_buf_free(&st->wait.body);
	return rc;
}

static int add_object(struct stream *st, uint64_t number, uint32_t length,
	struct rj_buf *out)
{
	size_t start = out->len;
	int rc;

	if (st->number == number && !st->wait.rc)
		length = (uint32_t)st->wait.body.len;
	rc = rj_buf_printf(out, "%020llu %u\n", (unsigned long long)number,
		length);
	if (!rc)
		rc = object_bytes(st, number, out);
	if (rc == -RJ_E_BUSY || rc == -RJ_E_CORRUPT || rc == -RJ_E_NOTFOUND)
		out->len = start;
	if (rc != -RJ_E_CORRUPT)
		return rc;
	return rj_buf_printf(
		out, "%020llu damaged\n", (unsigned long long)number);
}

/* Append a piece of the object NUMBER, which is larger than one. RJ_E_EXISTS: look again what comes
 * next. */
static int add_pieces(struct stream *st, uint64_t number, struct rj_buf *out)
{
	struct pieces *p = &st->large;
	struct okey okey = st->okey;
	size_t start = out->len;
	struct rj_error err;
	int rc = 0;

	okey.key.number = number;
	if (p->state != PIECES_SEND)
		rc = pieces_begin(p, st->s, &okey, &err);
	if (rc == -RJ_E_CORRUPT)
		return rj_buf_printf(out, "%020llu damaged\n", (unsigned long long)number);
	if (rc)
		return rc;
	if (!p->at)
		rc = rj_buf_printf(
			out, "%020llu %u\n", (unsigned long long)number, p->length);
	if (!rc)
		rc = pieces_next(p, out, &err);
	if (!rc && p->at < p->length)
		return -RJ_E_EXISTS;
	if (rc)
		out->len = start;
	if (rc == -RJ_E_BUSY)
		return rc;
	/* deleted since, and perhaps stored again; of one of which a part was sent that cuts the
	 * answer */
	if (rc == -RJ_E_NOTFOUND)
		rc = p->at ? -RJ_E_IO : -RJ_E_EXISTS;
	pieces_end(p);
	return rc;
}

static enum http_more last_line(const struct stream *st, struct rj_buf *out)
{
	/* what is not there may be among what was lost */
	return rj_buf_printf(out, "%s\n", st->s->lost ? "lost" : "end") ? HTTP_CUT : HTTP_END;
}

static enum http_more next_piece(void *arg, struct rj_buf *out)
{
	struct stream *st = arg;
	const struct idx_entry *e;
	uint64_t number;
	int rc;

	while (out->len < PIECE_BYTES) {
		if (st->large.state != PIECES_NONE) {
			number = st->large.okey.key.number;
			rc = add_pieces(st, number, out);
		} else {
			e = idx_next(st->s->index, &st->okey, st->after);
			if (!e || e->number > st->last)
				return last_line(st, out);
			number = e->number;
			rc = e->length > PIECE_BYTES && st->number != number
				     ? add_pieces(st, number, out)
				     : add_object(st, number, e->length, out);
		}
		if (rc == -RJ_E_BUSY)
			return HTTP_WAIT;
		if (rc == -RJ_E_EXISTS)
			continue;
		if (rc && rc != -RJ_E_NOTFOUND) /* deleted since */
			return HTTP_CUT;
		st->after = number;
	}
	return HTTP_MORE;
}

static void end(void *arg)
{
	struct stream *st = arg;

	read_wait_end(&st->wait);
	pieces_end(&st->large);
	free(st);
}

void stream_objects(struct store *s, struct http_exchange *x,
	const struct okey *okey, uint64_t from)
{
	struct stream *st = calloc(1, sizeof(*st));
	struct http_reply failed = {.status = 500, .text = "out of memory"};
	const struct idx_entry *e;

	if (!st) {
		http_answer(x, &failed);
		return;
	}
	commit_flush(s->commit); /* all that was acknowledged, no less */
	st->s = s;
	st->x = x;
	st->wait.ready = on_ready;
	st->wait.arg = st;
	st->large.wait = st->wait;
	st->okey = *okey;
	st->after = from ? from - 1 : 0;
	e = idx_last(s->index, okey);
	if (e)
		st->last = e->number;
	http_answer_stream(
		x, "application/x-rj-objects", -1, next_piece, end, st);
}
