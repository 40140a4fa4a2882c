/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of an answer. */
#ifndef RJSERVER_HTTP_ANSWER_H
#define RJSERVER_HTTP_ANSWER_H

#include "http.h"

/* What the connection adds to a reply. */
struct answer_how {
	bool head;  /* to a HEAD: no body */
	bool close; /* it is the last one */
	bool old;   /* to HTTP/1.0: a stream ends with the connection */
};

/* Append the head of REPLY, and its text if it has one; *BODY gets the bytes of
 * its body to be sent (text or not). 0 or -RJ_E_NOMEM. */
int answer_compose(const struct http_reply *reply, const struct answer_how *how,
	struct rj_buf *out, size_t *body);
/* Append the head of an answer 200 of LENGTH bytes (-1: not known). 0 or -RJ_E_NOMEM. */
int answer_stream(const char *type, int64_t length, const struct answer_how *how,
	struct rj_buf *out);

#endif
