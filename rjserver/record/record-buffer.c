// SPDX-License-Identifier: GPL-2.0-or-later
#include "record-buffer.h"

#include <stdlib.h>

#define KEEP_BYTES (20u << 20) /* in the pool */
#define STEP	   (64u << 10)
#define LARGE_STEP (1u << 20)

static size_t most_of(size_t len)
{
	return align_up(len ? len : 1, len < LARGE_STEP ? STEP : LARGE_STEP);
}

size_t record_buffer_bytes(size_t len)
{
	return BUFFER_RECORD +
	       align_up(rec_total((uint32_t)most_of(len)), BATCH_ALIGN);
}

static struct record_buffer *make(size_t len)
{
	struct record_buffer *r = calloc(1, sizeof(*r));
	void *mem;

	if (!r)
		return NULL;
	r->most = most_of(len);
	r->bytes = record_buffer_bytes(len);
	if (posix_memalign(&mem, BATCH_ALIGN, r->bytes)) {
		free(r);
		return NULL;
	}
	r->mem = mem;
	return r;
}

static void discard(struct record_buffer *r)
{
	free(r->mem);
	free(r);
}

struct record_buffer *record_buffer_take(
	struct record_buffer_pool *pool, size_t len)
{
	struct record_buffer **at, *r;

	for (at = &pool->first; (r = *at); at = &r->next) {
		if (r->most < len)
			continue;
		*at = r->next;
		pool->bytes -= r->bytes;
		return r;
	}
	return make(len);
}

/* The one used last is the first to be used again: it is in the cache. */
void record_buffer_give(
	struct record_buffer_pool *pool, struct record_buffer *r)
{
	if (!r)
		return;
	if (r->bytes > KEEP_BYTES) {
		discard(r);
		return;
	}
	/* what it is full of is perhaps of no use any more */
	if (pool->bytes + r->bytes > KEEP_BYTES)
		record_buffer_free_all(pool);
	r->next = pool->first;
	pool->first = r;
	pool->bytes += r->bytes;
}

void record_buffer_free_all(struct record_buffer_pool *pool)
{
	struct record_buffer *r;

	while ((r = pool->first)) {
		pool->first = r->next;
		discard(r);
	}
	pool->bytes = 0;
}
