/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The head of a request, as text. No I/O. Private to lib/store.
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
 * The line that shows who we are by what C says: "Bearer" with its token, else "Basic"
 * with its user and password; "" if it has neither. It is a secret. RJ_E_INVAL: too
 * long; NAME is for the message.
 */
int rj_http1_auth_line(const struct rj_conf *c, const char *name,
	char line[RJ_HTTP1_AUTH_BYTES], struct rj_error *err);

/*
 * Write the head of CALL to the server at BASE ("http://host:port"), with which the
 * url of CALL begins, and with the line AUTH, if it is not empty. Its length in bytes
 * (there is no NUL); 0: it has no space in HEAD.
 */
size_t rj_http1_request_head(const struct rj_http_call *call, const char *base,
	const char *auth, char head[RJ_HTTP1_REQUEST_BYTES]);

#endif
