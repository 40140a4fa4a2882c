/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Describe one HTTP request and its answer, and the server that it goes to; decide what
 * an answer's status means. Shared by both HTTP engines: curl/http.h (S3 and WebDAV) and
 * http1.h (rj://). Private to lib/store.
 */
#ifndef RJ_STORE_HTTP_CALL_H
#define RJ_STORE_HTTP_CALL_H

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
	/* What of the body follows these bytes, in parts; http1.h only. */
	const struct iovec *rest;
	int rest_count; /* less than RJ_STORE_PARTS */
	/* Waited at when all of the body but its last byte was sent; http.c only. May be NULL. */
	const struct rj_put_gate *before_last;
	/* Header lines, NULL at the end. A constant array: http.c recognises
	 * it by its address. May be NULL. */
	const char *const *headers;
	const char *extra[RJ_HTTP_EXTRA]; /* header lines of this call; or NULL */
	/* Gets the body of a 200 or 207 (appended); more than MAX bytes
	 * is RJ_E_CORRUPT. May be NULL. */
	struct rj_buf *out;
	size_t max;
	/* Instead of OUT: called with such a body piece by piece; a non-zero
	 * return ends the request and is returned. With http1.h request_timeout_ms then
	 * limits not the whole request, but the time in which none of such a body comes. */
	int (*sink)(void *arg, const void *data, size_t len);
	void *sink_arg;
	/* Called for each header line of the answer, without its end of line.
	 * May be NULL. */
	void (*header)(void *arg, const char *line, size_t len);
	void *arg;
	/* Filled: */
	int status;
	int64_t date_s; /* the header Date: seconds since 1970; 0: none, or has_body */
	char text[RJ_HTTP_TEXT]; /* first line of the body of another status; or "" */
	char error[RJ_HTTP_BODY]; /* the beginning of that body, unchanged */
};

/* Get the length of C's whole body. */
size_t rj_http_call_body_bytes(const struct rj_http_call *c);
/* Take a header line of the answer. */
void rj_http_call_line(struct rj_http_call *c, const char *line, size_t len);
/* Clear the fields that the answer fills. */
void rj_http_call_begin(struct rj_http_call *c);

enum rj_http_auth {
	RJ_HTTP_ANYONE, /* a token or password of rj.conf, if there is one */
	RJ_HTTP_SIGV4,	/* user and password of rj.conf sign each request */
};

struct rj_http_setup {
	const char *name; /* in messages ("rj://host:port/name"); copied */
	const char *peer; /* for messages ("journal server"); not copied */
	const char *host; /* of the server, which gets the password */
	bool tls;
	enum rj_http_auth auth;
	const char *region; /* SIGV4 */
	const struct rj_store_opts *opts; /* copied; a reference to its conf is taken */
};

/* The server at the other end, and the settings that hold for it now. */
struct rj_http_peer {
	struct rj_http_setup setup; /* its texts and opts are those below */
	struct rj_store_opts opts;
	bool failed;	   /* the last request did, perhaps because of rj.conf */
	int64_t looked_ns; /* when rj.conf was last read again, monotonic */
	char name[sizeof(((struct rj_store *)0)->url)];
	char host[256];
	char region[64];
};

/* P must not move afterwards. */
void rj_http_peer_init(struct rj_http_peer *p, const struct rj_http_setup *setup);
void rj_http_peer_release(struct rj_http_peer *p);
/* Fill text with the first line of the LEN bytes in error, made harmless for a terminal,
 * after the end of the answer. */
void rj_http_call_end(struct rj_http_call *c, size_t len);
/* Check where secrets would go. RJ_E_REFUSED: a password or token would be sent
 * unencrypted to another machine, or to a proxy of rj.conf there. */
int rj_http_peer_check(const struct rj_http_peer *p, struct rj_error *err);
/* Does what is sent to P in clear stay on this machine? Then the environment's proxy is not
 * used. */
bool rj_http_peer_stays_here(const struct rj_http_peer *p);
/* If the last request failed: read rj.conf again if it changed. True: other settings
 * hold now, for another connection. */
bool rj_http_peer_renew(struct rj_http_peer *p);
/* Must an answer with STATUS be complete to be of use? Not one that only says
 * "refused" or "not now": proxies send those, often without a length. */
bool rj_http_needs_end(int status);
/* Does STATUS mean that the request was carried out? */
bool rj_http_is_success(int status);
/* Is STATUS an answer of the store to a client with the right settings? */
bool rj_http_means_something(int status);

/*
 * Fail for an answer whose status means failure of any request; DOING is like
 * "put <key>". The message has WHY (NULL: call->text) after the status.
 * RJ_E_DENIED (401, 403, 407), RJ_E_NOSPACE (507), RJ_E_INVAL (413, 414),
 * RJ_E_UNREACHABLE (408, 423, 425, 429 and all other 5xx), else RJ_E_PROTOCOL.
 */
int rj_http_fail_status(const struct rj_http_peer *p, const struct rj_http_call *c,
	const char *doing, const char *why, struct rj_error *err);
/* RJ_E_UNREACHABLE: success was answered before all of the request's body was sent,
 * so the server cannot have stored it. */
int rj_http_fail_early(const struct rj_http_peer *p, struct rj_error *err);
/* RJ_E_PROTOCOL: the answer is not HTTP. */
int rj_http_fail_alien(const struct rj_http_peer *p, struct rj_error *err);
/* RJ_E_PROTOCOL: an answer with STATUS has no length, so that its end cannot be told
 * from a lost connection. */
int rj_http_fail_endless(
	const struct rj_http_peer *p, int status, struct rj_error *err);
/* RJ_E_CORRUPT: a body of more than MAX bytes. */
int rj_http_fail_long(
	const struct rj_http_peer *p, size_t max, struct rj_error *err);
/* RJ_E_UNREACHABLE: the connection ended within the answer. */
int rj_http_fail_cut(const struct rj_http_peer *p, struct rj_error *err);

/* Is LINE the header NAME (in any case)? Then VALUE gets its value, cut to SIZE. */
bool rj_http_header_is(const char *line, size_t len, const char *name,
	char *value, size_t size);

#endif
