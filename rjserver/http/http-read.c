// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A connection: reads requests. A put is what rjserver does all day: one recv()
 * into the memory that is written (record-buffer.h), and one send().
 */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "http-priv.h"
#include "tls.h"
#include "util/crc32c.h"

#define TRASH	       65536

static void body_whole(struct conn *c)
{
	struct http *http = c->http;

	c->state = CONN_ANSWER;
	conn_count(c, true);
	http->on.body(http->on.arg, &c->x, c->x.tag, c->buffer, c->length, c->crc);
}

/* N more bytes of the body lie in their place. */
static void take_body(struct conn *c, size_t n)
{
	c->crc = rj_crc32c(c->crc, c->buffer->mem + BUFFER_BODY + c->got, n);
	c->got += n;
	if (c->got == c->length)
		body_whole(c);
	else
		conn_begin_time(c);
}

/* There is memory for the body, and nothing of it lies there yet. */
static void begin_body(struct conn *c)
{
	c->state = CONN_BODY;
	c->got = 0;
	c->crc = ~0u;
	if (c->expects && !conn_say(c, "HTTP/1.1 100 Continue\r\n\r\n"))
		conn_end(c);
}

void conn_memory(struct conn *c)
{
	bool was = conn_enter(c);

	c->buffer = body_take(&c->http->bodies, c->purse, c->length);
	if (c->buffer) {
		c->http->waiting--;
		c->at = (char *)c->buffer->mem;
		begin_body(c);
		if (!c->ended)
			conn_read_soon(c);
		if (!c->ended && !c->length)
			body_whole(c);
	}
	conn_leave(c, was);
}

static void wait_for_memory(struct conn *c)
{
	conn_drop_input(c);
	c->state = CONN_MEMORY;
	c->http->waiting++;
	conn_begin_time(c);
	conn_pause(c);
}

/*
 * The body is wanted. HAVE bytes came with the head: those get to their place,
 * in memory that is large enough, and what is after the body is for later.
 */
static void place_body(struct conn *c, size_t have)
{
	char *begin = c->at + c->guess;
	size_t mine = have < c->length ? have : c->length;
	struct record_buffer *r = c->buffer;

	if (!r || r->most < c->length)
		r = body_take(&c->http->bodies, c->purse, c->length);
	if (!r)
		mine = 0; /* it comes again when there is some */
	if (!conn_untake(c, begin + mine, have - mine))
		c->ended = true;
	if (!r) {
		wait_for_memory(c);
		return;
	}
	if (r->mem + BUFFER_BODY != (uint8_t *)begin)
		memmove(r->mem + BUFFER_BODY, begin, mine);
	if (r != c->buffer) {
		conn_drop_input(c);
		c->buffer = r;
		c->at = (char *)r->mem;
	}
	c->size = c->length;
	begin_body(c);
	if (!c->ended)
		take_body(c, mine);
}

void http_let_in(struct http_exchange *x, const char *account)
{
	struct conn *c = (struct conn *)x;
	struct http *http = c->http;

	if (!c->purse || strcmp(c->purse->name, account)) {
		/* its memory so far was at the cost of the other */
		struct purse *p = purse_get(&http->bodies, account);

		if (!p)
			return; /* a stranger still, whose body is not taken */
		if (c->buffer) {
			c->purse->bytes -= c->buffer->bytes;
			p->bytes += c->buffer->bytes;
		}
		purse_drop(&http->bodies, c->purse);
		c->purse = p;
		conn_share(c);
	}
	if (!c->member)
		c->begun = false;
	conn_place(c, &http->members);
	c->let_in = true;
}

/* The head of a request is there, and HAVE bytes after it. */
static void judge(struct conn *c, size_t have)
{
	struct http *http = c->http;
	const struct head *h = &http->head;
	struct http_request req = {
		.method = h->method,
		.path = h->path,
		.query = h->query,
		.has_length = h->has_length,
		.body_bytes = h->length,
		.exchange = &c->x,
	};
	bool want;

	c->guess = h->bytes;
	c->length = h->length;
	/* a chunked body has no known length */
	c->untaken = h->coded ? 1 : h->length;
	c->old = h->old;
	c->close = h->close || h->coded;
	c->head_only = h->method == HTTP_METHOD_HEAD;
	c->expects = h->expects && !have;
	/* a client that waits for a word before the body, and gets an answer
	 * instead, may send the body or not: what comes then is not clear */
	c->close |= c->expects && h->length;
	if (c->ssl && !c->expires)
		c->expires = tls_expires(c->ssl);
	c->x = (struct http_exchange){.open = true};
	c->state = CONN_ANSWER;
	c->answered = c->let_in = false;
	c->judging = true;
	conn_count(c, true);
	want = http->on.request(http->on.arg, &req);
	c->judging = false;
	if (!c->let_in && c->member)
		conn_place(c, &http->strangers);
	if (want && !c->purse)
		c->ended = true; /* no memory */
	if (c->ended)
		return;
	if (want) {
		conn_count(c, false);
		c->untaken = 0;
		c->close = h->close;
		place_body(c, have);
		return;
	}
	/* no memory for what came too early: the answer is the last one, and what
	 * will make it has the connection */
	if (!conn_untake(c, c->at + c->guess, have)) {
		c->close = true;
		c->untaken = 1; /* or more */
	}
	conn_drop_input(c);
	if (c->answered)
		conn_next_request(c);
}

/* Where the next head goes. False: no memory. */
static bool head_space(struct conn *c)
{
	struct record_buffer *r = NULL;

	if (c->at)
		return true;
	if (c->member)
		r = body_take(&c->http->bodies, c->purse, c->size);
	c->buffer = r;
	c->got = 0;
	if (!r) {
		c->at = malloc(HEAD_MOST);
		c->space = HEAD_MOST;
		return c->at != NULL;
	}
	/* a head as long as the last one ends where the body begins */
	if (c->guess > BUFFER_BODY)
		c->guess = HTTP_FIRST_HEAD;
	c->at = (char *)r->mem + BUFFER_BODY - c->guess;
	c->space = r->bytes - (BUFFER_BODY - c->guess);
	return true;
}

static enum step read_head(struct conn *c)
{
	enum head_kind kind;
	ssize_t n;

	n = head_space(c) ? conn_take(c, c->at + c->got, c->space - c->got) : -1;
	if (n < 0 && c->ssl && !tls_ready(c->ssl)) {
		c->untaken = 1; /* for the alert to get through */
		conn_linger(c);
	} else if (n < 0) {
		conn_end(c);
	}
	if (!c->got && n == 0)
		conn_drop_input(c);
	if (n <= 0)
		return STEP_WAIT;
	c->got += (size_t)n;
	kind = head_parse(&c->http->head, c->at, c->got);
	if (kind == HEAD_WHOLE)
		judge(c, c->got - c->http->head.bytes);
	else if (kind == HEAD_MORE)
		conn_begin_time(c);
	else
		conn_refuse(c, kind == HEAD_LONG ? 431 : 400,
			kind == HEAD_LONG ? "the head is too long"
					  : "not a request of HTTP/1.1");
	return STEP_ON;
}

static enum step read_body(struct conn *c)
{
	ssize_t n = conn_take(c, c->buffer->mem + BUFFER_BODY + c->got,
		c->length - c->got);

	if (n < 0)
		conn_end(c);
	if (n <= 0)
		return STEP_WAIT;
	take_body(c, (size_t)n);
	return STEP_ON;
}

/* Read what is not wanted: the rest of a body, or all until the end. */
static enum step discard(struct conn *c)
{
	static char trash[TRASH];
	ssize_t n = conn_take(c, trash, c->untaken < TRASH ? c->untaken : TRASH);

	if (n < 0)
		conn_end(c);
	if (n <= 0)
		return STEP_WAIT;
	c->untaken -= (size_t)n;
	/* what is not read holds a client up, until it has read our answer: a
	 * close would cost it that */
	if (!c->untaken && c->state == CONN_LINGER)
		conn_pause(c);
	else if (!c->untaken)
		conn_next_request(c);
	return STEP_ON;
}

enum step conn_read_step(struct conn *c)
{
	switch (c->state) {
	case CONN_HEAD:
		return read_head(c);
	case CONN_BODY:
		return read_body(c);
	case CONN_SKIP:
	case CONN_LINGER:
		return discard(c);
	default:
		/* what comes now must not keep the flush from its turn */
		conn_pause(c);
		return STEP_WAIT;
	}
}
