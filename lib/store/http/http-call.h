/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One HTTP request and its answer, the server that it goes to, and what an answer's
 * status means. Shared by both HTTP engines: http.h (libcurl; S3 and WebDAV) and
 * http1.h (rj://). Private to lib/store.
 */
#ifndef RJ_STORE_HTTP_CALL_H
#define RJ_STORE_HTTP_CALL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"
#include "util/buf.h"
#include "util/error.h"

#define RJ_HTTP_TEXT  200  /* of an error answer's first line, with the NUL */
#define RJ_HTTP_BODY  1024 /* of an error answer, with the NUL */
#define RJ_HTTP_EXTRA 4

struct rj_http_call {
	const char *method; /* "GET", "PUT", "PROPFIND", ... */
	const char *url;
	bool has_body; /* of body_len bytes, perhaps none */
	const void *body; /* not copied */
	size_t body_len;
	/* Header lines, NULL at the end. A constant array: http.c remembers
	 * it by its address. May be NULL. */
	const char *const *headers;
	const char *extra[RJ_HTTP_EXTRA]; /* and those of this call; or NULL */
	/* Where the body of a 200 or 207 goes (appended); more than MAX bytes
	 * is RJ_E_CORRUPT. May be NULL. */
	struct rj_buf *out;
	size_t max;
	/* Instead of OUT: takes such a body as it comes; what is not 0 ends the
	 * request and is returned. The request then has no time limit of its
	 * own, but one for silence (of rj://: without any of such a body). */
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

/* Clear what is filled. */
void rj_http_call_begin(struct rj_http_call *c);
/* Fill text with the first line of the LEN bytes in error, made harmless for a
 * terminal. */
void rj_http_call_end(struct rj_http_call *c, size_t len);

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

/* The server at the other end, and the settings that hold for it now. */
struct rj_http_peer {
	struct rj_http_setup setup; /* its texts and opts are those below */
	struct rj_store_opts opts;
	bool failed;	   /* the last request, and rj.conf may be why */
	int64_t looked_ns; /* when that was looked at again */
	char name[sizeof(((struct rj_store *)0)->url)];
	char host[256];
	char region[64];
};

/* P must not move afterwards. */
void rj_http_peer_init(struct rj_http_peer *p, const struct rj_http_setup *setup);
void rj_http_peer_release(struct rj_http_peer *p);
/* RJ_E_REFUSED: a password or token would travel unencrypted to another machine, be
 * that a proxy of rj.conf. */
int rj_http_peer_check(const struct rj_http_peer *p, struct rj_error *err);
/* A handle as of rj_curl_new(), with its errors, that goes to a server on this machine
 * through no proxy of the environment. */
int rj_http_peer_easy(const struct rj_http_peer *p, char *detail, CURL **out,
	struct rj_error *err);
/* If FAILED, or the last request: read rj.conf again if it changed. True: other
 * settings hold now, for another connection. */
bool rj_http_peer_renew(struct rj_http_peer *p, bool failed);

/* What STATUS, of an answer that means failure, says is to be mended. */
enum rj_cause rj_http_cause(int status);
/* Does an answer with STATUS tell something only if it is whole? Not those that
 * say no more than "refused" or "not now", which come from anything in between,
 * often without a length. */
bool rj_http_needs_end(int status);
/* Does STATUS say that the request was done? */
bool rj_http_is_success(int status);
/* Is STATUS an answer of the store to a client with the right settings? */
bool rj_http_means_something(int status);

/*
 * An answer that means failure whatever was asked, in words; DOING is like
 * "put <key>". With WHY (may be NULL: call->text) after the status.
 * RJ_E_DENIED (401, 403, 407), RJ_E_NOSPACE (507), RJ_E_INVAL (413, 414),
 * RJ_E_UNREACHABLE (408, 423, 425, 429 and all other 5xx), else RJ_E_PROTOCOL.
 */
int rj_http_fail_status(const struct rj_http_peer *p, const struct rj_http_call *c,
	const char *doing, const char *why, struct rj_error *err);
/* RJ_E_UNREACHABLE: success was answered before the request's body was sent
 * whole, so the server cannot have what it says it has. */
int rj_http_fail_early(const struct rj_http_peer *p, struct rj_error *err);
/* RJ_E_PROTOCOL: what came is not HTTP. */
int rj_http_fail_alien(const struct rj_http_peer *p, struct rj_error *err);
/* RJ_E_PROTOCOL: an answer with STATUS that does not say where it ends, which
 * cannot be told from a lost connection. */
int rj_http_fail_endless(
	const struct rj_http_peer *p, int status, struct rj_error *err);
/* RJ_E_CORRUPT: a body of more than MAX bytes. */
int rj_http_fail_long(
	const struct rj_http_peer *p, size_t max, struct rj_error *err);
/* RJ_E_UNREACHABLE: the connection ended within the answer. */
int rj_http_fail_cut(const struct rj_http_peer *p, struct rj_error *err);

/* If LINE is header NAME (any case), its value in VALUE (cut to SIZE). */
bool rj_http_header_is(const char *line, size_t len, const char *name,
	char *value, size_t size);
/* Is HOST (as in a URL) this machine itself: localhost, 127.x, [::1]? */
bool rj_http_loopback(const char *host);

#endif
