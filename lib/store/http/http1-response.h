/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parse the response to a request as it comes, and pass its body on. The parser is strict:
 * after anything that it does not accept the connection cannot be used again. No I/O.
 * Private to lib/store.
 */
#ifndef RJ_STORE_HTTP1_RESPONSE_H
#define RJ_STORE_HTTP1_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/http/http-call.h"
#include "store/http/http1-chunked.h"
#include "util/error.h"

#define RJ_HTTP1_HEAD_BYTES 16384 /* longest head of an answer */
#define RJ_HTTP1_BYTES	    65536 /* of a body taken at once */

struct rj_http1_response {
	bool begun;    /* a byte has come */
	bool complete; /* all has come that is needed */
	bool head;     /* its head is read */
	bool handed_on; /* the sink has got some of the body; the caller clears it */
	/* what follows is private */
	struct rj_http_call *call;
	enum { RJ_HTTP1_GOOD, RJ_HTTP1_ALIEN, RJ_HTTP1_LONG, RJ_HTTP1_NOMEM,
		RJ_HTTP1_SINK } verdict;
	bool framed;   /* it has a length or is chunked */
	bool sized;    /* it has a length */
	bool chunked;
	bool close;    /* the connection ends with it */
	struct rj_http1_chunked chunks;
	uint64_t left; /* of a sized body */
	size_t start;  /* bytes in call->out before it */
	size_t kept;   /* bytes of it in call->error */
	size_t used;   /* bytes in data */
	int sink_rc;
	char data[RJ_HTTP1_BYTES];
};

/* Begin to parse the response to CALL, whose status, text and error are cleared here and
 * filled as the response comes; its header function is called for each line, and its OUT
 * or SINK get the body. CALL must stay until rj_http1_response_end(). */
void rj_http1_response_begin(
	struct rj_http1_response *a, struct rj_http_call *call);
/* Get the place for the next bytes, and how many fit. */
char *rj_http1_response_space(struct rj_http1_response *a, size_t *bytes);
/* Parse the BYTES that were received there. False: the response failed: it is not HTTP, or
 * too long, or the sink ended it. */
bool rj_http1_response_take(struct rj_http1_response *a, size_t bytes);
/* Get the result, once the response is complete or rj_http1_response_take() was false.
 * *KEEP: the connection can be used again. RJ_E_PROTOCOL: not HTTP, or without a length;
 * RJ_E_CORRUPT: too long; RJ_E_NOMEM; or what the sink returned. P is for the message. */
int rj_http1_response_end(struct rj_http1_response *a,
	const struct rj_http_peer *p, bool *keep, struct rj_error *err);

#endif
