/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serve HTTP/1.1. A handler judges each request at the end of its head, before any of the
 * body is read: it answers, or asks for the body. Each request is answered exactly once,
 * immediately or later.
 */
#ifndef RJSERVER_HTTP_H
#define RJSERVER_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buf.h"

struct event_base;
struct http;
struct record_buffer;
struct tls;

enum http_method {
	HTTP_METHOD_GET,
	HTTP_METHOD_HEAD,
	HTTP_METHOD_PUT,
	HTTP_METHOD_DELETE,
	HTTP_METHOD_OTHER,
};

/* Valid until the handler returns. */
struct http_request {
	enum http_method method;
	const char *path;  /* as sent: nothing is decoded */
	const char *query; /* after the "?"; NULL: there is none */
	bool has_length;   /* Content-Length was given */
	size_t body_bytes; /* what it says; nothing was taken yet */
	struct http_exchange *exchange; /* to answer on */
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

struct http_handlers {
	/* Judge a request. True: read the body, and call BODY with it. False: discard the
	 * body; the request was answered or will be. */
	bool (*request)(void *arg, const struct http_request *req);
	/* The body, LEN bytes in their place in BUFFER until the answer; CRC is
	 * its CRC-32C, not inverted. TAG as http_set_tag() left it. */
	void (*body)(void *arg, struct http_exchange *x, void *tag,
		struct record_buffer *buffer, size_t len, uint32_t crc);
	/* An exchange is over, right before its answer is sent: STATUS as
	 * answered (0: it was never: the client has gone), SENT the bytes of
	 * the body (of a HEAD: none). NULL: not called. */
	void (*done)(void *arg, void *tag, int status, uint64_t sent);
	/* Called for each new connection, and for bytes that have come, before they are
	 * read. It may be called from anywhere in libevent: only make events active. May
	 * be NULL. */
	void (*work)(void *work_arg);
	void *arg, *work_arg;
};

/* Limits of connections. A connection above a limit replaces the oldest one on which no
 * request was let in. */
#define HTTP_REQUEST_SECONDS 60

struct http_limits {
	unsigned connections;
	/* of one address, that no request was let in on; 0: no limit */
	unsigned per_address;
	/* a request may take, from its first byte to its last; 0:
	 * HTTP_REQUEST_SECONDS */
	int request_seconds;
};

/* Serve on the listening socket FD, which is taken over, also on failure.
 * NULL: no memory. */
struct http *http_new(struct event_base *base, int fd,
	const struct http_handlers *handlers, const struct http_limits *limits);
/* Speak TLS on all later connections; TLS stays the caller's. */
void http_use_tls(struct http *http, struct tls *tls);
/* End the connections whose certificate TLS would refuse, after it was given new files. */
void http_recheck_tls(struct http *http);
/* Set new limits, and end the connections above them at once. */
void http_set_limits(struct http *http, const struct http_limits *limits);
/* Take no new connections. */
void http_stop(struct http *http);
/* Count the requests that were not answered yet, and those whose answer was not handed to
 * the kernel yet. */
unsigned http_unsent(const struct http *http);
/* Count the connections. */
unsigned http_count(const struct http *http);
void http_free(struct http *http); /* NULL-safe */

/* Get a header of the request by its name, in any case. NULL: not there. */
const char *http_header(const struct http_request *req, const char *name);
/* Get the address of the client, without its port. */
const char *http_peer(const struct http_request *req);
/* Copy the name in the client's verified certificate. False: it has none. */
bool http_peer_name(const struct http_request *req, char *out, size_t size);
/* Let the request of ACCOUNT in ("": there are no accounts): its connection is no longer a
 * stranger's, and ACCOUNT pays for the memory of the body. Only from the request
 * handler. */
void http_let_in(struct http_exchange *x, const char *account);
/* Set the TAG that the body and done handlers get for this exchange. */
void http_set_tag(struct http_exchange *x, void *tag);
/* Set the headers of an answer whose "more" is NULL, as that of a PUT; MORE must be valid
 * until the done callback. */
void http_set_more(struct http_exchange *x, const char *const *more);
void http_answer(struct http_exchange *x, const struct http_reply *reply);

enum http_more {
	HTTP_MORE, /* OUT has a piece, and more follow */
	HTTP_END,  /* OUT has the last piece */
	HTTP_WAIT, /* OUT may have a part of it; http_stream_on() will be called */
	HTTP_CUT,  /* cannot go on: the connection is cut, so that it shows */
};

/*
 * Answer 200 with a body of LENGTH bytes (-1: not known; chunked). NEXT appends a piece to
 * OUT whenever the one before it was sent; DONE gets ARG when the answer has
 * ended or the client has gone. Both are called from the event loop, NEXT
 * once before this returns.
 */
void http_answer_stream(struct http_exchange *x, const char *type, int64_t length,
	enum http_more (*next)(void *arg, struct rj_buf *out),
	void (*done)(void *arg), void *arg);
/* Call NEXT again, with the same OUT, after it returned HTTP_WAIT. */
void http_stream_on(struct http_exchange *x);

#endif
