// SPDX-License-Identifier: GPL-2.0-or-later
/* The listening socket, and which clients may connect. */
#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "http-priv.h"
#include "rjserver/log.h"
#include "tls.h"
#include "util/environ.h"

#define FULL	    "too many connections: %s"
#define MOST_STRANGERS 2048 /* of all addresses: they have memory, too */
#define IDLE_MISSED 10 /* seconds: a member that asks more often is missed */

/* Addresses of one machine, as far as that can be told: of IPv6 the network. */
static bool same_address(
	const struct sockaddr_storage *a, const struct sockaddr *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->ss_family != b->sa_family)
		return false;
	if (a->ss_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a->ss_family == AF_INET6 &&
	       !memcmp(&a6->sin6_addr, &b6->sin6_addr, 8);
}

/* ADDRESS has one connection more: is it one too many without a request that
 * was let in? Then the oldest goes. */
static void bound_address(struct http *http, const struct sockaddr *address)
{
	struct conn *c, *oldest = NULL;
	unsigned count = 0;

	TAILQ_FOREACH(c, &http->strangers, place) {
		if (c->state == CONN_ANSWER ||
			!same_address(&c->address, address))
			continue;
		if (!oldest)
			oldest = c;
		count++;
	}
	if (!oldest || !http->limits.per_address ||
		count < http->limits.per_address)
		return;
	log_refused("%s has %u connections without a request that was let in: the oldest are closed",
		oldest->peer, count);
	conn_end(oldest);
}

/* End a connection that will hardly be missed: the oldest stranger, else the member
 * that has asked for nothing longest, and not for IDLE_S seconds. False: there
 * is none. (One that is being read would only end later, and be found again.) */
static bool end_one(struct http *http, int idle_s)
{
	int64_t due = rj_monotonic_ns() + (IDLE_SECONDS - idle_s) * 1000000000ll;
	struct conn *c;

	TAILQ_FOREACH(c, &http->strangers, place)
		if (c->state != CONN_ANSWER && !c->busy)
			break;
	if (!c) {
		TAILQ_FOREACH(c, &http->members, place)
			if (c->state == CONN_HEAD && !c->busy && !c->got &&
				c->due_ns <= due)
				break;
	}
	if (c)
		conn_end(c);
	return c != NULL;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
	struct sockaddr *sa, int len, void *arg)
{
	struct http *http = arg;

	http_work(http);
	if (http->count >= http->limits.connections ||
		http->stranger_count >= MOST_STRANGERS) {
		log_error(FULL, strerror(EMFILE));
		if (!end_one(http, IDLE_MISSED)) {
			close(fd); /* never used */
			return;
		}
	}
	bound_address(http, sa);
	if (!conn_begin(http, fd, sa, (socklen_t)len))
		log_error(FULL, strerror(ENOMEM));
}

static void on_accept_again(evutil_socket_t fd, short what, void *arg)
{
	struct http *http = arg;

	if (http->listener)
		evconnlistener_enable(http->listener);
}

/*
 * No descriptor or memory for one more connection, which stays in the queue:
 * libevent would ask for it again at once, and say so each time, 100,000 times
 * in a second.
 */
static void on_accept_failed(struct evconnlistener *listener, void *arg)
{
	static const struct timeval soon = {0, 100000};
	struct http *http = arg;

	log_error(FULL, strerror(EVUTIL_SOCKET_ERROR()));
	end_one(http, 0);
	evconnlistener_disable(listener);
	if (event_add(http->accept_again, &soon))
		evconnlistener_enable(listener);
}

void http_set_limits(struct http *http, const struct http_limits *limits)
{
	http->limits = *limits;
	while (http->count > limits->connections && end_one(http, 0))
		;
}

static void expire(struct conn *c)
{
	static const struct linger at_once = {.l_onoff = 1};

	if (c->ssl)
		tls_because(c->ssl, "no TLS handshake within 10 seconds");
	if (c->state == CONN_MEMORY) {
		c->http->waiting--;
		conn_refuse(c, 503, "no memory for this body: send it again");
		return;
	}
	/* what a slow reader did not take is not kept for it by the kernel */
	if (c->state == CONN_SEND &&
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once,
			sizeof(at_once)))
		log_warning("%s: cannot reset a connection", c->peer);
	conn_end(c);
}

static void look_at(struct conns *list, int64_t now_ns, time_t now)
{
	struct conn *c, *next;

	for (c = TAILQ_FIRST(list); c; c = next) {
		next = TAILQ_NEXT(c, place);
		if (c->state == CONN_ANSWER)
			c->close |= c->expires && now > c->expires;
		else if (now_ns > c->due_ns ||
			 (c->expires && now > c->expires))
			expire(c);
	}
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct http *http = arg;
	int64_t now_ns = rj_monotonic_ns();
	time_t now = time(NULL);

	look_at(&http->strangers, now_ns, now);
	look_at(&http->members, now_ns, now);
}

/* Memory was given back: the one that has waited longest comes first. */
static void on_memory(evutil_socket_t fd, short what, void *arg)
{
	struct http *http = arg;
	struct conn *c = TAILQ_FIRST(&http->members);
	unsigned before;

	while (c && http->waiting) {
		before = http->waiting;
		if (c->state == CONN_MEMORY)
			conn_memory(c);
		/* one that goes on may have ended others */
		c = http->waiting < before ? TAILQ_FIRST(&http->members)
					   : TAILQ_NEXT(c, place);
	}
}

struct http *http_new(struct event_base *base, int fd,
	const struct http_handlers *handlers, const struct http_limits *limits)
{
	static const struct timeval second = {1, 0};
	struct http *http = calloc(1, sizeof(*http));

	if (!http) {
		close(fd); /* never used */
		return NULL;
	}
	http->base = base;
	http->on = *handlers;
	http->limits = *limits;
	TAILQ_INIT(&http->strangers);
	TAILQ_INIT(&http->members);
	bodies_init(&http->bodies);
	http->accept_again = event_new(base, -1, 0, on_accept_again, http);
	http->memory = event_new(base, -1, 0, on_memory, http);
	http->tick = event_new(base, -1, EV_PERSIST, on_tick, http);
	http->listener = evconnlistener_new(base, on_accept, http,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (!http->listener)
		close(fd); /* never used */
	if (!http->listener || !http->accept_again || !http->memory ||
		!http->tick || event_add(http->tick, &second)) {
		http_free(http);
		return NULL;
	}
	evconnlistener_set_error_cb(http->listener, on_accept_failed);
	return http;
}

void http_use_tls(struct http *http, struct tls *tls)
{
	http->tls = tls;
}

static void recheck(struct http *http, struct conns *list)
{
	struct conn *c, *next;

	for (c = TAILQ_FIRST(list); c; c = next) {
		next = TAILQ_NEXT(c, place);
		if (!c->ssl || tls_still_good(http->tls, c->ssl))
			continue;
		if (c->state == CONN_ANSWER)
			c->close = true;
		else
			conn_end(c);
	}
}

void http_recheck_tls(struct http *http)
{
	recheck(http, &http->strangers);
	recheck(http, &http->members);
}

void http_stop(struct http *http)
{
	evconnlistener_free(http->listener);
	http->listener = NULL;
}

unsigned http_unsent(const struct http *http)
{
	return http->unsent;
}

unsigned http_count(const struct http *http)
{
	return http->count;
}

const char *http_header(const struct http_request *req, const char *name)
{
	struct conn *c = (struct conn *)req->exchange;

	return head_find(&c->http->head, name);
}

const char *http_peer(const struct http_request *req)
{
	return ((struct conn *)req->exchange)->peer;
}

bool http_peer_name(const struct http_request *req, char *out, size_t size)
{
	return tls_peer_name(((struct conn *)req->exchange)->ssl, out, size);
}

void http_set_tag(struct http_exchange *x, void *tag)
{
	x->tag = tag;
}

void http_set_more(struct http_exchange *x, const char *const *more)
{
	x->more = more && more[0] ? more : NULL;
}

void http_free(struct http *http)
{
	struct conn *c;

	if (!http)
		return;
	while ((c = TAILQ_FIRST(&http->strangers)) ||
		(c = TAILQ_FIRST(&http->members)))
		conn_end(c);
	if (http->listener)
		evconnlistener_free(http->listener);
	if (http->accept_again)
		event_free(http->accept_again);
	if (http->memory)
		event_free(http->memory);
	if (http->tick)
		event_free(http->tick);
	bodies_free(&http->bodies);
	rj_buf_free(&http->text);
	free(http);
}
