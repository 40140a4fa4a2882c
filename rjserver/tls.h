/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TLS 1.2 and later under a bufferevent, by OpenSSL. */
#ifndef RJSERVER_TLS_H
#define RJSERVER_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct bufferevent;
struct event_base;
struct tls;

#define TLS_HANDSHAKE_SECONDS 10 /* whoever takes longer is cut off */

/* A connection ended before its handshake: PEER was refused, and WHY. */
typedef void (*tls_refused_fn)(void *arg, const char *peer, const char *why);

struct tls_files {
	const char *cert, *key; /* PEM; the chain, the private key */
	const char *client_ca;  /* PEM; NULL: no client certificates */
};

/* RJ_E_INVAL names the file that is not usable. */
int tls_new(const struct tls_files *files, tls_refused_fn refused, void *arg,
	struct tls **out, struct rj_error *err);
/* Use FILES for new connections. On failure the old ones stay. */
int tls_reload(
	struct tls *tls, const struct tls_files *files, struct rj_error *err);
void tls_free(struct tls *tls); /* NULL-safe; no connection may be left */

/* For a connection that was accepted; its socket is set later. NULL: no
 * memory. */
struct bufferevent *tls_bufferevent(struct tls *tls, struct event_base *base);
/* The subject's common name in the verified certificate of the other end.
 * False: it has none. Also for a bufferevent without TLS. */
bool tls_peer_name(struct bufferevent *bev, char *out, size_t size);

#endif
