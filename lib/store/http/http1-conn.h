/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection to a server: libcurl makes it (names, time limits, a proxy, TLS,
 * certificates), and what goes over it is ours. A commit is one request, and what
 * libcurl does around a request (a dozen system calls, some forty allocations, which
 * are wiped) takes longer than the request. Private to lib/store.
 */
#ifndef RJ_STORE_HTTP1_CONN_H
#define RJ_STORE_HTTP1_CONN_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "store/http/http-call.h"
#include "util/error.h"

struct rj_http1_conn {
	CURL *easy; /* NULL: no connection */
	int fd;
	bool by_curl; /* I/O goes through libcurl: TLS, with the server or a proxy */
	bool used;    /* an answer came over this connection */
	bool checked; /* by the caller: what is there is the right server */
	const struct rj_http_peer *peer;
	CURLcode code; /* of the last I/O by libcurl; its words are in detail */
	char detail[CURL_ERROR_SIZE];
};

/* How a piece of I/O went. */
enum rj_http1_io {
	RJ_IO_OK,
	RJ_IO_AGAIN,  /* not now */
	RJ_IO_CLOSED, /* in order: nothing more comes */
	RJ_IO_LOST,   /* an error: the connection's code, or errno where that is 0 */
};

/* Connect to BASE ("https://host:port"). Errors as of rj_curl_new() and rj_curl_fail(). */
int rj_http1_connect(
	struct rj_http1_conn *c, const char *base, struct rj_error *err);
/* If there is a connection. */
void rj_http1_disconnect(struct rj_http1_conn *c);

/* Send some of the PARTS; never waits. *SENT bytes were. */
enum rj_http1_io rj_http1_send(
	struct rj_http1_conn *c, struct iovec *iov, int parts, size_t *sent);
/* Receive up to SIZE bytes. WAIT: until the socket's own limit, where it has one. */
enum rj_http1_io rj_http1_receive(struct rj_http1_conn *c, char *data,
	size_t size, bool wait, size_t *got);
/* Wait for WHAT, of poll(). False: the time (monotonic) is over, or the caller gives up. */
bool rj_http1_wait(struct rj_http1_conn *c, short what, int64_t until_ns);
/* Is anything there before we have asked? Then it is no answer to what comes
 * (a proxy said one twice, or that it will wait no longer), or the end. */
bool rj_http1_is_stale(struct rj_http1_conn *c);
/* Does the caller give its requests up? */
bool rj_http1_given_up(const struct rj_http1_conn *c);

#endif
