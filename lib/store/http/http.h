/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * HTTP and HTTPS by libcurl, for S3 and WebDAV: one connection, kept open between
 * requests. Private to lib/store; serves one thread at a time.
 *
 * Redirects are never followed; HTTP/0.9 and answers without a length are
 * refused, because their end cannot be told from a lost connection. A proxy is
 * that of rj.conf, else of the environment as libcurl does (http_proxy,
 * no_proxy), which is not asked for a server on this machine.
 */
#ifndef RJ_STORE_HTTP_H
#define RJ_STORE_HTTP_H

#include "store/http/http-call.h"
#include "util/error.h"

struct rj_http;

/* RJ_E_REFUSED as rj_http_peer_check(). RJ_E_NOMEM, RJ_E_IO, RJ_E_INVAL as
 * rj_curl_new(). */
int rj_http_new(const struct rj_http_setup *setup, struct rj_http **out,
	struct rj_error *err);
/* Another of the same, for another thread. */
int rj_http_dup(
	const struct rj_http *h, struct rj_http **out, struct rj_error *err);
/* NULL-safe. */
void rj_http_free(struct rj_http *h);

/*
 * Make one request, in one attempt. 0: a whole answer came (but see rj_http_needs_end()),
 * of any status. RJ_E_UNREACHABLE: no answer, or not in time, or the server does not trust
 * our certificate (then the cause says so); RJ_E_PROTOCOL: not HTTP; RJ_E_DENIED: the
 * server's certificate is not trusted. On failure OUT is as it was.
 */
int rj_http_perform(
	struct rj_http *h, struct rj_http_call *call, struct rj_error *err);

/*
 * If the last request over H failed: read rj.conf again if it changed, and use its new
 * settings from here on. rj_http_perform() does this itself; a caller that needs the new
 * settings before its request calls this first. Errors as of rj_http_new().
 */
int rj_http_renew(struct rj_http *h, struct rj_error *err);
/* The settings that H uses; valid until the next request over H. */
struct rj_conf *rj_http_conf(const struct rj_http *h);
/* The server; valid as long as H. */
const struct rj_http_peer *rj_http_peer_of(const struct rj_http *h);

#endif
