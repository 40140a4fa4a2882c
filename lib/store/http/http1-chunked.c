// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/http/http1-chunked.h"

#define DIGITS_BITS 32 /* no server sends a larger size */

/* The value of the digit C; -1: it is none. */
static int digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* In the line of a size. */
static bool take_size(struct rj_http1_chunked *c, char byte)
{
	int value = digit(byte);

	if (c->state == RJ_CHUNK_EXTENSION) {
		if (byte == '\r')
			c->state = RJ_CHUNK_SIZE_LF;
		return byte != '\n';
	}
	if (value >= 0) {
		c->state = RJ_CHUNK_DIGITS;
		if (c->left >> DIGITS_BITS)
			return false;
		c->left = c->left * 16 + (unsigned)value;
		return true;
	}
	if (c->state == RJ_CHUNK_SIZE)
		return false;
	c->state = byte == '\r' ? RJ_CHUNK_SIZE_LF : RJ_CHUNK_EXTENSION;
	return byte == '\r' || byte == ';' || byte == ' ' || byte == '\t';
}

/* BYTE has to be WANTED; then STATE is next. */
static bool take_this(struct rj_http1_chunked *c, char byte, char wanted,
	enum rj_http1_chunk state)
{
	c->state = state;
	return byte == wanted;
}

/* After the last chunk: lines, the last of which is empty. */
static bool take_trailer(struct rj_http1_chunked *c, char byte)
{
	if (byte == '\r')
		c->state = c->state == RJ_CHUNK_TRAILER ? RJ_CHUNK_LAST_LF
							: RJ_CHUNK_TRAILER_LF;
	else
		c->state = RJ_CHUNK_TRAILER_LINE;
	return byte != '\n';
}

static bool take_framing(struct rj_http1_chunked *c, char byte)
{
	switch (c->state) {
	case RJ_CHUNK_SIZE_LF:
		return take_this(c, byte, '\n',
			c->left ? RJ_CHUNK_DATA : RJ_CHUNK_TRAILER);
	case RJ_CHUNK_DATA_CR:
		return take_this(c, byte, '\r', RJ_CHUNK_DATA_LF);
	case RJ_CHUNK_DATA_LF:
		return take_this(c, byte, '\n', RJ_CHUNK_SIZE);
	case RJ_CHUNK_TRAILER_LF:
		return take_this(c, byte, '\n', RJ_CHUNK_TRAILER);
	case RJ_CHUNK_LAST_LF:
		return take_this(c, byte, '\n', RJ_CHUNK_END);
	case RJ_CHUNK_TRAILER:
	case RJ_CHUNK_TRAILER_LINE:
		return take_trailer(c, byte);
	default:
		return take_size(c, byte);
	}
}

size_t rj_http1_chunked_take(
	struct rj_http1_chunked *c, const char *at, size_t len, bool *data)
{
	size_t n;

	*data = c->state == RJ_CHUNK_DATA;
	if (*data) {
		n = len < c->left ? len : (size_t)c->left;
		c->left -= n;
		if (!c->left)
			c->state = RJ_CHUNK_DATA_CR;
		return n;
	}
	for (n = 0; n < len && c->state != RJ_CHUNK_DATA &&
		    c->state != RJ_CHUNK_END;
		n++)
		if (!take_framing(c, at[n]))
			return 0;
	return n;
}
