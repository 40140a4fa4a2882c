/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running server: event loop, signals, reload, stop. */
#ifndef RJSERVER_SERVER_H
#define RJSERVER_SERVER_H

#include "options.h"
#include "settings.h"

/*
 * Serve on the listening socket FD (taken over), shown as SHOWN, until a signal
 * stops it. O is what SIGHUP makes new settings from; SET changes then.
 * LOOPBACK: only this machine can reach the socket. The exit status.
 */
int serve(const struct options *o, struct settings *set, int fd,
	const char *shown, bool loopback);

#endif
