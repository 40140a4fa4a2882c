/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of an answer, as evhttp would send them. */
#ifndef RJSERVER_HTTP_ANSWER_H
#define RJSERVER_HTTP_ANSWER_H

#include "http.h"

#define ANSWER_TEXT 256

/* REPLY, if it is a status without a body and headers, into TEXT; its length.
 * 0: it is more than that. */
size_t answer_plain(int status, const struct http_reply *reply,
	char text[ANSWER_TEXT]);
/* REPLY into OUT; BODY: how many bytes of it are the body's. */
int answer_compose(
	const struct http_reply *reply, struct rj_buf *out, size_t *body);

#endif
