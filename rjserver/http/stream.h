/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Send one answer with all objects of a directory, from a number on. */
#ifndef RJSERVER_STREAM_H
#define RJSERVER_STREAM_H

#include "http.h"
#include "rjserver/store/store.h"

/* Answer X with the objects of OKEY's directory from number FROM on, as
 * doc/http-protocol.md, "Streams", says. What is in the batch is flushed. */
void stream_objects(struct store *s, struct http_exchange *x,
	const struct okey *okey, uint64_t from);

#endif
