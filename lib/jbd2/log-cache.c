// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read the log ahead in a thread, and keep it in memory for the replay. */
#include "jbd2/log-cache.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "os/thread.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static size_t piece_bytes(const struct jbd2_log_cache *k)
{
	return (size_t)k->piece * k->block_size;
}

static uint64_t begin_piece(
	struct jbd2_log_cache *k, struct rj_queue *q, uint32_t idx)
{
	uint32_t nr = (uint32_t)(((uint64_t)k->first + idx) % k->pieces);
	uint32_t block = nr * k->piece, count = k->end - block;

	if (count > k->piece)
		count = k->piece;
	return rj_queue_read(q, k->data + idx * piece_bytes(k),
		(size_t)count * k->block_size,
		(uint64_t)block * k->block_size);
}

/* Several pieces are under way at a time, and come in their order. */
static void *reader(void *arg)
{
	struct jbd2_log_cache *k = arg;
	uint64_t number[JBD2_IN_FLIGHT];
	uint32_t begun = 0, idx, limit, to;
	struct rj_error err;

	pthread_mutex_lock(&k->lock);
	while (!k->quit) {
		if (k->done == k->limit) {
			pthread_cond_wait(&k->change, &k->lock);
			continue;
		}
		idx = k->done;
		limit = k->limit;
		to = limit - idx < JBD2_IN_FLIGHT ? limit : idx + JBD2_IN_FLIGHT;
		k->begun = to;
		pthread_mutex_unlock(&k->lock);
		for (; begun < to; begun++)
			number[begun % JBD2_IN_FLIGHT] =
				begin_piece(k, k->queue, begun);
		k->bad[idx] = rj_queue_wait(k->queue,
				      number[idx % JBD2_IN_FLIGHT], &err) != 0;
		pthread_mutex_lock(&k->lock);
		k->done++;
		pthread_cond_broadcast(&k->change);
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

/*
 * Touch the memory of pieces that are to be read, beside the reader: new memory
 * can take longer than the disk, most of all where a host has to find it first.
 */
static void *toucher(void *arg)
{
	struct jbd2_log_cache *k = arg;
	uint32_t next = 0;
	int rc = 0;

	pthread_mutex_lock(&k->lock);
	while (!k->quit && !rc) {
		if (next < k->begun)
			next = k->begun;
		if (next >= k->limit) {
			pthread_cond_wait(&k->change, &k->lock);
			continue;
		}
		pthread_mutex_unlock(&k->lock);
		rc = madvise(k->data + next++ * piece_bytes(k), piece_bytes(k),
			MADV_POPULATE_WRITE);
		pthread_mutex_lock(&k->lock);
	}
	pthread_mutex_unlock(&k->lock);
	return NULL; /* only for speed: an old kernel has no such advice */
}

static bool start_thread(struct jbd2_log_cache *k)
{
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->change, NULL);
	k->running = !rj_thread_start(&k->thread, reader, k);
	if (k->running)
		k->touching =
			!rj_thread_start(&k->toucher, toucher, k);
	if (!k->running) {
		pthread_mutex_destroy(&k->lock);
		pthread_cond_destroy(&k->change);
	}
	return k->running;
}

void jbd2_log_cache_start(struct jbd2_log_cache *k, struct rj_bio *bio,
	uint32_t block_size, uint32_t end, uint32_t start, uint64_t bytes)
{
	uint64_t capacity;
	void *p;

	k->block_size = block_size;
	k->end = end;
	k->piece = JBD2_PIECE_BYTES / block_size;
	k->pieces = (end - 1) / k->piece + 1;
	k->first = start / k->piece;
	capacity = bytes / JBD2_PIECE_BYTES;
	k->capacity = capacity < k->pieces ? (uint32_t)capacity : k->pieces;
	k->most = k->capacity;
	if (!k->capacity)
		return;
	k->bad = calloc(k->capacity, 1);
	p = mmap(NULL, k->capacity * piece_bytes(k), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p != MAP_FAILED)
		k->data = p;
	k->queue = rj_queue_new(bio, JBD2_IN_FLIGHT);
	if (!k->bad || !k->data || !k->queue) {
		jbd2_log_cache_free(k);
		return;
	}
	/* only for speed */
	(void)madvise(p, k->capacity * piece_bytes(k), MADV_HUGEPAGE);
	if (!start_thread(k))
		jbd2_log_cache_free(k);
}

/* The place of BLOCK's piece in the order of reading. */
static uint32_t index_of(const struct jbd2_log_cache *k, uint32_t block)
{
	uint32_t nr = block / k->piece;

	return nr >= k->first ? nr - k->first : nr + k->pieces - k->first;
}

static const uint8_t *at(
	const struct jbd2_log_cache *k, uint32_t idx, uint32_t block)
{
	if (k->bad[idx])
		return NULL;
	return k->data + idx * piece_bytes(k) +
	       (size_t)(block % k->piece) * k->block_size;
}

/* Until the pieces below LIMIT are there. */
static void wait_for(struct jbd2_log_cache *k, uint32_t limit)
{
	while (k->done < limit)
		pthread_cond_wait(&k->change, &k->lock);
}

const uint8_t *jbd2_log_cache_fetch(struct jbd2_log_cache *k, uint32_t block)
{
	uint32_t idx, limit;

	if (!k->data || block >= k->end)
		return NULL;
	idx = index_of(k, block);
	if (idx < k->seen && !k->bad[idx])
		return at(k, idx, block);
	if (!k->running)
		return NULL;
	pthread_mutex_lock(&k->lock);
	if (idx < k->most && idx <= k->done + JBD2_AHEAD && idx >= k->seen) {
		limit = k->capacity - idx > JBD2_AHEAD + 1 ? idx + 1 + JBD2_AHEAD
						       : k->capacity;
		if (limit > k->limit)
			k->limit = limit;
		pthread_cond_broadcast(&k->change);
		wait_for(k, idx + 1);
		k->seen = idx + 1; /* to come back here for the next one */
	}
	if (idx >= k->seen || k->bad[idx])
		wait_for(k, k->limit); /* the caller reads by itself */
	pthread_mutex_unlock(&k->lock);
	return idx < k->seen ? at(k, idx, block) : NULL;
}

void jbd2_log_cache_upto(struct jbd2_log_cache *k, uint32_t block)
{
	uint32_t idx;

	if (!k->data || block >= k->end)
		return;
	idx = index_of(k, block);
	if (idx < k->most)
		k->most = idx + 1;
}

const uint8_t *jbd2_log_cache_get(
	const struct jbd2_log_cache *k, uint32_t block)
{
	uint32_t idx;

	if (!k->data || block >= k->end)
		return NULL;
	idx = index_of(k, block);
	return idx < k->seen ? at(k, idx, block) : NULL;
}

void jbd2_log_cache_stop(struct jbd2_log_cache *k)
{
	if (!k->running)
		return;
	pthread_mutex_lock(&k->lock);
	k->quit = true;
	pthread_cond_broadcast(&k->change);
	pthread_mutex_unlock(&k->lock);
	pthread_join(k->thread, NULL);
	if (k->touching)
		pthread_join(k->toucher, NULL);
	k->touching = false;
	pthread_mutex_destroy(&k->lock);
	pthread_cond_destroy(&k->change);
	k->running = false;
	rj_queue_free(k->queue);
	k->queue = NULL;
	k->seen = k->done;
}

void jbd2_log_cache_free(struct jbd2_log_cache *k)
{
	jbd2_log_cache_stop(k);
	rj_queue_free(k->queue);
	if (k->data)
		munmap(k->data, k->capacity * piece_bytes(k));
	free(k->bad);
	k->queue = NULL;
	k->data = NULL;
	k->bad = NULL;
}
