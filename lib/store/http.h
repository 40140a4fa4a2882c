/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One HTTP connection, kept open between requests. The only user of libcurl.
 * Private to lib/store; serves one thread at a time.
 *
 * Redirects are never followed; HTTP/0.9 and answers without a length are
 * refused, because their end cannot be told from a lost connection. A proxy is
 * taken from the environment as libcurl does (http_proxy, no_proxy).
 */
#ifndef RJ_STORE_HTTP_H
#define RJ_STORE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"
#include "util/buf.h"
#include "util/error.h"

struct rj_http;

#define RJ_HTTP_TEXT 200 /* of an error answer's first line, with the NUL */

enum rj_http_method {
	RJ_HTTP_GET,
	RJ_HTTP_PUT_NEW, /* PUT with If-None-Match: * */
	RJ_HTTP_DELETE,
};

struct rj_http_call {
	enum rj_http_method method;
	const char *url;
	const void *body; /* PUT_NEW only; not copied */
	size_t body_len;
	/* Where the body of a 200 goes (appended); more than MAX bytes is
	 * RJ_E_CORRUPT. May be NULL. */
	struct rj_buf *out;
	size_t max;
	/* Instead of OUT: takes the body of a 200 as it comes; what is not 0
	 * ends the request and is returned. The request then has no time limit
	 * of its own, but one for silence. */
	int (*sink)(void *arg, const void *data, size_t len);
	void *sink_arg;
	/* Called for each header line of the answer, without its end of line.
	 * May be NULL. */
	void (*header)(void *arg, const char *line, size_t len);
	void *arg;
	/* Filled: */
	int status;
	char text[RJ_HTTP_TEXT]; /* of an answer other than 2xx; or "" */
};

/* NAME stands in messages ("rj://host:port/name") and is copied. */
int rj_http_new(const char *name, const struct rj_store_opts *opts,
	struct rj_http **out, struct rj_error *err);
/* NULL-safe. */
void rj_http_free(struct rj_http *h);

/*
 * One request, one attempt. 0: an answer came, whole, of whatever status.
 * RJ_E_UNREACHABLE: it did not, or not in time; RJ_E_PROTOCOL: not HTTP. On
 * failure OUT is as it was.
 */
int rj_http_perform(
	struct rj_http *h, struct rj_http_call *call, struct rj_error *err);

/* If LINE is header NAME (any case), its value in VALUE (cut to SIZE). */
bool rj_http_header_is(const char *line, size_t len, const char *name,
	char *value, size_t size);

#endif
