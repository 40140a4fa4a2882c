/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DIR/control: a socket that only the owner of the store (and root) can reach.
 * A client that connects gets the status as JSON, until the end of the stream; that
 * is what "rjserver stats" does.
 */
#ifndef RJSERVER_CONTROL_H
#define RJSERVER_CONTROL_H

#include <stdbool.h>

#include "rjserver/access/access.h"

struct control;
struct event_base;

/* The store's lock must be held: a socket of an earlier server is replaced. */
int control_new(struct event_base *base, struct access_control *g,
	struct control **out, struct rj_error *err);
void control_free(struct control *c); /* NULL-safe; removes the socket */

/* rjserver stats: ask the server that has DIR, and print. The exit status. */
int control_stats(const char *dir, bool json);

#endif
