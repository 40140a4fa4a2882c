/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parse the framing of "Transfer-Encoding: chunked" (RFC 9112, 7.1), in pieces of any size
 * and strictly: lines end with CR LF, and a size has a digit. No I/O. Private to lib/store.
 */
#ifndef RJ_STORE_HTTP1_CHUNKED_H
#define RJ_STORE_HTTP1_CHUNKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rj_http1_chunk {
	RJ_CHUNK_SIZE, /* where the body begins */
	RJ_CHUNK_DIGITS,
	RJ_CHUNK_EXTENSION,
	RJ_CHUNK_SIZE_LF,
	RJ_CHUNK_DATA,
	RJ_CHUNK_DATA_CR,
	RJ_CHUNK_DATA_LF,
	RJ_CHUNK_TRAILER, /* at the beginning of a line */
	RJ_CHUNK_TRAILER_LINE,
	RJ_CHUNK_TRAILER_LF,
	RJ_CHUNK_LAST_LF,
	RJ_CHUNK_END, /* the body is complete */
};

/* {0} is the beginning of a body. */
struct rj_http1_chunked {
	enum rj_http1_chunk state;
	uint64_t left; /* of the size read so far, or of the chunk */
};

/* Parse some of the next LEN (not 0) bytes, at AT; not after RJ_CHUNK_END. Returns how
 * many were parsed; *DATA: they are bytes of the body, else framing. Returns 0 if the
 * framing is wrong. */
size_t rj_http1_chunked_take(struct rj_http1_chunked *c, const char *at,
	size_t len, bool *data);

#endif
