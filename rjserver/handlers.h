/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The protocol of doc/http-protocol.md: from a request to the store. */
#ifndef RJSERVER_HANDLERS_H
#define RJSERVER_HANDLERS_H

#include "http.h"

/* An http_handler; ARG is a struct store. */
void handle_request(void *arg, const struct http_request *req);

#endif
