/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Write the head of a request as text. No I/O. Private to lib/store.
 */
#ifndef RJ_STORE_HTTP1_REQUEST_H
#define RJ_STORE_HTTP1_REQUEST_H

#include <stddef.h>

#include "store/conf.h"
#include "store/http/http-call.h"
#include "store/url.h"

#define RJ_HTTP1_AUTH_BYTES 8192 /* longest "Authorization" line, with the NUL */
#define RJ_HTTP1_REQUEST_BYTES                                                 \
	(RJ_URL_BYTES + RJ_KEY_TEXT + RJ_HTTP1_AUTH_BYTES + 1024)

/*
 * Write the "Authorization" line by the settings C: "Bearer" with the token, else "Basic"
 * with user and password; "" if C has neither. The line is a secret, which the caller
 * wipes. RJ_E_INVAL: too long; NAME is for the message.
 */
int rj_http1_auth_line(const struct rj_conf *c, const char *name,
	char line[RJ_HTTP1_AUTH_BYTES], struct rj_error *err);

/*
 * Write the head of CALL, whose url begins with BASE ("http://host:port"), into HEAD, with
 * the line AUTH if that is not empty. Returns the head's length in bytes (there is no
 * NUL); 0: HEAD is too small.
 */
size_t rj_http1_request_head(const struct rj_http_call *call, const char *base,
	const char *auth, char head[RJ_HTTP1_REQUEST_BYTES]);

#endif
