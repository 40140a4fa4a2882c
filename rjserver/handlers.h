/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carry out requests of doc/http-protocol.md on the store. */
#ifndef RJSERVER_HANDLERS_H
#define RJSERVER_HANDLERS_H

#include "rjserver/http/http.h"
#include "rjserver/store/store.h"

/* Answer a request that takes no body. */
void handle_request(struct store *s, const struct http_request *req);
/* May the body of a PUT of an object be read? If not, answers. */
bool handle_put_head(const struct http_request *req);
/* Store the body: LEN bytes in BUFFER, with their CRC, not inverted. */
void handle_put(struct store *s, struct http_exchange *x,
	const struct okey *okey, struct record_buffer *buffer, size_t len,
	uint32_t crc);

#endif
