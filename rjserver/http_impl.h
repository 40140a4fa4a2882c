/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What http.c and http_stream.c share. */
#ifndef RJSERVER_HTTP_IMPL_H
#define RJSERVER_HTTP_IMPL_H

#include "http.h"

struct evhttp_request;

/* From the request to its answer. */
struct http_exchange {
	struct evhttp_request *ev;
	struct http *http;
	void *tag;
};

/* Ends the exchange, which is freed: BYTES of body were sent. */
void http_finish(struct http_exchange *x, int status, uint64_t bytes);

#endif
