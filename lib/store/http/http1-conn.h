/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connect to a server by libcurl (names, time limits, a proxy, TLS, certificates), and
 * send and receive over that connection without it. A commit is one request, and what
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
	bool checked; /* set by the caller: it is the right server */
	int64_t cert_until_s; /* when the server's certificate ends, since 1970; 0: not known */
	const struct rj_http_peer *peer;
	CURLcode code; /* of the last I/O by libcurl; its message is in detail */
	char detail[CURL_ERROR_SIZE];
};

/* How a piece of I/O went. */
enum rj_http1_io {
	RJ_IO_OK,
	RJ_IO_AGAIN,  /* it would have to wait */
	RJ_IO_CLOSED, /* the peer closed the connection in order */
	RJ_IO_LOST,   /* an error: the connection's code, or errno if that is 0 */
};

/* Connect to BASE ("https://host:port"). Errors as of rj_curl_new() and rj_curl_fail(). */
int rj_http1_connect(
	struct rj_http1_conn *c, const char *base, struct rj_error *err);
/* Close the connection, if there is one. */
void rj_http1_disconnect(struct rj_http1_conn *c);

/* Send some of the PARTS at IOV; never waits. *SENT gets the number of bytes sent. */
enum rj_http1_io rj_http1_send(
	struct rj_http1_conn *c, struct iovec *iov, int parts, size_t *sent);
/* Receive up to SIZE bytes. WAIT: wait for them, at most for the socket's own time limit,
 * if it has one. */
enum rj_http1_io rj_http1_receive(struct rj_http1_conn *c, char *data,
	size_t size, bool wait, size_t *got);
/* Wait for WHAT, an event of poll(). False: UNTIL_NS (monotonic) has passed, or
 * rj_http1_given_up(). */
bool rj_http1_wait(struct rj_http1_conn *c, short what, int64_t until_ns);
/* Before a request: was anything received, or the connection closed? What was received is
 * not the answer to the request that follows (a proxy sent an answer twice, or a 408). */
bool rj_http1_is_stale(struct rj_http1_conn *c);
/* Is give_up of the store's options set? */
bool rj_http1_given_up(const struct rj_http1_conn *c);

#endif
