// SPDX-License-Identifier: GPL-2.0-or-later
#include "object-answer.h"

#include <stdlib.h>

#include "pieces.h"

struct object_sent {
	struct store *s;
	struct http_exchange *x;
	struct okey okey;
	void (*fail)(struct http_exchange *x, int rc, const struct rj_error *err);
	struct pieces pieces;
};

static void end(void *arg)
{
	struct object_sent *o = arg;

	pieces_end(&o->pieces);
	free(o);
}

static enum http_more next_piece(void *arg, struct rj_buf *out)
{
	struct object_sent *o = arg;
	struct rj_error err;
	int rc = pieces_next(&o->pieces, out, &err);

	if (rc)
		return rc == -RJ_E_BUSY ? HTTP_WAIT : HTTP_CUT;
	return o->pieces.at < o->pieces.length ? HTTP_MORE : HTTP_END;
}

/* Check the object, and then send it. */
static void go_on(struct object_sent *o)
{
	struct rj_error err = {0};
	int rc = pieces_begin(&o->pieces, o->s, &o->okey, &err);

	if (rc == -RJ_E_BUSY)
		return;
	if (!rc) {
		http_answer_stream(o->x, "application/octet-stream", o->pieces.length, next_piece,
			end, o);
		return;
	}
	o->fail(o->x, rc, &err);
	end(o);
}

static void on_ready(void *arg)
{
	struct object_sent *o = arg;

	if (o->pieces.state == PIECES_SEND)
		http_stream_on(o->x);
	else
		go_on(o);
}

void object_answer(struct store *s, struct http_exchange *x, const struct okey *okey,
	void (*fail)(struct http_exchange *x, int rc, const struct rj_error *err))
{
	struct object_sent *o = calloc(1, sizeof(*o));
	struct rj_error err;

	if (!o) {
		rj_fail(&err, RJ_E_NOMEM, "out of memory");
		fail(x, -RJ_E_NOMEM, &err);
		return;
	}
	o->s = s;
	o->x = x;
	o->okey = *okey;
	o->fail = fail;
	o->pieces.wait.ready = on_ready;
	o->pieces.wait.arg = o;
	go_on(o);
}
