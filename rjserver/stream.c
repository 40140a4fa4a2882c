// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Streams. Nothing is held between two pieces but the number of the last
 * object: whatever is deleted or moved meanwhile is looked up anew, so a slow
 * reader costs one piece of memory and keeps no file.
 */
#include "stream.h"

#include <stdlib.h>

#include "commit.h"

#define PIECE_BYTES (1u << 20) /* at least; an object is never divided */

struct stream {
	struct store *s;
	struct okey okey;
	uint64_t after, last; /* numbers: last sent; the last to be sent */
};

static int add_object(struct stream *st, uint64_t number, uint32_t length,
	struct rj_buf *out)
{
	struct okey okey = st->okey;
	struct rj_error err = {0};
	size_t start = out->len;
	int rc;

	okey.key.number = number;
	rc = rj_buf_printf(out, "%020llu %u\n", (unsigned long long)number,
		length);
	if (!rc)
		rc = store_get(st->s, &okey, out, &err);
	if (rc != -RJ_E_CORRUPT)
		return rc;
	out->len = start;
	return rj_buf_printf(
		out, "%020llu damaged\n", (unsigned long long)number);
}

static enum http_more next_piece(void *arg, struct rj_buf *out)
{
	struct stream *st = arg;
	const struct idx_entry *e;
	uint64_t number;
	size_t count;

	while (out->len < PIECE_BYTES) {
		e = idx_list(st->s->index, &st->okey, st->after, &count);
		if (!count || e->number > st->last) {
			/* what is not there may be among what was lost */
			if (rj_buf_printf(out, "%s\n",
				    st->s->lost ? "lost" : "end"))
				return HTTP_CUT;
			return HTTP_END;
		}
		number = e->number;
		if (add_object(st, number, e->length, out))
			return HTTP_CUT;
		st->after = number;
	}
	return HTTP_MORE;
}

void stream_objects(struct store *s, struct http_exchange *x,
	const struct okey *okey, uint64_t from)
{
	struct stream *st = calloc(1, sizeof(*st));
	struct http_reply failed = {.status = 500, .text = "out of memory"};
	const struct idx_entry *e;
	size_t count;

	if (!st) {
		http_answer(x, &failed);
		return;
	}
	commit_flush(s->commit); /* all that was acknowledged, no less */
	st->s = s;
	st->okey = *okey;
	st->after = from ? from - 1 : 0;
	e = idx_list(s->index, okey, st->after, &count);
	if (count)
		st->last = e[count - 1].number;
	http_answer_stream(
		x, "application/x-rj-objects", next_piece, free, st);
}
