// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A put is what rjserver does all day, and evhttp needs for it 10 system calls
 * besides the write and its sync, and a dozen small pieces of memory. Here it is
 * one recv() into the memory that is written (room.h), and one send().
 */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "format/seghdr.h"
#include "http_answer.h"
#include "http_head.h"
#include "http_impl.h"
#include "http_slow.h"
#include "util/crc32c.h"
#include "util/environ.h"

#define READ_AT_ONCE (1u << 20) /* then others get their turn */
#define FIRST_HEAD   200	/* bytes that the first head may have */

enum reading {
	READ_HEAD,
	READ_BODY,
	READ_NOTHING, /* the request waits for its answer */
};

struct straight {
	struct http *http;
	struct straight *next, **link;
	struct bufferevent *bev; /* evhttp's; it neither reads nor writes */
	int fd;
	struct event *start; /* NULL: it has run */
	struct event *readable, *writable;
	enum reading state;
	bool paused;	    /* not waiting to be readable */
	bool watched;	    /* the time of this request is measured */
	int64_t since_ns;   /* when it began */
	struct room *room;  /* NULL: between two requests */
	uint8_t *at;	    /* where in it the request begins */
	size_t got;	    /* bytes there; of the body: in its place */
	size_t guess;	    /* the length of the last head */
	size_t size;	    /* and of the last body */
	uint32_t crc;	    /* of the body as far as it has come */
	struct evbuffer *ahead; /* what came behind the body; NULL: nothing */
	struct evbuffer *rest;  /* of an answer; NULL: nothing */
	struct http_exchange *exchange; /* NULL: none */
	struct head head;
	char peer[64];
};

static void straight_free(struct straight *st)
{
	if (st->exchange) /* all ends: nobody will answer it */
		http_finish(st->exchange, 503, 0);
	if (st->start)
		event_free(st->start);
	if (st->readable)
		event_free(st->readable);
	if (st->writable)
		event_free(st->writable);
	if (st->ahead)
		evbuffer_free(st->ahead);
	if (st->rest)
		evbuffer_free(st->rest);
	room_give(&st->http->rooms, st->room);
	*st->link = st->next;
	if (st->next)
		st->next->link = st->link;
	bufferevent_decref(st->bev);
	free(st);
}

void straight_free_all(struct http *http)
{
	while (http->straight)
		straight_free(http->straight);
	room_free_all(&http->rooms);
}

/* evhttp hears that the connection has ended, and frees it. */
static void hang_up(struct straight *st)
{
	bufferevent_trigger_event(st->bev, BEV_EVENT_EOF | BEV_EVENT_READING,
		BEV_TRIG_DEFER_CALLBACKS);
	straight_free(st);
}

/* From now on it is evhttp's, which reads as if DATA had just come. */
static void hand_over(struct straight *st, const void *data, size_t len)
{
	struct bufferevent *bev = st->bev;
	struct evbuffer *input = bufferevent_get_input(bev);
	int rc;

	event_del(st->readable);
	evbuffer_unfreeze(input, 0);
	rc = st->ahead ? evbuffer_add_buffer(input, st->ahead)
		       : evbuffer_add(input, data, len);
	evbuffer_freeze(input, 0);
	if (rc || bufferevent_enable(bev, EV_READ)) {
		hang_up(st);
		return;
	}
	bufferevent_trigger(bev, EV_READ, BEV_TRIG_DEFER_CALLBACKS);
	straight_free(st);
}

static int wait_readable(struct straight *st, int seconds)
{
	struct timeval limit = {seconds, 0};

	return event_add(st->readable, &limit);
}

/* The whole request has its time, not each piece. False: that is over. */
static bool in_time(struct straight *st)
{
	int64_t now = rj_monotonic_ns();

	if (!st->watched) {
		st->watched = true;
		st->since_ns = now;
		return !wait_readable(st, slow_seconds());
	}
	return now - st->since_ns <= slow_seconds() * 1000000000ll;
}

static void between_requests(struct straight *st)
{
	room_give(&st->http->rooms, st->room);
	st->room = NULL;
	st->got = 0;
	st->state = READ_HEAD;
	if ((st->watched || st->paused) &&
		wait_readable(st, SLOW_IDLE_SECONDS)) {
		hang_up(st);
		return;
	}
	st->watched = st->paused = false;
	if (st->ahead) /* who does not wait for answers is evhttp's */
		hand_over(st, NULL, 0);
}

/* The kernel has the answer, or the other end does not want it. */
static void answered(struct straight *st, bool lost)
{
	st->http->unsent--;
	if (lost)
		hang_up(st);
	else
		between_requests(st);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval limit = {SLOW_READER_SECONDS, 0};
	struct straight *st = arg;
	bool lost = !(what & EV_WRITE) || evbuffer_write(st->rest, fd) < 0;

	if (!lost && evbuffer_get_length(st->rest)) {
		lost = event_add(st->writable, &limit);
		if (!lost)
			return;
	}
	evbuffer_free(st->rest);
	st->rest = NULL;
	answered(st, lost);
}

/* The answer does not fit into the socket's buffer. True: the rest waits. */
static bool send_later(struct straight *st, const char *data, size_t len)
{
	static const struct timeval limit = {SLOW_READER_SECONDS, 0};

	st->rest = evbuffer_new();
	return st->rest && !evbuffer_add(st->rest, data, len) &&
	       !event_add(st->writable, &limit);
}

void straight_answer(struct straight *st, const struct http_reply *reply)
{
	struct rj_buf out = {0};
	char text[ANSWER_TEXT];
	const char *data = text;
	size_t body = 0, len = answer_plain(reply->status, reply, text);
	ssize_t sent = 0;

	if (!len && !answer_compose(reply, &out, &body)) {
		data = (const char *)out.data;
		len = out.len;
	}
	http_finish(st->exchange, reply->status, body);
	st->exchange = NULL;
	if (reply->body)
		rj_buf_free(reply->body);
	if (len)
		sent = send(st->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent < 0 && (errno == EAGAIN || errno == EINTR))
		sent = 0;
	if (!len || sent < 0)
		answered(st, true);
	else if ((size_t)sent == len)
		answered(st, false);
	else if (!send_later(st, data + sent, len - (size_t)sent))
		answered(st, true);
	rj_buf_free(&out);
}

static void request(struct straight *st)
{
	struct http_request req = {
		.method = HTTP_METHOD_PUT,
		.path = st->head.path,
		.has_length = true,
		.body_bytes = st->head.length,
		.exchange = calloc(1, sizeof(*req.exchange)),
		.room = st->room,
		.body_crc = st->crc,
	};

	st->state = READ_NOTHING;
	if (!req.exchange) {
		hang_up(st);
		return;
	}
	*req.exchange = (struct http_exchange){
		.straight = st, .http = st->http};
	st->exchange = req.exchange;
	st->http->unsent++;
	st->http->handler(st->http->arg, &req);
}

/* N more bytes of the body lie in their place. */
static void take_body(struct straight *st, size_t n)
{
	st->crc = rj_crc32c(st->crc, st->room->mem + ROOM_BODY + st->got, n);
	st->got += n;
	if (st->got == st->head.length)
		request(st);
	else if (!in_time(st))
		hang_up(st);
}

/* The head has come and HAVE bytes behind it: those get to their place, in
 * memory that is large enough. False: there is none. */
static bool place_body(struct straight *st, size_t have)
{
	struct room *r = st->room;
	size_t mine = have < st->head.length ? have : st->head.length;

	if (have > mine) {
		st->ahead = evbuffer_new();
		if (!st->ahead || evbuffer_add(st->ahead,
					  st->at + st->head.bytes + mine,
					  have - mine))
			return false;
	}
	if (r->most < st->head.length) {
		r = room_take(&st->http->rooms, st->head.length);
		if (!r)
			return false;
	}
	if (r->mem + ROOM_BODY != st->at + st->head.bytes)
		memmove(r->mem + ROOM_BODY, st->at + st->head.bytes, mine);
	if (r != st->room) {
		room_give(&st->http->rooms, st->room);
		st->room = r;
	}
	st->guess = st->head.bytes;
	st->size = st->head.length;
	st->state = READ_BODY;
	st->got = 0;
	st->crc = ~0u;
	take_body(st, mine);
	return true;
}

static void take_head(struct straight *st, size_t n)
{
	st->got += n;
	switch (head_parse(&st->head, st->at, st->got, RJ_SEG_MAX_BYTES)) {
	case HEAD_PLAIN:
		if (!place_body(st, st->got - st->head.bytes))
			hang_up(st);
		break;
	case HEAD_MORE:
		if (!in_time(st))
			hang_up(st);
		break;
	default:
		hand_over(st, st->at, st->got);
	}
}

/* Where the next bytes go, and how many. NULL: no memory. */
static uint8_t *space(struct straight *st, size_t *len)
{
	struct room *r = st->room;

	if (st->state == READ_BODY) {
		*len = st->head.length - st->got;
		return r->mem + ROOM_BODY + st->got;
	}
	if (!r) {
		r = st->room = room_take(&st->http->rooms, st->size);
		if (!r)
			return NULL;
		/* a head as long as the last one ends where the body begins */
		st->at = r->mem + ROOM_BODY - st->guess;
	}
	*len = (size_t)(r->mem + r->bytes - st->at) - st->got;
	return st->at + st->got;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct straight *st = arg;
	uint8_t *p;
	size_t len;
	ssize_t n;

	http_work(st->http);
	if (st->state == READ_NOTHING) {
		/* what comes now must not keep the flush from its turn */
		event_del(st->readable);
		st->paused = true;
		return;
	}
	p = what & EV_READ ? space(st, &len) : NULL;
	if (!p) {
		hang_up(st);
		return;
	}
	n = recv(fd, p, len < READ_AT_ONCE ? len : READ_AT_ONCE, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		hang_up(st);
	else if (st->state == READ_HEAD)
		take_head(st, (size_t)n);
	else
		take_body(st, (size_t)n);
}

const char *straight_header(const struct straight *st, const char *name)
{
	return head_find(&st->head, name);
}

const char *straight_peer(const struct straight *st)
{
	return st->peer;
}

void straight_body(const struct straight *st, struct iovec *part)
{
	part->iov_base = st->room->mem + ROOM_BODY;
	part->iov_len = st->head.length;
}

static void find_peer(struct straight *st)
{
	struct sockaddr_storage sa = {0};
	socklen_t len = sizeof(sa);

	strcpy(st->peer, "?");
	if (!getpeername(st->fd, (struct sockaddr *)&sa, &len) &&
		(sa.ss_family == AF_INET || sa.ss_family == AF_INET6))
		getnameinfo((struct sockaddr *)&sa, len, st->peer,
			sizeof(st->peer), NULL, 0, NI_NUMERICHOST);
}

/* evhttp has accepted the connection and told BEV its descriptor; nothing was
 * read yet. */
static void on_start(evutil_socket_t none, short what, void *arg)
{
	struct straight *st = arg;
	struct event_base *base = st->http->base;

	event_free(st->start);
	st->start = NULL;
	st->fd = bufferevent_getfd(st->bev);
	if (st->fd >= 0) {
		find_peer(st);
		st->readable = event_new(base, st->fd, EV_READ | EV_PERSIST,
			on_readable, st);
		st->writable =
			event_new(base, st->fd, EV_WRITE, on_writable, st);
	}
	if (!st->readable || !st->writable ||
		bufferevent_disable(st->bev, EV_READ))
		straight_free(st); /* then it stays evhttp's */
	else if (wait_readable(st, SLOW_IDLE_SECONDS))
		hang_up(st);
}

void straight_begin(struct http *http, struct bufferevent *bev)
{
	struct straight *st = calloc(1, sizeof(*st));

	if (!st)
		return;
	st->start = event_new(http->base, -1, 0, on_start, st);
	if (!st->start) {
		free(st);
		return;
	}
	st->http = http;
	st->guess = FIRST_HEAD;
	st->bev = bev;
	bufferevent_incref(bev);
	st->next = http->straight;
	st->link = &http->straight;
	if (st->next)
		st->next->link = &st->next;
	http->straight = st;
	/* before anything that has come is looked at */
	event_priority_set(st->start, 0);
	event_active(st->start, EV_TIMEOUT, 0);
}
