/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Send HTTP/1.1 requests for rj:// and rjs:// to one server over one connection, which
 * stays open between them; a commit is one send and one receive. Private to lib/store;
 * serves one thread at a time.
 *
 * Redirects are never followed. After an answer that cannot be parsed the connection is
 * closed. A proxy, that of rj.conf or else of the environment by libcurl's rules
 * (http_proxy, no_proxy; not for a server on this machine), is asked for a tunnel
 * (CONNECT).
 */
#ifndef RJ_STORE_HTTP1_H
#define RJ_STORE_HTTP1_H

#include "store/http/http-call.h"
#include "util/error.h"

struct rj_http1;

/*
 * Make a client of the server at BASE ("http://host:port" or "https://host:port"; copied),
 * for rj_http1_free(). No connection is made yet. RJ_E_REFUSED as rj_http_peer_check();
 * RJ_E_NOMEM.
 */
int rj_http1_new(const struct rj_http_setup *setup, const char *base,
	struct rj_http1 **out, struct rj_error *err);
/* Make another client with H's settings, for another thread. */
int rj_http1_dup(
	const struct rj_http1 *h, struct rj_http1 **out, struct rj_error *err);
/* NULL-safe. */
void rj_http1_free(struct rj_http1 *h);

/*
 * Make one request, whose url begins with BASE, in one attempt; but if the connection was
 * closed since the last request, it is made again, once. request_timeout_ms limits all of
 * a request without a sink, except connecting. Before a request that follows a failed one
 * rj.conf is read again, if it changed. 0: a whole answer came (but see
 * rj_http_needs_end()), of any status. RJ_E_UNREACHABLE: no answer, or not in time, or
 * the server does not trust our certificate (then ERR has that cause); RJ_E_PROTOCOL: the
 * answer is not HTTP; RJ_E_DENIED: the server's certificate is not trusted; RJ_E_REFUSED
 * as rj_http1_new(). On failure call->out is as it was.
 */
int rj_http1_perform(
	struct rj_http1 *h, struct rj_http_call *call, struct rj_error *err);
/*
 * Make a request that must not go to a wrong server: before the first such request over a
 * connection CHECK is called, which makes requests of its own over it. If CHECK does not
 * return 0, the request and the connection end, and that is returned. (If the server
 * closes the connection after CHECK, with or without "Connection: close", the next
 * connection counts as checked.)
 */
int rj_http1_perform_checked(struct rj_http1 *h, struct rj_http_call *call,
	int (*check)(void *arg, struct rj_error *err), void *arg,
	struct rj_error *err);

/* Close the connection, because the answer was not the store's, and read rj.conf again
 * before the next request, if it changed. */
void rj_http1_hang_up(struct rj_http1 *h);
/* Get the server; valid as long as H. */
const struct rj_http_peer *rj_http1_peer_of(const struct rj_http1 *h);
/* Get when the certificate that the server showed last ends, seconds since 1970; 0: not known. */
int64_t rj_http1_cert_until(const struct rj_http1 *h);

#endif
