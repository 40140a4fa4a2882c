/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parse the head of an HTTP/1.1 request; no other code does. Strict: a head that two
 * parsers could understand in two ways is refused. Pure.
 */
#ifndef RJSERVER_HTTP_HEAD_H
#define RJSERVER_HTTP_HEAD_H

#include "http.h"

#define HEAD_MOST   8192 /* bytes; longer ones are refused */
#define HEAD_FIELDS 64

enum head_kind {
	HEAD_WHOLE,
	HEAD_MORE, /* the end has not come yet */
	HEAD_BAD,  /* not a request of HTTP/1.0 or 1.1, or ambiguous */
	HEAD_LONG, /* more bytes or fields than we take */
};

struct head_field {
	const char *name, *value; /* without blanks around the value */
};

struct head {
	size_t bytes; /* with the empty line */
	enum http_method method;
	const char *path;  /* begins with "/"; nothing is decoded */
	const char *query; /* after the "?"; NULL: there is none */
	bool old;	   /* HTTP/1.0 */
	bool close;	   /* the client wants the connection closed */
	bool coded;	   /* Transfer-Encoding: the body's length is unknown */
	bool expects;	   /* Expect: 100-continue */
	bool has_length;
	size_t length; /* of the body that follows; 0 without has_length */
	unsigned count;
	struct head_field field[HEAD_FIELDS];
};

/*
 * Parse the head at the beginning of the LEN bytes DATA. With HEAD_WHOLE, OUT points
 * into DATA, which is changed (names and values are ended by a NUL); with
 * HEAD_MORE nothing is changed.
 */
enum head_kind head_parse(struct head *out, char *data, size_t len);
/* Get the value of a header by its name, in any case; NULL: not there. */
const char *head_find(const struct head *h, const char *name);

#endif
