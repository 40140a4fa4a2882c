/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reload settings, accounts and certificates of a running server at SIGHUP. */
#ifndef RJSERVER_RELOAD_H
#define RJSERVER_RELOAD_H

#include "options.h"
#include "rjserver/access/access.h"
#include "rjserver/http/tls.h"
#include "settings.h"

struct live {
	const struct options *options;
	struct settings *set;
	bool loopback;
	struct tls *tls; /* NULL: none */
	struct access_control access;
};

/*
 * May SET be served at an address that is (LOOPBACK) or is not this machine's
 * own? Loads the accounts into A. RJ_E_REFUSED says what is missing.
 */
int live_check(const struct settings *set, bool loopback, struct accounts *a,
	struct rj_error *err);
/* Set up tls and access; live_end() also after a failure. */
int live_begin(struct live *live, struct store *store, struct rj_error *err);
/* Reload everything or nothing, and log which. */
void live_reload(struct live *live);
void live_end(struct live *live);

#endif
