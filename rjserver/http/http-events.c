// SPDX-License-Identifier: GPL-2.0-or-later
/* Begin a connection, and run it when its socket is readable or writable. */
#include <event2/event.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http-priv.h"
#include "tls.h"

#define TURNS 64 /* pieces of one connection, then others' */

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

	http_work(c->http); /* may answer C, and end it */
	do {
		on = !c->ended && conn_read_step(c) == STEP_ON && reads_hidden(c);
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
	if (c->state == CONN_SEND && !c->ended) {
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
	c->guess = HTTP_FIRST_HEAD;
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
