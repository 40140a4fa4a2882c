/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJSERVER_LISTEN_H
#define RJSERVER_LISTEN_H

#include <stdbool.h>

#include "util/error.h"

#define ADDRESS_TEXT 80

/*
 * Open a socket that listens on TEXT (ADDR:PORT, [ADDR]:PORT, or NAME:PORT). SHOWN
 * gets the address and real port, *LOOPBACK whether only this machine can
 * reach it. Returns the socket, or a negative rj_code (RJ_E_INVAL: TEXT).
 */
int listen_on(const char *text, char shown[ADDRESS_TEXT], bool *loopback,
	struct rj_error *err);

#endif
