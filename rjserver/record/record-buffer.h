/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for a body with space before and after it, so that its record
 * (record.h) can be written as it lies, past the page cache too; and a
 * pool that keeps what is used again and again. One thread.
 */
#ifndef RJSERVER_RECORD_BUFFER_H
#define RJSERVER_RECORD_BUFFER_H

#include "record.h"

#define BUFFER_RECORD BATCH_ALIGN                    /* offset of the record */
#define BUFFER_BODY   (BUFFER_RECORD + REC_HEAD_BYTES) /* and of its body */

struct record_buffer {
	uint8_t *mem;  /* aligned to BATCH_ALIGN */
	size_t most;   /* bytes of a body that it has space for */
	size_t bytes;  /* all of it */
	struct record_buffer *next;
};

struct record_buffer_pool {
	struct record_buffer *first;
	size_t bytes;
};

/* The least that one for a body of LEN bytes takes. */
size_t record_buffer_bytes(size_t len);
/* One for a body of LEN bytes or more. NULL: no memory. */
struct record_buffer *record_buffer_take(
	struct record_buffer_pool *pool, size_t len);
void record_buffer_give(struct record_buffer_pool *pool,
	struct record_buffer *r); /* NULL-safe */
void record_buffer_free_all(struct record_buffer_pool *pool);

#endif
