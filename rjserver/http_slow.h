/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests that take too long to arrive. The time limits of libevent begin
 * anew with each byte, so that a client that drips would never meet one.
 */
#ifndef RJSERVER_HTTP_SLOW_H
#define RJSERVER_HTTP_SLOW_H

#include <stdbool.h>

struct bufferevent;

#define SLOW_REQUEST_SECONDS 60 /* from its first byte to its last */
#define SLOW_READER_SECONDS  60 /* without taking a byte of an answer */
#define SLOW_IDLE_SECONDS    600 /* between two requests */

/* SLOW_REQUEST_SECONDS, or what a test wants instead. */
int slow_seconds(void);
/* Watch a new connection. False: no memory. */
bool slow_watch(struct bufferevent *bev);
/* A request has arrived, whole. */
void slow_whole(struct bufferevent *bev);

#endif
