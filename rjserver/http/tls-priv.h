/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tls.c and tls-conn.c share. */
#ifndef RJSERVER_TLS_PRIV_H
#define RJSERVER_TLS_PRIV_H

#include <openssl/ssl.h>

#include "tls.h"

struct tls {
	SSL_CTX *ctx;
	tls_refused_fn refused;
	void *arg;
};

/* Follow the handshakes of CTX's connections. */
void tls_watch(SSL_CTX *ctx);

#endif
