/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the HTTP engine share. Each uses the ones after it: http.c
 * (listener, limits), http-events.c (what a connection's events call), http-read.c
 * (reads requests), http-send.c (sends answers), http-conn.c (a connection). */
#ifndef RJSERVER_HTTP_PRIV_H
#define RJSERVER_HTTP_PRIV_H

#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "http-body.h"
#include "http-head.h"
#include "http.h"

#define READER_BYTES	(64u << 10) /* of an answer; a client must take them in that time */
#define IDLE_SECONDS	600 /* between two requests */
/* From the connection, with its TLS handshake, to a request that is let in; and after a
 * request that was not let in. */
#define STRANGER_SECONDS 10
#define HTTP_FIRST_HEAD	 200 /* bytes that the first head may have */
#define READ_AT_ONCE	 (1u << 20) /* bytes; then other connections are read */

struct conn;
struct event;
struct evconnlistener;
struct ssl_st;
TAILQ_HEAD(conns, conn);

/* From the head of a request to its answer. */
struct http_exchange {
	bool open; /* the handler has to answer */
	void *tag;
	const char *const *more; /* http_set_more() */
};

enum conn_state {
	CONN_HEAD,   /* reads a head, or is between two requests */
	CONN_MEMORY, /* waits for memory for the body */
	CONN_BODY,   /* reads it */
	CONN_ANSWER, /* the handler has the request */
	CONN_SEND,   /* the answer waits for the client to take it */
	CONN_SKIP,   /* discards the body of a request that was answered */
	CONN_LINGER, /* has sent its last answer: discards what still comes, so
		      * that the kernel does not discard the answer */
};

struct http_stream {
	enum http_more (*next)(void *arg, struct rj_buf *out);
	void (*done)(void *arg);
	void *arg;
	uint64_t bytes; /* of the body so far */
	bool ended;	/* the last piece is being sent */
	bool chunked;
};

struct conn {
	struct http_exchange x; /* first: it is the connection's only one */
	struct http *http;
	TAILQ_ENTRY(conn) place; /* in list: strangers or members */
	struct conns *list;
	int fd;
	struct ssl_st *ssl; /* NULL: no TLS */
	struct event *readable, *writable;
	enum conn_state state;
	int64_t due_ns; /* when it is ended, unless a limit is set again */
	time_t expires; /* the client's certificate; 0: never */
	bool member;	/* the last request was let in */
	bool paused;	/* not waiting to be readable */
	bool begun;	/* the time of this request is measured */
	bool busy;	/* reading or sending: must not be freed yet */
	bool ended;	/* and is to be freed then */
	bool judging;	/* in the request handler */
	bool let_in;	/* http_let_in() was called there */
	bool answered;	/* and the answer was sent there */
	bool counted;	/* in http->unsent */
	bool retry;	/* reading waits for the socket to be writable */
	bool close;	/* after this answer */
	bool old, head_only; /* HTTP/1.0; a HEAD */
	struct purse *purse; /* its account's; NULL: a stranger's */

	struct record_buffer
		*buffer;   /* NULL: AT is memory of its own, or NULL */
	char *at;	   /* where the request begins */
	size_t space;	   /* bytes there are at AT */
	size_t got;	   /* bytes there; of the body: in its place */
	size_t length;	   /* of the body */
	size_t untaken;	   /* bytes of the body that are not wanted */
	size_t guess, size; /* the lengths of the last head and body */
	uint32_t crc;	   /* of the body as far as it has come */
	bool expects;	   /* the client waits for a word before the body */
	struct rj_buf ahead; /* bytes that were read too early */
	size_t ahead_at;     /* the next one of them */
	bool from_prefetch;     /* the last bytes taken were of those */

	struct rj_buf out, body; /* of an answer: what is yet to be sent */
	size_t sent;		 /* of both together */
	size_t taken;		 /* of READER_BYTES */
	size_t held;		 /* bytes of OUT and BODY that its purse knows of */
	struct http_stream *stream; /* NULL: the answer is whole */
	struct sockaddr_storage address;
	char peer[64];
};

struct http {
	struct event_base *base;
	struct evconnlistener *listener; /* NULL: no new connections */
	struct event *accept_again;	 /* while no client can be accepted */
	struct event *tick;		 /* each second */
	struct event *memory; /* there may be memory for connections that wait */
	struct http_handlers on;
	struct http_limits limits;
	struct tls *tls; /* NULL: none */
	unsigned unsent;
	unsigned waiting; /* for memory */
	unsigned count;   /* connections */
	unsigned stranger_count; /* those among strangers */
	/* the first is the one that has waited or asked longest */
	struct conns strangers, members;
	struct bodies bodies;
	struct head head;   /* of the request that is being judged */
	struct rj_buf text; /* of the answer that is being made */
};

static inline void http_work(struct http *http)
{
	if (http->on.work)
		http->on.work(http->on.work_arg);
}

/* The result of a step of reading. */
enum step {
	STEP_ON,   /* something was done: go on */
	STEP_WAIT, /* nothing there, or the connection is ended */
};

/* http-events.c */
/* Begin the connection FD, which is taken over, also on failure. False: no memory. */
bool conn_begin(struct http *http, int fd, const struct sockaddr *sa,
	socklen_t len);

/* http-conn.c */
/* Get the seconds that a request may take. */
int request_seconds(const struct http *http);
/* End C, now or as soon as it is not in use. A body that was handed over must
 * have been answered. */
void conn_end(struct conn *c);
void conn_limit(struct conn *c, int seconds);
/* End the exchange: BYTES of body are sent. */
void conn_finish(struct conn *c, int status, uint64_t bytes);
/* Count the request as unsent, or no longer. */
void conn_count(struct conn *c, bool unsent);
/* Start the time limit of a request: for the whole of it, not for each piece; a
 * stranger's ends with the limit of its connection. */
void conn_begin_time(struct conn *c);
/* Give back the memory of the request. */
void conn_drop_input(struct conn *c);
/* Move C to the end of LIST; NULL: to no list. */
void conn_place(struct conn *c, struct conns *list);
/* Enclose all code that may end the connection and use it afterwards. */
bool conn_enter(struct conn *c);
void conn_leave(struct conn *c, bool was);
void conn_pause(struct conn *c);
/* Read again in the next turn of the event loop: there may be bytes for which the socket
 * does not become readable. */
void conn_read_soon(struct conn *c);
/* Read up to LEN bytes to P. 0: there are none now; -1: the connection has ended. */
ssize_t conn_take(struct conn *c, void *p, size_t len);
/* Put the last LEN bytes read, at P, back, to be read again. False: no memory. */
bool conn_untake(struct conn *c, const void *p, size_t len);
/* Count what is yet to be sent of the answer. Above the bound of C's account the connection of it
 * that has waited longest for its client is ended. */
void conn_hold_answer(struct conn *c);
/* Keep C's account below half of all connections: end another connection of the account, which is
 * idle or waits for its client. */
void conn_share(struct conn *c);
/* Free what is yet to be sent of the answer. */
void conn_free_answer(struct conn *c);
/* End the stream that is being sent, if there is one. */
void conn_end_stream(struct conn *c);
/* Go on after the answer was sent. */
void conn_sent(struct conn *c);
/* Get ready for the next request, or end the connection if the answer was its last. */
void conn_next_request(struct conn *c);
/* After the last answer: discard what still comes for LINGER_SECONDS. If the socket were
 * closed at once, the client could lose the answer. */
void conn_linger(struct conn *c);
/* Is the connection to be closed after the answer? */
bool conn_closes(const struct conn *c);

/* http-read.c */
/* Do one step of reading, as C's state says. */
enum step conn_read_step(struct conn *c);
/* Try again to get memory for C, which waits for it. */
void conn_memory(struct conn *c);

/* http-send.c */
/* Answer a request that is not valid, and end the connection. */
void conn_refuse(struct conn *c, int status, const char *text);
/* Send TEXT, which is short. False: it cannot be sent now. */
bool conn_say(struct conn *c, const char *text);
/* Send more, as the socket is writable. */
void conn_push(struct conn *c);

#endif
