// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A connection: its life from one request to the next, its time limits, and the
 * bytes that come. A stranger, on whose connection no request was let in, gets
 * HEAD_MOST bytes of memory and STRANGER_SECONDS.
 */
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http-priv.h"
#include "tls.h"
#include "util/environ.h"

#define SKIP_MEMBER    (32u << 20) /* bytes of a body that is not wanted */
#define SKIP_STRANGER  (64u << 10)
#define LINGER_SECONDS 5

int request_seconds(const struct http *http)
{
	int seconds = http->limits.request_seconds;

	return seconds ? seconds : HTTP_REQUEST_SECONDS;
}

void conn_limit(struct conn *c, int seconds)
{
	c->due_ns = rj_monotonic_ns() + seconds * 1000000000ll;
}

void conn_begin_time(struct conn *c)
{
	int64_t due = c->due_ns;

	if (c->begun)
		return;
	c->begun = true;
	conn_limit(c, request_seconds(c->http));
	if (!c->member && due < c->due_ns)
		c->due_ns = due;
}

void conn_count(struct conn *c, bool unsent)
{
	if (c->counted != unsent)
		c->http->unsent += unsent ? 1 : -1u;
	c->counted = unsent;
}

void conn_finish(struct conn *c, int status, uint64_t bytes)
{
	if (c->x.open && c->http->on.done)
		c->http->on.done(c->http->on.arg, c->x.tag, status, bytes);
	c->x = (struct http_exchange){0};
}

void conn_drop_input(struct conn *c)
{
	if (!c->buffer)
		free(c->at);
	body_give(&c->http->bodies, c->purse, c->buffer);
	if (c->buffer && c->http->waiting)
		event_active(c->http->memory, 0, 0);
	c->buffer = NULL;
	c->at = NULL;
	c->got = 0;
}

void conn_place(struct conn *c, struct conns *list)
{
	struct http *http = c->http;

	if (c->list)
		TAILQ_REMOVE(c->list, c, place);
	http->stranger_count -= c->list == &http->strangers;
	http->stranger_count += list == &http->strangers;
	c->list = list;
	c->member = list == &http->members;
	if (list)
		TAILQ_INSERT_TAIL(list, c, place);
}

/* Of the connections of C's account, but C: the one whose client has been waited for longest; IDLE:
 * or that is between two requests. */
static struct conn *waits_longest(const struct conn *c, bool idle)
{
	struct conn *o, *found = NULL;

	TAILQ_FOREACH(o, &c->http->members, place)
		if (o != c && o->purse == c->purse && !o->busy &&
			(o->state == CONN_SEND || (idle && o->state == CONN_HEAD && !o->got)) &&
			(!found || o->due_ns < found->due_ns))
			found = o;
	return found;
}

void conn_hold_answer(struct conn *c)
{
	struct conn *o;

	if (!c->purse)
		return;
	c->purse->unread -= c->held;
	c->held = c->out.len + c->body.len;
	c->purse->unread += c->held;
	while (purse_unread(c->purse) && (o = waits_longest(c, false)))
		conn_end(o);
}

void conn_share(struct conn *c)
{
	struct conn *o;

	if (c->purse->name[0] && c->purse->holders > c->http->limits.connections / 2 &&
		(o = waits_longest(c, true)))
		conn_end(o);
}

void conn_free_answer(struct conn *c)
{
	if (c->purse)
		c->purse->unread -= c->held;
	c->held = 0;
	rj_buf_free(&c->out);
	rj_buf_free(&c->body);
	c->sent = 0;
}

void conn_end_stream(struct conn *c)
{
	struct http_stream *st = c->stream;

	if (!st)
		return;
	c->stream = NULL;
	st->done(st->arg);
	conn_finish(c, 200, st->bytes);
	free(st);
}

static void conn_free(struct conn *c)
{
	struct http *http = c->http;

	conn_end_stream(c);
	conn_free_answer(c);
	conn_finish(c, 0, 0); /* it will not be answered */
	conn_count(c, false);
	if (c->state == CONN_MEMORY)
		http->waiting--;
	conn_drop_input(c);
	purse_drop(&http->bodies, c->purse);
	rj_buf_free(&c->ahead);
	conn_place(c, NULL);
	http->count--;
	if (c->readable)
		event_free(c->readable);
	if (c->writable)
		event_free(c->writable);
	tls_end(c->ssl);
	close(c->fd); /* a socket: nothing to be lost here */
	free(c);
}

void conn_end(struct conn *c)
{
	if (c->busy)
		c->ended = true;
	else
		conn_free(c);
}

bool conn_enter(struct conn *c)
{
	bool was = c->busy;

	c->busy = true;
	return was;
}

void conn_leave(struct conn *c, bool was)
{
	c->busy = was;
	if (c->ended && !was)
		conn_free(c);
}

static void wait_readable(struct conn *c)
{
	if (c->paused && event_add(c->readable, NULL))
		conn_end(c);
	else
		c->paused = false;
}

void conn_pause(struct conn *c)
{
	if (!c->paused)
		event_del(c->readable);
	c->paused = true;
}

void conn_read_soon(struct conn *c)
{
	wait_readable(c);
	if (!c->ended && (c->ssl || c->ahead.len))
		event_active(c->readable, EV_READ, 0);
}

ssize_t conn_take(struct conn *c, void *p, size_t len)
{
	size_t left = c->ahead.len - c->ahead_at;
	ssize_t n;

	c->from_prefetch = left > 0;
	if (left) {
		n = (ssize_t)(left < len ? left : len);
		memcpy(p, c->ahead.data + c->ahead_at, (size_t)n);
		c->ahead_at += (size_t)n;
		return n;
	}
	if (c->ahead.len)
		rj_buf_free(&c->ahead);
	c->ahead_at = 0;
	if (len > READ_AT_ONCE)
		len = READ_AT_ONCE;
	if (c->ssl) {
		n = tls_read(c->ssl, p, len, &c->retry);
		if (c->retry && event_add(c->writable, NULL))
			return -1;
		return n;
	}
	n = recv(c->fd, p, len, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n > 0 ? n : -1;
}

bool conn_untake(struct conn *c, const void *p, size_t len)
{
	if (!len)
		return true;
	if (c->from_prefetch) {
		c->ahead_at -= len;
		return true;
	}
	return !rj_buf_append(&c->ahead, p, len);
}

static size_t skip_most(const struct conn *c)
{
	return c->member ? SKIP_MEMBER : SKIP_STRANGER;
}

bool conn_closes(const struct conn *c)
{
	return c->close || c->untaken > skip_most(c);
}

void conn_linger(struct conn *c)
{
	if (!c->untaken) {
		conn_end(c);
		return;
	}
	if (c->ssl) {
		tls_end(c->ssl);
		c->ssl = NULL;
	}
	shutdown(c->fd, SHUT_WR);
	rj_buf_free(&c->ahead);
	c->ahead_at = 0;
	c->state = CONN_LINGER;
	c->untaken = skip_most(c);
	conn_limit(c, LINGER_SECONDS);
	conn_read_soon(c);
}

void conn_next_request(struct conn *c)
{
	conn_drop_input(c);
	c->begun = c->expects = false;
	if (c->close) {
		conn_linger(c);
		return;
	}
	c->state = c->untaken ? CONN_SKIP : CONN_HEAD;
	conn_limit(c, !c->member	     ? STRANGER_SECONDS
		      : c->untaken ? request_seconds(c->http)
				     : IDLE_SECONDS);
	conn_read_soon(c);
}

void conn_sent(struct conn *c)
{
	bool was = conn_enter(c);

	conn_count(c, false);
	if (c->judging)
		c->answered = true;
	else
		conn_next_request(c);
	conn_leave(c, was);
}
