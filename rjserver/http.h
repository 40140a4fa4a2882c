/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP: only http*.c know evhttp. A handler gets each request whole
 * and answers it, at once or later, exactly once.
 */
#ifndef RJSERVER_HTTP_H
#define RJSERVER_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "util/buf.h"

struct event_base;
struct http;
struct room;
struct tls;

enum http_method {
	HTTP_METHOD_GET,
	HTTP_METHOD_HEAD,
	HTTP_METHOD_PUT,
	HTTP_METHOD_DELETE,
	HTTP_METHOD_OTHER,
};

struct http_request {
	enum http_method method;
	const char *path;  /* as sent: nothing is decoded */
	const char *query; /* after the "?"; NULL: there is none */
	bool has_length;   /* Content-Length was given */
	size_t body_bytes;
	struct http_exchange *exchange; /* to answer on */
	/* The body lies in its place there until the answer, and this is its
	 * CRC-32C, not inverted. NULL: http_body() has it, in parts. */
	struct room *room;
	uint32_t body_crc;
};

struct http_reply {
	int status;
	const char *text;    /* text/plain: one line, without its newline */
	struct rj_buf *body; /* or this; emptied (its memory is taken over) */
	const char *type;    /* of body */
	const char *header, *value; /* one more header; NULL: none */
	/* and more: name, value, name, ... NULL; NULL: none */
	const char *const *more;
};

typedef void (*http_handler)(void *arg, const struct http_request *req);
/* An exchange is over: TAG as http_set_tag() left it, STATUS as answered,
 * SENT the bytes of the body (of a HEAD: none). */
typedef void (*http_done)(void *arg, void *tag, int status, uint64_t sent);

/* Serve on the listening socket FD, which is taken over. NULL: no memory.
 * BODY_MAX: larger bodies are refused before they reach HANDLER. */
struct http *http_new(struct event_base *base, int fd, size_t body_max,
	http_handler handler, void *arg);
/* FN is told of each exchange right before its answer is sent. */
void http_on_done(struct http *http, http_done fn, void *arg);
/* FN is told of each new connection, of bytes that have come, and of a request
 * behind another, before they are looked at. It may be anywhere in libevent: it
 * only makes events active. */
void http_on_work(struct http *http, void (*fn)(void *arg), void *arg);
/* From now on, connections speak TLS; TLS stays the caller's. */
void http_use_tls(struct http *http, struct tls *tls);
/* Take no new connections. */
void http_stop(struct http *http);
/* How many answers are not yet handed to the kernel (an upper bound). */
unsigned http_unsent(const struct http *http);
void http_free(struct http *http); /* NULL-safe */

/* The body's parts, valid until the answer. More than MAX parts are joined. */
int http_body(const struct http_request *req, struct iovec *parts, int max);
/* A header of the request by its name in any case; NULL: not there. */
const char *http_header(const struct http_request *req, const char *name);
/* The address of the other end, without its port; valid until the answer. */
const char *http_peer(const struct http_request *req);
/* The name in the other end's verified certificate; false: it has none. */
bool http_peer_name(const struct http_request *req, char *out, size_t size);
/* What the done callback shall get for this exchange. */
void http_set_tag(struct http_exchange *x, void *tag);
void http_answer(struct http_exchange *x, const struct http_reply *reply);

enum http_more {
	HTTP_MORE, /* OUT has a piece, and more follow */
	HTTP_END,  /* OUT has the last piece */
	HTTP_CUT,  /* cannot go on: the connection is cut, so that it shows */
};

/*
 * Answer 200 with a body of unknown length (chunked). NEXT appends a piece to
 * OUT whenever the one before it was sent; DONE gets ARG when the answer has
 * ended or the client has gone. Both are called from the event loop, NEXT
 * once before this returns.
 */
void http_answer_stream(struct http_exchange *x, const char *type,
	enum http_more (*next)(void *arg, struct rj_buf *out),
	void (*done)(void *arg), void *arg);

#endif
