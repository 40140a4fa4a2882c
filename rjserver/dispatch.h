/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dispatch requests to the store, the status or the page. The account, its rights and
 * the free space are checked first: nothing of the store is read for a client without
 * the right to it.
 */
#ifndef RJSERVER_DISPATCH_H
#define RJSERVER_DISPATCH_H

#include "rjserver/http/http.h"

/* struct http_handlers; ARG is a struct access_control. */
bool dispatch_request(void *arg, const struct http_request *req);
void dispatch_body(void *arg, struct http_exchange *x, void *tag,
	struct record_buffer *buffer, size_t len, uint32_t crc);
void dispatch_done(void *arg, void *tag, int status, uint64_t sent);

#endif
