/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The URL of a store, taken apart. For lib/store, and for code that must know where
 * a store is.
 *
 * Nothing is percent-decoded: a host and a name have no characters that would
 * need it, and the path of a file:// URL is the path as it stands.
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
 * RJ_E_INVAL: not a URL, too long, holds control characters, or holds a user
 * name or password (which the message does not repeat).
 */
int rj_url_parse(const char *text, struct rj_url *out, struct rj_error *err);

/* The port that a URL means when it names none, by its scheme, the LEN characters
 * at SCHEME in any case; 0: there is none. */
uint16_t rj_url_default_port(const char *scheme, size_t len);
/* The port of U, named or not; 0: there is none. */
uint16_t rj_url_port(const struct rj_url *u);
/* The same but for slashes at the end, the host's case, and a port that need not
 * be named? Not all that are one store can be told by their names; what would be
 * there by a slip can. */
bool rj_url_same(const char *a, const char *b);

#endif
