/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parse a stream of objects as rjserver sends it (doc/http-protocol.md,
 * "Streams"), in pieces of any size. Private to lib/store. No I/O.
 */
#ifndef RJ_STORE_OBJECT_STREAM_H
#define RJ_STORE_OBJECT_STREAM_H

#include <stdbool.h>

#include "store/store.h"

#define RJ_OBJECTS_LINE 48 /* the longest line, with the NUL */

struct rj_objects {
	/* set by the caller */
	const char *name; /* for messages: the directory */
	size_t max;       /* bytes of one object */
	uint64_t from;
	rj_store_stream_fn fn;
	void *arg;
	struct rj_error *err;
	/* zero at first */
	struct rj_buf object; /* free it with rj_buf_free() */
	char line[RJ_OBJECTS_LINE];
	size_t line_len;
	uint64_t number; /* of the object that is being read, or of the last one */
	size_t want;     /* the object's length */
	bool in_object, any, ended;
};

/* Parse the next LEN bytes. RJ_E_CORRUPT: the server says that an object is damaged, or
 * an object is larger than MAX; RJ_E_PROTOCOL; or what FN returned. */
int rj_objects_feed(void *objects, const void *data, size_t len);
/* End the stream. RJ_E_UNREACHABLE: it was cut short. */
int rj_objects_end(const struct rj_objects *o);

#endif
