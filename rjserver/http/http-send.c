// SPDX-License-Identifier: GPL-2.0-or-later
/* A connection: sends answers, whole ones and streams. */
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "http-answer.h"
#include "http-priv.h"
#include "tls.h"

static struct answer_how how(struct conn *c)
{
	c->close = conn_closes(c);
	return (struct answer_how){
		.head = c->head_only, .close = c->close, .old = c->old};
}

/* Up to all of V to the kernel. 0: it takes none now; -1: never. */
static ssize_t give(struct conn *c, const struct iovec v[2])
{
	struct msghdr m = {.msg_iov = (struct iovec *)v, .msg_iovlen = 2};
	size_t done = 0, at, total = v[0].iov_len + v[1].iov_len;
	ssize_t n = 1;

	if (!c->ssl) {
		n = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : n;
	}
	for (; done < total && n > 0; done += n > 0 ? (size_t)n : 0) {
		bool first = done < v[0].iov_len;

		at = first ? done : done - v[0].iov_len;
		n = tls_write(c->ssl, (char *)v[!first].iov_base + at,
			v[!first].iov_len - at);
	}
	return n < 0 ? -1 : (ssize_t)done;
}

bool conn_say(struct conn *c, const char *text)
{
	struct iovec v[2] = {{(void *)text, strlen(text)}};

	return give(c, v) == (ssize_t)strlen(text);
}

/* Start the time in which the client must take READER_BYTES of the answer. */
static void begin_taking(struct conn *c)
{
	c->taken = 0;
	conn_limit(c, request_seconds(c->http));
}

/* The next piece into c->out and c->body. False: the connection is cut. */
static bool next_piece(struct conn *c)
{
	struct http_stream *st = c->stream;
	enum http_more more;
	int rc = 0;

	more = st->next(st->arg, &c->body);
	if (more == HTTP_WAIT) {
		c->state = CONN_ANSWER; /* not the client is waited for */
		return true;
	}
	st->bytes += c->body.len;
	st->ended = more == HTTP_END;
	if (more == HTTP_CUT)
		return false;
	if (st->chunked && c->body.len) {
		rc = rj_buf_printf(&c->out, "%zx\r\n", c->body.len);
		rc = rc ? rc : rj_buf_append(&c->body, "\r\n", 2);
	}
	if (!rc && st->chunked && st->ended)
		rc = rj_buf_append(&c->body, "0\r\n\r\n", 5);
	if (c->state != CONN_SEND) /* not in the time in which the disk was waited for */
		begin_taking(c);
	c->state = CONN_SEND;
	conn_hold_answer(c);
	/* others get their turn before it is sent */
	return !rc && !event_add(c->writable, NULL);
}

void http_stream_on(struct http_exchange *x)
{
	struct conn *c = (struct conn *)x;

	if (!next_piece(c))
		conn_end(c);
}

/* All that was to be sent is. */
static void whole(struct conn *c)
{
	conn_free_answer(c);
	if (c->stream && !c->stream->ended) {
		if (!next_piece(c))
			conn_end(c);
		return;
	}
	conn_end_stream(c);
	conn_sent(c);
}

static void send_on(struct conn *c)
{
	struct iovec v[2] = {{c->out.data, c->out.len},
		{c->body.data, c->body.len}};
	size_t total = c->out.len + c->body.len, skip = c->sent;
	ssize_t n;
	int i;

	for (i = 0; i < 2; i++) {
		size_t gone = skip < v[i].iov_len ? skip : v[i].iov_len;

		v[i].iov_base = gone ? (char *)v[i].iov_base + gone
				     : v[i].iov_base;
		v[i].iov_len -= gone;
		skip -= gone;
	}
	n = give(c, v);
	if (n < 0) {
		conn_end(c);
		return;
	}
	c->sent += (size_t)n;
	c->taken += (size_t)n;
	if (c->taken >= READER_BYTES)
		begin_taking(c);
	if (c->sent == total)
		whole(c);
	else if (event_add(c->writable, NULL))
		conn_end(c);
}

void conn_push(struct conn *c)
{
	send_on(c);
}

/* HEAD, which is the server's scratch memory, and then BODY, which is taken
 * over. */
static void send_answer(struct conn *c, struct rj_buf *head, struct rj_buf *body)
{
	struct iovec v[2] = {{head->data, head->len}};
	ssize_t n;

	if (body) {
		v[1] = (struct iovec){body->data, body->len};
		c->body = *body;
		*body = (struct rj_buf){0};
	}
	n = give(c, v);
	if (n == (ssize_t)(v[0].iov_len + v[1].iov_len)) {
		conn_free_answer(c);
		conn_sent(c);
		return;
	}
	c->state = CONN_SEND;
	c->sent = n > 0 ? (size_t)n : 0;
	begin_taking(c);
	if (n < 0 || rj_buf_append(&c->out, head->data, head->len) ||
		event_add(c->writable, NULL)) {
		conn_end(c);
		return;
	}
	conn_hold_answer(c);
}

void http_answer(struct http_exchange *x, const struct http_reply *reply)
{
	struct conn *c = (struct conn *)x;
	struct http_reply full = *reply;
	struct rj_buf *out = &c->http->text;
	struct answer_how as = how(c);
	size_t bytes;
	int rc;

	out->len = 0;
	if (!full.more)
		full.more = x->more;
	rc = answer_compose(&full, &as, out, &bytes);
	conn_finish(c, reply->status, bytes);
	if (rc)
		conn_end(c);
	else
		send_answer(c, out, c->head_only ? NULL : reply->body);
}

void conn_refuse(struct conn *c, int status, const char *text)
{
	struct http_reply reply = {.status = status, .text = text};

	c->close = true;
	c->untaken = 1; /* or more */
	c->head_only = false;
	c->state = CONN_ANSWER;
	conn_count(c, true);
	http_answer(&c->x, &reply);
}

void http_answer_stream(struct http_exchange *x, const char *type, int64_t length,
	enum http_more (*next)(void *arg, struct rj_buf *out),
	void (*done)(void *arg), void *arg)
{
	struct http_reply failed = {.status = 500, .text = "out of memory"};
	struct http_stream *st = calloc(1, sizeof(*st));
	struct conn *c = (struct conn *)x;
	struct answer_how as;

	if (!st) {
		done(arg);
		http_answer(x, &failed);
		return;
	}
	*st = (struct http_stream){.next = next, .done = done, .arg = arg};
	c->stream = st;
	as = how(c);
	st->chunked = length < 0 && !c->old;
	if (answer_stream(type, length, &as, &c->out) || !next_piece(c))
		conn_end(c);
}
