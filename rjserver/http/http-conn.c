// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A connection: its life, its time limits, and the bytes that come. A stranger,
 * on whose connection no request was let in, gets HEAD_MOST bytes of memory and
 * STRANGER_SECONDS.
 */
#include <errno.h>
#include <event2/event.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http-priv.h"
#include "tls.h"
#include "util/environ.h"

#define FIRST_HEAD     200 /* bytes that the first head may have */
#define TURNS	       64 /* pieces of one connection, then others' */

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

static void conn_free(struct conn *c)
{
	struct http *http = c->http;

	conn_drop_answer(c);
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

/* Is C reading, and may there be bytes that do not show at its socket? */
static bool reads_hidden(const struct conn *c)
{
	bool reads = c->state == CONN_HEAD || c->state == CONN_BODY ||
		     c->state == CONN_SKIP || c->state == CONN_LINGER;

	return reads && !c->ended &&
	       (c->ssl || c->ahead.len > c->ahead_at);
}

/* TLS, and what was taken too early, do not show at the socket: read until there
 * is nothing more, or others want their turn. */
static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;
	bool was = conn_enter(c), on;
	int turns = 0;

	http_work(c->http);
	do {
		on = conn_read_step(c) == STEP_ON && reads_hidden(c);
	} while (on && c->state != CONN_HEAD && ++turns < TURNS);
	if (on)
		event_active(c->readable, EV_READ, 0);
	conn_leave(c, was);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;
	bool was = conn_enter(c);

	/* a client that reads as fast as it gets keeps no commit waiting */
	http_work(c->http);
	if (c->state == CONN_SEND) {
		conn_push(c);
	} else if (c->retry) {
		c->retry = false;
		event_active(c->readable, EV_READ, 0);
	}
	conn_leave(c, was);
}

static void name_peer(struct conn *c, const struct sockaddr *sa, socklen_t len)
{
	strcpy(c->peer, "?");
	if (sa->sa_family != AF_INET && sa->sa_family != AF_INET6)
		return;
	memcpy(&c->address, sa, len);
	getnameinfo(sa, len, c->peer, sizeof(c->peer), NULL, 0, NI_NUMERICHOST);
}

bool conn_begin(struct http *http, int fd, const struct sockaddr *sa,
	socklen_t len)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (!c) {
		close(fd); /* never used */
		return false;
	}
	c->http = http;
	c->fd = fd;
	c->guess = FIRST_HEAD;
	name_peer(c, sa, len);
	conn_place(c, &http->strangers);
	http->count++;
	c->readable = event_new(
		http->base, fd, EV_READ | EV_PERSIST, on_readable, c);
	c->writable = event_new(http->base, fd, EV_WRITE, on_writable, c);
	if (http->tls)
		c->ssl = tls_accept(http->tls, fd, c->peer);
	conn_limit(c, STRANGER_SECONDS);
	if (!c->readable || !c->writable || (http->tls && !c->ssl) ||
		event_add(c->readable, NULL)) {
		conn_end(c);
		return false;
	}
	return true;
}
