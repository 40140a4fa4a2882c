/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Send HTTP and HTTPS requests by libcurl, for S3 and WebDAV, over one connection, which
 * stays open between requests. Private to lib/store; serves one thread at a time.
 *
 * Redirects are never followed; HTTP/0.9 and answers without a length are
 * refused, because their end cannot be told from a lost connection. The proxy is that of
 * rj.conf, else that of the environment by libcurl's rules (http_proxy, no_proxy), but not
 * for a server on this machine.
 */
#ifndef RJ_STORE_HTTP_H
#define RJ_STORE_HTTP_H

#include "store/http/http-call.h"
#include "util/error.h"

struct rj_http;

/* Make a client, for rj_http_free(). Makes no connection. RJ_E_REFUSED as
 * rj_http_peer_check(). RJ_E_NOMEM, RJ_E_IO, RJ_E_INVAL as rj_curl_new(). */
int rj_http_new(const struct rj_http_setup *setup, struct rj_http **out,
	struct rj_error *err);
/* Make another client with H's settings, for another thread. */
int rj_http_dup(
	const struct rj_http *h, struct rj_http **out, struct rj_error *err);
/* NULL-safe. */
void rj_http_free(struct rj_http *h);

/*
 * Make one request, in one attempt. 0: a whole answer came (but see rj_http_needs_end()),
 * of any status. RJ_E_UNREACHABLE: no answer, or not in time, or the server does not trust
 * our certificate (then ERR has that cause); RJ_E_PROTOCOL: the answer is not HTTP;
 * RJ_E_DENIED: the server's certificate is not trusted. On failure call->out is as it was.
 */
int rj_http_perform(
	struct rj_http *h, struct rj_http_call *call, struct rj_error *err);

/*
 * If the last request over H failed: read rj.conf again if it changed, and use its new
 * settings from here on. rj_http_perform() does this itself; a caller that needs the new
 * settings before its request calls this first. Errors as of rj_http_new().
 */
int rj_http_renew(struct rj_http *h, struct rj_error *err);
/* Get the settings that H uses; valid until the next request over H. */
struct rj_conf *rj_http_conf(const struct rj_http *h);
/* Get the socket of the connection that H keeps; -1: none. */
int rj_http_socket(const struct rj_http *h);
/* Get the server; valid as long as H. */
const struct rj_http_peer *rj_http_peer_of(const struct rj_http *h);

#endif
