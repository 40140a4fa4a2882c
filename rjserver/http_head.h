/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The head of a plain PUT, as our own clients send it: one spelling, few
 * headers, all known. Pure. Whatever else a head may be, it is not taken here
 * but left to evhttp, so that this can be strict without refusing anybody.
 */
#ifndef RJSERVER_HTTP_HEAD_H
#define RJSERVER_HTTP_HEAD_H

#include <stddef.h>
#include <stdint.h>

#define HEAD_MOST 2048 /* bytes; longer ones are not plain */

enum head_kind {
	HEAD_PLAIN,
	HEAD_MORE,  /* so far it may be one; the end has not come yet */
	HEAD_OTHER, /* it is not */
};

/* The headers that a plain PUT may have, each once. */
enum head_field {
	HEAD_HOST,
	HEAD_AUTHORIZATION,
	HEAD_CONTENT_LENGTH,
	HEAD_CONTENT_TYPE,
	HEAD_IF_NONE_MATCH,
	HEAD_USER_AGENT,
	HEAD_ACCEPT,
	HEAD_FIELDS,
};

struct head {
	size_t bytes;  /* with the empty line */
	size_t length; /* of the body that follows */
	const char *path;
	const char *field[HEAD_FIELDS]; /* the values; NULL: not there */
	char text[HEAD_MOST + 1];       /* what they point into */
};

/* Take the head at the begin of LEN bytes. Only with HEAD_PLAIN is OUT set.
 * LONGEST: a longer body is not plain. */
enum head_kind head_parse(
	struct head *out, const void *data, size_t len, size_t longest);
/* The value of a header by its name in any case; NULL: not there. */
const char *head_find(const struct head *h, const char *name);

#endif
