/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A PUT without libcurl's machinery: one send, one receive. libcurl makes the
 * connection (names, time limits, TLS, certificates), and from then on the
 * request's and the answer's bytes are ours. A commit is one such request, and
 * what libcurl does around it (a dozen system calls, some forty allocations,
 * which are wiped) takes longer than the request. Private to lib/store; serves
 * one thread at a time.
 *
 * It speaks to a server itself, not to a proxy, and knows no authentication
 * but a token (or a certificate): see rj_http1_can(). What it does not
 * understand of an answer it does not guess: the connection is given up.
 */
#ifndef RJ_STORE_HTTP1_PUT_H
#define RJ_STORE_HTTP1_PUT_H

#include <stdbool.h>
#include <stddef.h>

#include "store/http/http.h"
#include "store/store.h"
#include "util/error.h"

struct rj_http1;

/* Can requests with these options go this way? */
bool rj_http1_can(const struct rj_store_opts *opts);

/*
 * NAME and PEER as in rj_http_setup; BASE is "http://host:port" or
 * "https://host:port". All but PEER is copied, and OPTS's conf kept by reference.
 * No connection is made yet. RJ_E_NOMEM.
 */
int rj_http1_new(const char *name, const char *peer, const char *base,
	const struct rj_store_opts *opts, struct rj_http1 **out,
	struct rj_error *err);

/*
 * PUT of CALL's body to its url, which begins with BASE, if nothing is there
 * ("If-None-Match: *"). Uses body, body_len, header and arg of CALL and fills
 * status, text and error; result and errors as rj_http_perform(). A connection
 * that turns out to be closed since the last request is made again once.
 */
int rj_http1_put(struct rj_http1 *s, struct rj_http_call *call,
	struct rj_error *err);

/* Call FN after each connection that is made, before the request goes over it: what
 * it returns, if it is not 0, ends the request, and the connection. */
void rj_http1_on_connect(struct rj_http1 *s,
	int (*fn)(void *arg, struct rj_error *err), void *arg);
/* Make another of the same for another thread, without the function above. RJ_E_NOMEM. */
int rj_http1_dup(const struct rj_http1 *s, struct rj_http1 **out,
	struct rj_error *err);
/* Use the connection for no other put. */
void rj_http1_hang_up(struct rj_http1 *s);
/* Go by CONF from here on, of which a reference is kept. False: S cannot, as
 * rj_http1_can(), and is of no use any more. */
bool rj_http1_use(struct rj_http1 *s, struct rj_conf *conf);
/* NULL-safe. */
void rj_http1_free(struct rj_http1 *s);

#endif
