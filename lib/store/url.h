/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Split the URL of a store into its parts. For lib/store, and for code that must know
 * where a store is.
 *
 * Nothing is percent-decoded: a host and a name have no characters that need it, and
 * the path of a file:// URL is taken literally.
 */
#ifndef RJ_STORE_URL_H
#define RJ_STORE_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

#define RJ_URL_BYTES 512 /* longest URL, with the NUL */

struct rj_url {
	char scheme[16];         /* lower case, "rj" */
	char host[256];          /* IPv6 with its brackets; "" for file:// */
	uint16_t port;           /* 0: none given */
	char path[RJ_URL_BYTES]; /* from the slash on, "/vol"; may be "" */
	char text[RJ_URL_BYTES]; /* all of it, as it was given: for messages */
};

/*
 * Parse TEXT. RJ_E_INVAL: it is not a URL, is too long, or has control characters, a
 * user name or a password (which the message does not repeat).
 */
int rj_url_parse(const char *text, struct rj_url *out, struct rj_error *err);

/* Get the default port of the scheme, the LEN characters at SCHEME in any case; 0:
 * there is none. */
uint16_t rj_url_default_port(const char *scheme, size_t len);
/* Get the port of U, or its scheme's default; 0: there is none. */
uint16_t rj_url_port(const struct rj_url *u);
/* Are A and B equal but for slashes at the end, the host's case, and a default port?
 * Finds a store that was named twice by mistake; two URLs of one store can still
 * differ. */
bool rj_url_same(const char *a, const char *b);

#endif
