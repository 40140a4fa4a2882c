/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The protocol of doc/http-protocol.md: from a request to the store. */
#ifndef RJSERVER_HANDLERS_H
#define RJSERVER_HANDLERS_H

#include "rjserver/http/http.h"
#include "rjserver/store/store.h"

/* Answer a request that takes no body. */
void handle_request(struct store *s, const struct http_request *req);
/* May the body of a PUT of an object come? Else answers. */
bool handle_put_head(const struct http_request *req);
/* The body has come: LEN bytes in BUFFER, their CRC not inverted. */
void handle_put(struct store *s, struct http_exchange *x,
	const struct okey *okey, struct record_buffer *buffer, size_t len,
	uint32_t crc);

#endif
