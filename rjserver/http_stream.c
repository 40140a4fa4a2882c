// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers of unknown length, piece by piece as the client takes them. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdbool.h>
#include <stdlib.h>

#include "http_impl.h"

struct http_stream {
	struct evhttp_request *ev;
	struct http_exchange *exchange;
	uint64_t bytes; /* of the body so far */
	enum http_more (*next)(void *arg, struct rj_buf *out);
	void (*done)(void *arg);
	void *arg;
};

static void finish(struct http_stream *st)
{
	st->done(st->arg);
	http_finish(st->exchange, 200, st->bytes);
	free(st);
}

static void free_piece(const void *data, size_t len, void *arg)
{
	free((void *)data);
}

static void send_piece(struct evhttp_connection *con, void *arg);

/* The connection is closing. libevent has taken the request off it and leaves
 * it to us, unless all of the server is being torn down. */
static void gone(struct evhttp_connection *con, void *arg)
{
	struct http_stream *st = arg;

	if (!evhttp_request_get_connection(st->ev))
		evhttp_send_reply_end(st->ev); /* only frees it */
	finish(st);
}

static void cut(struct http_stream *st, struct evhttp_connection *con)
{
	struct bufferevent *bev = evhttp_connection_get_bufferevent(con);

	/* the error comes back as an event, and that to gone() */
	bufferevent_trigger_event(bev, BEV_EVENT_ERROR | BEV_EVENT_WRITING,
		BEV_TRIG_DEFER_CALLBACKS);
}

static void end(struct http_stream *st, struct evhttp_connection *con)
{
	evhttp_connection_set_closecb(con, NULL, NULL);
	evhttp_send_reply_end(st->ev);
	finish(st);
}

static void send_piece(struct evhttp_connection *con, void *arg)
{
	struct http_stream *st = arg;
	struct evbuffer *out = evbuffer_new();
	enum http_more more = HTTP_CUT;
	struct rj_buf piece = {0};

	if (out)
		more = st->next(st->arg, &piece);
	st->bytes += piece.len;
	if (more != HTTP_CUT && piece.len) {
		if (evbuffer_add_reference(
			    out, piece.data, piece.len, free_piece, NULL))
			more = HTTP_CUT;
		else
			piece = (struct rj_buf){0};
	}
	rj_buf_free(&piece);
	if (more == HTTP_MORE)
		evhttp_send_reply_chunk_with_cb(st->ev, out, send_piece, st);
	else if (more == HTTP_END)
		evhttp_send_reply_chunk(st->ev, out);
	if (out)
		evbuffer_free(out);
	if (more == HTTP_END)
		end(st, con);
	else if (more == HTTP_CUT)
		cut(st, con);
}

void http_answer_stream(struct http_exchange *x, const char *type,
	enum http_more (*next)(void *arg, struct rj_buf *out),
	void (*done)(void *arg), void *arg)
{
	struct evhttp_request *ev = x->ev;
	struct evhttp_connection *con = evhttp_request_get_connection(ev);
	struct http_stream *st = calloc(1, sizeof(*st));
	struct http_reply failed = {.status = 500, .text = "out of memory"};

	if (!st || !con) {
		free(st);
		done(arg);
		http_answer(x, &failed);
		return;
	}
	*st = (struct http_stream){
		.ev = ev,
		.exchange = x,
		.next = next,
		.done = done,
		.arg = arg,
	};
	evhttp_add_header(evhttp_request_get_output_headers(ev), "Content-Type",
		type);
	evhttp_connection_set_closecb(con, gone, st);
	evhttp_send_reply_start(ev, 200, "OK");
	send_piece(con, st);
}
