/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Speak TLS 1.2 and later on a nonblocking socket, by OpenSSL. */
#ifndef RJSERVER_TLS_H
#define RJSERVER_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "util/error.h"

struct ssl_st; /* OpenSSL's SSL */
struct tls;

/* Called when a connection ends before its handshake: PEER was refused because of WHY. */
typedef void (*tls_refused_fn)(void *arg, const char *peer, const char *why);

struct tls_files {
	const char *cert, *key; /* PEM; the chain, the private key */
	const char *client_ca;  /* PEM; NULL: no client certificates */
};

/* Load FILES, and make a context, for tls_free(). RJ_E_INVAL names the file that cannot
 * be used. */
int tls_new(const struct tls_files *files, tls_refused_fn refused, void *arg,
	struct tls **out, struct rj_error *err);
/* Use FILES for new connections. On failure the old ones stay. */
int tls_reload(
	struct tls *tls, const struct tls_files *files, struct rj_error *err);
void tls_free(struct tls *tls); /* NULL-safe; no connection may be left */

/* Make the server's end of the connection FD from PEER (an address as text); FD stays
 * the caller's. The handshake is done by the first reads. NULL: no memory. */
struct ssl_st *tls_accept(struct tls *tls, int fd, const char *peer);
/* End the connection; the caller then closes FD. NULL-safe. */
void tls_end(struct ssl_st *ssl);
/* Is the handshake done? */
bool tls_ready(const struct ssl_st *ssl);
/* Set the reason for which an unfinished handshake is ended. */
void tls_because(struct ssl_st *ssl, const char *why);

/* Read up to LEN bytes. 0: none now, wait until the socket is readable (*WRITABLE:
 * writable); -1: the end or an error. After bytes more may be there although
 * the socket is not readable. */
ssize_t tls_read(struct ssl_st *ssl, void *p, size_t len, bool *writable);
/* Write up to LEN bytes. 0: wait until the socket is writable. */
ssize_t tls_write(struct ssl_st *ssl, const void *p, size_t len);

/* Get the subject's common name in the client's verified certificate. False: it has
 * none. NULL-safe. */
bool tls_peer_name(struct ssl_st *ssl, char *out, size_t size);
/* Get the time when the first certificate of the client's chain expires; 0: it has shown
 * none. */
time_t tls_expires(struct ssl_st *ssl);
/* Get the time when the certificate that the server shows ends; 0: it cannot be read. */
time_t tls_own_end(const struct tls *tls);
/* Would a new connection with the certificate that the client has shown, if any, be
 * accepted? */
bool tls_still_good(struct tls *tls, struct ssl_st *ssl);

#endif
