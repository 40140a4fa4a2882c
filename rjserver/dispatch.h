/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a request to what answers it: the store, the status, the page. Who asks,
 * whether they may, and whether there is space for it are settled first: nothing
 * of the store is looked at for a client that may not.
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
