/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parse the response to a request as it comes; of the body only an error's words
 * are kept. No I/O. Private to lib/store.
 */
#ifndef RJ_STORE_HTTP1_RESPONSE_H
#define RJ_STORE_HTTP1_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/http/http.h"
#include "util/error.h"

#define RJ_HTTP1_HEAD_BYTES 16384 /* longest head of an answer */

struct rj_http1_response {
	bool begun;    /* a byte has come */
	bool complete; /* all has, or nothing more is to be waited for */
	bool head;     /* its head is read */
	/* what follows is private */
	struct rj_http_call *call;
	bool bad;      /* not HTTP, or too long a head */
	bool framed;   /* it says where it ends */
	bool chunked;  /* in pieces, each with its size in front */
	bool sizing;   /* of the next piece: within the line of its size */
	bool last;     /* that was 0: the trailer, up to an empty line */
	unsigned column; /* in that line */
	bool close;    /* the connection ends with it */
	uint64_t left; /* of the body or the piece */
	size_t kept;   /* bytes of it in call->error */
	size_t used;   /* bytes in data */
	char data[RJ_HTTP1_HEAD_BYTES];
};

/* Of a request made by CALL, whose status, text and error are cleared, and
 * filled as the answer comes; its header function is called for each line. */
void rj_http1_response_begin(
	struct rj_http1_response *a, struct rj_http_call *call);
/* Where the next bytes go, and how many may. */
char *rj_http1_response_space(struct rj_http1_response *a, size_t *bytes);
/* Take BYTES received bytes. False: this is not HTTP. */
bool rj_http1_response_take(struct rj_http1_response *a, size_t bytes);
/* It is complete, or rj_http1_response_take() was false. KEEP: the connection
 * can be used again. RJ_E_PROTOCOL: not HTTP, or without an end; NAME and PEER
 * are for the message. */
int rj_http1_response_end(struct rj_http1_response *a, const char *name,
	const char *peer, bool *keep, struct rj_error *err);

#endif
