/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Connect a TCP socket to a journal server. Private to lib/store. */
#ifndef RJ_STORE_DIAL_H
#define RJ_STORE_DIAL_H

#include <stdint.h>

#include "store/http/http-call.h"
#include "util/error.h"

/*
 * Connect to P's host at PORT, until UNTIL_NS (monotonic): to the first of its addresses that
 * answers. While an address does not answer the next one is tried beside it, 250 ms later
 * (RFC 8305). *FD gets the socket, which does not block, for close().
 * RJ_E_UNREACHABLE.
 */
int rj_dial(const struct rj_http_peer *p, uint16_t port, int64_t until_ns, int *fd,
	struct rj_error *err);

#endif
