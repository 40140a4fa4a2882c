/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One HTTP or HTTPS connection, kept open between requests. Private to
 * lib/store; serves one thread at a time.
 *
 * Redirects are never followed; HTTP/0.9 and answers without a length are
 * refused, because their end cannot be told from a lost connection. A proxy is
 * that of rj.conf, else of the environment as libcurl does (http_proxy,
 * no_proxy).
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

#define RJ_HTTP_TEXT  200  /* of an error answer's first line, with the NUL */
#define RJ_HTTP_BODY  1024 /* of an error answer, with the NUL */
#define RJ_HTTP_EXTRA 4

enum rj_http_auth {
	RJ_HTTP_ANYONE, /* a token or password of rj.conf, if there is one */
	RJ_HTTP_SIGV4,	/* user and password of rj.conf sign each request */
};

struct rj_http_setup {
	const char *name; /* in messages ("rj://host:port/name"); copied */
	const char *peer; /* what the other side is ("journal server"); kept */
	const char *host; /* where a password would go */
	bool tls;
	enum rj_http_auth auth;
	const char *region; /* SIGV4 */
	const struct rj_store_opts *opts; /* its conf is kept by reference */
};

struct rj_http_call {
	const char *method; /* "GET", "PUT", "PROPFIND", ... */
	const char *url;
	bool has_body; /* of body_len bytes, perhaps none */
	const void *body; /* not copied */
	size_t body_len;
	/* Header lines, NULL at the end. A constant array: the handle remembers
	 * it by its address. */
	const char *const *headers;
	const char *extra[RJ_HTTP_EXTRA]; /* and those of this call; or NULL */
	/* Where the body of a 200 or 207 goes (appended); more than MAX bytes
	 * is RJ_E_CORRUPT. May be NULL. */
	struct rj_buf *out;
	size_t max;
	/* Instead of OUT: takes such a body as it comes; what is not 0 ends the
	 * request and is returned. The request then has no time limit of its
	 * own, but one for silence. */
	int (*sink)(void *arg, const void *data, size_t len);
	void *sink_arg;
	/* Called for each header line of the answer, without its end of line.
	 * May be NULL. */
	void (*header)(void *arg, const char *line, size_t len);
	void *arg;
	/* Filled: */
	int status;
	char text[RJ_HTTP_TEXT]; /* first line of any other body; or "" */
	char error[RJ_HTTP_BODY]; /* the beginning of such a body, as it is */
};

/* RJ_E_REFUSED: a password or token would travel unencrypted to another
 * machine. RJ_E_NOMEM, RJ_E_IO, RJ_E_INVAL as rj_curl_new(). */
int rj_http_new(const struct rj_http_setup *setup, struct rj_http **out,
	struct rj_error *err);
/* Another of the same, for another thread. */
int rj_http_dup(
	const struct rj_http *h, struct rj_http **out, struct rj_error *err);
/* NULL-safe. */
void rj_http_free(struct rj_http *h);

/* What STATUS, of an answer that means failure, says is to be mended. */
enum rj_cause rj_http_cause(int status);
/* Does an answer with STATUS tell something only if it is whole? Not those that
 * say no more than "refused" or "not now", which come from anything in between,
 * often without a length. */
bool rj_http_needs_end(int status);

/*
 * Make one request, in one attempt. 0: a whole answer came (but see rj_http_needs_end()),
 * of any status. RJ_E_UNREACHABLE: no answer, or not in time; RJ_E_PROTOCOL: not HTTP;
 * RJ_E_DENIED: the server's certificate is not trusted, or the server does not trust ours.
 * On failure OUT is as it was.
 */
int rj_http_perform(
	struct rj_http *h, struct rj_http_call *call, struct rj_error *err);

/*
 * If FAILED, or the last request over H failed: read rj.conf again if it changed, and
 * use its new settings from here on. rj_http_perform() does this itself; a caller that
 * needs the new settings before its request calls this first. Errors as of rj_http_new().
 */
int rj_http_renew(struct rj_http *h, bool failed, struct rj_error *err);
/* The settings that H uses; valid until the next request over H. */
struct rj_conf *rj_http_conf(const struct rj_http *h);

/* Use the connection for no other request: what answers there is not the store. */
void rj_http_hang_up(struct rj_http *h);
/* How many connections were made so far. */
unsigned rj_http_connections(const struct rj_http *h);

/*
 * An answer that means failure whatever was asked, in words; DOING is like
 * "put <key>". With WHY (may be NULL: call->text) after the status.
 * RJ_E_DENIED (401, 403, 407), RJ_E_NOSPACE (507), RJ_E_INVAL (413, 414),
 * RJ_E_UNREACHABLE (408, 423, 425, 429 and all other 5xx), else RJ_E_PROTOCOL.
 */
int rj_http_fail_status(const struct rj_http *h, const struct rj_http_call *c,
	const char *doing, const char *why, struct rj_error *err);

/* Does STATUS say that the request was done? */
bool rj_http_is_success(int status);
/* RJ_E_UNREACHABLE: such an answer came before the request's body was sent
 * whole, so the server cannot have what it says it has. */
int rj_http_fail_early(const char *name, const char *peer, struct rj_error *err);

/* If LINE is header NAME (any case), its value in VALUE (cut to SIZE). */
bool rj_http_header_is(const char *line, size_t len, const char *name,
	char *value, size_t size);
/* Is HOST (as in a URL) this machine itself: localhost, 127.x, [::1]? */
bool rj_http_loopback(const char *host);

#endif
