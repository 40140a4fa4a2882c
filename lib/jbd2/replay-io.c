// SPDX-License-Identifier: LGPL-2.1-or-later
/* Copy blocks from the log to the volume in batches. */
#include "jbd2/replay-io.h"

#include <stdlib.h>
#include <string.h>

/* For direct I/O. */
#define ALIGN 4096u

static void *aligned(size_t bytes)
{
	void *p;

	return posix_memalign(&p, ALIGN, bytes) ? NULL : p;
}

int jbd2_engine_init(struct jbd2_engine *e, struct rj_bio *log,
	struct rj_bio *fs, const struct jbd2_log_cache *cache,
	uint32_t block_size, size_t copies, struct rj_error *err)
{
	e->log = log;
	e->fs = fs;
	e->cache = cache;
	e->block_size = block_size;
	e->batch = JBD2_BATCH_BYTES / block_size;
	if (e->batch > copies)
		e->batch = (uint32_t)copies;
	e->data = aligned((size_t)e->batch * block_size);
	e->bounce =
		aligned(log->size_bytes < JBD2_READ_BYTES ? log->size_bytes
							  : JBD2_READ_BYTES);
	e->order = malloc(e->batch * sizeof(*e->order));
	e->iov = malloc(JBD2_RUN_PIECES * sizeof(*e->iov));
	if (fs->writev)
		e->queue = rj_queue_new(fs, JBD2_RUNS);
	if (!e->data || !e->bounce || !e->order || !e->iov ||
		(fs->writev && !e->queue))
		return rj_fail(err, RJ_E_NOMEM, "out of memory for replay");
	return 0;
}

void jbd2_engine_free(struct jbd2_engine *e)
{
	rj_queue_free(e->queue);
	free(e->data);
	free(e->bounce);
	free(e->order);
	free(e->iov);
}

/* The copy's log block where it is in memory; else NULL. */
static const uint8_t *in_memory(
	const struct jbd2_engine *e, const struct jbd2_copy *c)
{
	if (e->log->map)
		return e->log->map(e->log, e->block_size,
			(uint64_t)c->log * e->block_size);
	return jbd2_log_cache_get(e->cache, c->log);
}

static int by_log(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint32_t log_of(uint64_t order)
{
	return (uint32_t)(order >> 32);
}

/* How many of order[I..N) one read fetches, gaps included. */
static uint32_t reach(const struct jbd2_engine *e, uint32_t i, uint32_t n)
{
	uint32_t most = JBD2_READ_BYTES / e->block_size;
	uint32_t gap = JBD2_GAP_BYTES / e->block_size + 1;
	uint32_t first = log_of(e->order[i]), j;

	for (j = i + 1; j < n; j++)
		if (log_of(e->order[j]) - first >= most ||
			log_of(e->order[j]) - log_of(e->order[j - 1]) > gap)
			break;
	return j - i;
}

static void place(struct jbd2_engine *e, const struct jbd2_copy *c,
	const uint8_t *from, uint32_t at)
{
	uint8_t *to = e->data + (size_t)at * e->block_size;

	e->used = true;
	memcpy(to, from, e->block_size);
	if (c[at].key & JBD2_COPY_ESCAPED)
		rj_put_be32(to, RJ_JBD2_MAGIC);
}

/* Fetch order[I..I+COUNT) and put each into its place. */
static int fetch(struct jbd2_engine *e, const struct jbd2_copy *c, uint32_t i,
	uint32_t count, struct rj_error *err)
{
	uint32_t first = log_of(e->order[i]), j, bs = e->block_size;
	uint32_t blocks = log_of(e->order[i + count - 1]) - first + 1;
	int rc = e->log->read(e->log, e->bounce, (size_t)blocks * bs,
		(uint64_t)first * bs, err);

	if (rc && blocks > 1) {
		/* the bad sector may be in a gap, in a block that is not wanted */
		for (j = i, rc = 0; !rc && j < i + count; j++)
			rc = fetch(e, c, j, 1, err);
		return rc;
	}
	for (j = i; !rc && j < i + count; j++)
		place(e, c,
			e->bounce + (size_t)(log_of(e->order[j]) - first) * bs,
			(uint32_t)e->order[j]);
	return rc;
}

int jbd2_engine_load(struct jbd2_engine *e, const struct jbd2_copy *c,
	uint32_t n, struct rj_error *err)
{
	uint32_t i, count, m = 0;
	const uint8_t *p;
	int rc = e->used ? jbd2_engine_finish(e, err) : 0;

	if (rc)
		return rc;
	e->used = false;
	for (i = 0; i < n; i++) {
		p = in_memory(e, &c[i]);
		if (!p)
			e->order[m++] = (uint64_t)c[i].log << 32 | i;
		else if (c[i].key & JBD2_COPY_ESCAPED)
			place(e, c, p, i); /* the log is not ours to change */
	}
	qsort(e->order, m, sizeof(*e->order), by_log);
	for (i = 0; !rc && i < m; i += count) {
		count = reach(e, i, m);
		rc = fetch(e, c, i, count, err);
	}
	return rc;
}

/* Where the bytes of loaded copy I stand. */
static uint8_t *source(
	const struct jbd2_engine *e, const struct jbd2_copy *c, uint32_t i)
{
	const uint8_t *p = NULL;

	if (!(c[i].key & JBD2_COPY_ESCAPED))
		p = in_memory(e, &c[i]);
	/* an iovec has no const; it is only written from */
	return p ? (uint8_t *)(uintptr_t)p
		 : e->data + (size_t)i * e->block_size;
}

/* The run of copies from AT on, in as few pieces as memory has them. */
static uint32_t gather(struct jbd2_engine *e, const struct jbd2_copy *c,
	uint32_t at, uint32_t n, uint32_t *pieces)
{
	uint64_t block = c[at].key & JBD2_COPY_BLOCK;
	uint32_t most = JBD2_RUN_BYTES / e->block_size, count, p = 0;
	uint8_t *from;

	for (count = 0; at + count < n && count < most; count++) {
		if ((c[at + count].key & JBD2_COPY_BLOCK) != block + count)
			break;
		from = source(e, c, at + count);
		if (p && (uint8_t *)e->iov[p - 1].iov_base +
					 e->iov[p - 1].iov_len ==
				 from) {
			e->iov[p - 1].iov_len += e->block_size;
			continue;
		}
		if (p == JBD2_RUN_PIECES)
			break;
		e->iov[p].iov_base = from;
		e->iov[p++].iov_len = e->block_size;
	}
	*pieces = p;
	return count;
}

int jbd2_engine_store(struct jbd2_engine *e, const struct jbd2_copy *c,
	uint32_t at, uint32_t n, uint32_t *written, struct rj_error *err)
{
	uint64_t off = (c[at].key & JBD2_COPY_BLOCK) * e->block_size;
	uint32_t pieces, count = gather(e, c, at, n, &pieces), i;
	uint8_t *to = e->data + (size_t)at * e->block_size;

	*written = count;
	if (e->queue)
		return rj_queue_writev(
			e->queue, e->iov, (int)pieces, off, err);
	if (pieces == 1)
		to = e->iov[0].iov_base;
	for (i = 0; pieces > 1 && i < count; i++) {
		const uint8_t *from = source(e, c, at + i);
		uint8_t *slot = to + (size_t)i * e->block_size;

		if (from != slot)
			memcpy(slot, from, e->block_size);
	}
	return e->fs->write(e->fs, to, (size_t)count * e->block_size, off, err);
}

int jbd2_engine_finish(struct jbd2_engine *e, struct rj_error *err)
{
	return e->queue ? rj_queue_drain(e->queue, err) : 0;
}
