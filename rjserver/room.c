// SPDX-License-Identifier: GPL-2.0-or-later
#include "room.h"

#include <stdlib.h>

#define KEEP_BYTES (20u << 20) /* in the pool */
#define STEP	   (64u << 10)
#define LARGE_STEP (1u << 20)

static struct room *make(size_t len)
{
	struct room *r = calloc(1, sizeof(*r));
	void *mem;

	if (!r)
		return NULL;
	r->most = align_up(len ? len : 1, len < LARGE_STEP ? STEP : LARGE_STEP);
	r->bytes = ROOM_RECORD +
		   align_up(rec_total((uint32_t)r->most), BATCH_ALIGN);
	if (posix_memalign(&mem, BATCH_ALIGN, r->bytes)) {
		free(r);
		return NULL;
	}
	r->mem = mem;
	return r;
}

static void discard(struct room *r)
{
	free(r->mem);
	free(r);
}

struct room *room_take(struct room_pool *pool, size_t len)
{
	struct room **at, *r;

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
void room_give(struct room_pool *pool, struct room *r)
{
	if (!r)
		return;
	if (r->bytes > KEEP_BYTES) {
		discard(r);
		return;
	}
	/* what it is full of is perhaps of no use any more */
	if (pool->bytes + r->bytes > KEEP_BYTES)
		room_free_all(pool);
	r->next = pool->first;
	pool->first = r;
	pool->bytes += r->bytes;
}

void room_free_all(struct room_pool *pool)
{
	struct room *r;

	while ((r = pool->first)) {
		pool->first = r->next;
		discard(r);
	}
	pool->bytes = 0;
}
