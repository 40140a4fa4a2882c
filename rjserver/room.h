/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for a body with space before and behind it, so that its record
 * (store_record.h) can be written as it lies, past the page cache too; and a
 * pool that keeps what is used again and again. One thread.
 */
#ifndef RJSERVER_ROOM_H
#define RJSERVER_ROOM_H

#include "store_record.h"

#define ROOM_RECORD BATCH_ALIGN                    /* offset of the record */
#define ROOM_BODY   (ROOM_RECORD + REC_HEAD_BYTES) /* and of its body */

struct room {
	uint8_t *mem;  /* aligned to BATCH_ALIGN */
	size_t most;   /* bytes of a body that it has room for */
	size_t bytes;  /* all of it */
	struct room *next;
};

struct room_pool {
	struct room *first;
	size_t bytes;
};

/* One for a body of LEN bytes or more. NULL: no memory. */
struct room *room_take(struct room_pool *pool, size_t len);
void room_give(struct room_pool *pool, struct room *r); /* NULL-safe */
void room_free_all(struct room_pool *pool);

#endif
