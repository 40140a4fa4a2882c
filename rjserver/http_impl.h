/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What http.c, http_straight.c and http_stream.c share. */
#ifndef RJSERVER_HTTP_IMPL_H
#define RJSERVER_HTTP_IMPL_H

#include <stdint.h>

#include "http.h"
#include "room.h"

struct bufferevent;
struct event;
struct evhttp;
struct evhttp_bound_socket;
struct evhttp_request;
struct straight;

struct http {
	struct evhttp *ev;
	struct evhttp_bound_socket *bound;
	struct event *accept_again; /* while nobody can be accepted */
	int64_t refused_ns; /* when that was said last; 0: never */
	struct event_base *base;
	size_t body_max, input_max;
	http_handler handler;
	void *arg;
	struct tls *tls; /* NULL: none */
	http_done done;
	void *done_arg;
	void (*work)(void *arg);
	void *work_arg;
	unsigned unsent;
	struct straight *straight; /* those connections */
	struct room_pool rooms;
};

/* From the request to its answer. */
struct http_exchange {
	struct evhttp_request *ev; /* NULL: past evhttp */
	struct straight *straight;
	struct http *http;
	void *tag;
};

/* Ends the exchange, which is freed: BYTES of body were sent. */
void http_finish(struct http_exchange *x, int status, uint64_t bytes);
/* What http_on_work() asked to be told. */
void http_work(struct http *http);
/* The words behind a status. */
const char *http_phrase(int status);

/*
 * http_straight.c: plain PUTs past evhttp. A connection is taken from evhttp,
 * whose BEV has just been made for it, and given back for good with all that
 * it has sent when a request comes that is anything else.
 */
void straight_begin(struct http *http, struct bufferevent *bev);
void straight_free_all(struct http *http);
const char *straight_header(const struct straight *st, const char *name);
const char *straight_peer(const struct straight *st);
void straight_body(const struct straight *st, struct iovec *part);
void straight_answer(struct straight *st, const struct http_reply *reply);

#endif
