/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection to a journal server: made by dial.h, encrypted by the module librj-openssl
 * (crypto/tls.c), or, where a proxy is named, made by the module librj-curl (curl/tunnel.c).
 * Private to lib/store and these modules.
 */
#ifndef RJ_STORE_HTTP1_CONN_H
#define RJ_STORE_HTTP1_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "store/http/http-call.h"
#include "util/error.h"

/* How a piece of I/O went. */
enum rj_http1_io {
	RJ_IO_OK,
	RJ_IO_AGAIN,  /* it would have to wait */
	RJ_IO_CLOSED, /* the peer closed the connection in order */
	RJ_IO_LOST,   /* an error, which rj_http1_fail_lost() names */
};

struct rj_http1_conn;

/* The I/O of a connection that is more than a socket. */
struct rj_http1_layer {
	/* Send some of LEN bytes of DATA, or receive up to SIZE bytes; neither waits. NULL: by
	 * the socket. */
	enum rj_http1_io (*send)(
		struct rj_http1_conn *c, const void *data, size_t len, size_t *sent);
	enum rj_http1_io (*receive)(
		struct rj_http1_conn *c, void *data, size_t size, size_t *got);
	/* Fail for what was RJ_IO_LOST last. Without SEND: not called. */
	int (*fail_lost)(struct rj_http1_conn *c, struct rj_error *err);
	/* End it, and close the socket. */
	void (*close)(struct rj_http1_conn *c);
};

struct rj_http1_conn {
	int fd; /* -1: no connection */
	const struct rj_http1_layer *layer; /* NULL: the socket alone */
	void *state;  /* of the layer */
	bool used;    /* an answer came over this connection */
	bool checked; /* set by the caller: it is the right server */
	int64_t cert_until_s; /* when the server's certificate ends, since 1970; 0: not known */
	const struct rj_http_peer *peer;
	int sys_errno; /* of the socket's last I/O that was RJ_IO_LOST */
};

/* Connect to BASE ("https://host:port"). RJ_E_UNREACHABLE; RJ_E_DENIED: the server's
 * certificate is not trusted; RJ_E_INVAL, RJ_E_NOMEM as tls_begin of module/openssl.h;
 * RJ_E_REFUSED: a module is not installed. */
int rj_http1_connect(
	struct rj_http1_conn *c, const char *base, struct rj_error *err);
/* Is there a connection? */
bool rj_http1_connected(const struct rj_http1_conn *c);
/* Close the connection, if there is one. */
void rj_http1_disconnect(struct rj_http1_conn *c);

/* Send some of the PARTS at IOV; never waits. *SENT gets the number of bytes sent. */
enum rj_http1_io rj_http1_send(
	struct rj_http1_conn *c, struct iovec *iov, int parts, size_t *sent);
/* Receive up to SIZE bytes. WAIT: wait for them, at most for the socket's own time limit,
 * if it has one. */
enum rj_http1_io rj_http1_receive(struct rj_http1_conn *c, char *data,
	size_t size, bool wait, size_t *got);
/* RJ_E_UNREACHABLE: what was RJ_IO_LOST last. */
int rj_http1_fail_lost(struct rj_http1_conn *c, struct rj_error *err);
/* Wait for WHAT, an event of poll(). False: UNTIL_NS (monotonic) has passed, or
 * rj_http1_given_up(). */
bool rj_http1_wait(struct rj_http1_conn *c, short what, int64_t until_ns);
/* Before a request: was anything received, or the connection closed? What was received is
 * not the answer to the request that follows (a proxy sent an answer twice, or a 408). */
bool rj_http1_is_stale(struct rj_http1_conn *c);
/* Is give_up of the store's options set? */
bool rj_http1_given_up(const struct rj_http1_conn *c);

#endif
