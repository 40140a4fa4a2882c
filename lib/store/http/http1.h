/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * HTTP/1.1 for rj:// and rjs://: requests to one server over one connection, which is
 * kept open between them; one send and one receive for a commit. Private to lib/store;
 * serves one thread at a time.
 *
 * Redirects are never followed. What is not understood of an answer is not guessed: the
 * connection is given up. A proxy, that of rj.conf or else of the environment as libcurl
 * does (http_proxy, no_proxy; not for a server on this machine), is asked for a tunnel
 * (CONNECT).
 */
#ifndef RJ_STORE_HTTP1_H
#define RJ_STORE_HTTP1_H

#include "store/http/http-call.h"
#include "util/error.h"

struct rj_http1;

/*
 * BASE is "http://host:port" or "https://host:port", and copied. No connection is made
 * yet. RJ_E_REFUSED as rj_http_peer_check(); RJ_E_NOMEM.
 */
int rj_http1_new(const struct rj_http_setup *setup, const char *base,
	struct rj_http1 **out, struct rj_error *err);
/* Another of the same, for another thread. */
int rj_http1_dup(
	const struct rj_http1 *h, struct rj_http1 **out, struct rj_error *err);
/* NULL-safe. */
void rj_http1_free(struct rj_http1 *h);

/*
 * Make one request, whose url begins with BASE, in one attempt; but a connection that
 * turns out to be closed since the last request is made again once. A request without a
 * sink has request_timeout_ms for all of it, besides connecting. After a request that
 * failed rj.conf is read again, if it changed. 0: a whole answer came (but see
 * rj_http_needs_end()), of any status. RJ_E_UNREACHABLE: no answer, or not in time, or
 * the server does not trust our certificate (then the cause says so); RJ_E_PROTOCOL: not
 * HTTP; RJ_E_DENIED: the server's certificate is not trusted; RJ_E_REFUSED as
 * rj_http1_new(). On failure OUT is as it was.
 */
int rj_http1_perform(
	struct rj_http1 *h, struct rj_http_call *call, struct rj_error *err);
/*
 * The same, for a request that must not go to a wrong server: before the first one
 * over a connection CHECK is called, which makes requests of its own over it. What it
 * returns, if it is not 0, ends the request, and the connection. (Of a server that keeps
 * no connection, whether it says so or just closes it after CHECK, the next one counts as
 * checked.)
 */
int rj_http1_perform_checked(struct rj_http1 *h, struct rj_http_call *call,
	int (*check)(void *arg, struct rj_error *err), void *arg,
	struct rj_error *err);

/* What answers there is not the store: use the connection for no other request, and
 * see whether rj.conf says something else by now before the next one. */
void rj_http1_hang_up(struct rj_http1 *h);
/* The server; valid as long as H. */
const struct rj_http_peer *rj_http1_peer_of(const struct rj_http1 *h);

#endif
